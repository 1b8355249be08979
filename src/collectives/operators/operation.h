// One rank's part in an operator, from its call to its end.
#pragma once

#include <atomic>
#include <memory>
#include <string>
#include <vector>

#include "base/platform_bridge.h"
#include "collectives/comm/registry.h"
#include "collectives/operators/data_moves.h"
#include "collectives/operators/kinds.h"

namespace sampan::collectives {

/// The order of steps that all operators have. Derived classes say what a turn, the peers and the end are.
/// The stream that executes it is one thread at a time; other threads only ask. If it is dropped before its
/// end, the communicator breaks, because the other ranks would wait for ever.
class Operation : public StreamWork {
 public:
  Operation(std::shared_ptr<Communicator> communicator, const CallFacts& facts);
  ~Operation() override = default;
  Operation(const Operation&) = delete;
  Operation& operator=(const Operation&) = delete;

  const CallFacts& facts() const { return facts_; }
  bool is_over() const { return IsAt(Stage::kOver); }
  /// Prepares its memory for ranks of other hosts, if there are any. On the caller's thread.
  virtual Status ShareWithFar() = 0;
  /// The stream refused it. If no step of it was executed, nothing is lost.
  void Abandon() noexcept;

  bool IsOpen(Hold hold) const noexcept final;
  void Passed(Hold hold) noexcept final;
  Status Check(Hold hold) const final;
  Status TimedOut(Hold hold, std::chrono::seconds limit) noexcept final;
  std::string Describe(Hold hold) const final;
  SleepWord& word() const noexcept final { return communicator_->own_cell().bell; }
  Spin TakeSpin() noexcept final { return communicator_->TakeSpin(); }
  bool may_go_ahead() const noexcept override { return !communicator_->has_far(); }
  Shown shown() const noexcept final;
  Status Announce() noexcept final;
  Status Move() noexcept final;
  void Refuse(const Status& reason) noexcept final;
  std::uint32_t OutsideStanding(Hold hold) const noexcept final;
  void TellStanding(std::uint32_t ways) noexcept final;

 protected:
  Communicator& communicator() const { return *communicator_; }
  /// What ranks of other processes need to know of the memory.
  SharedRange Shared(const DeviceRange& range, u64 bytes) const;
  /// Lets ranks of other hosts access the memory, until the operation is dropped. On the caller's thread.
  Status Export(const DeviceRange& range, u64 bytes, FarRange& far);
  /// The address here of memory of a rank of another host, until the operation is dropped.
  Result<std::byte*> ResolveFar(u32 other, const FarRange& range);
  // As the functions of data_moves.h, by the host, by the rank's device, or over the network.
  Status Combine(ConstPlaces inputs, Places outputs, u64 count, Combination how, bool past_caches) const;
  Status CopyToAll(const std::byte* source, Places places, u64 bytes, bool past_caches) const;
  u32 rank() const { return communicator_->rank(); }
  u32 size() const { return communicator_->size(); }
  /// The first thing that derived destructors do. An operator that is dropped before its end breaks the
  /// communicator. Its memory is kept as long as other ranks access it.
  void Drop() noexcept;
  /// Marks this rank as one that accesses the others' memory. In a broken communicator nothing is accessed:
  /// ranks that failed keep their memory for those only that have marked themselves.
  class PeerAccess {
   public:
    PeerAccess(const Communicator& communicator, std::atomic<u64>& mark, u64 number);
    ~PeerAccess() { mark_.store(0, std::memory_order_release); }
    PeerAccess(const PeerAccess&) = delete;
    PeerAccess& operator=(const PeerAccess&) = delete;
    Status Check() const;

   private:
    const Communicator& communicator_;
    std::atomic<u64>& mark_;
  };
  const std::shared_ptr<Communicator>& shared() const { return communicator_; }

  /// A wait stands, and this rank is the first one that it is for.
  void NoteMissing(u32 rank) const noexcept { last_missing_.store(rank, std::memory_order_relaxed); }
  virtual const char* Algorithm() const noexcept;
  /// "operator number 7 (HcclAllReduce of 12 fp32) of communicator 'x'".
  virtual std::string Name() const = 0;

 private:
  enum class Stage : u32 { kQueued, kTurn, kAnnounced, kMet, kMoved, kOver };

  virtual bool TurnCame() const noexcept = 0;
  /// Fails if this rank's memory is gone.
  virtual Status Publish() = 0;
  virtual bool PeersCame() const noexcept = 0;
  virtual Status MoveData() = 0;
  /// Whether all rounds are over.
  virtual bool HasMovedAll() const noexcept { return true; }
  virtual bool PeersEnded() const noexcept = 0;
  /// Releases memory, when all ranks are done.
  virtual void Finish() noexcept = 0;
  /// Its memory, and until when it is kept.
  virtual KeptMemory TakeMemory() = 0;
  /// Whether the wait is for the rank.
  virtual bool IsMissing(u32 other, Hold hold) const noexcept = 0;

  bool IsAt(Stage stage) const noexcept { return stage_.load(std::memory_order_acquire) == stage; }
  Status Fail(Status failure, HcclResult code) noexcept;
  void LetGo() noexcept;
  void KeepMemory() noexcept;

  const std::shared_ptr<Communicator> communicator_;
  const CallFacts facts_;
  std::atomic<Stage> stage_{Stage::kQueued};
  mutable std::atomic<u32> last_missing_;
  std::vector<KeyedMemoryUse> exports_, imports_;  // memory for and of other hosts
  std::atomic<bool> counts_{true};                 // among the pending ones
};

}  // namespace sampan::collectives
