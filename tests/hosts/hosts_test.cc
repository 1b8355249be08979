// Memory of a process on another host: every form of copy, rights, endings and faults.
// Rules of docs/BEHAVIOUR.md: share-9, share-11, share-12, share-13, share-14.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>

#include <chrono>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <sstream>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "acl/acl.h"
#include "tests/hosts/fabric_owner.h"
#include "tests/hosts/hosts_fixture.h"
#include "tests/process/contents.h"
#include "tests/support/acl_expect.h"
#include "tests/support/memory_buffer.h"
#include "tests/support/stream.h"
#include "tests/support/temporary_folder.h"

namespace sampan::test::hosts_test {
namespace {

using namespace std::chrono_literals;

using Hosts = HostsFixture;

INSTANTIATE_TEST_SUITE_P(By, Hosts, ::testing::Values(Way::kCable, Way::kLoopback),
                         [](const auto& way) { return NameOf(way.param); });

/// A killed process is noticed so soon.
constexpr auto kNoticed = 1s;
/// SAMPAN_PEER_TIMEOUT is not set. A busy machine gets some time more.
constexpr auto kLimit = 3s, kMargin = 2s;

/// The time since it was made. The test prints it.
class Watch {
 public:
  explicit Watch(std::string what) : what_(std::move(what)) {}
  std::chrono::milliseconds Stop() const {
    const auto time =
        std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::steady_clock::now() - begin_);
    std::cout << what_ << " is noticed after " << time.count() << " ms" << std::endl;
    return time;
  }

