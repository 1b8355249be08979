// Either side is killed, exits or loses its cable at random moments: no hang, no wrong byte, everything is
// given back. Rules of docs/BEHAVIOUR.md: share-13. HOSTS_KILLS and HOSTS_CUTS set how often.
#include <dirent.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include "acl/acl.h"
#include "tests/hosts/fabric_owner.h"
#include "tests/hosts/hosts_fixture.h"
#include "tests/process/contents.h"
#include "tests/support/acl_expect.h"
#include "tests/support/mapped_memory.h"
#include "tests/support/memory_buffer.h"
#include "tests/support/random_bytes.h"
#include "tests/support/stream.h"
#include "tests/support/temporary_folder.h"

namespace sampan::test::killing_test {
namespace {

using namespace std::chrono_literals;

int CountFrom(const char* variable, int otherwise) {
  const char* const wish = std::getenv(variable);
  return wish != nullptr ? std::atoi(wish) : otherwise;
}

/// Ends the program if a round takes too long: a hang must not wait for the time limit of all tests.
class Watchdog {
 public:
  Watchdog()
      : thread_([this] {
          while (!over_.load()) {
            std::this_thread::sleep_for(100ms);
            if (std::chrono::steady_clock::now().time_since_epoch() < fed_.load() + 40s) continue;
            std::fputs("a round hangs for 40 s\n", stderr);
            std::abort();
          }
        }) {}
  ~Watchdog() {
    over_.store(true);
    thread_.join();
  }
  void Feed() { fed_.store(std::chrono::steady_clock::now().time_since_epoch()); }

 private:
  std::atomic<bool> over_{false};
  std::atomic<std::chrono::steady_clock::duration> fed_{std::chrono::steady_clock::now().time_since_epoch()};
  std::thread thread_;
};

/// What this process holds.
struct Holdings {
  std::size_t free_bytes = 0;
  int descriptors = 0, threads = 0;

  static Holdings Now() {
    Holdings now;
    std::size_t total = 0;
    EXPECT_ACL(ACL_SUCCESS, aclrtGetMemInfo(ACL_HBM_MEM, &now.free_bytes, &total));
    now.descriptors = EntriesOf("/proc/self/fd");
    now.threads = EntriesOf("/proc/self/task");
    return now;
  }
  /// Waits until nothing has changed for a while: connections are closed some time after their end.
  static Holdings Settled() {
    Holdings last = Now();
    for (int unchanged = 0; unchanged < 10;) {
      std::this_thread::sleep_for(10ms);
      const Holdings now = Now();
      unchanged = now == last ? unchanged + 1 : 0;
      last = now;
    }
    return last;
  }
  bool operator==(const Holdings&) const = default;

 private:
  static int EntriesOf(const char* path) {
    DIR* const folder = ::opendir(path);
    int count = 0;
    while (::readdir(folder) != nullptr)
      ++count;
    ::closedir(folder);
    return count;
  }
};

std::ostream& operator<<(std::ostream& out, const Holdings& each) {
  return out << each.free_bytes << " bytes free, " << each.descriptors << " descriptors, " << each.threads
             << " threads";
}

/// Connections are closed some time after their other side has gone.
void ExpectAgain(const Holdings& before) {
  for (int i = 0; i < 1000 && !(Holdings::Now() == before); ++i)
    std::this_thread::sleep_for(10ms);
  EXPECT_EQ(Holdings::Now(), before);
}

class HostKilling : public HostsFixture {
 protected:
  /// Reads and writes the owner's memory until that fails. What is read is what the owner has.
  void UseUntilItFails(const ImportedMemory& imported, std::uint64_t seed) {
    const Bytes expected = Contents(seed, kPiece);
    DeviceBuffer local(kPiece);
    Stream stream;
    for (;;) {
      // A read of the first half, which does not change, and a write of the second one.
      const bool writes = random.Next() % 2 != 0;
      const std::size_t half = kPiece / 2, bytes = 1 + random.Next() % half;
      const aclError submitted = writes ? aclrtMemcpyAsync(imported.at(half), bytes, local.data(), bytes,
                                                           ACL_MEMCPY_DEVICE_TO_DEVICE, stream)
                                        : aclrtMemcpyAsync(local.data(), bytes, imported.at(0), bytes,
                                                           ACL_MEMCPY_DEVICE_TO_DEVICE, stream);
      EXPECT_ACL(ACL_SUCCESS, submitted);
      const aclError code = aclrtSynchronizeStream(stream);
      if (code != ACL_SUCCESS) {
        EXPECT_ACL(ACL_ERROR_RT_LOST_HEARTBEAT, code);
        return;
      }
      if (writes) continue;
      const Bytes seen = local.Read(0, bytes);
      ASSERT_TRUE(std::equal(seen.begin(), seen.end(), expected.begin())) << bytes << " bytes";
    }
  }
  /// Runs `end` some time after the test began to copy.
  template <typename End>
  std::thread Soon(End end) {
    return std::thread([end, delay = std::chrono::microseconds(random.Next() % 30'000)] {
      std::this_thread::sleep_for(delay);
      end();
    });
  }
  void RoundWithOwner(std::uint64_t seed, bool exits) {
    FabricOwner owner(PathOfA(), seed);
    const ImportedMemory imported(owner);
    std::thread end = Soon([&] { exits ? owner.peer.Send("exit") : owner.peer.Kill(); });
    UseUntilItFails(imported, seed);
    end.join();
    if (exits) {
      EXPECT_EQ(owner.peer.Wait(), 0) << "the owner's exit code";
    }
  }

  Random random;
  Watchdog watchdog;
};

INSTANTIATE_TEST_SUITE_P(By, HostKilling, ::testing::Values(Way::kCable, Way::kLoopback),
                         [](const auto& way) { return NameOf(way.param); });

TEST_P(HostKilling, AnOwnerAtAnyMoment) {
  const int count = CountFrom("HOSTS_KILLS", 12);
  RoundWithOwner(0, false);  // first uses open what stays
  const Holdings before = Holdings::Settled();
  for (int i = 1; i <= count && !HasFailure(); ++i) {
    SCOPED_TRACE(i);
    RoundWithOwner(static_cast<std::uint64_t>(i), i % 4 == 3);
    ExpectAgain(before);
    watchdog.Feed();
  }
}

/// Memory of this process that an importer writes to.
class OwnMemory {
 public:
  explicit OwnMemory(bool by_loopback) {
    EXPECT_ACL(ACL_SUCCESS,
               aclrtMemExportToShareableHandleV2(physical_, ACL_RT_VMM_EXPORT_FLAG_DISABLE_PID_VALIDATION,
                                                 ACL_MEM_SHARE_HANDLE_TYPE_FABRIC, &fabric_));
    EXPECT_ACL(ACL_SUCCESS, aclrtMemset(range_.data(), kPiece, 0x11, kPiece));
    if (by_loopback) NameAnotherHost(fabric_);
    std::ofstream(file(), std::ios::binary)
        .write(reinterpret_cast<const char*>(fabric_.data), sizeof(fabric_.data));
  }
  std::string file() const { return folder_.path() + "/handle"; }
  Bytes Read() const { return ReadDevice(range_.at(0), kPiece); }

