// An event: the points at which it was last recorded, and the rules of its two generations.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string_view>
#include <vector>

#include "backend/api/task.h"
#include "base/error/assert.h"
#include "base/error/status.h"
#include "core/objects/id_pool.h"
#include "core/sharing/shared_event.h"
#include "core/streams/stream.h"

namespace sampan::core {

/// The flags of the public header, plus an internal one of aclrtCreateEvent.
struct EventFlags {
  static constexpr std::uint32_t kSync = 0x1, kStreamProgress = 0x2, kInnerSync = 0x4, kTimeLine = 0x8,
                                 kDeviceUseOnly = 0x10, kExternal = 0x20, kIpc = 0x40;
};

enum class EventGeneration { kLegacy, kEx };

class Context;

/// Thread-safe. Waits bind to the latest recording at the time of the call.
class Event {
 public:
  /// Legacy events have a number from the start. The others take one at their first use.
  Event(EventGeneration generation, std::uint32_t flags, std::shared_ptr<IdPool> ids,
        std::optional<IdLease> id)
      : generation_(generation), flags_(flags), ids_(std::move(ids)), id_(std::move(id)) {
    SAMPAN_ASSERT(generation_ == EventGeneration::kEx || id_);
  }
  /// An event that other processes share.
  Event(std::unique_ptr<SharedEvent> shared, std::shared_ptr<IdPool> ids)
      : generation_(EventGeneration::kEx),
        flags_(EventFlags::kIpc),
        ids_(std::move(ids)),
        shared_(std::move(shared)) {}

  /// The owner. Set before another thread sees the event.
  std::weak_ptr<Context> context;

  Status Record(Stream& stream);
  /// Makes the stream wait. The time limit counts from when the stream reaches the wait; 0 is none.
  Status WaitIn(Stream& stream, std::chrono::seconds limit);
  /// Clears the recording in stream order.
  Status Reset(Stream& stream);
  /// Blocks the host until the latest recording is completed.
  Status Synchronize(Deadline deadline);
  bool Recorded();  ///< the recording is over; what "never recorded" means depends on the generation
  bool Waited();    ///< all waits are completed
  /// `name` is the caller's name of the event.
  Status CheckRecorded(std::string_view name);
  /// The time at which the recording completed, on the device's clock.
  Result<std::int64_t> TimeNs(std::string_view name);

  EventGeneration generation() const { return generation_; }
  std::uint32_t flags() const { return flags_; }
  Result<std::uint32_t> Id();
  /// Where the latest recording is; without a timeline if there is none in this process.
  Point recording_point();
  /// Null if only this process uses the event.
  const SharedEvent* shared() const { return shared_.get(); }

 private:
  struct Recording {
    Point point;
    std::shared_ptr<Mark> mark;
    std::shared_ptr<std::atomic<bool>> taken_back;  // by a reset; null if none was submitted
  };

  bool CanSync() const { return (flags_ & (EventFlags::kSync | EventFlags::kInnerSync)) != 0; }
  std::optional<Recording> Latest();
  /// 0 if it has none yet.
  std::uint32_t Number();
  /// The same while observed; otherwise 0.
  std::uint32_t ObservedId();

  const EventGeneration generation_;
  const std::uint32_t flags_;
  const std::shared_ptr<IdPool> ids_;
  const std::unique_ptr<SharedEvent> shared_;
  std::mutex mutex_;
  std::optional<IdLease> id_;
  std::optional<Recording> latest_;
  Point reset_;               // of the latest recording, by the last call
  std::vector<Point> waits_;  // of legacy events, until they are completed
};

}  // namespace sampan::core
