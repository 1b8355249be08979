// A communicator, as one of its ranks sees it.
#include "collectives/comm/communicator.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <thread>
#include <utility>

#include "base/error/text.h"
#include "base/system/descriptor.h"
#include "collectives/comm/registry.h"
#include "collectives/operators/kinds.h"
#include "hccl/group/frame_socket.h"
#include "hccl/report.h"

namespace sampan::collectives {

namespace {

/// Ranks that leave the same synchronisation call again within this time: a thread that slept has to wake.
constexpr std::chrono::microseconds kMaxSpin{50}, kMaxLongSpin{1000};

enum class ProcessState { kRuns, kStopped, kGone };

/// kStopped: by a signal or a debugger. kGone: it has exited, waited for or not.
ProcessState StateOf(s64 process) {
  const Descriptor file(::open(Text("/proc/", process, "/stat").c_str(), O_RDONLY | O_CLOEXEC));
  if (file.get() < 0) return errno == ENOENT ? ProcessState::kGone : ProcessState::kRuns;
  std::array<char, 512> text{};
  const ssize_t bytes = ::read(file.get(), text.data(), text.size() - 1);
  if (bytes <= 0) return bytes < 0 && errno == ESRCH ? ProcessState::kGone : ProcessState::kRuns;
  const char* const name_end = std::strrchr(text.data(), ')');
  char state = 'R';
  long threads = 0;
  constexpr const char* kForm = " %c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %*u %*u %*d %*d %*d %*d %ld";
  if (name_end == nullptr || std::sscanf(name_end + 1, kForm, &state, &threads) != 2)
    return ProcessState::kRuns;
  if (state == 'T' || state == 't') return ProcessState::kStopped;
  // Of a process whose main thread has exited alone, the other threads still run.
  return (state == 'Z' || state == 'X') && threads <= 1 ? ProcessState::kGone : ProcessState::kRuns;
}

/// Returns true if another rank is in this process.
bool HasNeighbours(Membership& members) {
  const Region whole = members.board()->whole();
  u32 ranks_here = 0;
  for (u32 rank = 0; rank < whole.ranks(); ++rank)
    ranks_here += !members.far_ranks().IsFar(rank) && whole.cell(rank).process.load() == ::getpid() ? 1 : 0;
  return ranks_here > 1;
}

/// Ranks that share a core run one after the other.
StreamWork::Spin SpinOf(u32 ranks) {
  const u32 cores = std::max(1U, std::thread::hardware_concurrency());
  if (ranks <= cores) return {.max = kMaxSpin};
  return {.max = std::min(2 * (ranks / cores) * kMaxSpin, kMaxLongSpin), .shares_core = true};
}

}  // namespace

Communicator::Communicator(Facts facts, std::shared_ptr<Membership> membership, Region region)
    : next_send(facts.size, 1),
      next_receive(facts.size, 1),
      facts_(std::move(facts)),
      board_(membership->board()),
      membership_(std::move(membership)),
      region_(region),
      has_neighbours_(HasNeighbours(*membership_)),
      host_moves_(membership_->device_moves() == nullptr),
      spin_(SpinOf(facts_.size)),
      max_calls_without_spin_(has_neighbours_ ? 255 : 15) {
  own_cell().process.store(::getpid());
  for (u32 other = 0; other < size(); ++other) {
    is_far_.push_back(membership_->far_ranks().IsFar(WholeRank(other)));
    if (is_far_.back()) far_.push_back(WholeRank(other));
  }
  Tell({.kind = NoteKind::kMade, .number = static_cast<u64>(::getpid())});
}

bool Communicator::IsElsewhere(u32 rank) const {
  const s64 process = region_.cell(rank).process.load();
  return IsFar(rank) || (process != 0 && process != own_cell().process.load());
}

void Communicator::Tell(Note note, std::span<const Piece> pieces, std::span<const u8> bytes) const noexcept {
  if (!has_far()) return;
  try {
    const auto members = membership();
    if (members == nullptr) return;
    note.rank = rank();
    note.ranks = size();
    note.region = facts_.region_key;
    const std::lock_guard lock(telling_mutex_);  // in the order of the numbers
    note.sequence = ++last_note_;
    members->Tell(far_, Encode({note, {pieces.begin(), pieces.end()}, {bytes.begin(), bytes.end()}}));
  } catch (const std::exception& exception) {
    hccl::LogError(Text(Describe(), ": other hosts are not told: ", exception.what()));
  }
}

void Communicator::TellPlace(u64 place) const {
  if (!has_far()) return;
  {
    const std::lock_guard lock(telling_mutex_);
    if (!told_places_.insert(place).second) return;
  }
  const std::string text = TheRegistry().PlaceText(::getpid(), place).substr(0, kPostedBytes);
  Tell({.kind = NoteKind::kPlace, .facts = {.place = place}}, {}, hccl::Bytes(text));
}

std::string Communicator::Describe() const {
  return Text("communicator '", facts_.name, "'",
              facts_.options.free_text.empty() ? std::string() : Text(" (", facts_.options.free_text, ")"));
}

std::string Communicator::NameRank(u32 rank) const {
  const auto members = IsFar(rank) ? membership() : nullptr;
  const std::string host = members != nullptr ? members->far_ranks().seat(WholeRank(rank)).address : "";
  return Text("rank ", rank, " (process ", region_.cell(rank).process.load(), host.empty() ? "" : " on ",
              host, ")");
}

std::string Communicator::DescribePlace(u32 rank, u64 place) const {
  const auto members = IsFar(rank) ? membership() : nullptr;
  const std::string text = members != nullptr
                               ? members->far_ranks().PlaceText(WholeRank(rank), place)
                               : TheRegistry().PlaceText(region_.cell(rank).process.load(), place);
  return text.empty() ? text : Text(" in ", text);
}

std::string Communicator::DescribeRank(u32 rank) const {
  const RankCell& cell = region_.cell(rank);
  const s64 process = cell.process.load();
  if (process == 0) return Text("rank ", rank, " has not made its communicator");
  std::string text = NameRank(rank);
  if (cell.has_left.load() != 0) return text + " has destroyed its communicator";
  const u64 last = cell.last_call.load();
  if (last == 0) {
    text += " has called no operator";
  } else {
    text += Text(" has called ", cell.called.load(), " collective operators, its last call is ",
                 DescribePacked(last), DescribePlace(rank, cell.last_place.load()),
                 "; its streams have reached ", cell.begun.load());
  }
  return !IsFar(rank) && StateOf(process) == ProcessState::kStopped ? text + "; the process is stopped"
                                                                    : text;
}

bool Communicator::IsGone(u32 rank) const {
  return !IsFar(rank) && StateOf(region_.cell(rank).process.load()) == ProcessState::kGone;
}

std::shared_ptr<Membership> Communicator::membership() const {
  const std::lock_guard lock(membership_mutex_);
  return membership_;
}

Result<std::byte*> Communicator::Resolve(u32 rank, const SharedRange& range) const {
  const auto members = membership();
  if (members == nullptr) return Error{Code::kInternalError, "the communicator was destroyed"};
  auto address = members->peer_memory().Resolve(region_.cell(rank).process.load(), range);
  if (address.ok()) return address;
  return Error{Code::kTaskTimeout, Text("memory of rank ", rank, ": ", address.error().message)};
}

Result<std::byte*> Communicator::ResolveFar(u32 rank, const FarRange& range,
                                            std::vector<KeyedMemoryUse>& uses) const {
  const auto members = membership();
  if (members == nullptr) return Error{Code::kInternalError, "the communicator was destroyed"};
  const FarMemory* const memory = members->far_memory();
  std::shared_ptr<void> scope;
  sampanEnterContext(memory->context(), scope);
  auto use = members->far_memory()->Import(range);
  if (!use.ok())
    return Error{Code::kTaskTimeout, Text("memory of ", NameRank(rank), ": ", use.error().message)};
  if (!(*use)->Holds(range.offset, range.bytes))
    return Error{Code::kTaskTimeout, Text(NameRank(rank), " names memory outside of what its key is for")};
  uses.push_back(std::move(*use));
  return uses.back()->base() + range.offset;
}

u64 Communicator::InodeOf(int file) {
  const std::lock_guard lock(inode_mutex_);
  for (const auto& [known, inode] : inodes_) {
    if (known == file) return inode;
  }
  inodes_.emplace_back(file, collectives::InodeOf(file));
  return inodes_.back().second;
}

HcclResult Communicator::Health(std::string* reason) const {
  const std::lock_guard lock(membership_mutex_);
  const HcclResult health = membership_ == nullptr ? HCCL_SUCCESS : membership_->Health(reason);
  // Ranks of other hosts are reached by the whole group only.
  return health == HCCL_SUCCESS || !facts_.is_sub || has_far() ? health : MembersHealth(reason);
}

HcclResult Communicator::MembersHealth(std::string* reason) const {
  for (u32 rank = 0; rank < size(); ++rank) {
    const s64 process = board_->whole().cell(facts_.members[rank]).process.load();
    if (region_.cell(rank).has_left.load() != 0 || StateOf(process) != ProcessState::kGone) continue;
    if (reason != nullptr)
      *reason = Text("rank ", rank, " (process ", process, ") of ", Describe(), " has exited");
    return HCCL_E_REMOTE;
  }
  return HCCL_SUCCESS;
}

HcclResult Communicator::async_error(std::string* reason) {
  const Failure& failure = region_.failure();
  if (failure.state.load(std::memory_order_acquire) != Failure::kSet) {
    std::string own_reason;
    const HcclResult own = Health(&own_reason);
    if (own == HCCL_SUCCESS) return own;
    // This rank may leave next. The others then look for the reason on the board.
    Break(own, own_reason);
    if (failure.state.load(std::memory_order_acquire) != Failure::kSet) {  // another rank is writing its own
      if (reason != nullptr) *reason = std::move(own_reason);
      return own;
    }
  }
  // Another process wrote it: the text may have no end, and the code may be no failure.
  if (reason != nullptr) reason->assign(failure.text, ::strnlen(failure.text, sizeof(failure.text)));
  const s32 code = failure.code.load();
  return code > HCCL_SUCCESS && code < HCCL_E_RESERVED ? static_cast<HcclResult>(code) : HCCL_E_REMOTE;
}

Status Communicator::Check() {
  std::string reason;
  if (async_error() == HCCL_SUCCESS) return {};
  const HcclResult code = async_error(&reason);
  return {code == HCCL_E_PARA ? Code::kParamInvalid : Code::kTaskTimeout, std::move(reason)};
}

void Communicator::Break(HcclResult code, const std::string& reason) noexcept {
  SetFailure(region_, code, reason);
  Tell({.kind = NoteKind::kFailed, .code = code}, {},
       {reinterpret_cast<const u8*>(reason.data()), std::min(reason.size(), sizeof(Failure::text) - 1)});
}

void Communicator::WakeAll() const noexcept {
  for (u32 rank = 0; rank < size(); ++rank)
    Wake(rank);
}

void Communicator::Leave() {
  async_error();  // tells why, before others can see that this rank has left
  own_cell().has_left.store(1);
  Tell({.kind = NoteKind::kLeft});
  WakeAll();
  std::shared_ptr<Membership> members;
  {
    const std::lock_guard lock(membership_mutex_);
    members = std::move(membership_);
  }
}

}  // namespace sampan::collectives
