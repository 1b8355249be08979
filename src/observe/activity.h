// The kinds of tasks, paths, memory and waits that observers tell apart.
#pragma once

#include <cstdint>

namespace sampan::observe {

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

enum class Path : std::uint8_t {
  kNone,
  kEngine,
  kShared,
  kAtOnce,
  kBlocking,
  kBatchCall,
  kKernel,
  kStaged,
  kDense,
  kNetwork
};

enum class Memory : std::uint8_t { kNone, kPageable, kPinned, kDevice };

/// What a transfer with another host does.
enum class TransferKind : std::uint8_t { kWrite, kRead, kFill, kSignal };

/// What a call waits for.
enum class Awaited : std::uint8_t { kNothing, kStream, kEvent, kDevice };

enum class WaitReason : std::uint8_t { kQueueFull, kPageable };

}  // namespace sampan::observe
