// One GPU: its context, our kernels on it, events to order streams by, and whether it is still of use.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "backend/cuda/driver.h"
#include "base/status.h"

namespace sampan::cuda {

class Gpu;

/// Makes the GPU's context the calling thread's for as long as it lives. A thread that has none keeps it:
/// another library's context is put back.
class ContextScope {
 public:
  [[gnu::hot]] inline explicit ContextScope(const Gpu& gpu);
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

/// A timing event, borrowed from its GPU. Shared by whoever waits for it; goes back with the last.
class GpuEvent {
 public:
  GpuEvent(Gpu& gpu, CuEvent event, std::uint64_t generation)
      : gpu_(gpu), event_(event), generation_(generation) {}
  ~GpuEvent();
  GpuEvent(const GpuEvent&) = delete;
  GpuEvent& operator=(const GpuEvent&) = delete;
  CuEvent get() const { return event_; }

 private:
  Gpu& gpu_;
  const CuEvent event_;
  const std::uint64_t generation_;
};

/// What is known of the hardware.
struct GpuFacts {
  std::string name;
  int ordinal = 0;
  int major = 0, minor = 0;
  unsigned multiprocessors = 1;
  std::size_t total_bytes = 0;
  std::size_t most_pitch = 0;
  bool read_only_registration = false;
  bool shares_memory = false;  ///< with other processes
  std::vector<bool> reaches;   ///< by ordinal, whose memory its kernels may touch
};

struct Kernels {
  CuFunction pieces = nullptr, few = nullptr, rows = nullptr, rows_of_vectors = nullptr,
             rows_of_words = nullptr, rows_of_bytes = nullptr, pack_rows = nullptr, indirect = nullptr;
};

/// Thread-safe. Lives as long as the process. After a fault its context is lost, and every call fails, until
/// Revive.
class Gpu {
 public:
  static Result<std::unique_ptr<Gpu>> Open(const Driver& driver, int ordinal);

  const Driver& driver() const { return driver_; }
  const GpuFacts& facts() const { return facts_; }
  CuContext context() const { return context_.load(std::memory_order_acquire); }
  const Kernels& kernels() const { return kernels_; }
  /// Loaded at the first use, with the context current: most programs never reduce.
  Result<CuFunction> ReduceKernel();

  /// Whether kernels may touch device memory: that of another GPU only where the machine has peer access.
  bool Reaches(CuAddress device_memory) const { return reaches_all_ || ReachesOwnerOf(device_memory); }

  /// Success, or the failure with its code; one that ends the context marks the GPU lost.
  Status Check(CuResult result, std::string_view what) {
    return result == cu::kSuccess ? Status() : Fail(result, what);
  }
  bool lost() const { return lost_.load(std::memory_order_acquire); }
  /// Why; only while it is lost.
  Status LostStatus() const;

  Result<std::shared_ptr<GpuEvent>> TakeEvent();
  /// The time at which a completed event was reached, on a clock that all events of the GPU share.
  std::int64_t TimeNs(const std::shared_ptr<GpuEvent>& event);
  /// Sets the clock by an event that is reached at once, where TimeNs would take the first one that it is
  /// asked for, which may have been reached long before.
  void StartClock(CuStream stream);

  /// Is called once when the GPU is lost, on whichever thread noticed. Set before the GPU is used.
  void set_on_lost(std::function<void()> on_lost) { on_lost_ = std::move(on_lost); }

  /// Queues that use the context: it is not replaced under them.
  std::atomic<int>& users() { return users_; }
  /// Gives a lost GPU a new context. Nothing of the old one may be used any more.
  Status Revive();

 private:
  friend class GpuEvent;
  Gpu(const Driver& driver, CuDevice device, GpuFacts facts);

  bool ReachesOwnerOf(CuAddress device_memory) const;
  Status Fail(CuResult result, std::string_view what);
  Status Enter();
  void GiveBack(CuEvent event, std::uint64_t generation) noexcept;

  const Driver& driver_;
  const CuDevice device_;
  const GpuFacts facts_;
  const bool reaches_all_;
  std::atomic<CuContext> context_{nullptr};
  Kernels kernels_;
  std::mutex loading_;
  CuFunction reduce_kernel_ = nullptr;
  std::atomic<int> users_{0};
  std::atomic<bool> lost_{false};
  std::function<void()> on_lost_;
  mutable std::mutex mutex_;
  Error lost_error_;
  std::uint64_t generation_ = 0;
  std::vector<CuEvent> idle_events_;
  std::shared_ptr<GpuEvent> clock_event_;  // the event that times are counted from, and its time
  double clock_ns_ = 0;
};

ContextScope::ContextScope(const Gpu& gpu) : driver_(gpu.driver()) {
  CuContext current = nullptr;
  driver_.ContextGetCurrent(&current);
  if (const CuContext wanted = gpu.context(); current != wanted) [[unlikely]]
    Enter(wanted, current);
}

}  // namespace sampan::cuda
