// One step of a random API program, as plain data that can be printed, dropped and replayed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "acl/acl.h"

namespace sampan::model {

inline constexpr int kDevices = 2;
/// The primary contexts of the devices, and one that the program makes.
inline constexpr int kContexts = kDevices + 1;
inline constexpr int kOwnContext = kDevices;
inline constexpr int kThreads = 2;
inline constexpr int kBuffers = 10;
inline constexpr int kStreams = 6;
inline constexpr int kEvents = 6;
inline constexpr int kNotifies = 3;
/// Per device: 64-bit words that streams write and wait for.
inline constexpr int kWords = 3;
/// Per device: descriptors, and cells that hold pointers for copies with offsets.
inline constexpr int kDescriptors = 4;
inline constexpr int kCells = 4;
inline constexpr std::size_t kDescriptorStride = 64;

/// Slots with a meaning of their own. As a stream, kNull is the default stream of the current context.
inline constexpr int kNull = -1;
inline constexpr int kWild = -2;  ///< an address or a handle that no call returned

/// kPool: of a pool of the device, in the order of a stream. kMapped: physical memory at reserved addresses,
/// over a seam of two pieces.
enum class Memory : std::uint8_t { kDevice, kPinned, kRegistered, kPageable, kPool, kMapped };

/// A value of kAbortStream.
inline constexpr std::uint32_t kWhileSubmitting = 2;

enum class Call : std::uint8_t {
  kUseDevice,       ///< device
  kSetPeerAccess,   ///< of the current device to the other one: value 1 enables, 0 disables
  kCreateContext,   ///< on the current device
  kUseContext,      ///< the program's own
  kDestroyContext,  ///< the program's own, while another one is current
  kAllocate,        ///< slot, memory, bytes; stream (kPool)
  kFree,   ///< dst, memory (whose form of the call); value 1: the form that waits for the context's streams
           ///< (kPool: at once, otherwise in the order of `stream`)
  kUnmap,  ///< slot (kMapped): its addresses stay reserved
  kMapAgain,           ///< slot: the same memory at the same addresses
  kSetAccess,          ///< slot, device, value: the device's rights
  kCreateStream,       ///< slot
  kDestroyStream,      ///< stream; value 1: by force
  kStopOnFailure,      ///< stream
  kAbortStream,        ///< stream; value 1: by aclrtStreamStop, 2: while another thread submits there
  kAbortDevice,        ///< the current one
  kCreateNotify,       ///< slot
  kDestroyNotify,      ///< slot
  kRecordNotify,       ///< slot, stream
  kWaitNotify,         ///< slot, stream
  kResetNotify,        ///< slot
  kWriteWord,          ///< slot, value, stream
  kWaitWord,           ///< slot, value, kind (the condition), stream
  kSetWord,            ///< slot, value: a blocking copy
  kFork,               ///< from here on two threads run at the same time
  kJoin,               ///< the end of that
  kCreateEvent,        ///< event, form
  kDestroyEvent,       ///< event
  kRecord,             ///< event, stream
  kWait,               ///< stream, event
  kResetEvent,         ///< event, stream
  kSyncStream,         ///< stream; value 1: with a timeout
  kSyncEvent,          ///< event; value 1: with a timeout
  kSyncDevice,         ///< of the current context
  kQueryStream,        ///< stream
  kQueryEvent,         ///< event
  kCloseGate,          ///< stream: a host function that stands still until the gate opens
  kOpenGate,           ///< the only closed one
  kHostFunction,       ///< stream; changes bytes at dst (host memory) by `value`
  kCopy,               ///< dst, dst_max, src, bytes, kind
  kCopyAsync,          ///< the same, stream
  kFlood,              ///< stream, dst, src, bytes, height: so many copies, each of the next bytes
  kCopyRows,           ///< dst, dst_pitch, src, src_pitch, bytes (width), height, kind
  kCopyRowsAsync,      ///< the same, stream
  kBatch,              ///< entries, attributes; value 1: the form without fail index
  kBatchAsync,         ///< the same, stream
  kFill,               ///< dst, dst_max, value, bytes
  kFillAsync,          ///< the same, stream
  kFillWords,          ///< dst, dst_max, value, bytes (number of words)
  kFillWordsAsync,     ///< the same, stream
  kSetDescriptor,      ///< slot, src, dst, bytes, kind
  kRewriteDescriptor,  ///< slot, src, dst, bytes, stream: a queued copy of new operands over a descriptor
  kCopyDescriptor,     ///< slot from other_slot, stream: a queued copy from descriptor to descriptor
  kLaunchDescriptor,   ///< slot, kind, stream
  kSetCell,            ///< slot, dst: a blocking copy of an address into a cell
  kRewriteCell,        ///< slot, dst, stream: a queued one
  kCopyThroughCells,   ///< slot (dst cell), dst_max, dst.offset, other_slot (src cell), bytes, src.offset,
                       ///< kind, stream
  kVerify,             ///< slot: compares the whole buffer
};

enum class Rights : std::uint8_t { kNone, kRead, kAll };

enum class EventForm : std::uint8_t { kLegacy, kLegacySync, kEx, kTimeOnly };

struct Address {
  int slot = kNull;
  std::size_t offset = 0;

  bool operator==(const Address&) const = default;
};

/// One entry of a batch.
struct Entry {
  Address dst, src;
  std::size_t dst_max = 0;
  std::size_t bytes = 0;
};

/// One attribute of a batch, from entry `first` on.
struct Attribute {
  std::size_t first = 0;
  aclrtMemLocation dst{0, ACL_MEM_LOCATION_TYPE_HOST};
  aclrtMemLocation src{0, ACL_MEM_LOCATION_TYPE_HOST};
  bool dirty_reserve = false;
};

struct Operation {
  Call call = Call::kOpenGate;
  int thread = 0;  ///< between kFork and kJoin: which thread calls
  int device = 0;
  int slot = 0;
  int other_slot = 0;
  int stream = kNull;
  int event = 0;
  Memory memory = Memory::kDevice;
  EventForm form = EventForm::kEx;
  std::uint32_t value = 0;
  int kind = ACL_MEMCPY_DEFAULT;
  Address dst, src;
  std::size_t dst_max = 0;
  std::size_t bytes = 0;
  std::size_t dst_pitch = 0, src_pitch = 0, height = 0;
  std::vector<Entry> entries;
  std::vector<Attribute> attributes;
};

using Program = std::vector<Operation>;

/// The operation as a person would write the call.
std::string Text(const Operation& operation);

}  // namespace sampan::model
