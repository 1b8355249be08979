// The tasks, calls and waits of a program, for traces and for the summary. activity_words.h has their names.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "observe/activity.h"

namespace sampan::summary {

using observe::Awaited;
using observe::Memory;
using observe::Path;
using observe::TaskType;
using observe::TransferKind;
using observe::WaitReason;

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

/// What a wait for a word in device memory wants of it.
enum class Condition : std::uint8_t { kAtLeast, kEqual, kAnd, kNor };

/// A completed task. Times are nanoseconds of one clock.
struct Task {
  TaskType type = TaskType::kOther;
  Form form = Form::kNone;
  Operation operation = Operation::kNone;
  Path path = Path::kNone;
  Memory dst = Memory::kNone, src = Memory::kNone;
  bool discarded = false;
  std::int32_t status = 0;         ///< the code with which it failed; 0: it did not
  bool asynchronous_call = false;  ///< submitted by an asynchronous call that blocked
  bool timed = true;               ///< begin and end are the times of the work itself
  std::int32_t device = 0;
  std::int64_t stream = -1;  ///< -1: none
  std::uint64_t thread = 0;  ///< the calling thread; 0 if unknown
  std::uint64_t bytes = 0;
  std::uint64_t entries = 1;
  std::uint32_t multiprocessors = 0;  ///< the most that a kernel of it had
  std::string_view link;              ///< of HCCL; empty: none
  std::int64_t submitted_ns = 0, begin_ns = 0, end_ns = 0;

  /// True if the work was done. Only then it counts as copied, and in a rate.
  bool succeeded() const { return status == 0 && !discarded; }
};

/// A transfer with a process of another host.
struct Transfer {
  std::string_view peer;
  std::int32_t code = 0;
  std::uint64_t bytes = 0, wire_bytes = 0;  ///< of memory, and both ways with headers
  std::int64_t begin_ns = 0, end_ns = 0;
};

/// A public call that has returned.
struct Call {
  std::string_view name;  ///< without the area's prefix
  std::uint64_t thread = 0;
  std::int32_t code = 0;
  bool platform = false;  ///< of HCCL's platform layer
  Awaited awaited = Awaited::kNothing;
  std::int64_t begin_ns = 0, end_ns = 0;
};

/// A wait of the host inside a call that should not wait.
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

/// The number of a stream's tasks at a time.
struct Depth {
  std::int32_t device = 0;
  std::uint32_t stream = 0;
  std::uint64_t tasks = 0;
};

}  // namespace sampan::summary