 private:
  const std::string what_;
  const std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
};

/// Returns when no thread of the process runs any more.
void Stop(pid_t process) {
  ::kill(process, SIGSTOP);
  int status = 0;
  EXPECT_EQ(::waitpid(process, &status, WUNTRACED), process);
  EXPECT_TRUE(WIFSTOPPED(status));
}

aclError CopyAsync(void* dst, const void* src, std::size_t bytes, aclrtStream stream) {
  return aclrtMemcpyAsync(dst, bytes, src, bytes, ACL_MEMCPY_DEFAULT, stream);
}

TEST_P(Hosts, LinearCopiesGoBothWaysInStreamOrder) {
  FabricOwner owner(PathOfA(), 1);
  const ImportedMemory imported(owner);
  DeviceBuffer local(kPiece);
  Stream stream;
  EXPECT_ACL(ACL_SUCCESS, CopyAsync(local.data(), imported.at(0), kPiece, stream));
  EXPECT_ACL(ACL_SUCCESS, aclrtSynchronizeStream(stream));
  EXPECT_EQ(local.Read(0, kPiece), Contents(1, kPiece));
  WriteDevice(local.data(), Contents(2, kPiece));
  EXPECT_ACL(ACL_SUCCESS, CopyAsync(imported.at(0), local.data(), kPiece, stream));
  DeviceBuffer back(kPiece);  // the read follows the write, and a local copy follows the read
  EXPECT_ACL(ACL_SUCCESS, CopyAsync(local.data(), imported.at(0), kPiece, stream));
  EXPECT_ACL(ACL_SUCCESS, CopyAsync(back.data(), local.data(), kPiece, stream));
  EXPECT_ACL(ACL_SUCCESS, aclrtSynchronizeStream(stream));
  EXPECT_EQ(back.Read(0, kPiece), Contents(2, kPiece));
  EXPECT_TRUE(owner.Has(2)) << "in place at the other side";
  WriteDevice(imported.at(0), Contents(3, kPiece));  // blocking, from pageable memory
  EXPECT_TRUE(owner.Has(3));
  EXPECT_EQ(ReadDevice(imported.at(0), kPiece), Contents(3, kPiece));
}

TEST_P(Hosts, RowsBatchesFillsAndBounces) {
  FabricOwner owner(PathOfA(), 4), other(PathOfA(), 5);
  const ImportedMemory imported(owner), second(other);
  Bytes expected = Contents(4, kPiece);
  Stream stream;
  Random random;
  PinnedBuffer pinned(kPiece);
  const Bytes source = random.Fill(kPiece);
  std::memcpy(pinned.data(), source.data(), kPiece);
  auto* const host = static_cast<std::byte*>(pinned.data());
  EXPECT_ACL(ACL_SUCCESS, aclrtMemcpy2dAsync(imported.at(64), 4000, host, 1000, 999, 300,
                                             ACL_MEMCPY_HOST_TO_DEVICE, stream));
  for (std::size_t i = 0; i < 300; ++i)
    std::memcpy(expected.data() + 64 + i * 4000, source.data() + i * 1000, 999);
  constexpr std::size_t kEntries = 2000;
  void *dsts[kEntries], *srcs[kEntries];
  std::size_t sizes[kEntries], fail = 0, first = 0;
  for (std::size_t i = 0; i < kEntries; ++i) {
    dsts[i] = imported.at(i * 1048 + 7);
    srcs[i] = host + i * 1031;
    sizes[i] = 1 + i % 1000;
    std::memcpy(expected.data() + i * 1048 + 7, source.data() + i * 1031, sizes[i]);
  }
  aclrtMemcpyBatchAttr attribute = {};
  attribute.dstLoc = {0, ACL_MEM_LOCATION_TYPE_DEVICE};
  attribute.srcLoc = {0, ACL_MEM_LOCATION_TYPE_HOST};
  EXPECT_ACL(ACL_SUCCESS,
             aclrtMemcpyBatchAsync(dsts, sizes, srcs, sizes, kEntries, &attribute, &first, 1, &fail, stream));
  EXPECT_ACL(ACL_SUCCESS, aclrtMemsetAsync(imported.at(kPiece - 5001), 5001, 0x5A, 5001, stream));
  std::memset(expected.data() + kPiece - 5001, 0x5A, 5001);
  EXPECT_ACL(ACL_SUCCESS, aclrtSynchronizeStream(stream));
  EXPECT_EQ(ReadDevice(imported.at(0), kPiece), expected);
  // From one peer to another.
  EXPECT_ACL(ACL_SUCCESS, CopyAsync(second.at(0), imported.at(0), kPiece, stream));
  EXPECT_ACL(ACL_SUCCESS, aclrtSynchronizeStream(stream));
  EXPECT_EQ(ReadDevice(second.at(0), kPiece), expected);
  // Rows back, into a buffer with gaps.
  std::memset(host, 0, kPiece);
  EXPECT_ACL(ACL_SUCCESS, aclrtMemcpy2dAsync(host, 1024, imported.at(0), 5000, 777, 400,
                                             ACL_MEMCPY_DEVICE_TO_HOST, stream));
  EXPECT_ACL(ACL_SUCCESS, aclrtSynchronizeStream(stream));
  for (std::size_t i = 0; i < 400; ++i) {
    ASSERT_EQ(std::memcmp(host + i * 1024, expected.data() + i * 5000, 777), 0) << i;
    ASSERT_EQ(host[i * 1024 + 777], std::byte{0}) << i;
  }
}

TEST_P(Hosts, HostMemoryOfTheOtherHost) {
  FabricOwner owner(PathOfA(), 6, "host");
  const ImportedMemory imported(owner);
  aclrtPtrAttributes attributes = {};
  EXPECT_ACL(ACL_SUCCESS, aclrtPointerGetAttributes(imported.at(0), &attributes));
  EXPECT_EQ(attributes.location.type, ACL_MEM_LOCATION_TYPE_HOST);
  DeviceBuffer local(kPiece);
  Stream stream;
  EXPECT_ACL(ACL_SUCCESS, CopyAsync(local.data(), imported.at(0), kPiece, stream));
  EXPECT_ACL(ACL_SUCCESS, aclrtSynchronizeStream(stream));
  EXPECT_EQ(local.Read(0, kPiece), Contents(6, kPiece));
  const Bytes contents = Contents(7, kPiece);
  EXPECT_ACL(ACL_SUCCESS,
             aclrtMemcpy(imported.at(0), kPiece, contents.data(), kPiece, ACL_MEMCPY_HOST_TO_HOST));
  EXPECT_TRUE(owner.Has(7));
  EXPECT_DEATH(*reinterpret_cast<volatile char*>(imported.at(9)) = 1, "accessed device memory");
}

TEST_P(Hosts, WhatOnlyEnginesOfThisHostCanDoIsRefused) {
  FabricOwner owner(PathOfA(), 8);
  const ImportedMemory imported(owner);
  DeviceBuffer local(4096);
  Stream stream;
  EXPECT_ACL(ACL_ERROR_RT_FEATURE_NOT_SUPPORT,
             aclrtReduceAsync(imported.at(0), local.data(), 64, ACL_RT_MEMCPY_SDMA_AUTOMATIC_SUM, ACL_FLOAT,
                              stream, nullptr));
  EXPECT_TRUE(MessageHas("on host "));
  EXPECT_ACL(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, aclrtValueWait(imported.at(0), 1, 0, stream));
  EXPECT_ACL(ACL_SUCCESS, aclrtSynchronizeStream(stream));
  EXPECT_TRUE(owner.Has(8));
}

TEST_P(Hosts, OnlyProcessesOnTheListMayImport) {
  FabricOwner owner(PathOfA(), 9, "device", 0);
  aclrtDrvMemHandle imported = nullptr;
  EXPECT_ACL(ACL_ERROR_RT_NO_PERMISSION, owner.Import(imported));
  EXPECT_TRUE(MessageHas(std::to_string(getpid())));
  owner.peer.Get("admit_fabric", owner.file(), getpid());
  const ImportedMemory admitted(owner);
  EXPECT_EQ(ReadDevice(admitted.at(0), kPiece), Contents(9, kPiece));
}

TEST_P(Hosts, FreedMemoryIsRefusedAndNeverServed) {
  FabricOwner owner(PathOfA(), 10);
  const ImportedMemory imported(owner);
  owner.peer.Get("unmap", owner.mapped);
  owner.peer.Get("free_physical", owner.physical);
  const std::string successor = owner.peer.Get("map", owner.peer.Get("physical", kPiece, "device"), kPiece);
  owner.peer.Get("fill", successor, kPiece, 11);
  DeviceBuffer local(4096);
  Stream stream;
  EXPECT_ACL(ACL_SUCCESS, CopyAsync(imported.at(0), local.data(), 4096, stream));
  EXPECT_ACL(ACL_ERROR_RT_SYS_DMA, aclrtSynchronizeStream(stream));
  EXPECT_EQ(owner.peer.Get("check", successor, kPiece, 11), "same");
  aclrtDrvMemHandle late = nullptr;
  EXPECT_ACL(ACL_ERROR_RT_PARAM_INVALID, owner.Import(late));
}

TEST_P(Hosts, AKilledOwnerFailsItsCopiesAndNoOthers) {
  FabricOwner owner(PathOfA(), 12), other(PathOfA(), 13);
  const ImportedMemory imported(owner), alive(other);
  const pid_t process = owner.peer.process();
  DeviceBuffer local(kPiece);
  Stream stream;
  Stop(process);  // so that the copy is pending
  EXPECT_ACL(ACL_SUCCESS, CopyAsync(imported.at(0), local.data(), kPiece, stream));
  const Watch watch("a killed owner");
  owner.peer.Kill();
  EXPECT_ACL(ACL_ERROR_RT_LOST_HEARTBEAT, aclrtSynchronizeStream(stream));
  EXPECT_LT(watch.Stop(), kNoticed);
  std::byte byte{};
  EXPECT_ACL(ACL_ERROR_RT_LOST_HEARTBEAT,
             aclrtMemcpy(&byte, 1, imported.at(0), 1, ACL_MEMCPY_DEVICE_TO_HOST));
  EXPECT_TRUE(MessageHas("process " + std::to_string(process) + " on host "));
  EXPECT_EQ(ReadDevice(alive.at(0), kPiece), Contents(13, kPiece));
  FabricOwner restarted(PathOfA(), 14);
  const ImportedMemory second(restarted);
  EXPECT_EQ(ReadDevice(second.at(0), kPiece), Contents(14, kPiece));
}

/// How many connections of TCP the process holds.
int TcpSocketsOf(pid_t process) {
  const std::string folder = "/proc/" + std::to_string(process);
  std::stringstream table;
  table << std::ifstream(folder + "/net/tcp").rdbuf();
  int count = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder + "/fd")) {
    const std::string target = std::filesystem::read_symlink(entry.path());  // socket:[12345]
    if (target.starts_with("socket:[") &&
        table.str().find(' ' + target.substr(8, target.size() - 9) + ' ') != std::string::npos)
      ++count;
  }
  return count;
}

