// Shows the functions of this library in traces.
#pragma once

#include "base/platform_bridge.h"
#include "hccl/dispatcher/command.h"
#include "hccl/dispatcher/route.h"
#include "hccl/hccl_types.h"

namespace sampan::hccl {

/// The watch word of the runtime.
inline const std::atomic<std::uint32_t>& watch_word = *sampanWatchWord();

/// Returns true if a trace, warnings or debug lines may be on. Costs one load.
inline bool IsWatched() {
  return watch_word.load(std::memory_order_relaxed) != kWatchNone;
}

/// A call in the trace of the calling thread. It contains the runtime calls made while it exists.
class TracedCall {
 public:
  explicit TracedCall(const char* function) noexcept : function_(function) {
    if (IsWatched()) [[unlikely]]
      is_on_ = sampanBeginCall(function_, nullptr, static_cast<s32>(kNoPeer.rank));
  }
  TracedCall(const char* function, const Peer& peer) noexcept : function_(function) {
    if (IsWatched()) [[unlikely]]
      is_on_ = sampanBeginCall(function_, NameOrNull(peer.link), static_cast<s32>(peer.rank));
  }
  ~TracedCall() {
    if (is_on_) [[unlikely]]
      sampanEndCall(function_, static_cast<int>(code_));
  }
  TracedCall(const TracedCall&) = delete;
  TracedCall& operator=(const TracedCall&) = delete;

  /// Stores the function's code for the trace, and returns it.
  HcclResult Ends(HcclResult code) noexcept {
    code_ = code;
    return code;
  }

 private:
  const char* const function_;
  bool is_on_ = false;
  HcclResult code_ = HCCL_SUCCESS;
};

/// What the trace shows for the tasks that are submitted while it exists.
class TracedTasks {
 public:
  explicit TracedTasks(const Peer& peer) noexcept : is_on_(IsWatched()) {
    if (is_on_) [[unlikely]]
      sampanTraceLink(NameOrNull(peer.link), static_cast<s32>(peer.rank));
  }
  ~TracedTasks() {
    if (is_on_) [[unlikely]]
      sampanTraceLink(nullptr, static_cast<s32>(kNoPeer.rank));
  }
  TracedTasks(const TracedTasks&) = delete;
  TracedTasks& operator=(const TracedTasks&) = delete;

 private:
  const bool is_on_;
};

}  // namespace sampan::hccl
