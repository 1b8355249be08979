// What the reference knows of each object of a program.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "tests/model/clock.h"
#include "tests/model/operation.h"

namespace sampan::model {

inline constexpr std::uint32_t kQueueDepth = 1792;
/// From here on serials are those of the tables with descriptors and cells.
inline constexpr std::uint64_t kTableSerial = std::uint64_t{1} << 40;

/// A use of bytes by work that may not be over.
struct Access {
  int track;
  std::uint32_t tick;
  std::size_t begin, end;
  bool write;
  int task;
};

struct Buffer {
  enum class State : std::uint8_t { kNever, kLive, kFreed };
  State state = State::kNever;
  Memory memory = Memory::kDevice;
  int slot = 0;
  int device = 0;
  std::size_t reach = 0;       ///< bytes that copies may touch
  std::uint64_t serial = 0;    ///< counts allocations
  std::uint64_t freed_at = 0;  ///< the newest serial when it was freed
  std::vector<Access> accesses;
  int made_by = -1;  ///< kPool: the task behind which it can be used
  std::vector<int>
      earlier_frees;      ///< kPool: it may be the memory of one of these, and its uses wait for them
  bool lost = false;      ///< kPool: an abort dropped that task, so it can only be freed
  bool unmapped = false;  ///< kMapped: nothing is at its addresses
  std::array<Rights, kDevices> rights{Rights::kAll, Rights::kAll};  ///< kMapped
  std::uint32_t users = 0;  ///< between fork and join: bits of the threads that used it
  int changed_by = kNull;   ///< the same: the thread that allocated or freed it

  bool on_device() const {
    return memory == Memory::kDevice || memory == Memory::kPool || memory == Memory::kMapped;
  }
  bool all_rights() const { return rights == decltype(rights){Rights::kAll, Rights::kAll}; }
  bool known_to_runtime() const { return memory != Memory::kPageable; }
};

struct Stream {
  bool created = false, live = false;
  int number = 0;
  int device = 0;
  int context = 0;
  std::array<std::uint32_t, kThreads> ticks{};
  std::array<std::vector<int>, kThreads> last;  ///< tasks that the next one of a thread comes behind
  bool stops = false;                           ///< at a failure
  std::uint32_t users = 0;                      ///< between fork and join: bits of the threads that used it
  int kept_by = kNull;                          ///< the same: the thread that held it back or aborted it
};

/// A failure at which a stream stops stays with its context.
struct Context {
  bool live = false;
  int device = 0;
  int stop = -1;  ///< the task that fails
};

struct Event {
  bool created = false, live = false;
  EventForm form = EventForm::kEx;
  int context = 0;
  bool reset = false;
  int recording = -1;  ///< the latest
  Clock waits;         ///< all tasks that waited on it
  Clock reset_point;

  bool recorded() const { return recording >= 0; }
};

/// A stream stands still at this task.
struct Hold {
  int stream;
  int track;
  std::uint32_t tick;
  int task;
  int signal;  ///< until this is sent; kGate: until the gate opens
  std::uint64_t value = 0;
};
inline constexpr int kGate = -1;
/// Signals: first the notifies, then the words of each device.
constexpr int WordSignal(int device, int slot) {
  return kNotifies + device * kWords + slot;
}

struct Notify {
  bool created = false, live = false;
  bool lost = false;  ///< an abort may have dropped a use: only a reset tells its state again
  int set_by = -1;    ///< the recording that no wait has taken yet
  Clock waits;        ///< all waits so far
  Clock uses;         ///< all waits and recordings
};

struct Word {
  bool lost = false;
  std::uint64_t value = 0;  ///< after all writes so far
  int written_by = -1;      ///< the latest write
  Clock exact_waits;        ///< waits for one value only
  Clock uses;
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

}  // namespace sampan::model
