// The reference: what every operation must answer and leave in memory, as far as the rules determine it.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <vector>

#include "tests/model/clock.h"
#include "tests/model/operation.h"

namespace sampan::model {

/// A use of bytes by queued work.
struct Access {
  int stream;  ///< number of the stream among all that ever existed
  std::uint32_t tick;
  std::size_t begin, end;
  bool write;
};

struct Buffer {
  enum class State : std::uint8_t { kNever, kLive, kFreed };
  State state = State::kNever;
  Memory memory = Memory::kDevice;
  int device = 0;
  std::size_t reach = 0;       ///< bytes that copies may touch
  std::uint64_t serial = 0;    ///< counts allocations
  std::uint64_t freed_at = 0;  ///< the newest serial when it was freed
  std::vector<std::uint8_t> bytes;
  std::vector<Access> accesses;

  bool on_device() const {
    return memory == Memory::kDevice || memory == Memory::kPool || memory == Memory::kMapped;
  }
  bool known_to_runtime() const { return memory != Memory::kPageable; }
};

struct Stream {
  bool created = false, live = false;
  int number = 0;
  int device = 0;
  std::uint32_t tick = 0;
  Clock clock;          ///< what happened before its next task
  bool failed = false;  ///< has an error of a task that no call has reported
};

struct Event {
  bool created = false, live = false;
  EventForm form = EventForm::kEx;
  bool recorded = false, reset = false;
  Clock record;  ///< what a wait for the latest record waits for
  Clock waits;   ///< all tasks that waited on it
  Clock reset_point;
};

/// An address that was stored in device memory: it means the allocation of that moment.
struct StoredAddress {
  Address address;
  std::uint64_t serial = 0;
};

struct Descriptor {
  bool set = false;
  StoredAddress src, dst;
  std::size_t bytes = 0;
};

/// The answer to an operation, or why there is none.
struct Verdict {
  bool admitted = false;
  aclError code = ACL_SUCCESS;
  std::optional<std::size_t> fail_index;  ///< expected in *failIndex; without it, untouched
  std::optional<int> ready;               ///< queries: 1 complete, 0 not; without it, either

  bool held = false;                ///< it would wait for the closed gate
  std::vector<int> unordered_with;  ///< streams (by number) that it would race with
};

/// One use of memory that an operation asks for.
struct Touch {
  Buffer* buffer;
  std::size_t begin, end;
  bool write;
};

/// Applies operations one after the other. Not thread-safe. An operation whose outcome the rules leave open
/// is not admitted and changes nothing; so every sequence of operations is a program, whatever was dropped
/// from it.
class Model {
 public:
  Model();

  Verdict Apply(const Operation& op);

  const Buffer& buffer(int slot) const { return buffers_[slot]; }
  const Stream& stream(int slot) const { return streams_[slot]; }
  const Event& event(int slot) const { return events_[slot]; }
  const Stream& default_stream(int device) const { return defaults_[device]; }
  const Descriptor& descriptor(int slot) const { return tables_[current_].descriptors[slot]; }
  bool cell_set(int slot) const { return tables_[current_].cells[slot].has_value(); }
  Address cell(int slot) const { return tables_[current_].cells[slot]->address; }
  int current_device() const { return current_; }
  bool peer_access(int device) const { return peer_[device]; }
  bool gate_closed() const { return gate_.has_value(); }

 private:
  struct Gate {
    int stream;
    std::uint32_t tick;
  };
  struct Table {
    Buffer memory;  ///< only its accesses count: what is stored there is symbolic
    std::array<Descriptor, kDescriptors> descriptors;
    std::array<std::optional<StoredAddress>, kCells> cells;
  };
  /// Where an address points.
  struct Site {
    bool known = true;   ///< false: the rules do not say what such an address answers
    bool usable = true;  ///< the range lies in live memory
    bool device_side = false, pageable = false;
    int device = 0;
    Buffer* buffer = nullptr;
  };
  using Codes = std::set<aclError>;

  static Verdict Undetermined() { return {}; }
  static Verdict Answer(aclError code);
  /// One code: that. None: nothing. Several without a promised order: undetermined.
  static std::optional<Verdict> FromCodes(const Codes& codes);

