// Memory of a process on another host: every form of copy, rights, endings and faults.
// Rules of docs/BEHAVIOUR.md: share-9, share-11, share-12, share-13, share-14.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>

#include <chrono>
#include <cstring>
#include <fstream>
#include <memory>
#include <string>
#include <thread>

#include "acl/acl.h"
#include "tests/hosts/two_hosts.h"
#include "tests/process/contents.h"
#include "tests/process/peer.h"
#include "tests/support/acl_expect.h"
#include "tests/support/mapped_memory.h"
#include "tests/support/memory_buffer.h"
#include "tests/support/stream.h"
#include "tests/support/temporary_folder.h"

namespace sampan::test::hosts_test {
namespace {

using namespace std::chrono_literals;

/// How owners are reached.
enum class Way {
  kCable,     ///< they live on the other host
  kLoopback,  ///< they live on this host, and their handles name another one
};

/// Changes which host a handle names, and corrects its checksum.
void NameAnotherHost(aclrtMemFabricHandle& fabric) {
  constexpr std::size_t kChecksumAt = 8, kCheckedFrom = 16, kNetworkAt = 32;
  fabric.data[kNetworkAt + 7] ^= 1;
  std::uint64_t sum = 0xcbf29ce484222325;
  for (std::size_t i = kCheckedFrom; i < sizeof(fabric.data); ++i)
    sum = (sum ^ fabric.data[i]) * 0x100000001b3;
  std::memcpy(fabric.data + kChecksumAt, &sum, sizeof(sum));
}

/// Where host a is. Empty: owners are reached over loopback.
struct Network {
  std::string path;
};

/// A process with memory that it exports.
class Owner {
 public:
  Owner(const Network& network, std::uint64_t seed, const std::string& place = "device", int flags = 1)
      : by_loopback_(network.path.empty()) {
    if (!by_loopback_) {
      EXPECT_EQ(peer.Do("enter_network", network.path).code, 0);
    }
    physical = peer.Get("physical", kPiece, place);
    mapped = peer.Get("map", physical, kPiece);
    peer.Get("fill", mapped, kPiece, seed);
    peer.Get("export_fabric", physical, flags, folder_.path() + "/handle");
  }
  std::string file() const { return folder_.path() + "/handle"; }
  aclrtMemFabricHandle handle() const {
    aclrtMemFabricHandle fabric = {};
    std::ifstream(file(), std::ios::binary).read(reinterpret_cast<char*>(fabric.data), sizeof(fabric.data));
    return fabric;
  }
  aclError Import(aclrtDrvMemHandle& imported) const {
    aclrtMemFabricHandle fabric = handle();
    if (by_loopback_) NameAnotherHost(fabric);
    return aclrtMemImportFromShareableHandleV2(&fabric, ACL_MEM_SHARE_HANDLE_TYPE_FABRIC, 0, &imported);
  }
  bool Has(std::uint64_t seed) { return peer.Get("check", mapped, kPiece, seed) == "same"; }

  Peer peer;
  std::string physical, mapped;

 private:
  const bool by_loopback_;
  TemporaryFolder folder_;
};

/// An import of an owner's memory, mapped at an address.
class Imported {
 public:
  explicit Imported(const Owner& owner) : range_(kPiece) {
    EXPECT_ACL(ACL_SUCCESS, owner.Import(handle_));
    mapped_ = std::make_unique<Mapped>(range_.data(), kPiece, handle_);
  }
  ~Imported() {
    mapped_.reset();
    EXPECT_ACL(ACL_SUCCESS, aclrtFreePhysical(handle_));
  }
  Imported(const Imported&) = delete;
  Imported& operator=(const Imported&) = delete;
  std::byte* at(std::size_t offset) const { return range_.at(offset); }
  aclrtDrvMemHandle handle() const { return handle_; }