 private:
  TemporaryFolder folder_;
  Physical physical_{kPiece};
  Reserved range_{kPiece};
  Mapped mapped_{range_.data(), kPiece, physical_};
  aclrtMemFabricHandle fabric_ = {};
};

/// An importer writes 0x22 over the first half, and is killed, or exits with copies that have not begun.
void RoundWithImporter(const std::string& path, bool exits, std::chrono::microseconds delay) {
  constexpr std::size_t kHalf = kPiece / 2;
  OwnMemory memory(path.empty());
  Peer importer;
  if (!path.empty()) {
    EXPECT_EQ(importer.Do("enter_network", path).code, 0);
  }
  const std::string mapped = importer.Get("map", importer.Get("import_fabric", memory.file()), kPiece);
  if (exits) {
    const std::string source = importer.Get("alloc", kPiece);
    importer.Get("fill_byte", source, kPiece, 0x22);
    for (int i = 0; i < 20; ++i)
      importer.Send("copy " + mapped + ' ' + source + ' ' + std::to_string(kHalf));
    EXPECT_EQ(importer.Exit(), 0) << "the importer's exit code";
  } else {
    importer.Send("write_forever " + mapped + ' ' + std::to_string(kHalf) + ' ' + std::to_string(0x22));
    std::this_thread::sleep_for(delay);
    importer.Kill();
  }
  const Bytes seen = memory.Read();
  const auto old = [](std::byte each) { return each == std::byte{0x11}; };
  EXPECT_TRUE(std::all_of(seen.begin(), seen.begin() + kHalf,
                          [&](std::byte each) { return old(each) || each == std::byte{0x22}; }));
  EXPECT_TRUE(std::all_of(seen.begin() + kHalf, seen.end(), old)) << "bytes beside the copies";
}

TEST_P(HostKilling, AnImporterAtAnyMoment) {
  const int count = CountFrom("HOSTS_KILLS", 12);
  RoundWithImporter(PathOfA(), false, 1ms);
  RoundWithImporter(PathOfA(), true, 1ms);
  const Holdings before = Holdings::Settled();
  for (int i = 1; i <= count && !HasFailure(); ++i) {
    SCOPED_TRACE(i);
    RoundWithImporter(PathOfA(), i % 4 == 3, std::chrono::microseconds(random.Next() % 30'000));
    ExpectAgain(before);
    watchdog.Feed();
  }
}

TEST_P(HostKilling, CutsOfTheCableAtAnyMoment) {
  if (GetParam() == Way::kLoopback) GTEST_SKIP() << "loopback has no cable";
  const int count = CountFrom("HOSTS_CUTS", 3);
  FabricOwner owner(PathOfA(), 77);
  { const ImportedMemory imported(owner); }
  const Holdings before = Holdings::Settled();
  for (int i = 0; i < count && !HasFailure(); ++i) {
    SCOPED_TRACE(i);
    {
      const ImportedMemory imported(owner);
      owner.peer.Get("fill", owner.mapped, kPiece, 77);
      std::thread end = Soon([] { EXPECT_TRUE(two_hosts->CutCable()); });
      UseUntilItFails(imported, 77);
      end.join();
      EXPECT_TRUE(two_hosts->MendCable());
    }
    // The system may take more than a second until it uses the cable again.
    aclrtDrvMemHandle again = nullptr;
    aclError code = ACL_ERROR_RT_LOST_HEARTBEAT;
    for (int attempt = 0; attempt < 20 && code == ACL_ERROR_RT_LOST_HEARTBEAT; ++attempt)
      code = owner.Import(again);
    ASSERT_ACL(ACL_SUCCESS, code);
    EXPECT_ACL(ACL_SUCCESS, aclrtFreePhysical(again));
    ExpectAgain(before);
    watchdog.Feed();
  }
}

}  // namespace
}  // namespace sampan::test::killing_test
