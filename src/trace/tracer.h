// The observer that records: leaves what it is told in the buffer of the calling thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "observe/observer.h"
#include "trace/record.h"
#include "trace/task_record.h"
#include "trace/thread_buffer.h"

namespace sampan::trace {

/// A public call while it runs.
struct Call {
  std::int64_t begin_ns = 0;
  std::int64_t ready_ns = 0;     ///< since when it could submit: its beginning, or the end of a wait for room
  std::uint64_t connection = 0;  ///< of the first task that it submitted; 0: none
  observe::AwaitedWork awaited{};
  bool did_short_copy = false;  ///< the thread's short_copy is all that it did
  bool platform = false;        ///< of HCCL's platform layer
  Peer peer{};
};

/// What the trace knows of a thread. Made at its first event; goes with the thread.
struct ThreadState {
  explicit ThreadState(std::shared_ptr<ThreadBuffer> own) : buffer(std::move(own)) {
    constexpr std::size_t kUsualDepth = 8;
    calls.reserve(kUsualDepth);
  }

  Call* call() { return calls.empty() ? nullptr : &calls.back(); }

  const std::shared_ptr<ThreadBuffer> buffer;
  std::vector<Call> calls;         // those that have not ended, the innermost last
  std::size_t untraced_calls = 0;  // inside of these, without memory for them
  std::size_t host_waits = 0;      // those of them that have not ended
  TaskDescription submitting;      // between OnSubmitting and OnSubmitted
  ShortCopyRecord short_copy;      // of the call, where that says so
};

/// The calling thread's, made where it has none. Without memory for it the trace ends, and it is null.
ThreadState* ThisThread() noexcept;

/// Thread-safe, without a lock: each thread writes to its own buffer.
class Tracer final : public observe::Observer {
 public:
  void OnThreadBegan(const ThreadRole& role) noexcept override;
  void OnCallBegan(const char* name, const Peer* peer) noexcept override;
  void OnCallEnded(const char* name, std::int32_t code) noexcept override;
  void OnCallAwaits(const observe::AwaitedWork& awaited) noexcept override;
  void OnHostWaitBegan(const observe::HostWaitBegin& wait) noexcept override;
  void OnHostWait(const observe::HostWaitEvent& wait) noexcept override;
  void OnSubmitting(const observe::Submission& submission, const Task& task) noexcept override;
  void OnSubmitted(const observe::Submission& submission, std::uint64_t number,
                   const observe::Execution* execution) noexcept override;
  void OnExecuted(const observe::Execution& execution) noexcept override;
  void OnHelped(const observe::TaskKey& task, std::int64_t begin_ns) noexcept override;
  void OnOperator(const observe::OperatorEvent& event) noexcept override;
  void OnTransfer(const observe::TransferEvent& event) noexcept override;
  void OnMemory(const observe::MemoryEvent& event) noexcept override;
  void OnStream(const observe::StreamEvent& event) noexcept override;
};

}  // namespace sampan::trace
