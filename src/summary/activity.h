// What happened in a program, piece by piece, as traces tell it and as the summary counts it. The words for
// it are in activity_words.h.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace sampan::summary {

enum class TaskType : std::uint8_t {
  kMemcpyAsync,
  kMemcpy,  ///< blocking, outside every stream
  kMemsetAsync,
  kMemset,
  kReduceAsync,
  kEventRecord,
  kEventWait,
  kEventReset,
  kNotifyRecord,
  kNotifyWait,
  kValueWrite,
  kValueWait,
  kHostFunction,
  kOther,
};

enum class Form : std::uint8_t {
  kNone,
  kLinear,
  kRows,
  kBatch,
  kDescriptor,
  kOffset,
  kCaptured,
  kFill,
  kReduce
};

enum class Operation : std::uint8_t {
  kNone,
  kHostToHost,
  kHostToDevice,
  kDeviceToHost,
  kDeviceToDevice,
  kFill
};

enum class Path : std::uint8_t { kNone, kEngine, kShared, kAtOnce, kBlocking, kBatchCall, kKernel, kStaged };

enum class Memory : std::uint8_t { kNone, kPageable, kPinned, kDevice };

/// What a call waits for.
enum class Awaited : std::uint8_t { kNothing, kStream, kEvent, kDevice };

enum class WaitReason : std::uint8_t { kQueueFull, kPageable };

/// What a wait for a word in device memory wants of it.
enum class Condition : std::uint8_t { kAtLeast, kEqual, kAnd, kNor };

/// A task that is over. Times are nanoseconds of one clock.
struct Task {
  TaskType type = TaskType::kOther;
  Form form = Form::kNone;
  Operation operation = Operation::kNone;
  Path path = Path::kNone;
  Memory dst = Memory::kNone, src = Memory::kNone;
  bool discarded = false;
  std::int32_t status = 0;         ///< the code with which it failed; 0: it did not
  bool asynchronous_call = false;  ///< by a call that would not have had to block
  bool timed = true;               ///< whether begin and end are those of the work itself
  std::int32_t device = 0;
  std::int64_t stream = -1;  ///< -1: none
  std::uint64_t thread = 0;  ///< whose call it was; 0 when unknown
  std::uint64_t bytes = 0;
  std::uint64_t entries = 1;
  std::string_view link;  ///< of HCCL; empty: none
  std::int64_t submitted_ns = 0, begin_ns = 0, end_ns = 0;

  /// True if the work was done. Only then it counts as copied, and in a rate.
  bool succeeded() const { return status == 0 && !discarded; }
};

/// A public call that has returned.
struct Call {
  std::string_view name;  ///< without the area in front
  std::uint64_t thread = 0;
  std::int32_t code = 0;
  bool platform = false;  ///< of HCCL's platform layer
  Awaited awaited = Awaited::kNothing;
  std::int64_t begin_ns = 0, end_ns = 0;
};

/// A wait of the host inside of a call that was not for waiting.
struct Wait {
  WaitReason reason = WaitReason::kQueueFull;
  std::uint64_t thread = 0;
  std::int64_t begin_ns = 0, end_ns = 0;
};

/// A call, a wait of the host or a task that has not ended.
struct Unfinished {
  std::string name;          ///< of the call, without the area in front, or the type of the task
  bool of_stream = false;    ///< a task
  std::uint64_t thread = 0;  ///< of a call
  Awaited awaited = Awaited::kNothing;
  std::optional<WaitReason> host_wait;  ///< of a wait of the host inside of a call
  std::int32_t device = 0;
  std::int64_t stream = -1;  ///< that it is in, or waits for; -1: none
  std::uint64_t task = 0;
  std::int64_t object = -1;               ///< the event or notify; -1: none
  std::uint64_t behind = 0;               ///< tasks that wait for the task in its stream
  std::string reason;                     ///< why it has not ended, in words; empty: not known
  std::int64_t begin_ns = 0, end_ns = 0;  ///< the end is when it was still not over
};

/// How many tasks a stream had, at some time.
struct Depth {
  std::int32_t device = 0;
  std::uint32_t stream = 0;
  std::uint64_t tasks = 0;
};

}  // namespace sampan::summary
