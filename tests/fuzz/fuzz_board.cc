// libFuzzer target: bytes become what another process writes into the boards by which processes share
// objects.
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <new>
#include <string>

#include "acl/acl.h"
#include "core/sharing/share_board.h"
#include "tests/fuzz/fuzz_descriptors.h"
#include "tests/fuzz/fuzz_failure.h"
#include "tests/fuzz/fuzz_input.h"
#include "tests/fuzz/peer_process.h"

namespace sampan::fuzz {
namespace {

constexpr std::size_t kBoardBytes = std::size_t{core::ShareBoard::kCells} * core::ShareBoard::kCellBytes;
constexpr std::uint64_t kMemoryBytes = 1 << 20, kSharedBytes = 8192;
constexpr std::array<std::uint64_t, 2> kSecret = {0x1234567, 0x89ABCDEF};
/// Cells that are found by number lie in the upper half.
constexpr std::uint32_t kCell = 3, kNumberedCell = core::ShareBoard::kCells / 2 + 3;
constexpr std::int32_t kShortMs = 2, kLongMs = 20000;

/// What the peer has open, by its own descriptors.
struct PeerFiles {
  int board = -1, memory = -1;
};
PeerFiles peer_files;
pid_t peer = 0;

/// In the peer: a board and memory as the runtime makes them, and memory that can shrink.
PeerFiles MakeFiles() {
  const auto make = [](const std::string& name, std::uint64_t bytes, int seals) {
    const int file = ::memfd_create(name.c_str(), MFD_CLOEXEC | MFD_ALLOW_SEALING);
    if (::ftruncate(file, static_cast<off_t>(bytes)) != 0 || ::fcntl(file, F_ADD_SEALS, seals) != 0)
      ::_exit(1);
    return file;
  };
  PeerFiles files;
  files.board = make(core::ShareBoard::FileName(::getpid()), kBoardBytes, F_SEAL_SHRINK);
  files.memory = make("sampan device 0", kMemoryBytes, F_SEAL_SHRINK);
  make("sampan device 1", kMemoryBytes, F_SEAL_GROW);
  make("sampan device 2", 512, F_SEAL_SHRINK);
  return files;
}

/// A board's cells, mapped as any process of the user can map them.
std::byte* MapBoard(const std::string& path) {
  const int file = ::open(path.c_str(), O_RDWR | O_CLOEXEC);
  void* const mapped = ::mmap(nullptr, kBoardBytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  if (mapped == MAP_FAILED) FailInput("the board cannot be mapped", errno);
  ::close(file);
  return static_cast<std::byte*>(mapped);
}

std::byte* CellAt(std::byte* board, std::uint32_t index) {
  return board + std::size_t{index} * core::ShareBoard::kCellBytes;
}

/// A cell that is right in everything.
void WriteCell(std::byte* at, core::SharedKind kind) {
  std::memset(at, 0, core::ShareBoard::kCellBytes);
  core::SharedCell& cell = *new (at) core::SharedCell;
  cell.kind = kind;
  cell.secret = kSecret;
  cell.for_all_processes.store(1);
  cell.number = 7;
  cell.extent = {.descriptor = peer_files.memory,
                 .device = 0,
                 .offset = 4096,
                 .bytes = kSharedBytes,
                 .page_bytes = 4096,
                 .location_type = 1};
  cell.state.store(core::SharedCell::kOpen);
}

/// Writes bytes of the input over parts of a cell.
void Spoil(Input& input, std::byte* cell) {
  for (std::size_t patches = input.Below(4); patches > 0; --patches) {
    const std::size_t from = input.Short() % core::ShareBoard::kCellBytes;
    const std::size_t length = 1 + input.Below(16);
    for (std::size_t i = from; i < from + length && i < core::ShareBoard::kCellBytes; ++i)
      cell[i] = static_cast<std::byte>(input.Byte());
  }
}

std::string KeyOf(char letter) {
  std::array<char, 80> key{};
  std::snprintf(key.data(), key.size(), "sampan:%c:%08x%08x%016llx%016llx", letter,
                static_cast<unsigned>(peer), kCell, static_cast<unsigned long long>(kSecret[0]),
                static_cast<unsigned long long>(kSecret[1]));
  return key.data();
}

/// A stream that may be held for ever.
class HeldStream {
 public:
  HeldStream() {
    if (aclrtCreateStream(&stream_) != ACL_SUCCESS) FailInput("aclrtCreateStream");
  }
  ~HeldStream() {
    static_cast<void>(aclrtSynchronizeStreamWithTimeout(stream_, kShortMs));
    if (aclrtDestroyStreamForce(stream_) != ACL_SUCCESS) FailInput("aclrtDestroyStreamForce");
  }
  HeldStream(const HeldStream&) = delete;
  HeldStream& operator=(const HeldStream&) = delete;
  operator aclrtStream() const { return stream_; }

 private:
  aclrtStream stream_ = nullptr;
};

/// Reads both ends of memory that another process says to share.
void ReadEnds(void* memory) {
  std::size_t bytes = 0;
  if (aclrtMemGetAddressRange(memory, nullptr, &bytes) != ACL_SUCCESS || bytes == 0)
    FailInput("imported memory without a range");
  for (const std::size_t at : {std::size_t{0}, bytes - 1}) {
    char seen = 0;
    if (aclrtMemcpy(&seen, 1, static_cast<char*>(memory) + at, 1, ACL_MEMCPY_DEVICE_TO_HOST) != ACL_SUCCESS)
      FailInput("imported memory that cannot be read", static_cast<long long>(at));
  }
}

void ImportMemory(Input& input, std::byte* cell) {
  const std::string key = KeyOf('m');
  void* memory = nullptr;
  if (aclrtIpcMemImportByKey(&memory, key.c_str(), 0) != ACL_SUCCESS) return;
  Spoil(input, cell);
  ReadEnds(memory);
  if (aclrtIpcMemClose(key.c_str()) != ACL_SUCCESS) FailInput("aclrtIpcMemClose");
}

void ImportPhysical(Input& input, std::byte* cell) {
  constexpr unsigned kIndexBits = 17, kSecretBits = 25;
  const std::uint64_t number =
      ((static_cast<std::uint64_t>(peer) << kIndexBits | kNumberedCell) << kSecretBits) |
      (kSecret[0] & ((1U << kSecretBits) - 1));
  aclrtDrvMemHandle handle = nullptr;
  if (aclrtMemImportFromShareableHandle(number, 0, &handle) != ACL_SUCCESS) return;
  Spoil(input, cell);
  aclrtPhysicalMemProp properties{};
  static_cast<void>(aclrtMemGetAllocationPropertiesFromHandle(handle, &properties));
  void* range = nullptr;
  constexpr std::size_t kRange = std::size_t{2} << 20;
  if (aclrtReserveMemAddress(&range, kRange, 0, nullptr, 0) != ACL_SUCCESS)
    FailInput("aclrtReserveMemAddress");
  if (aclrtMapMem(range, input.Below(2) == 0 ? kRange : kSharedBytes, 0, handle, 0) == ACL_SUCCESS) {
    ReadEnds(range);
    if (aclrtUnmapMem(range) != ACL_SUCCESS) FailInput("aclrtUnmapMem");
  }
  if (aclrtReleaseMemAddress(range) != ACL_SUCCESS || aclrtFreePhysical(handle) != ACL_SUCCESS)
    FailInput("aclrtFreePhysical");
}

void UseNotify(Input& input, aclrtNotify notify, std::byte* cell) {
  const HeldStream stream;
  for (int step = 0; step < 3; ++step) {
    Spoil(input, cell);
    switch (input.Below(4)) {
      case 0:
        static_cast<void>(aclrtRecordNotify(notify, stream));
        break;
      case 1:
        static_cast<void>(aclrtWaitAndResetNotify(notify, stream, 0));
        break;
      case 2:
        static_cast<void>(aclrtNotifyBatchReset(&notify, 1));
        break;
      default: {
        std::array<char, 65> key{};
        std::int32_t process = ::getpid();
        static_cast<void>(aclrtNotifySetImportPid(notify, &process, 1));
        static_cast<void>(aclrtNotifyGetExportKey(notify, key.data(), key.size(), 0));
      }
    }
  }
  if (aclrtDestroyNotify(notify) != ACL_SUCCESS) FailInput("aclrtDestroyNotify");
}

void UseEvent(Input& input, aclrtEvent event, std::byte* cell) {
  const HeldStream stream;
  for (int step = 0; step < 3; ++step) {
    Spoil(input, cell);
    aclrtEventRecordedStatus status;
    switch (input.Below(4)) {
      case 0:
        static_cast<void>(aclrtRecordEvent(event, stream));
        break;
      case 1:
        static_cast<void>(aclrtStreamWaitEvent(stream, event));
        break;
      case 2:
        static_cast<void>(aclrtSynchronizeEventWithTimeout(event, kShortMs));
        break;
      default:
        static_cast<void>(aclrtQueryEventStatus(event, &status));
    }
  }
  if (aclrtDestroyEvent(event) != ACL_SUCCESS) FailInput("aclrtDestroyEvent");
}

/// The board of another process.
void FuzzPeer(Input& input) {
  static std::byte* const board =
      MapBoard("/proc/" + std::to_string(peer) + "/fd/" + std::to_string(peer_files.board));
  const auto kind = static_cast<core::SharedKind>(1 + input.Below(4));
  std::byte* const cell = CellAt(board, kind == core::SharedKind::kPhysical ? kNumberedCell : kCell);
  WriteCell(cell, kind);
  Spoil(input, cell);
  switch (kind) {
    case core::SharedKind::kNotify: {
      aclrtNotify notify = nullptr;
      if (aclrtNotifyImportByKey(&notify, KeyOf('n').c_str(), 0) == ACL_SUCCESS)
        UseNotify(input, notify, cell);
      return;
    }
    case core::SharedKind::kEvent: {
      aclrtIpcEventHandle handle{};
      aclrtEvent event = nullptr;
      const std::string key = KeyOf('e');
      std::copy(key.begin(), key.end(), handle.reserved);
      if (aclrtIpcOpenEventHandle(handle, &event) == ACL_SUCCESS) UseEvent(input, event, cell);
      return;
    }
    case core::SharedKind::kMemory:
      return ImportMemory(input, cell);
    case core::SharedKind::kPhysical:
      return ImportPhysical(input, cell);
  }
}

std::byte* MapOwnBoard() {
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) {
    std::error_code gone;
    const auto target = std::filesystem::read_symlink(entry.path(), gone).string();
    if (target.starts_with("/memfd:" + core::ShareBoard::FileName(::getpid()))) return MapBoard(entry.path());
  }
  FailInput("there is no board");
}

/// The index of a key's cell: the digits behind those of the process.
std::uint32_t IndexOf(const char* key) {
  return static_cast<std::uint32_t>(std::stoul(std::string(key).substr(17, 8), nullptr, 16));
}

/// The board of this process, into which importers can write.
void FuzzOwn(Input& input) {
  std::array<char, 65> key{};
  aclrtNotify notify = nullptr;
  aclrtEvent event = nullptr;
  void* memory = nullptr;
  const std::size_t kind = input.Below(3);
  aclrtIpcEventHandle handle{};
  aclError code = ACL_SUCCESS;
  if (kind == 0) {
    code = aclrtCreateNotify(&notify, 0);
    if (code == ACL_SUCCESS) code = aclrtNotifyGetExportKey(notify, key.data(), key.size(), 0);
  } else if (kind == 1) {
    code = aclrtCreateEventExWithFlag(&event, ACL_EVENT_IPC);
    if (code == ACL_SUCCESS) code = aclrtIpcGetEventHandle(event, &handle);
    std::memcpy(key.data(), handle.reserved, key.size() - 1);
  } else {
    code = aclrtMalloc(&memory, kSharedBytes, ACL_MEM_MALLOC_HUGE_FIRST);
    if (code == ACL_SUCCESS) code = aclrtIpcMemGetExportKey(memory, kSharedBytes, key.data(), key.size(), 0);
  }
  if (code != ACL_SUCCESS) FailInput("nothing can be shared", code);
  static std::byte* const board = MapOwnBoard();
  std::byte* const cell = CellAt(board, IndexOf(key.data()));
  Spoil(input, cell);
  if (kind == 0) return UseNotify(input, notify, cell);
  if (kind == 1) return UseEvent(input, event, cell);
  std::int32_t process = ::getpid();
  if (aclrtIpcMemSetImportPid(key.data(), &process, 1) != ACL_SUCCESS) FailInput("aclrtIpcMemSetImportPid");
  void* again = nullptr;
  if (aclrtIpcMemImportByKey(&again, key.data(), 0) == ACL_SUCCESS) {
    ReadEnds(again);
    if (aclrtIpcMemClose(key.data()) != ACL_SUCCESS) FailInput("aclrtIpcMemClose");
  }
  if (aclrtIpcMemClose(key.data()) != ACL_SUCCESS || aclrtFree(memory) != ACL_SUCCESS) FailInput("aclrtFree");
}

void FuzzBoard(Input input) {
  if (aclrtSetDevice(0) != ACL_SUCCESS) FailInput("aclrtSetDevice");
  aclrtGetLastError(ACL_RT_THREAD_LEVEL);
  input.Below(4) == 0 ? FuzzOwn(input) : FuzzPeer(input);
  if (aclrtSynchronizeStreamWithTimeout(nullptr, kLongMs) != ACL_SUCCESS)
    FailInput("the default stream does not go on");
  CheckDescriptorCount();
}

}  // namespace
}  // namespace sampan::fuzz

extern "C" int LLVMFuzzerInitialize(int*, char***) {
  sampan::fuzz::peer_files = sampan::fuzz::StartPeer(sampan::fuzz::MakeFiles, &sampan::fuzz::peer);
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  sampan::fuzz::FuzzBoard(sampan::fuzz::Input({data, size}));
  return 0;
}
