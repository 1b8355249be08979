// The records that threads write for the trace's writer: plain numbers in a fixed layout.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "observe/observer.h"
#include "summary/activity.h"

namespace sampan::trace {

enum class RecordKind : std::uint8_t {
  kFiller,
  kCall,
  kTask,
  kShortCopy,
  kExecution,
  kShare,
  kWait,
  kMemory,
  kStream,
  kOperator,
  kTransfer
};

/// Every record begins with it. Lengths are in words of eight bytes.
struct RecordHead {
  RecordKind kind;
  std::uint8_t flags;
  std::uint16_t words;
  std::int32_t code;
};

using observe::MemoryEnd;
using observe::Peer;

/// A public call that has returned. The peer follows the record of an HCCL call.
struct CallRecord {
  static constexpr std::uint8_t kPlatform = 1;  ///< of HCCL's platform layer

  RecordHead head;
  const char* name;
  std::int64_t begin_ns, end_ns;
  std::uint64_t connection;  ///< of the first task that it submitted; 0: none
  summary::Awaited awaited;
  std::int32_t device;
  std::uint32_t object;  ///< the stream or event that it waited for
  std::uint64_t task;
};

/// What a copy does, from where its ends are.
inline summary::Operation OperationOf(const MemoryEnd& dst, const MemoryEnd& src) {
  using summary::Memory;
  using summary::Operation;
  const bool to_device = dst.memory == Memory::kDevice;
  if (src.memory == Memory::kDevice) return to_device ? Operation::kDeviceToDevice : Operation::kDeviceToHost;
  return to_device ? Operation::kHostToDevice : Operation::kHostToHost;
}

/// Why a copy is executed at once.
inline constexpr const char* kShortReason = "short, and nothing is queued before it";

/// A submitted task, or a completed blocking one. Its rows, entries, reduction or word follow the record.
struct TaskRecord {
  static constexpr std::uint8_t kExecuted = 1;  ///< by the thread that submitted it: begin and end are known
  static constexpr std::uint8_t kBlocking = 2;  ///< outside every stream
  static constexpr std::uint8_t kAsynchronousCall = 4;

  RecordHead head;
  std::uint64_t connection;
  std::int64_t submitted_ns, begin_ns, end_ns;
  QueueLabel queue;
  std::uint64_t task;
  std::uint64_t bytes;
  const char* reason;
  Peer peer;
  summary::TaskType type;
  summary::Form form;
  summary::Operation operation;
  summary::Path path;
  std::uint32_t object;  ///< the number of an event or notify
  std::uint32_t entries;
  std::uint32_t multiprocessors;  ///< that a kernel of it had
  MemoryEnd dst, src;
};

/// A linear copy that its call executed at once, and the call: by far the most frequent record. Both ends are
/// pinned memory, or memory of the stream's device.
struct ShortCopyRecord {
  static constexpr std::uint8_t kToDevice = 1, kFromDevice = 2;

  RecordHead head;
  const char* name;                                    ///< of the call, which returns after the copy
  std::int64_t begin_ns;                               ///< of the call
  std::uint32_t ready_ns, copy_begin_ns, copy_end_ns;  ///< since then
  std::uint32_t bytes;
  QueueLabel queue;
  std::uint64_t task;
  std::uint64_t connection;
  std::uint64_t dst_allocation, dst_offset, src_allocation, src_offset;
};

/// Follows a task of rows.
struct RowsShape {
  std::uint64_t width, height, dst_pitch, src_pitch;
};

/// Follows a reduction.
struct ReduceShape {
  std::uint32_t operation, element;  ///< ReduceOperation, ReduceElement
};

/// Follows a task on a word in device memory.
struct WordShape {
  std::uint64_t value;
  std::uint64_t condition;  ///< of a wait: summary::Condition
};

/// Batches of at most this many entries are recorded entry by entry.
inline constexpr std::uint32_t kMaxPieces = 32;
struct Piece {
  std::uint64_t dst_allocation, dst_offset, src_allocation, src_offset, bytes;
};

/// Larger batches are recorded by runs of equal sizes and by their extents.
struct BatchOutline {
  struct Extent {
    std::uint64_t allocation, first, end;
  };
  struct SizeRun {
    std::uint64_t bytes, entries;
  };
  Extent dst, src;
  std::uint64_t runs;
  std::array<SizeRun, kMaxPieces> sizes;
};

/// A task that a queue has executed, or dropped.
struct ExecutionRecord {
  static constexpr std::uint8_t kDiscarded = 1, kShared = 2, kByDriver = 4;
  static constexpr std::uint8_t kTimed = 8;  ///< executed by the driver, which measured its time
  static constexpr std::uint8_t kEnds = 16;  ///< destination and source follow the record

  RecordHead head;
  QueueLabel queue;
  std::uint64_t task;
  std::int64_t begin_ns, end_ns;
  std::uint64_t bytes;  ///< if only the execution could tell
  const char* reason;   ///< if the backend chose a path; null otherwise
  std::uint32_t multiprocessors;
  summary::Path path;
  summary::TaskType type;
};

/// An engine that helped with a task of another engine.
struct ShareRecord {
  RecordHead head;
  QueueLabel queue;
  std::uint64_t task;  ///< the connection, for a task outside every queue
  std::int64_t begin_ns, end_ns;
  summary::TaskType type;
};

/// A wait of the host inside a call.
struct WaitRecord {
  RecordHead head;
  std::int64_t begin_ns, end_ns;
  std::int32_t device;
  std::uint32_t stream;
  summary::WaitReason reason;
};

/// A rank's part in an operator of a communicator. The times as in observe::OperatorEvent.
struct OperatorRecord {
  RecordHead head;
  QueueLabel queue;
  const char* name;
  const char* algorithm;
  std::uint64_t bytes;
  std::uint32_t rank, ranks, slowest;
  std::int64_t begin_ns, met_ns, moved_ns, end_ns;
};

/// A transfer with another host.
struct TransferRecord {
  RecordHead head;
  std::int64_t begin_ns, end_ns;
  std::uint64_t bytes, wire_bytes;
  std::array<char, 95> peer_text;  ///< longer ones are cut
  std::uint8_t peer_bytes;
  alignas(8) summary::TransferKind kind;

  std::string_view peer() const { return {peer_text.data(), peer_bytes}; }
};

struct MemoryRecord {
  static constexpr std::uint8_t kFreed = 1;

  RecordHead head;
  std::int64_t time_ns;
  std::uint64_t allocation, bytes, address;
  const char* call;
  summary::Memory memory;
  std::int32_t device;
};

struct StreamRecord {
  static constexpr std::uint8_t kDestroyed = 1, kDefault = 2;

  RecordHead head;
  std::int64_t time_ns;
  QueueLabel queue;
};

}  // namespace sampan::trace
