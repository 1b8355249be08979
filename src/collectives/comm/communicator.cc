// A communicator, as one of its ranks sees it.
#include "collectives/comm/communicator.h"

#include <fcntl.h>
#include <unistd.h>

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
#include "hccl/group/byte_stream.h"
#include "hccl/report.h"

namespace sampan::collectives {

using hccl::ByteReader;
using hccl::ByteWriter;
using hccl::Fail;

namespace {

/// Ranks that call at the same time are this close together.
constexpr std::chrono::microseconds kMaxSpin{10};

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
bool HasNeighbours(const Board& board) {
  u32 ranks_here = 0;
  for (u32 rank = 0; rank < board.whole().ranks(); ++rank)
    ranks_here += board.whole().cell(rank).process.load() == ::getpid() ? 1 : 0;
  return ranks_here > 1;
}

}  // namespace

HcclResult Membership::Join(const char* function, const Place& place, const CommOptions& options,
                            std::shared_ptr<Membership>& joined) {
  ::hccl::RankGroupConfig config;
  config.name = place.name;
  config.token = place.token;
  config.rank = place.rank;
  config.rankSize = place.size;
  config.timeout = options.connect_limit;
  auto membership = std::make_shared<Membership>();
  HcclResult result = ::hccl::RankGroup::Join(config, membership->group_);
  std::vector<s32> devices;
  if (result == HCCL_SUCCESS) result = membership->ShareBoard(function, place.device, options, devices);
  if (result == HCCL_SUCCESS && !HostReachesDevices()) result = membership->OpenDevices(function, devices);
  if (result == HCCL_SUCCESS) joined = std::move(membership);
  return result;
}

HcclResult Membership::ShareBoard(const char* function, s32 device, const CommOptions& options,
                                  std::vector<s32>& devices) {
  const u32 size = group_->RankSize();
  const bool is_creator = rank() == 0;
  ByteWriter mine;
  mine.Put(device);
  mine.Put(options.deterministic);
  mine.Put(static_cast<u64>(options.exec_limit.count()));
  if (is_creator) {
    auto created = Board::Create(size);
    if (!created.ok()) return Fail(function, HCCL_E_MEMORY, created.error().message);
    board_ = std::move(*created);
    mine.Put(board_->address());
  }
  std::vector<std::vector<u8>> all;
  if (const HcclResult result = group_->Exchange(mine.Take(), all); result != HCCL_SUCCESS) return result;
  for (const std::vector<u8>& each : all)
    devices.push_back(ByteReader(each).Get<s32>());
  ByteReader first(all[0]);
  first.Get<s32>();
  const u32 deterministic = first.Get<u32>();
  const u64 limit = first.Get<u64>();
  const auto address = first.Get<Board::Address>();
  if (deterministic != options.deterministic || limit != static_cast<u64>(options.exec_limit.count())) {
    hccl::LogWarning(Text(function, ": rank 0 has deterministic ", deterministic, " and a limit of ", limit,
                          " s, rank ", rank(), " has ", options.deterministic, " and ",
                          options.exec_limit.count(), " s"));
  }
  if (!is_creator) {
    auto opened = Board::Open(address, size);
    if (!opened.ok()) return Fail(function, HCCL_E_MEMORY, opened.error().message);
    board_ = std::move(*opened);
  }
  board_->whole().cell(rank()).process.store(::getpid());
  if (const HcclResult result = group_->Barrier(); result != HCCL_SUCCESS) return result;
  if (is_creator) board_->CloseFile();
  return HCCL_SUCCESS;
}

HcclResult Membership::OpenDevices(const char* function, const std::vector<s32>& devices) {
  for (u32 other = 0; other < devices.size(); ++other) {
    const s64 process = board_->whole().cell(other).process.load();
    if (process != ::getpid()) {
      return Fail(
          function, HCCL_E_NOT_SUPPORT,
          Text("rank ", other, " is process ", process,
               ": the host does not reach these devices' memory, so all ranks have to be threads of one "
               "process"));
    }
    if (devices[other] != devices[rank()] && aclrtDeviceEnablePeerAccess(devices[other], 0) != ACL_SUCCESS)
      return HCCL_E_RUNTIME;
  }
  const Status made = DeviceMoves::Make(device_moves_);
  return made.ok() ? HCCL_SUCCESS : Fail(function, HCCL_E_RUNTIME, made.error().message);
}

bool HostReachesDevices() {
  return sampanCopyHere(nullptr, nullptr, 0, false);
}

Communicator::Communicator(Facts facts, std::shared_ptr<Membership> membership, Region region)
    : next_send(facts.size, 1),
      next_receive(facts.size, 1),
      facts_(std::move(facts)),
      board_(membership->board()),
      membership_(std::move(membership)),
      region_(region),
      has_neighbours_(HasNeighbours(*board_)),
      host_moves_(membership_->device_moves() == nullptr),
      max_spin_(facts_.size <= std::thread::hardware_concurrency() ? kMaxSpin : std::chrono::nanoseconds(0)) {
  own_cell().process.store(::getpid());
}

std::string Communicator::Describe() const {
  return Text("communicator '", facts_.name, "'",
              facts_.options.free_text.empty() ? std::string() : Text(" (", facts_.options.free_text, ")"));
}

std::string Communicator::NameRank(u32 rank) const {
  return Text("rank ", rank, " (process ", region_.cell(rank).process.load(), ")");
}

std::string Communicator::DescribePlace(u32 rank, u64 place) const {
  const std::string text = TheRegistry().PlaceText(region_.cell(rank).process.load(), place);
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
  return StateOf(process) == ProcessState::kStopped ? text + "; the process is stopped" : text;
}

bool Communicator::IsGone(u32 rank) const {
  return StateOf(region_.cell(rank).process.load()) == ProcessState::kGone;
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
  return health == HCCL_SUCCESS || !facts_.is_sub ? health : MembersHealth(reason);
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
  Failure& failure = region_.failure();
  u32 none = Failure::kNone;
  if (failure.state.compare_exchange_strong(none, Failure::kWriting)) {
    const std::size_t bytes = std::min(reason.size(), sizeof(failure.text) - 1);
    std::memcpy(failure.text, reason.data(), bytes);
    failure.text[bytes] = '\0';
    failure.code.store(code);
    failure.state.store(Failure::kSet, std::memory_order_seq_cst);
  }
  WakeAll();
}

void Communicator::WakeAll() const noexcept {
  for (u32 rank = 0; rank < size(); ++rank)
    Wake(rank);
}

void Communicator::Leave() {
  async_error();  // tells why, before others can see that this rank has left
  own_cell().has_left.store(1);
  WakeAll();
  std::shared_ptr<Membership> members;
  {
    const std::lock_guard lock(membership_mutex_);
    members = std::move(membership_);
  }
}

}  // namespace sampan::collectives
