// One GPU: its context, our kernels, events that order streams, and whether it is lost.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "backend/cuda/driver.h"
#include "base/error/status.h"

namespace sampan::cuda {

class Gpu;

/// Makes the GPU's context current while it exists. Restores another library's context. A thread without a
/// context keeps this one.
class ContextScope {
 public:
  inline explicit ContextScope(const Gpu& gpu);
  ~ContextScope() {
    if (pushed_) [[unlikely]]
      Pop();
  }
  ContextScope(const ContextScope&) = delete;
  ContextScope& operator=(const ContextScope&) = delete;

 private:
  void Enter(CuContext wanted, CuContext current);
  void Pop();

  const Driver& driver_;
  bool pushed_ = false;
};

/// A use of a GPU's context. Objects of a context (streams, graphs, tables, events) hold a use until they are
/// destroyed. A thread that calls into the context holds a use meanwhile. While there is a use, the context
/// is not replaced. A lost GPU gives no new use. So no object of an old context is destroyed or called in a
/// new one. Idle streams and buffers are dropped first (CudaDevice::DropIdle). Idle events hold no use: their
/// context destroys them.
class ContextUse {
 public:
  ContextUse(ContextUse&& other) noexcept : gpu_(std::exchange(other.gpu_, nullptr)) {}
  inline ~ContextUse();
  ContextUse& operator=(ContextUse&&) = delete;

 private:
  friend class Gpu;
  explicit ContextUse(Gpu& gpu) : gpu_(&gpu) {}

  Gpu* gpu_;
};

/// A timing event, borrowed from its GPU. Its waiters share it; the last one returns it.
class GpuEvent {
 public:
  GpuEvent(ContextUse use, Gpu& gpu, CuEvent event) : use_(std::move(use)), gpu_(gpu), event_(event) {}
  ~GpuEvent();
  GpuEvent(const GpuEvent&) = delete;
  GpuEvent& operator=(const GpuEvent&) = delete;
  CuEvent get() const { return event_; }

 private:
  const ContextUse use_;
  Gpu& gpu_;
  const CuEvent event_;
};

/// Properties of the hardware.
struct GpuFacts {
  std::string name;
  int ordinal = 0;
  int major = 0, minor = 0;
  unsigned multiprocessors = 1;
  std::size_t total_bytes = 0;
  std::size_t max_pitch = 0;
  bool read_only_registration = false;
  bool shares_memory = false;  ///< with other processes
  std::vector<bool> reaches;   ///< by ordinal: the GPUs with memory that its kernels may access
};

struct Kernels {
  // Between host and device, in blocks of kLinkThreads.
  CuFunction pieces = nullptr, rows = nullptr, link_rows_of_vectors = nullptr, link_rows_of_words = nullptr,
             link_pack_rows = nullptr;
  // Within a device, in blocks of kThreadsPerBlock.
  CuFunction rows_of_vectors = nullptr, rows_of_words = nullptr, rows_of_bytes = nullptr, pack_rows = nullptr,
             indirect = nullptr;
  CuFunction inline_pieces = nullptr;  // both
};

/// Thread-safe. Lives as long as the process. After a fault its context is lost, and every call fails until
/// Revive.
class Gpu {
 public:
  static Result<std::unique_ptr<Gpu>> Open(const Driver& driver, int ordinal);

  const Driver& driver() const { return driver_; }
  const GpuFacts& facts() const { return facts_; }
  CuContext context() const { return context_.load(std::memory_order_acquire); }
  const Kernels& kernels() const { return kernels_; }
  /// Loaded at the first use, because most programs never reduce. The context must be current.
  Result<CuFunction> ReduceKernel();

  /// Returns true if kernels may access the device memory. Memory of another GPU needs peer access.
  bool Reaches(CuAddress device_memory) const { return reaches_all_ || ReachesOwnerOf(device_memory); }

  /// Turns a result into a Status. Marks the GPU as lost if the context is unusable.
  Status Check(CuResult result, std::string_view what) {
    return result == cu::kSuccess ? Status() : Fail(result, what);
  }
  bool lost() const { return lost_.load(std::memory_order_acquire); }
  /// Why it is lost. Only while it is lost.
  Status LostStatus() const;

  Result<std::shared_ptr<GpuEvent>> TakeEvent();
  /// The time at which a completed event was reached, on a clock that all events of the GPU share.
  std::int64_t TimeNs(const std::shared_ptr<GpuEvent>& event);
  /// Sets the clock by an event that is reached at once. Otherwise TimeNs would use its first event, which
  /// may be old.
  void StartClock(CuStream stream);

  /// Sets the function that is called once when the GPU is lost, on the thread that detects it. Set it before
  /// the GPU is used.
  void set_on_lost(std::function<void()> on_lost) { on_lost_ = std::move(on_lost); }

  /// Returns nothing if the GPU is lost. LostStatus then says why.
  std::optional<ContextUse> TryUse() noexcept;
  Result<ContextUse> Use();
  /// Returns true if only idle events are left of a lost GPU's context. Nothing can be added then.
  bool Unused();
  /// The number of open queues. The program closes queues; other uses are released soon after a loss.
  std::atomic<int>& open_queues() { return open_queues_; }
  /// Gives a lost and unused GPU a new context. `prepare` sets it up before its first use. If `prepare`
  /// fails, the GPU stays lost.
  Status Revive(const std::function<Status()>& prepare);

 private:
  friend class ContextUse;
  friend class GpuEvent;
  Gpu(const Driver& driver, CuDevice device, GpuFacts facts);

  bool ReachesOwnerOf(CuAddress device_memory) const;
  Status Fail(CuResult result, std::string_view what);
  Status Enter();
  void GiveBack(CuEvent event) noexcept;

  const Driver& driver_;
  const CuDevice device_;
  const GpuFacts facts_;
  const bool reaches_all_;
  std::atomic<CuContext> context_{nullptr};
  Kernels kernels_;
  std::mutex loading_;
  CuFunction reduce_kernel_ = nullptr;
  std::atomic<int> uses_{0};
  std::atomic<int> open_queues_{0};
  std::atomic<bool> lost_{false};
  std::function<void()> on_lost_;
  mutable std::mutex mutex_;
  Error lost_error_;
  std::vector<CuEvent> idle_events_;
  std::shared_ptr<GpuEvent> clock_event_;  // the reference event of all times, and its time
  double clock_ns_ = 0;
};

ContextUse::~ContextUse() {
  if (gpu_ != nullptr) gpu_->uses_.fetch_sub(1);
}

ContextScope::ContextScope(const Gpu& gpu) : driver_(gpu.driver()) {
  CuContext current = nullptr;
  driver_.ContextGetCurrent(&current);
  if (const CuContext wanted = gpu.context(); current != wanted) [[unlikely]]
    Enter(wanted, current);
}

}  // namespace sampan::cuda
