// What a broken process writes to a board was trusted: counts and kinds beyond their bounds, memory beyond
// the end of its file, files that shrink under their users.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <functional>
#include <new>
#include <string>

#include "acl/acl.h"
#include "base/system/descriptor.h"
#include "core/sharing/share_board.h"
#include "tests/support/acl_expect.h"
#include "tests/support/child_process.h"

namespace sampan::test::broken_board_test {
namespace {

constexpr std::size_t kBoardBytes = std::size_t{core::ShareBoard::kCells} * core::ShareBoard::kCellBytes;

/// A memory file of this process, opened as any process of the user can.
Descriptor OpenOwn(const std::string& name) {
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) {
    std::error_code gone;
    const auto target = std::filesystem::read_symlink(entry.path(), gone).string();
    if (target.starts_with("/memfd:" + name))
      return Descriptor(::open(entry.path().c_str(), O_RDWR | O_CLOEXEC));
  }
  return Descriptor();
}

TEST(BrokenBoard, ItsOwnerDoesNotTrustIt) {
  if (DoneInChild()) return;
  ASSERT_ACL(ACL_SUCCESS, aclrtSetDevice(0));
  aclrtNotify notify = nullptr;
  ASSERT_ACL(ACL_SUCCESS, aclrtCreateNotify(&notify, 0));
  std::array<char, 65> key{}, again{};
  ASSERT_ACL(ACL_SUCCESS, aclrtNotifyGetExportKey(notify, key.data(), key.size(), 0));
  const Descriptor board = OpenOwn("sampan board of ");
  ASSERT_GE(board.get(), 0);
  // A peer writes nonsense over the first cell.
  std::array<unsigned char, 64> nonsense{};
  nonsense.fill(0x7F);
  ASSERT_EQ(::pwrite(board.get(), nonsense.data(), nonsense.size(), 0),
            static_cast<ssize_t>(nonsense.size()));
  std::int32_t process = 4711;
  EXPECT_ACL(ACL_SUCCESS, aclrtNotifySetImportPid(notify, &process, 1));
  EXPECT_ACL(ACL_SUCCESS, aclrtNotifyGetExportKey(notify, again.data(), again.size(), 0));
  EXPECT_EQ(std::string(key.data()), std::string(again.data()));
  EXPECT_ACL(ACL_SUCCESS, aclrtDestroyNotify(notify));
}

TEST(BrokenBoard, FilesCannotBeMadeShorter) {
  if (DoneInChild()) return;
  ASSERT_ACL(ACL_SUCCESS, aclrtSetDevice(0));
  void* memory = nullptr;
  std::array<char, 65> key{};
  ASSERT_ACL(ACL_SUCCESS, aclrtMalloc(&memory, 4096, ACL_MEM_MALLOC_HUGE_FIRST));
  ASSERT_ACL(ACL_SUCCESS, aclrtIpcMemGetExportKey(memory, 4096, key.data(), key.size(), 0));
  for (const char* name : {"sampan board of ", "sampan device 0", "sampan pinned"}) {
    const Descriptor file = OpenOwn(name);
    ASSERT_GE(file.get(), 0) << name;
    EXPECT_EQ(::ftruncate(file.get(), 0), -1) << name;
    EXPECT_EQ(errno, EPERM) << name;
  }
  EXPECT_ACL(ACL_SUCCESS, aclrtMemset(memory, 4096, 1, 4096));
}

/// A process that shows a board and memory which are not quite as they should be.
struct BrokenPeer {
  bool seals_board = true, seals_memory = true;
  std::uint64_t memory_bytes = 1 << 20;
  std::function<void(core::SharedCell&)> spoil = [](core::SharedCell&) {};

