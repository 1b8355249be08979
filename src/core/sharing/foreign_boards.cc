// The boards of other processes, found through /proc and mapped while they are used.
#include "core/sharing/foreign_boards.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <filesystem>
#include <memory>
#include <new>
#include <string>
#include <system_error>

#include "base/error/system_error.h"
#include "base/error/text.h"
#include "base/system/memory_file.h"

#ifndef SYS_pidfd_open
#define SYS_pidfd_open 434
#endif

namespace sampan::core {
namespace {

constexpr std::uint32_t kMinPageBytes = 4096, kMaxPageBytes = 1U << 30;
/// Larger than any address space; the sum of two such numbers does not overflow.
constexpr std::uint64_t kMaxFileBytes = std::uint64_t{1} << 62;
constexpr std::size_t kBoardBytes = std::size_t{ShareBoard::kCells} * ShareBoard::kCellBytes;
/// The prefix that the system shows for our memory files among a process's descriptors.
constexpr std::string_view kOurFiles = "/memfd:sampan ";

std::string FolderOf(std::int32_t process) {
  return Text("/proc/", process, "/fd");
}

/// The target of a process's descriptor; empty if it cannot be read.
std::string LinkOf(const std::string& path) {
  std::array<char, 256> text{};
  const ssize_t length = ::readlink(path.c_str(), text.data(), text.size());
  return length > 0 ? std::string(text.data(), static_cast<std::size_t>(length)) : std::string();
}

/// The process's descriptor of its board; -1 if it has none or it cannot be read.
int FindBoard(std::int32_t process) {
  const std::string folder = FolderOf(process);
  const std::string wanted = Text("/memfd:", ShareBoard::FileName(process), " ");  // "(deleted)" follows
  std::error_code failure;
  std::filesystem::directory_iterator each(folder, failure);
  for (; !failure && each != std::filesystem::directory_iterator(); each.increment(failure)) {
    if (LinkOf(each->path()).starts_with(wanted)) return std::stoi(each->path().filename());
  }
  return -1;
}

Status Gone(std::int32_t process) {
  return {Code::kParamInvalid, Text("process ", process,
                                    ", which the key is of, has ended, shares nothing, is another user's, or "
                                    "is on another host or in another network namespace")};
}

/// Another network namespace counts as another host.
bool IsOnThisHost(std::int32_t process) {
  struct stat ours = {}, theirs = {};
  return ::stat("/proc/self/ns/net", &ours) == 0 &&
         ::stat(Text("/proc/", process, "/ns/net").c_str(), &theirs) == 0 && ours.st_ino == theirs.st_ino;
}

}  // namespace

Result<std::shared_ptr<ForeignBoard>> ForeignBoard::Open(std::int32_t process) {
  std::shared_ptr<ForeignBoard> board(new ForeignBoard(process));
  if (Status mapped = board->Map(); !mapped.ok()) return mapped;
  return board;
}

Status ForeignBoard::Map() {
  watch_ = static_cast<int>(::syscall(SYS_pidfd_open, process_, 0));
  if (watch_ < 0 && errno != ENOSYS) return Gone(process_);
  const int there = IsOnThisHost(process_) ? FindBoard(process_) : -1;
  if (there < 0) return Gone(process_);
  file_ = ::open(Text(FolderOf(process_), "/", there).c_str(), O_RDWR | O_CLOEXEC);
  if (!IsSafeToMap(file_, kBoardBytes)) return Gone(process_);
  void* const mapped =
      ::mmap(nullptr, kBoardBytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, file_, 0);
  if (mapped == MAP_FAILED) {
    return {Code::kResourceAllocFail,
            Text("the board of process ", process_, " cannot be mapped: ", SystemError(errno))};
  }
  cells_ = static_cast<std::byte*>(mapped);
  return {};
}

ForeignBoard::~ForeignBoard() {
  if (cells_ != nullptr) ::munmap(cells_, kBoardBytes);
  for (const auto& entry : files_)
    ::close(entry.second);
  if (file_ >= 0) ::close(file_);
  if (watch_ >= 0) ::close(watch_);
}

bool ForeignBoard::Alive() const noexcept {
  if (watch_ < 0) return ::access(FolderOf(process_).c_str(), F_OK) == 0;
  pollfd ended = {watch_, POLLIN, 0};
  return ::poll(&ended, 1, 0) == 0;
}

SharedCell& ForeignBoard::At(std::uint32_t index) const {
  return *std::launder(reinterpret_cast<SharedCell*>(cells_ + std::size_t{index} * ShareBoard::kCellBytes));
}

Status ForeignBoard::Lock(std::uint32_t index, short type) noexcept {
  struct flock lock = {};
  lock.l_type = type;
  lock.l_whence = SEEK_SET;
  lock.l_start = index;
  lock.l_len = 1;
  if (::fcntl(file_, F_OFD_SETLK, &lock) == 0) return {};
  return {Code::kResourceAllocFail, Text("the system refuses a lock: ", SystemError(errno))};
}

Status ForeignBoard::Hold(std::uint32_t index) {
  const std::lock_guard lock(mutex_);
  auto& holds = holds_[index];
  if (holds == 0) {
    if (Status locked = Lock(index, F_RDLCK); !locked.ok()) {
      holds_.erase(index);
      return locked;
    }
  }
  ++holds;
  return {};
}

void ForeignBoard::LetGo(std::uint32_t index) noexcept {
  const std::lock_guard lock(mutex_);
  const auto held = holds_.find(index);
  if (held == holds_.end() || --held->second > 0) return;
  holds_.erase(held);
  static_cast<void>(Lock(index, F_UNLCK));
}

Result<int> ForeignBoard::OpenFile(std::int32_t descriptor) {
  const std::lock_guard lock(mutex_);
  if (const auto known = files_.find(descriptor); known != files_.end()) return known->second;
  const std::string path = Text(FolderOf(process_), "/", descriptor);
  // Check the type before opening: opening another kind of file might have effects.
  if (!LinkOf(path).starts_with(kOurFiles)) return Gone(process_);
  const auto entry = files_.emplace(descriptor, -1).first;
  entry->second = ::open(path.c_str(), O_RDWR | O_CLOEXEC);
  if (entry->second >= 0) return entry->second;
  files_.erase(entry);
  return Gone(process_);
}

Result<SharedExtent> ForeignCell::Extent() const {
  const SharedExtent extent = (*this)->extent;
  const bool is_page_size = extent.page_bytes >= kMinPageBytes && extent.page_bytes <= kMaxPageBytes &&
                            (extent.page_bytes & (extent.page_bytes - 1)) == 0;
  const bool is_range = extent.bytes != 0 && extent.bytes <= kMaxFileBytes && extent.offset <= kMaxFileBytes;
  if (is_page_size && is_range && extent.device >= -1) return extent;
  return Error{
      Code::kParamInvalid,
      Text("the board of process ", board_->process(), " says nonsense about shared memory: ", extent.bytes,
           " bytes at ", extent.offset, ", pages of ", extent.page_bytes, " bytes, device ", extent.device)};
}

Result<MemoryFile> ForeignCell::OpenMemory(VirtualMemory& views, const SharedExtent& extent,
                                           std::int32_t device) const {
  MemoryFile file{.offset = extent.offset,
                  .bytes = extent.bytes,
                  .host_visible = extent.device < 0,
                  .device = extent.device < 0 ? -1 : device};
  if (extent.file_server == 0) {
    auto opened = board_->OpenFile(extent.descriptor);
    if (!opened.ok()) return opened.TakeStatus();
    if (!IsSafeToMap(*opened, extent.offset + extent.bytes)) return Gone(board_->process());
    file.descriptor = *opened;
    return file;
  }
  if (extent.whole_bytes < extent.bytes || extent.offset > extent.whole_bytes - extent.bytes)
    return Gone(board_->process());
  auto given =
      ReceiveFile(board_->process(), extent.file_server, {.cell = index_, .secret = (*this)->secret});
  if (!given.ok()) return given.TakeStatus();
  auto handle = views.Import(*given, extent.whole_bytes);
  if (!handle.ok()) return handle.TakeStatus();
  file.handle = std::move(*handle);
  return file;
}

Result<std::shared_ptr<ForeignBoard>> ForeignBoards::BoardOf(std::int32_t process) {
  const std::lock_guard lock(mutex_);
  if (const auto known = boards_.find(process); known != boards_.end()) {
    if (known->second->Alive()) return known->second;
  }
  std::erase_if(boards_, [](const auto& entry) { return !entry.second->Alive(); });
  auto board = ForeignBoard::Open(process);
  if (board.ok()) boards_.emplace(process, *board);
  return board;
}

Result<std::shared_ptr<ForeignCell>> ForeignBoards::Import(const CellAddress& address, SharedKind kind) {
  auto board = BoardOf(address.process);
  if (!board.ok()) return board.TakeStatus();
  if (Status held = (*board)->Hold(address.index); !held.ok()) return held;
  std::shared_ptr<ForeignCell> cell;
  try {
    cell = std::make_shared<ForeignCell>(*board, address.index);
  } catch (...) {
    (*board)->LetGo(address.index);
    throw;
  }
  // Hold first, then check. The owner closes first, then checks for holders.
  if (!address.Matches(**cell, kind)) {
    return Error{Code::kParamInvalid, Text("process ", address.process, " shares ", Describe(kind),
                                           " under this key no more, or never did")};
  }
  const std::int32_t self = ::getpid();
  if (address.process == self || (*cell)->for_all_processes.load() != 0) return cell;
  const std::uint32_t count = (*cell)->process_count.load();
  for (std::uint32_t i = 0; i < count && i < SharedCell::kMaxProcesses; ++i) {
    if ((*cell)->processes[i].load() == self) return cell;
  }
  return Error{Code::kNoPermission, Text("process ", address.process, " shares ", Describe(kind),
                                         " with processes that it named, and ", self, " is not one of them")};
}

}  // namespace sampan::core
