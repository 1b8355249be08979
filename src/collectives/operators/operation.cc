// One rank's part in an operator, from its call to its end.
#include "collectives/operators/operation.h"

#include <algorithm>
#include <exception>
#include <utility>

#include "base/error/text.h"
#include "collectives/far/far_moves.h"
#include "hccl/report.h"

namespace sampan::collectives {

Operation::Operation(std::shared_ptr<Communicator> communicator, const CallFacts& facts)
    : communicator_(std::move(communicator)), facts_(facts), last_missing_(communicator_->rank()) {
  communicator_->pending().fetch_add(1);
}

Status Operation::Combine(ConstPlaces inputs, Places outputs, u64 count, Combination how,
                          bool past_caches) const {
  if (!imports_.empty())
    return FarMoves(communicator_->membership()->far_memory()->context(), imports_)
        .Combine(inputs, outputs, count, how);
  if (!communicator_->host_moves())
    return communicator_->membership()->device_moves()->Combine(inputs, outputs, count, how);
  collectives::Combine(inputs, outputs, count, how, past_caches);
  return {};
}

SharedRange Operation::Shared(const DeviceRange& range, u64 bytes) const {
  if (range.held == nullptr) return {};
  const HeldMemory::FilePlace place = range.held->PlaceInFile(range.address);
  return {.engine = reinterpret_cast<u64>(range.engine),
          .inode = place.file >= 0 ? communicator_->InodeOf(place.file) : 0,
          .file_offset = place.offset,
          .bytes = bytes,
          .file = place.file};
}

Status Operation::Export(const DeviceRange& range, u64 bytes, FarRange& far) {
  if (range.address == nullptr) return {};
  const auto members = communicator_->membership();
  if (members == nullptr) return {Code::kInternalError, "the communicator was destroyed"};
  return members->far_memory()->Export(range, bytes, far, exports_.emplace_back());
}

Result<std::byte*> Operation::ResolveFar(u32 other, const FarRange& range) {
  return communicator_->ResolveFar(other, range, imports_);
}

Status Operation::CopyToAll(const std::byte* source, Places places, u64 bytes, bool past_caches) const {
  if (!imports_.empty())
    return FarMoves(communicator_->membership()->far_memory()->context(), imports_)
        .CopyToAll(source, places, bytes);
  if (!communicator_->host_moves())
    return communicator_->membership()->device_moves()->CopyToAll(source, places, bytes);
  collectives::CopyToAll(source, places, bytes, past_caches);
  return {};
}

void Operation::Drop() noexcept {
  try {
    if (counts_.load() && communicator_->async_error() == HCCL_SUCCESS) {
      communicator_->Break(
          HCCL_E_REMOTE, Text("rank ", rank(), " dropped ", sampan::collectives::Describe(facts_), " of ",
                              communicator_->Describe(),
                              " before its end: its stream was aborted, destroyed or stopped at a failure"));
    }
  } catch (const std::exception&) {
    communicator_->Break(HCCL_E_REMOTE, {});
  }
  if (!IsAt(Stage::kQueued) && !IsAt(Stage::kOver)) KeepMemory();
  LetGo();
}

void Operation::KeepMemory() noexcept {
  try {
    TheRegistry().Keep(TakeMemory());
  } catch (const std::exception& exception) {
    hccl::LogError(Text(Name(), " cannot keep its memory for other ranks: ", exception.what()));
  }
}

Operation::PeerAccess::PeerAccess(const Communicator& communicator, std::atomic<u64>& mark, u64 number)
    : communicator_(communicator), mark_(mark) {
  mark_.store(number, std::memory_order_seq_cst);
}

Status Operation::PeerAccess::Check() const {
  return communicator_.is_broken() ? Status(Code::kTaskTimeout, "another rank has failed") : Status();
}

void Operation::LetGo() noexcept {
  if (counts_.exchange(false)) communicator_->pending().fetch_sub(1);
}

void Operation::Abandon() noexcept {
  if (IsAt(Stage::kQueued)) LetGo();
}

bool Operation::IsOpen(Hold hold) const noexcept {
  // An operator that failed at a step passes the steps behind it.
  switch (hold) {
    case Hold::kTurn:
      return TurnCame();
    case Hold::kPeers:
      return !IsAt(Stage::kAnnounced) || PeersCame();
    default:
      return !IsAt(Stage::kMoved) || PeersEnded();
  }
}

void Operation::Passed(Hold hold) noexcept {
  if (hold == Hold::kTurn) {
    stage_.store(Stage::kTurn, std::memory_order_release);
  } else if (hold == Hold::kPeers) {
    if (IsAt(Stage::kAnnounced)) stage_.store(Stage::kMet, std::memory_order_release);
  } else {
    if (IsAt(Stage::kMoved))
      Finish();
    else
      KeepMemory();
    stage_.store(Stage::kOver, std::memory_order_release);
    LetGo();
  }
}

const char* Operation::Algorithm() const noexcept {
  return RowOf(static_cast<OperatorKind>(facts_.kind)).algorithm;
}

Operation::Shown Operation::shown() const noexcept {
  return {.name = RowOf(static_cast<OperatorKind>(facts_.kind)).function,
          .algorithm = Algorithm(),
          .rank = rank(),
          .ranks = size(),
          .slowest = last_missing_.load(std::memory_order_relaxed)};
}

Status Operation::Fail(Status failure, HcclResult code) noexcept {
  communicator_->Break(code, failure.error().message);
  return failure;
}

void Operation::Refuse(const Status& reason) noexcept {
  try {
    communicator_->Break(HCCL_E_OOM,
                         Text(Name(), " cannot begin on rank ", rank(), ": ", reason.error().message));
  } catch (const std::exception&) {
    communicator_->Break(HCCL_E_OOM, {});
  }
}

Status Operation::Announce() noexcept {
  if (!IsAt(Stage::kTurn)) return {};
  try {
    // What the ranks do in a broken communicator is no longer the same on all of them. The call and the waits
    // look whether all ranks are there.
    Status healthy = communicator_->is_broken() ? communicator_->Check() : Status();
    if (!healthy.ok()) return {healthy.code(), Text(Name(), " does not begin: ", healthy.error().message)};
    if (Status published = Publish(); !published.ok()) return Fail(std::move(published), HCCL_E_REMOTE);
  } catch (const std::exception& exception) {
    return Fail({Code::kInternalError, exception.what()}, HCCL_E_INTERNAL);
  }
  stage_.store(Stage::kAnnounced, std::memory_order_release);
  return {};
}

Status Operation::Move() noexcept {
  if (!IsAt(Stage::kMet)) return {};
  try {
    if (Status moved = MoveData(); !moved.ok()) {
      // A rank that failed before may be gone meanwhile: the first reason is the one to tell.
      if (Status healthy = communicator_->Check(); !healthy.ok())
        return {healthy.code(), Text(Name(), " cannot go on: ", healthy.error().message)};
      const HcclResult code = moved.code() == Code::kParamInvalid ? HCCL_E_PARA : HCCL_E_REMOTE;
      return Fail(std::move(moved), code);
    }
  } catch (const std::exception& exception) {
    return Fail({Code::kInternalError, exception.what()}, HCCL_E_INTERNAL);
  }
  stage_.store(HasMovedAll() ? Stage::kMoved : Stage::kAnnounced, std::memory_order_release);
  return {};
}

Status Operation::Check(Hold hold) const {
  if (IsAt(Stage::kOver)) return {};
  for (u32 other = 0; other < size(); ++other) {
    if (communicator_->region().cell(other).has_left.load() != 0 && IsMissing(other, hold))
      communicator_->Break(HCCL_E_REMOTE, communicator_->DescribeRank(other));
  }
  Status healthy = communicator_->Check();
  if (healthy.ok()) return healthy;
  return {healthy.code(), Text(Describe(hold), " cannot end: ", healthy.error().message)};
}

u32 Operation::OutsideStanding(Hold hold) const noexcept {
  const s64 own_process = communicator_->own_cell().process.load();
  u32 ways = 0;
  for (u32 other = 0; other < size(); ++other) {
    if (!IsMissing(other, hold)) continue;
    const RankCell& cell = communicator_->region().cell(other);
    const bool is_here = !communicator_->IsFar(other) && cell.process.load() == own_process;
    ways = std::max(ways, is_here ? kNotOutside : cell.standing.load());
  }
  return ways;
}

void Operation::TellStanding(u32 ways) noexcept {
  TheRegistry().TellStanding(ways);
}

std::string Operation::Describe(Hold hold) const {
  const char* const wait = hold == Hold::kTurn    ? "a wait for the turn of "
                           : hold == Hold::kPeers ? "a wait for the ranks of "
                                                  : "a wait for the end of ";
  return wait + Name();
}

Status Operation::TimedOut(Hold hold, std::chrono::seconds limit) noexcept {
  try {
    return Fail({Code::kTaskTimeout, Text("EI0002: ", Describe(hold), " ran past its time limit of ",
                                          limit.count(), " s on rank ", rank(), ": ", Missing(hold))},
                HCCL_E_TIMEOUT);
  } catch (const std::exception&) {
    return {Code::kTaskTimeout, "out of memory"};
  }
}

}  // namespace sampan::collectives