/// The local addresses, in hexadecimal digits, at which sockets of the process's network listen.
std::vector<std::string> ListenersNear(pid_t process) {
  std::ifstream table("/proc/" + std::to_string(process) + "/net/tcp");
  std::vector<std::string> found;
  std::string line;
  std::getline(table, line);  // the names of the columns
  while (std::getline(table, line)) {
    std::istringstream words(line);
    std::string number, local, remote, state;
    words >> number >> local >> remote >> state;
    if (state == "0A") found.push_back(local.substr(0, local.find(':')));
  }
  return found;
}

TEST_P(Hosts, AProcessListensAfterItHasExportedOnly) {
  if (GetParam() == Way::kLoopback) GTEST_SKIP() << "other programs listen here";
  Peer peer;
  EXPECT_EQ(peer.Do("enter_network", PathOfA()).code, 0);
  const std::string physical = peer.Get("physical", kPiece, "device");
  peer.Get("map", physical, kPiece);
  EXPECT_EQ(ListenersNear(peer.process()), std::vector<std::string>());
  const TemporaryFolder folder;
  peer.Get("export_fabric", physical, 1, folder.path() + "/handle");
  // Two networks, each with a gate and libfabric's listener, all at 10.213.0.1.
  EXPECT_EQ(ListenersNear(peer.process()), std::vector<std::string>(4, "0100D50A"));
}

