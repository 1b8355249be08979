// A function of this library as traces show it.
#pragma once

#include "base/platform_bridge.h"
#include "hccl/command.h"
#include "hccl/hccl_types.h"
#include "hccl/route.h"

namespace sampan::hccl {

/// The watch word of the runtime.
inline const std::atomic<std::uint32_t>& watch_word = *sampanWatchWord();

/// Returns true if a trace, warnings or debug lines may be wanted; one load.
inline bool IsWatched() {
  return watch_word.load(std::memory_order_relaxed) != kWatchNone;
}

/// A call of its thread in the trace, with the runtime calls made during its life inside of it.
class TracedCall {
 public:
  explicit TracedCall(const char* function, const Peer& peer = kNoPeer) noexcept : function_(function) {
    if (IsWatched()) [[unlikely]]
      is_on_ = sampanBeginCall(function_, NameOrNull(peer.link), static_cast<s32>(peer.rank));
  }
  ~TracedCall() {
    if (is_on_) [[unlikely]]
      sampanEndCall(function_, static_cast<int>(code_));
  }
  TracedCall(const TracedCall&) = delete;
  TracedCall& operator=(const TracedCall&) = delete;

  /// Notes the code that the function returns, and returns it.
  HcclResult Ends(HcclResult code) noexcept {
    code_ = code;
    return code;
  }

 private:
  const char* const function_;
  bool is_on_ = false;
  HcclResult code_ = HCCL_SUCCESS;
};

/// What the trace says about the tasks that are submitted during its life.
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
