// The calls of a thread that have not returned, for the writer of the trace.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "summary/activity.h"

namespace sampan::trace {

/// A call, or a wait inside of one, that has not ended.
struct OpenCall {
  enum class Kind : std::uint8_t { kCall, kPlatformCall, kWait };

  const char* name = nullptr;  ///< of a call
  std::int64_t begin_ns = 0;
  Kind kind = Kind::kCall;
  summary::WaitReason reason{};  ///< of a wait
  summary::Awaited awaited = summary::Awaited::kNothing;
  std::int32_t device = 0;
  std::uint32_t object = 0;  ///< the stream or event that it waits for
  std::uint64_t task = 0;
};

/// A stack that one thread writes and any thread reads. Calls deeper than kMaxDepth are not shown.
class OpenCalls {
 public:
  static constexpr std::size_t kMaxDepth = 8;

  void Push(const OpenCall& call) noexcept {
    if (depth_ < kMaxDepth) Store(depth_, call);
    ++depth_;
    SetVisibleDepth();
  }
  void Pop() noexcept {
    --depth_;
    SetVisibleDepth();
  }
  /// What the innermost call waits for.
  void SetAwaited(summary::Awaited awaited, std::int32_t device, std::uint32_t object,
                  std::uint64_t task) noexcept {
    if (depth_ == 0 || depth_ > kMaxDepth) return;
    OpenCall call = calls_[depth_ - 1].Load();
    call.awaited = awaited;
    call.device = device;
    call.object = object;
    call.task = task;
    Store(depth_ - 1, call);
  }

  /// Calls `take(call)` for each, the outermost first, as they were at one moment. Does nothing if the thread
  /// changes them all the time: then none of them lasts.
  template <typename Take>
  void Read(Take take) const {
    std::array<OpenCall, kMaxDepth> calls;
    for (int tries = 0; tries < 4; ++tries) {
      const std::uint64_t before = version_.load(std::memory_order_acquire);
      const std::size_t depth = visible_depth_.load(std::memory_order_acquire);
      for (std::size_t i = 0; i < depth; ++i)
        calls[i] = calls_[i].Load();
      if (version_.load(std::memory_order_relaxed) != before || before % 2 != 0) continue;
      for (std::size_t i = 0; i < depth; ++i)
        take(calls[i]);
      return;
    }
  }

 private:
  /// Each part is stored and loaded by itself. Release and acquire keep the parts between the versions.
  class Slot {
   public:
    void Store(const OpenCall& call) noexcept {
      constexpr auto kOrder = std::memory_order_release;
      name_.store(call.name, kOrder);
      begin_ns_.store(call.begin_ns, kOrder);
      kinds_.store(static_cast<std::uint32_t>(call.kind) | static_cast<std::uint32_t>(call.reason) << 8 |
                       static_cast<std::uint32_t>(call.awaited) << 16,
                   kOrder);
      device_.store(call.device, kOrder);
      object_.store(call.object, kOrder);
      task_.store(call.task, kOrder);
    }
    OpenCall Load() const noexcept {
      constexpr auto kOrder = std::memory_order_acquire;
      const std::uint32_t kinds = kinds_.load(kOrder);
      return {name_.load(kOrder),
              begin_ns_.load(kOrder),
              static_cast<OpenCall::Kind>(kinds & 0xff),
              static_cast<summary::WaitReason>(kinds >> 8 & 0xff),
              static_cast<summary::Awaited>(kinds >> 16 & 0xff),
              device_.load(kOrder),
              object_.load(kOrder),
              task_.load(kOrder)};
    }

   private:
    std::atomic<const char*> name_{nullptr};
    std::atomic<std::int64_t> begin_ns_{0};
    std::atomic<std::uint32_t> kinds_{0};
    std::atomic<std::int32_t> device_{0};
    std::atomic<std::uint32_t> object_{0};
    std::atomic<std::uint64_t> task_{0};
  };

  void Store(std::size_t at, const OpenCall& call) noexcept {
    version_.store(version_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
    calls_[at].Store(call);
    version_.store(version_.load(std::memory_order_relaxed) + 1, std::memory_order_release);
  }
  void SetVisibleDepth() noexcept {
    version_.store(version_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
    visible_depth_.store(depth_ < kMaxDepth ? depth_ : kMaxDepth, std::memory_order_release);
    version_.store(version_.load(std::memory_order_relaxed) + 1, std::memory_order_release);
  }

  std::size_t depth_ = 0;                  // the thread's
  std::atomic<std::uint64_t> version_{0};  // odd while the thread writes
  std::atomic<std::size_t> visible_depth_{0};
  std::array<Slot, kMaxDepth> calls_;
};

}  // namespace sampan::trace