TEST_P(Hosts, AProgramThatTheOwnerHasStartedHoldsNoConnection) {
  FabricOwner owner(PathOfA(), 19);
  const ImportedMemory imported(owner);
  EXPECT_GT(TcpSocketsOf(owner.peer.process()), 2) << "there is nothing to inherit";
  const TemporaryFolder folder;
  owner.peer.Get("start_sleep", folder.path() + "/process");
  pid_t child = 0;
  std::ifstream(folder.path() + "/process") >> child;
  ASSERT_GT(child, 0);
  EXPECT_EQ(TcpSocketsOf(child), 0);
  DeviceBuffer local(kPiece);
  Stream stream;
  Stop(owner.peer.process());
  EXPECT_ACL(ACL_SUCCESS, CopyAsync(imported.at(0), local.data(), kPiece, stream));
  const Watch watch("a killed owner with a child");
  owner.peer.Kill();
  EXPECT_ACL(ACL_ERROR_RT_LOST_HEARTBEAT, aclrtSynchronizeStream(stream));
  EXPECT_LT(watch.Stop(), kNoticed);
  EXPECT_EQ(::kill(child, SIGKILL), 0) << "it has ended too early";
}

TEST_P(Hosts, AStoppedOwnerIsLostAfterTheLimit) {
  FabricOwner owner(PathOfA(), 15);
  const ImportedMemory imported(owner);
  Stop(owner.peer.process());
  DeviceBuffer local(kPiece);
  Stream stream;
  const Watch watch("a stopped owner");
  EXPECT_ACL(ACL_SUCCESS, CopyAsync(imported.at(0), local.data(), kPiece, stream));
  EXPECT_ACL(ACL_ERROR_RT_LOST_HEARTBEAT, aclrtSynchronizeStream(stream));
  const auto time = watch.Stop();
  EXPECT_GE(time, kLimit);
  EXPECT_LT(time, kLimit + kMargin);
  ::kill(owner.peer.process(), SIGCONT);
}

TEST_P(Hosts, AnAbortWaitsForACopyThatRuns) {
  FabricOwner owner(PathOfA(), 17);
  const ImportedMemory imported(owner);
  DeviceBuffer local(kPiece);
  Stream stream;
  Stop(owner.peer.process());
  EXPECT_ACL(ACL_SUCCESS, CopyAsync(local.data(), imported.at(0), kPiece, stream));
  std::thread later([&] {
    std::this_thread::sleep_for(300ms);
    ::kill(owner.peer.process(), SIGCONT);
  });
  EXPECT_ACL(ACL_SUCCESS, aclrtStreamAbort(stream));
  EXPECT_ACL(ACL_SUCCESS, aclrtSynchronizeStream(stream)) << "what was dropped reports nothing";
  WriteDevice(local.data(), Contents(18, kPiece));
  later.join();
  EXPECT_TRUE(owner.Has(17));
  // The connection's answers come in order. It is lost if this process slept past the limit.
  std::byte byte{};
  static_cast<void>(aclrtMemcpy(&byte, 1, imported.at(0), 1, ACL_MEMCPY_DEVICE_TO_HOST));
  EXPECT_TRUE(local.Read(0, kPiece) == Contents(18, kPiece)) << "a copy wrote after its abort";
}

TEST_P(Hosts, ACutCableFailsWithinTheLimit) {
  if (GetParam() == Way::kLoopback) GTEST_SKIP() << "loopback has no cable";
  FabricOwner owner(PathOfA(), 16);
  const ImportedMemory imported(owner);
  ASSERT_TRUE(two_hosts->CutCable());
  DeviceBuffer local(kPiece);
  Stream stream;
  const Watch watch("a cut cable");
  EXPECT_ACL(ACL_SUCCESS, CopyAsync(local.data(), imported.at(0), kPiece, stream));
  EXPECT_ACL(ACL_ERROR_RT_LOST_HEARTBEAT, aclrtSynchronizeStream(stream));
  EXPECT_LT(watch.Stop(), kLimit + kMargin);
  aclrtDrvMemHandle unreachable = nullptr;
  const Watch attempt("a host out of reach");
  EXPECT_ACL(ACL_ERROR_RT_LOST_HEARTBEAT, owner.Import(unreachable));
  EXPECT_LT(attempt.Stop(), kLimit + kMargin);
  ASSERT_TRUE(two_hosts->MendCable());
  // The system may take more than a second until it uses the cable again.
  aclError code = ACL_ERROR_RT_LOST_HEARTBEAT;
  for (int i = 0; i < 20 && code == ACL_ERROR_RT_LOST_HEARTBEAT; ++i)
    code = owner.Import(unreachable);
  ASSERT_ACL(ACL_SUCCESS, code);
  EXPECT_ACL(ACL_SUCCESS, aclrtFreePhysical(unreachable));
  const ImportedMemory again(owner);
  EXPECT_EQ(ReadDevice(again.at(0), kPiece), Contents(16, kPiece));
}

}  // namespace
}  // namespace sampan::test::hosts_test
