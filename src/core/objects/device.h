// A device with the program's number, and the resources that its contexts share.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <set>
#include <vector>

#include "backend/api/backend.h"
#include "base/error/assert.h"
#include "base/error/status.h"
#include "base/error/text.h"
#include "core/objects/context.h"
#include "core/objects/core_limits.h"
#include "core/objects/id_pool.h"
#include "core/objects/profile.h"
#include "core/streams/stream.h"

namespace sampan::core {

class MemoryPool;

/// Thread-safe. Lives as long as the runtime.
class Device {
 public:
  Device(Backend& backend, std::int32_t id, std::int32_t physical_id, const Profile& profile,
         FailureReports& reports, StreamRoster& roster, const MemoryRegistry& memory)
      : backend_(backend),
        reports_(reports),
        roster_(roster),
        memory_(memory),
        id_(id),
        physical_id_(physical_id),
        queue_depth_(profile.queue_depth),
        streams_(std::make_shared<IdPool>(profile.max_streams)),
        events_(std::make_shared<IdPool>(profile.max_events)),
        notifies_(std::make_shared<IdPool>(profile.max_notifies)) {}

  std::int32_t id() const { return id_; }
  const MemoryRegistry& memory() const { return memory_; }
  std::int32_t physical_id() const { return physical_id_; }
  Result<BackendDevice*> Open() { return backend_.Device(physical_id_); }

  Result<std::shared_ptr<Stream>> CreateStream(std::shared_ptr<StickyFailure> context_failure,
                                               const StreamOptions& options);
  IdPool& stream_ids() { return *streams_; }
  const std::shared_ptr<IdPool>& event_ids() const { return events_; }
  const std::shared_ptr<IdPool>& notify_ids() const { return notifies_; }
  CoreLimits& core_limits() { return core_limits_; }
  /// The device has a context.
  bool IsSet() {
    const std::lock_guard lock(mutex);
    return contexts > 0;
  }

  /// Exists while the device's work is being aborted.
  class Aborting {
   public:
    explicit Aborting(Device& device) : device_(device) { ++device_.aborts_; }
    ~Aborting() {
      SAMPAN_ASSERT(device_.aborts_.load() > 0);
      --device_.aborts_;
    }
    Aborting(const Aborting&) = delete;
    Aborting& operator=(const Aborting&) = delete;

   private:
    Device& device_;
  };
  /// Refuses while the device's work is being aborted (107022).
  Status CheckNotAborting() const {
    if (aborts_.load(std::memory_order_acquire) == 0) return {};
    return {Code::kDeviceTaskAbort, Text("the work of device ", id_, " is being aborted")};
  }

  /// The mutex guards the primary context and its count of retains. The runtime changes both.
  std::mutex mutex;
  std::shared_ptr<Context> primary;
  std::uint64_t primary_uses = 0;
  std::uint64_t contexts = 0;
  /// Handles that are closed with the device's last context. The same mutex guards them.
  std::set<void*> notifies, pools;
  /// Destroyed pools that still hold memory. The same mutex guards them.
  std::vector<std::shared_ptr<MemoryPool>> ended_pools;
  /// The live contexts, for operations on all streams of the device.
  std::set<Context*> living;

 private:
  Backend& backend_;
  FailureReports& reports_;
  StreamRoster& roster_;
  const MemoryRegistry& memory_;
  const std::int32_t id_;
  const std::int32_t physical_id_;
  const std::uint64_t queue_depth_;
  const std::shared_ptr<IdPool> streams_;
  const std::shared_ptr<IdPool> events_;
  const std::shared_ptr<IdPool> notifies_;
  std::atomic<int> aborts_{0};
  CoreLimits core_limits_;
};

}  // namespace sampan::core
