// Everything a process has of the runtime: devices, contexts, streams, events, memory.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "backend/api/backend.h"
#include "base/handle_table.h"
#include "base/status.h"
#include "core/context.h"
#include "core/copy_plan.h"
#include "core/device.h"
#include "core/event.h"
#include "core/host_threads.h"
#include "core/memory_registry.h"
#include "core/peer_access.h"
#include "core/profile.h"
#include "core/report_threads.h"

namespace sampan {

struct RuntimeOptions {
  Profile profile;
  std::vector<std::int32_t> visible_devices;  ///< physical ids, in the order of the program's ids
  bool with_backtraces = false;
};

/// Thread-safe. Objects are found by checked handles; what a call found stays alive until it returns.
class Runtime {
 public:
  Runtime(std::unique_ptr<Backend> backend, RuntimeOptions options);
  Runtime(const Runtime&) = delete;
  Runtime& operator=(const Runtime&) = delete;

  const Profile& profile() const { return options_.profile; }
  std::int32_t device_count() const { return static_cast<std::int32_t>(devices_.size()); }
  /// By the program's id.
  Result<Device*> FindDevice(std::int64_t id);
  Backend& backend() { return *backend_; }
  MemoryRegistry& memory() { return memory_; }
  PeerAccess& peers() { return peers_; }
  HostThreads& host_threads() { return host_threads_; }
  ReportThreads& report_threads() { return *report_threads_; }

  /// Takes a use of the device's primary context, which is made with the first.
  Result<std::shared_ptr<Context>> RetainPrimary(std::int32_t device_id);
  /// Gives back one use, or all; the context ends with the last.
  Status ReleasePrimary(std::int32_t device_id, bool all);
  Result<std::shared_ptr<Context>> CreateContext(std::int32_t device_id);
  Status DestroyContext(void* handle);
  std::shared_ptr<Context> FindContext(void* handle) const { return contexts_.Find(handle); }

  Result<void*> CreateStream(Context& context, const StreamOptions& options);
  /// `caller` is the calling thread's context, if it has one.
  Status DestroyStream(void* handle, Context* caller, bool force);
  std::shared_ptr<Stream> FindStream(void* handle) const { return streams_.Find(handle); }
  /// Streams found while this number stood are not destroyed yet.
  std::uint64_t streams_removed() const { return streams_.removals(); }

  Result<void*> CreateEvent(Context& context, EventGeneration generation, std::uint32_t flags);
  Status DestroyEvent(void* handle);
  std::shared_ptr<Event> FindEvent(void* handle) const { return events_.Find(handle); }

  PlanContext PlanContextOf(const Context& context) {
    return {memory_, options_.profile, peers_, context.device().id()};
  }

 private:
  Result<std::shared_ptr<Context>> MakeContext(Device& device, bool primary);
  void EndContext(const std::shared_ptr<Context>& context, bool wait) noexcept;

  const std::unique_ptr<Backend> backend_;
  const RuntimeOptions options_;
  MemoryRegistry memory_;
  PeerAccess peers_;
  std::vector<std::unique_ptr<Device>> devices_;
  HandleTable<Context, HandleKind::kContext> contexts_;
  HandleTable<Stream, HandleKind::kStream> streams_;
  HandleTable<Event, HandleKind::kEvent> events_;
  HostThreads host_threads_;
  const std::shared_ptr<ReportThreads> report_threads_ = std::make_shared<ReportThreads>();
};

}  // namespace sampan