  // model.cc: memory.
  Verdict UseDevice(const Operation& op);
  Verdict SetPeerAccess(const Operation& op);
  Verdict Allocate(const Operation& op);
  Verdict Free(const Operation& op);
  Verdict HostFunction(const Operation& op);
  Verdict Verify(const Operation& op);
  // model_stream.cc: streams, events, waits.
  Verdict CreateStream(const Operation& op);
  Verdict DestroyStream(const Operation& op);
  Verdict CreateEvent(const Operation& op);
  Verdict DestroyEvent(const Operation& op);
  Verdict Record(const Operation& op);
  Verdict Wait(const Operation& op);
  Verdict ResetEvent(const Operation& op);
  Verdict SyncStream(const Operation& op);
  Verdict SyncEvent(const Operation& op);
  Verdict SyncDevice();
  Verdict QueryStream(const Operation& op);
  Verdict QueryEvent(const Operation& op);
  Verdict CloseGate(const Operation& op);
  Verdict OpenGate();
  /// All work of the current context, which a wait for the device waits for; nothing when that is
  /// undetermined.
  std::optional<Clock> ContextWork(Verdict& verdict) const;
  // model_copy.cc: copies of plain ranges.
  Verdict Copy(const Operation& op);
  Verdict CopyAsync(const Operation& op);
  Verdict CopyRows(const Operation& op, bool async);
  Verdict Fill(const Operation& op, bool async);
  Verdict FillWords(const Operation& op, bool async);
  // model_batch.cc.
  Verdict Batch(const Operation& op, bool async);
  // model_indirect.cc: copies whose operands lie in device memory.
  Verdict SetDescriptor(const Operation& op);
  Verdict RewriteDescriptor(const Operation& op);
  Verdict CopyDescriptor(const Operation& op);
  Verdict LaunchDescriptor(const Operation& op);
  Verdict SetCell(const Operation& op);
  Verdict RewriteCell(const Operation& op);
  Verdict CopyThroughCells(const Operation& op);
  Verdict CopyIndirect(Stream& stream, const std::vector<Touch>& operands, const Descriptor& copy);
  /// Nothing when the address has no value that could be stored.
  std::optional<StoredAddress> Store(const Address& address) const;

  /// The stream; null with 107017 in `verdict`, or null and undetermined.
  Stream* FindStream(int slot, Verdict& verdict);
  Event* FindEvent(int slot, Verdict& verdict);
  bool Foreign(const Stream& stream) const { return stream.device != current_; }
  Site Locate(const Address& address, std::size_t bytes);
  bool Dangling(const Buffer& buffer) const { return buffer.freed_at == allocations_; }
  static bool Overlap(const Address& dst, const Address& src, std::size_t bytes);

  bool Held(const Clock& clock) const { return gate_ && clock.Covers(gate_->stream, gate_->tick); }
  /// True when every touch is ordered after what conflicts with it; else fills `verdict`.
  bool Ordered(const std::vector<Touch>& touches, const Clock& seen, Verdict& verdict) const;
  /// The host waits for the clock; false (in `verdict`) when the gate would hold it for ever.
  bool HostCanWait(const Clock& clock, Verdict& verdict) const;
  /// The clock of the stream's next task.
  Clock Next(const Stream& stream) const;
  /// Queues a task that uses this memory.
  void Queue(Stream& stream, const std::vector<Touch>& touches);
  static void Move(Buffer& dst, std::size_t dst_at, const Buffer& src, std::size_t src_at, std::size_t bytes);

  std::array<Buffer, kBuffers> buffers_;
  std::array<Stream, kStreams> streams_;
  std::array<Stream, kDevices> defaults_;
  std::array<Event, kEvents> events_;
  std::array<Table, kDevices> tables_;
  std::array<bool, kDevices> peer_{};
  Clock host_;  ///< what the host knows to be over
  std::optional<Gate> gate_;
  int current_ = 0;
  int streams_made_ = 0;
  std::uint64_t allocations_ = 0;
};

/// What a new buffer is filled with before the program uses it.
std::uint8_t InitialByte(int slot, std::size_t offset);

}  // namespace sampan::model