  [[noreturn]] void Run(int ready) const {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);  // a test that dies must not leave it behind
    const auto make = [](const std::string& name, std::uint64_t bytes, bool seals) {
      const int file = ::memfd_create(name.c_str(), MFD_CLOEXEC | MFD_ALLOW_SEALING);
      if (::ftruncate(file, static_cast<off_t>(bytes)) != 0) ::_exit(1);
      if (seals) ::fcntl(file, F_ADD_SEALS, F_SEAL_SHRINK);
      return file;
    };
    const int board = make(core::ShareBoard::FileName(::getpid()), kBoardBytes, seals_board);
    const int memory = make("sampan device 0", memory_bytes, seals_memory);
    void* const mapped = ::mmap(nullptr, kBoardBytes, PROT_READ | PROT_WRITE, MAP_SHARED, board, 0);
    if (mapped == MAP_FAILED) ::_exit(1);
    core::SharedCell& cell = *new (mapped) core::SharedCell;
    cell.kind = core::SharedKind::kMemory;
    cell.secret = {1, 2};
    cell.for_all_processes.store(1);
    cell.extent = {.descriptor = memory, .device = 0, .offset = 0, .bytes = 4096};
    spoil(cell);
    cell.state.store(core::SharedCell::kOpen);
    const char done = 1;
    if (::write(ready, &done, 1) != 1) ::_exit(1);
    for (;;)
      ::pause();
  }
};

aclError ImportFrom(const BrokenPeer& peer) {
  int ready[2];
  if (::pipe(ready) != 0) return ACL_ERROR_FAILURE;
  const pid_t process = ::fork();
  if (process == 0) peer.Run(ready[1]);
  char done = 0;
  aclError code = ACL_ERROR_FAILURE;
  if (::read(ready[0], &done, 1) == 1) {
    std::array<char, 80> key{};
    std::snprintf(key.data(), key.size(), "sampan:m:%08x%08x%016x%016x", static_cast<unsigned>(process), 0U,
                  1U, 2U);
    void* memory = nullptr;
    code = aclrtIpcMemImportByKey(&memory, key.data(), 0);
    std::array<char, 64> bytes{};
    // The last of the bytes that were promised: beyond the end of a file the process would get SIGBUS.
    if (code == ACL_SUCCESS)
      code = aclrtMemcpy(bytes.data(), 1, static_cast<char*>(memory) + 4095, 1, ACL_MEMCPY_DEVICE_TO_HOST);
  }
  ::kill(process, SIGKILL);
  ::waitpid(process, nullptr, 0);
  ::close(ready[0]);
  ::close(ready[1]);
  return code;
}

BrokenPeer Spoiled(std::function<void(core::SharedExtent&)> spoil) {
  BrokenPeer peer;
  peer.spoil = [spoil = std::move(spoil)](core::SharedCell& cell) { spoil(cell.extent); };
  return peer;
}

TEST(BrokenBoard, ItsImportersDoNotTrustIt) {
  if (DoneInChild()) return;
  ASSERT_ACL(ACL_SUCCESS, aclrtSetDevice(0));
  EXPECT_ACL(ACL_SUCCESS, ImportFrom({})) << "nothing is broken";
  const auto refused = [](const BrokenPeer& peer, const char* what) {
    EXPECT_ACL(ACL_ERROR_RT_PARAM_INVALID, ImportFrom(peer)) << what;
  };
  refused({.seals_board = false}, "a board that can be made shorter");
  refused({.seals_memory = false}, "memory that can be made shorter");
  refused({.memory_bytes = 2048}, "memory that is shorter than it says");
  refused(Spoiled([](core::SharedExtent& extent) { extent.offset = 1 << 20; }), "behind the end");
  refused(Spoiled([](core::SharedExtent& extent) { extent.offset = UINT64_MAX - 4095; }),
          "an offset that overflows");
  refused(Spoiled([](core::SharedExtent& extent) { extent.bytes = UINT64_MAX; }),
          "more bytes than there are");
  refused(Spoiled([](core::SharedExtent& extent) { extent.bytes = 0; }), "no bytes");
  refused(Spoiled([](core::SharedExtent& extent) { extent.page_bytes = 0; }), "no page size");
  refused(Spoiled([](core::SharedExtent& extent) { extent.page_bytes = 4097; }), "an odd page size");
  refused(Spoiled([](core::SharedExtent& extent) { extent.device = -7; }), "no device");
  refused(Spoiled([](core::SharedExtent& extent) { extent.descriptor = 0; }), "another kind of file");
}

}  // namespace
}  // namespace sampan::test::broken_board_test
