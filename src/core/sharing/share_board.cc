// The board of this process: cells in a file that other processes can map, each with a secret key.
#include "core/sharing/share_board.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <new>
#include <numeric>
#include <utility>

#include "base/containers/reserve.h"
#include "base/error/assert.h"
#include "base/error/system_error.h"
#include "base/error/text.h"
#include "base/system/host_identity.h"
#include "base/system/memory_file.h"

namespace sampan::core {
namespace {

// Numbers: 22 bits of process, 17 of index, 25 of secret. Cells found by number are anywhere in the upper
// half.
constexpr unsigned kIndexBits = 17, kSecretBits = 25;
constexpr std::uint64_t kSecretMask = (std::uint64_t{1} << kSecretBits) - 1;
constexpr std::uint32_t kFirstByNumber = ShareBoard::kCells / 2;
static_assert(ShareBoard::kCells == 1U << kIndexBits);

/// How many parked cells are checked for each cell taken. A check takes one system call.
constexpr std::size_t kMaxParkedCellChecks = 16;

// Keys: "sampan:", a letter, ":", then process, index and secret in hexadecimal digits.
constexpr std::string_view kKeyStart = "sampan:";
constexpr std::array<unsigned, 4> kKeyDigits = {8, 8, 16, 16};

template <typename T>
Status RandomBits(T& bits) {
  if (::getrandom(&bits, sizeof(bits), 0) == sizeof(bits)) return {};
  return {Code::kInternalError, Text("the system gives no random bits: ", SystemError(errno))};
}

std::string Digits(std::uint64_t value, unsigned count) {
  std::string digits(count, '0');
  for (unsigned i = count; i > 0; --i, value >>= 4)
    digits[i - 1] = "0123456789abcdef"[value & 15];
  return digits;
}

/// True if another process has locked the byte of a cell.
bool LockedElsewhere(int file, std::uint32_t index) {
  struct flock lock = {};
  lock.l_type = F_WRLCK;
  lock.l_whence = SEEK_SET;
  lock.l_start = index;
  lock.l_len = 1;
  return ::fcntl(file, F_OFD_GETLK, &lock) == 0 && lock.l_type != F_UNLCK;
}

}  // namespace

char LetterOf(SharedKind kind) {
  return "?nemp"[static_cast<std::uint32_t>(kind)];
}

std::string Describe(SharedKind kind) {
  switch (kind) {
    case SharedKind::kNotify:
      return "a notify";
    case SharedKind::kEvent:
      return "an event";
    case SharedKind::kMemory:
      return "memory";
    case SharedKind::kPhysical:
      return "physical memory";
  }
  return "something";
}

OwnCell::~OwnCell() {
  Close();
  board_.Return(index_);
}

SharedCell& OwnCell::operator*() const {
  return board_.At(index_);
}

std::string OwnCell::Key() const {
  return Text(kKeyStart, LetterOf(kind_), ':', Digits(static_cast<std::uint64_t>(::getpid()), kKeyDigits[0]),
              Digits(index_, kKeyDigits[1]), Digits(secret_[0], kKeyDigits[2]),
              Digits(secret_[1], kKeyDigits[3]));
}

std::uint64_t OwnCell::Number() const {
  const auto process = static_cast<std::uint64_t>(::getpid());
  return ((process << kIndexBits | index_) << kSecretBits) | (secret_[0] & kSecretMask);
}

CellAddress OwnCell::Address() const {
  return {::getpid(), index_, secret_};
}

bool OwnCell::IsAt(const CellAddress& address) const {
  if (address.process != ::getpid() || address.index != index_) return false;
  return address.by_number ? (secret_[0] & kSecretMask) == address.secret[0] : secret_ == address.secret;
}

Status OwnCell::Admit(std::span<const std::int32_t> processes) {
  const std::lock_guard lock(mutex_);
  return AdmitLocked(processes);
}

Status OwnCell::AdmitLocked(std::span<const std::int32_t> processes) {
  SharedCell& cell = **this;
  SAMPAN_ASSERT(admitted_.size() <= SharedCell::kMaxProcesses);
  if (processes.size() > SharedCell::kMaxProcesses - admitted_.size()) {
    return {Code::kParamInvalid,
            Text(processes.size(), " processes more: at most ", SharedCell::kMaxProcesses, " may import it, ",
                 admitted_.size(), " are admitted already")};
  }
  ReserveDoubling(admitted_, admitted_.size() + processes.size());  // all of them, or none
  for (const std::int32_t process : processes) {
    cell.processes[admitted_.size()].store(process);
    admitted_.push_back(process);
  }
  cell.process_count.store(static_cast<std::uint32_t>(admitted_.size()));
  return {};
}

Status OwnCell::AdmitOfServer(std::uint32_t server, std::span<const std::int32_t> processes) {
  auto host = ThisHost();
  if (!host.ok()) return host.TakeStatus();
  const std::lock_guard lock(mutex_);
  if (processes.size() > SharedCell::kMaxProcesses - admitted_of_servers_.size()) {
    return {Code::kParamInvalid,
            Text(processes.size(), " processes more: at most ", SharedCell::kMaxProcesses,
                 " of servers may import it, ", admitted_of_servers_.size(), " are admitted already")};
  }
  ReserveDoubling(admitted_of_servers_, admitted_of_servers_.size() + processes.size());
  if (server == ServerNumber(*host)) {  // they look at the cell
    if (Status admitted = AdmitLocked(processes); !admitted.ok()) return admitted;
  }
  for (const std::int32_t process : processes)
    admitted_of_servers_.emplace_back(server, process);
  return {};
}

void OwnCell::AdmitAll() {
  const std::lock_guard lock(mutex_);
  admits_all_ = true;
  (*this)->for_all_processes.store(1);
}

bool OwnCell::Admits(std::int32_t process) {
  const std::lock_guard lock(mutex_);
  return admits_all_ || std::find(admitted_.begin(), admitted_.end(), process) != admitted_.end();
}

bool OwnCell::AdmitsOfServer(const PeerProcess& importer) {
  const std::lock_guard lock(mutex_);
  const std::pair wanted{importer.server, importer.process};
  return admits_all_ || std::find(admitted_of_servers_.begin(), admitted_of_servers_.end(), wanted) !=
                            admitted_of_servers_.end();
}

Status OwnCell::SetExtent(const MemoryFile& file, SharedExtent extent) {
  extent.descriptor = file.descriptor;
  extent.device = file.device;
  if (file.handle != nullptr) {
    if (auto tried = file.handle->Export(); !tried.ok()) return tried.TakeStatus();
    auto server = board_.Offer({.cell = index_, .secret = secret_}, file.handle);
    if (!server.ok()) return server.TakeStatus();
    extent.file_server = *server;
    extent.whole_bytes = file.handle->bytes;
  }
  (*this)->extent = extent;
  return {};
}

void OwnCell::Close() noexcept {
  (*this)->state.store(SharedCell::kClosed, std::memory_order_seq_cst);
  board_.Withdraw(index_);
}

bool OwnCell::HeldElsewhere() const noexcept {
  return board_.HeldElsewhere(index_);
}

ShareBoard::~ShareBoard() {
  if (cells_ != nullptr) ::munmap(cells_, std::size_t{kCells} * kCellBytes);
}

SharedCell& ShareBoard::At(std::uint32_t index) const {
  SAMPAN_ASSERT(cells_ != nullptr && index < kCells);
  return *std::launder(reinterpret_cast<SharedCell*>(cells_ + std::size_t{index} * kCellBytes));
}

Status ShareBoard::Open() {
  if (cells_ != nullptr) return {};
  constexpr std::size_t kBytes = std::size_t{kCells} * kCellBytes;
  if (file_.get() < 0) {
    auto file = CreateMemoryFile(FileName(::getpid()), kBytes, Code::kResourceAllocFail);
    if (!file.ok()) return file.TakeStatus();
    file_ = std::move(*file);
  }
  void* const mapped =
      ::mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, file_.get(), 0);
  if (mapped == MAP_FAILED) {
    return {Code::kResourceAllocFail,
            Text("nothing can be shared with other processes: mmap: ", SystemError(errno))};
  }
  cells_ = static_cast<std::byte*>(mapped);
  return {};
}

