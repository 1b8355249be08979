// A function of this library as traces show it.
#pragma once

#include "base/platform_bridge.h"
#include "hccl/hccl_types.h"
#include "hccl/route.h"
#include "hccl/task.h"

namespace sampan::plf {

/// From its making to its end a call of its thread, with what is called meanwhile inside of it. Costs a load
/// while there is no trace.
class TracedCall {
 public:
  explicit TracedCall(const char* function, const Peer& peer = kNobody) noexcept
      : function_(function), on_(sampanBeginCall(NameOrNull(peer.link), static_cast<s32>(peer.rank))) {}
  ~TracedCall() {
    if (on_) sampanEndCall(function_, static_cast<int>(code_));
  }
  TracedCall(const TracedCall&) = delete;
  TracedCall& operator=(const TracedCall&) = delete;

  /// What the function answers.
  HcclResult Ends(HcclResult code) noexcept {
    code_ = code;
    return code;
  }

 private:
  const char* const function_;
  const bool on_;
  HcclResult code_ = HCCL_SUCCESS;
};

/// What the trace says about the tasks that are submitted while it lives.
class TracedTasks {
 public:
  explicit TracedTasks(const Peer& peer) noexcept {
    sampanTraceLink(NameOrNull(peer.link), static_cast<s32>(peer.rank));
  }
  ~TracedTasks() { sampanTraceLink(nullptr, static_cast<s32>(kNobody.rank)); }
  TracedTasks(const TracedTasks&) = delete;
  TracedTasks& operator=(const TracedTasks&) = delete;
};

}  // namespace sampan::plf
