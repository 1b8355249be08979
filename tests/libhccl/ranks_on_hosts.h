// Ranks as processes of two hosts. These are network namespaces, or over loopback the two servers of a rank
// table. The test's process forks them, so it makes no call of the runtime itself.
#pragma once

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <cstdlib>
#include <fstream>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "tests/hosts/two_hosts.h"
#include "tests/libhccl/case_list.h"

namespace sampan::test {

/// How ranks meet.
enum class Way {
  kCable,  ///< by a root info; the first half of the ranks lives on host a
  kTable,  ///< by a rank table of two servers, which are this host
};

/// Returns the port.
inline int BindToLoopback(int socket) {
  sockaddr_in name{};
  name.sin_family = AF_INET;
  name.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t bytes = sizeof(name);
  EXPECT_EQ(::bind(socket, reinterpret_cast<sockaddr*>(&name), bytes), 0);
  EXPECT_EQ(::getsockname(socket, reinterpret_cast<sockaddr*>(&name), &bytes), 0);
  return ntohs(name.sin_port);
}

using WayAndSize = std::pair<Way, u32>;

class OnHosts : public testing::TestWithParam<WayAndSize> {
 protected:
  static void SetUpTestSuite() { Hosts(); }
  void SetUp() override {
#ifdef WITHOUT_NAMESPACES
    if (way() == Way::kCable) GTEST_SKIP() << "without a sanitizer only";
#endif
    if (way() == Way::kCable && !Hosts().made())
      GTEST_SKIP() << "network namespaces cannot be made here: root and the command ip are needed";
    if (way() == Way::kTable) WriteTable();
  }
  void TearDown() override {
    ::unlink(table.c_str());
  }
  static Way way() {
    return GetParam().first;
  }
  static u32 size() {
    return GetParam().second;
  }
  static bool IsOnA(u32 rank) {
    return rank < size() / 2;
  }

  /// Runs the ranks, each in a process.
  std::vector<Ending> Run(const std::function<void(World&)>& body, s32 limit_seconds = 60,
                          const char* profile = "ascend910c") const {
    SharedRootInfo root;
    return RunRanks({size(), Form::kProcesses, limit_seconds}, [&](const Seat& seat) {
      ::setenv("SAMPAN_PROFILE", profile, 1);
      if (way() == Way::kCable) {
        if (IsOnA(seat.rank)) Hosts().GoToHostA();
        World world(seat, root);
        body(world);
        return;
      }
      ::setenv("HCCL_IF_BASE_PORT", port.c_str(), 1);
      ::setenv("SAMPAN_DEVICES", std::to_string(size()).c_str(), 1);
      HcclCommConfig config = ConfigWithLimit(seat.timeout_seconds);
      World world(seat, [&](HcclComm* made) {
        return HcclCommInitClusterInfoConfig(table.c_str(), seat.rank, &config, made);
      });
      body(world);
    });
  }

  /// Those of this process, until its end.
  static const TwoHosts& Hosts() {
    static const TwoHosts hosts;
    return hosts;
  }
  std::string table, port;

 private:
  void WriteTable() {
    port = std::to_string(FreePort());
    table = testing::TempDir() + "two_servers_" + std::to_string(::getpid()) + ".json";
    std::ofstream out(table);
    out << R"({"version": "1.0", "status": "completed", "server_count": "2", "server_list": [)";
    for (const bool on_a : {true, false}) {
      out << (on_a ? "" : ", ") << R"({"server_id": ")" << (on_a ? "127.0.0.1" : "127.0.0.2")
          << R"(", "device": [)";
      const char* comma = "";
      for (u32 rank = 0; rank < size(); ++rank) {
        if (IsOnA(rank) != on_a) continue;
        out << comma << R"({"device_id": ")" << rank << R"(", "rank_id": ")" << rank << R"("})";
        comma = ", ";
      }
      out << "]}";
    }
    out << "]}";
  }
  static int FreePort() {
    const int socket = ::socket(AF_INET, SOCK_STREAM, 0);
    const int free = BindToLoopback(socket);
    ::close(socket);
    return free;
  }
};

inline std::string WayName(const testing::TestParamInfo<WayAndSize>& each) {
  return (each.param.first == Way::kCable ? "Cable" : "Table") + std::to_string(each.param.second);
}

}  // namespace sampan::test