std::uint32_t ShareBoard::TakeIndex(FoundBy found_by) {
  // The process that held a cell may have released it by now.
  for (std::size_t checks = std::min(parked_.size(), kMaxParkedCellChecks); checks > 0; --checks) {
    next_parked_ = next_parked_ < parked_.size() ? next_parked_ : 0;
    const std::uint32_t index = parked_[next_parked_];
    if (LockedElsewhere(file_.get(), index)) {
      ++next_parked_;
    } else {
      parked_[next_parked_] = parked_.back();
      parked_.pop_back();
      Vacate(index);
    }
  }
  if (found_by == FoundBy::kNumber) {
    std::uint64_t place = 0;
    if (free_by_number_.empty() || !RandomBits(place).ok()) return kCells;
    std::swap(free_by_number_[place % free_by_number_.size()], free_by_number_.back());
    const std::uint32_t index = free_by_number_.back();
    free_by_number_.pop_back();
    return index;
  }
  if (!returned_.empty()) {
    const std::uint32_t index = returned_.back();
    returned_.pop_back();
    return index;
  }
  return next_ < kFirstByNumber ? next_++ : kCells;
}

Result<std::shared_ptr<OwnCell>> ShareBoard::Take(SharedKind kind, FoundBy found_by) {
  const std::lock_guard lock(mutex_);
  if (Status opened = Open(); !opened.ok()) return opened;
  if (found_by == FoundBy::kNumber && free_by_number_.capacity() == 0) {
    free_by_number_.resize(kCells - kFirstByNumber);
    std::iota(free_by_number_.begin(), free_by_number_.end(), kFirstByNumber);
  }
  // So that returning a cell does not allocate.
  ReserveDoubling(returned_, next_ + 1);
  ReserveDoubling(parked_, taken_count_ + 1);
  std::array<std::uint64_t, 2> secret{};
  if (Status random = RandomBits(secret); !random.ok()) return random;
  const std::uint32_t index = TakeIndex(found_by);
  if (index == kCells) {
    return Error{Code::kResourceAllocFail, Text("no more than ", kFirstByNumber, " objects can be shared")};
  }
  std::shared_ptr<OwnCell> own;
  SharedCell& cell = *new (cells_ + std::size_t{index} * kCellBytes) SharedCell;
  ++taken_count_;
  try {
    own = std::make_shared<OwnCell>(*this, index, kind, secret);
  } catch (...) {
    Vacate(index);
    throw;
  }
  cell.kind = kind;
  cell.secret = secret;
  cell.state.store(SharedCell::kOpen, std::memory_order_seq_cst);
  return own;
}