 private:
  Reserved range_;
  aclrtDrvMemHandle handle_ = nullptr;
  std::unique_ptr<Mapped> mapped_;
};

class Hosts : public ::testing::TestWithParam<Way> {
 protected:
  static void SetUpTestSuite() {
    two_hosts = new TwoHosts;
    ASSERT_ACL(ACL_SUCCESS, aclrtSetDevice(0));
  }
  static void TearDownTestSuite() {
    EXPECT_ACL(ACL_SUCCESS, aclrtResetDevice(0));
    delete std::exchange(two_hosts, nullptr);
  }
  void SetUp() override {
    if (GetParam() == Way::kCable && !two_hosts->made())
      GTEST_SKIP() << "network namespaces cannot be made here: root and the command ip are needed";
  }
  static Network a() { return {GetParam() == Way::kCable ? two_hosts->path_of_a() : ""}; }
  static TwoHosts* two_hosts;
};
TwoHosts* Hosts::two_hosts = nullptr;

INSTANTIATE_TEST_SUITE_P(By, Hosts, ::testing::Values(Way::kCable, Way::kLoopback),
                         [](const auto& way) { return way.param == Way::kCable ? "Cable" : "Loopback"; });

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
  Owner owner(a(), 1);
  const Imported imported(owner);
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
  Owner owner(a(), 4), other(a(), 5);
  const Imported imported(owner), second(other);
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
  Owner owner(a(), 6, "host");
  const Imported imported(owner);
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
  Owner owner(a(), 8);
  const Imported imported(owner);
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
  Owner owner(a(), 9, "device", 0);
  aclrtDrvMemHandle imported = nullptr;
  EXPECT_ACL(ACL_ERROR_RT_NO_PERMISSION, owner.Import(imported));
  EXPECT_TRUE(MessageHas(std::to_string(getpid())));
  owner.peer.Get("admit_fabric", owner.file(), getpid());
  const Imported admitted(owner);
  EXPECT_EQ(ReadDevice(admitted.at(0), kPiece), Contents(9, kPiece));
}

TEST_P(Hosts, FreedMemoryIsRefusedAndNeverServed) {
  Owner owner(a(), 10);
  const Imported imported(owner);
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
  Owner owner(a(), 12), other(a(), 13);
  const Imported imported(owner), alive(other);
  const pid_t process = owner.peer.process();
  owner.peer.Kill();
  std::byte byte{};
  const auto begin = std::chrono::steady_clock::now();
  EXPECT_ACL(ACL_ERROR_RT_LOST_HEARTBEAT,
             aclrtMemcpy(&byte, 1, imported.at(0), 1, ACL_MEMCPY_DEVICE_TO_HOST));
  EXPECT_LT(std::chrono::steady_clock::now() - begin, 30s);
  EXPECT_TRUE(MessageHas("process " + std::to_string(process) + " on host "));
  EXPECT_EQ(ReadDevice(alive.at(0), kPiece), Contents(13, kPiece));
  Owner restarted(a(), 14);
  const Imported second(restarted);
  EXPECT_EQ(ReadDevice(second.at(0), kPiece), Contents(14, kPiece));
}

TEST_P(Hosts, AStoppedOwnerIsLostAfterTheLimit) {
  Owner owner(a(), 15);
  const Imported imported(owner);
  Stop(owner.peer.process());
  DeviceBuffer local(kPiece);
  Stream stream;
  EXPECT_ACL(ACL_SUCCESS, CopyAsync(imported.at(0), local.data(), kPiece, stream));
  EXPECT_ACL(ACL_ERROR_RT_LOST_HEARTBEAT, aclrtSynchronizeStream(stream));
  ::kill(owner.peer.process(), SIGCONT);
}

TEST_P(Hosts, AnAbortWaitsForACopyThatRuns) {
  Owner owner(a(), 17);
  const Imported imported(owner);
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
  Owner owner(a(), 16);
  const Imported imported(owner);
  ASSERT_TRUE(two_hosts->CutCable());
  DeviceBuffer local(kPiece);
  Stream stream;
  EXPECT_ACL(ACL_SUCCESS, CopyAsync(local.data(), imported.at(0), kPiece, stream));
  EXPECT_ACL(ACL_ERROR_RT_LOST_HEARTBEAT, aclrtSynchronizeStream(stream));
  aclrtDrvMemHandle unreachable = nullptr;
  EXPECT_ACL(ACL_ERROR_RT_LOST_HEARTBEAT, owner.Import(unreachable));
  ASSERT_TRUE(two_hosts->MendCable());
  // The system may take more than a second until it uses the cable again.
  aclError code = ACL_ERROR_RT_LOST_HEARTBEAT;
  for (int attempt = 0; attempt < 20 && code == ACL_ERROR_RT_LOST_HEARTBEAT; ++attempt)
    code = owner.Import(unreachable);
  ASSERT_ACL(ACL_SUCCESS, code);
  EXPECT_ACL(ACL_SUCCESS, aclrtFreePhysical(unreachable));
  const Imported again(owner);
  EXPECT_EQ(ReadDevice(again.at(0), kPiece), Contents(16, kPiece));
}

}  // namespace
}  // namespace sampan::test::hosts_test