void ShareBoard::Return(std::uint32_t index) noexcept {
  const std::lock_guard lock(mutex_);
  if (LockedElsewhere(file_.get(), index)) {
    SAMPAN_ASSERT(parked_.size() < parked_.capacity());
    parked_.push_back(index);
  } else {
    Vacate(index);
  }
}

void ShareBoard::Vacate(std::uint32_t index) noexcept {
  SAMPAN_ASSERT(taken_count_ > 0);
  --taken_count_;
  auto& free_cells = index < kFirstByNumber ? returned_ : free_by_number_;
  SAMPAN_ASSERT(free_cells.size() < free_cells.capacity());  // push_back does not allocate
  free_cells.push_back(index);
}

bool ShareBoard::HeldElsewhere(std::uint32_t index) const noexcept {
  return LockedElsewhere(file_.get(), index);
}

Result<std::uint64_t> ShareBoard::Offer(const FileRequest& request,
                                        std::shared_ptr<const MemoryHandle> handle) {
  const std::lock_guard lock(file_server_mutex_);
  if (file_server_ == nullptr) {
    auto started = FileServer::Start();
    if (!started.ok()) return started.TakeStatus();
    file_server_ = std::move(*started);
  }
  file_server_->Offer(request, std::move(handle));
  return file_server_->number();
}

void ShareBoard::Withdraw(std::uint32_t index) noexcept {
  const std::lock_guard lock(file_server_mutex_);
  if (file_server_ != nullptr) file_server_->Withdraw(index);
}

Result<CellAddress> CellAddress::FromKey(std::string_view key, SharedKind kind) {
  const Error malformed{Code::kParamInvalid, Text("'", key, "' is no key of ", Describe(kind))};
  const std::string start = Text(kKeyStart, LetterOf(kind), ':');
  std::size_t digits = 0;
  for (const unsigned each : kKeyDigits)
    digits += each;
  if (!key.starts_with(start) || key.size() != start.size() + digits) return malformed;
  key.remove_prefix(start.size());
  std::array<std::uint64_t, kKeyDigits.size()> parts{};
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const std::string_view part = key.substr(0, kKeyDigits[i]);
    const auto [end, error] = std::from_chars(part.data(), part.data() + part.size(), parts[i], 16);
    if (error != std::errc() || end != part.data() + part.size()) return malformed;
    key.remove_prefix(part.size());
  }
  if (parts[0] == 0 || parts[0] > INT32_MAX || parts[1] >= ShareBoard::kCells) return malformed;
  return CellAddress{
      static_cast<std::int32_t>(parts[0]), static_cast<std::uint32_t>(parts[1]), {parts[2], parts[3]}, false};
}

Result<CellAddress> CellAddress::FromNumber(std::uint64_t number) {
  const std::uint64_t process = number >> (kIndexBits + kSecretBits);
  const auto index = static_cast<std::uint32_t>(number >> kSecretBits) & (ShareBoard::kCells - 1);
  if (process == 0 || index < kFirstByNumber) {
    return Error{Code::kParamInvalid, Text(number, " is no shareable handle")};
  }
  return CellAddress{static_cast<std::int32_t>(process), index, {number & kSecretMask, 0}, true};
}

bool CellAddress::Matches(const SharedCell& cell, SharedKind kind) const {
  if (cell.state.load(std::memory_order_seq_cst) != SharedCell::kOpen || cell.kind != kind) return false;
  if (by_number) return (cell.secret[0] & kSecretMask) == secret[0];
  return cell.secret == secret;
}

}  // namespace sampan::core
