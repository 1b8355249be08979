// The runtime of a process: devices, contexts, streams, events, memory.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "backend/api/backend.h"
#include "base/containers/handle_table.h"
#include "base/error/status.h"
#include "core/callbacks/host_threads.h"
#include "core/callbacks/report_threads.h"
#include "core/callbacks/state_callbacks.h"
#include "core/copy/copy_plan.h"
#include "core/memory/mapped/address_table.h"
#include "core/memory/mapped/physical_memory.h"
#include "core/memory/memory_registry.h"
#include "core/memory/peer_access.h"
#include "core/memory/pools/memory_pool.h"
#include "core/objects/compute_settings.h"
#include "core/objects/context.h"
#include "core/objects/device.h"
#include "core/objects/profile.h"
#include "core/sharing/fabric_handle.h"
#include "core/sharing/foreign_boards.h"
#include "core/sharing/memory_sharing.h"
#include "core/sharing/network_keys.h"
#include "core/sharing/notify.h"
#include "core/sharing/share_board.h"
#include "core/streams/event.h"
#include "core/streams/stream_roster.h"

namespace sampan::core {

struct RuntimeOptions {
  Profile profile;
  std::vector<std::int32_t> visible_devices;  ///< physical ids, in the order of the program's ids
  bool with_backtraces = false;
  std::shared_ptr<PeerNetwork> network;  ///< null: no memory of other hosts
};

/// Thread-safe. Checked handles name the objects. An object that a call found stays alive until the call
/// returns.
class Runtime {
 public:
  Runtime(std::unique_ptr<Backend> backend, RuntimeOptions options);
  Runtime(const Runtime&) = delete;
  Runtime& operator=(const Runtime&) = delete;

  const Profile& profile() const { return options_.profile; }
  std::int32_t device_count() const { return static_cast<std::int32_t>(devices_.size()); }
  /// Message: why there is no device at all.
  static std::string WhyNoDevice();
  /// `id` is the program's number of the device.
  Result<Device*> FindDevice(std::int64_t id);
  Backend& backend() { return *backend_; }
  MemoryRegistry& memory() { return memory_; }
  PeerAccess& peers() { return peers_; }
  HostThreads& host_threads() { return host_threads_; }
  ComputeSettings& compute_settings() { return compute_settings_; }
  HandleTable<OperatorBinary, HandleKind::kBinary>& binaries() { return binaries_; }
  ReportThreads& report_threads() { return *report_threads_; }

  /// Retains the device's primary context. The first call creates it.
  Result<std::shared_ptr<Context>> RetainPrimary(std::int32_t device_id);
  /// Releases the primary context once, or completely. The last release destroys it.
  Status ReleasePrimary(std::int32_t device_id, bool all);
  /// Returns the error that ReleasePrimary would return now.
  Status MayReleasePrimary(std::int32_t device_id);
  Result<std::shared_ptr<Context>> CreateContext(std::int32_t device_id);
  Status DestroyContext(void* handle);
  std::shared_ptr<Context> FindContext(void* handle) const { return contexts_.Find(handle); }

  Result<void*> CreateStream(Context& context, const StreamOptions& options);
  /// `caller` is the calling thread's context, if it has one.
  Status DestroyStream(void* handle, Context* caller, bool force);
  /// Returns the error that DestroyStream would return now.
  Status MayDestroyStream(void* handle, const Context* caller) const;
  std::shared_ptr<Stream> FindStream(void* handle) const { return streams_.Find(handle); }
  /// While this number is unchanged, streams that were found are not destroyed.
  std::uint64_t streams_removed() const { return streams_.removals(); }

  Result<void*> CreateEvent(Context& context, EventGeneration generation, std::uint32_t flags);
  Status DestroyEvent(void* handle);
  std::shared_ptr<Event> FindEvent(void* handle) const { return events_.Find(handle); }

  /// An event that other processes may open, or an imported one.
  Result<void*> CreateSharedEvent(Context& context);
  Result<void*> OpenSharedEvent(Context& context, const std::string& key);

  Result<void*> CreateNotify(Device& device);
  Result<void*> ImportNotify(Device& device, const std::string& key);
  /// The key of a notify of this process.
  Result<std::string> KeyOfNotify(Notify& notify, bool for_all_processes);
  /// Adds processes of one host, this one or another, which may set the notify from there.
  Status AdmitToNotify(Notify& notify, std::uint32_t server, std::span<const std::int32_t> processes);
  /// Refuses chips whose devices belong to no server.
  Status RequireServers() const { return network_keys_.RequireServers(); }
  Status DestroyNotify(void* handle);
  std::shared_ptr<Notify> FindNotify(void* handle) const { return notifies_.Find(handle); }

  AddressTable& addresses() { return addresses_; }
  MemorySharing& sharing() { return sharing_; }
  /// The program's number of a physical device; `otherwise` if the program does not see it.
  std::int32_t VisibleDevice(std::int32_t physical_id, std::int32_t otherwise) const;
  /// The physical number of a device that the program sees.
  std::int32_t PhysicalDevice(std::int32_t device) const {
    return options_.visible_devices[static_cast<std::size_t>(device)];
  }

  /// Creates physical memory of a device, or of the host if `device` is null.
  Result<void*> CreatePhysical(Device* device, std::size_t bytes, const PhysicalProperties& properties);
  /// A handle of physical memory: the open one if there is one, otherwise a new one.
  Result<void*> HandleFor(const std::shared_ptr<PhysicalMemory>& physical);
  std::shared_ptr<PhysicalMemory> FindPhysical(void* handle) const { return physicals_.Find(handle); }
  std::shared_ptr<PhysicalMemory> RemovePhysical(void* handle) { return physicals_.Remove(handle); }
  Result<std::uint64_t> ExportPhysical(const std::shared_ptr<PhysicalMemory>& physical,
                                       bool for_all_processes);
  Status AdmitToPhysical(std::uint64_t number, std::span<const std::int32_t> processes);
  Result<void*> ImportPhysical(std::uint64_t number, std::int32_t device);
  /// The same by a handle for processes of any host.
  Result<FabricHandle::Bytes> ExportToFabric(const std::shared_ptr<PhysicalMemory>& physical,
                                             bool for_all_processes);
  Status AdmitToFabric(std::span<const std::byte, FabricHandle::kBytes> handle,
                       std::span<const std::int32_t> processes);
  Result<void*> ImportFromFabric(std::span<const std::byte, FabricHandle::kBytes> handle,
                                 std::int32_t device);

  Result<void*> CreatePool(Device& device, std::size_t max_bytes);
  Status DestroyPool(void* handle);
  std::shared_ptr<MemoryPool> FindPool(void* handle) const { return pools_.Find(handle); }
  /// While this number is unchanged, pools that were found are not destroyed.
  std::uint64_t pools_removed() const { return pools_.removals(); }
  bool has_pools() const { return pool_count_.load(std::memory_order_relaxed) != 0; }
  /// Pools free unused memory: above their thresholds (after a synchronization), or all of it.
  enum class Trim { kToThreshold, kAll };
  void TrimPools(Trim trim) noexcept;

  FailureReports& failure_reports() { return failure_reports_; }
  const StreamRoster& stream_roster() const { return stream_roster_; }
  /// Drops the work of all streams of a device.
  void AbortDevice(Device& device);

  PlanContext PlanContextOf(const Context& context) { return PlanContextOf(context.device().id()); }
  PlanContext PlanContextOf(std::int32_t device) { return {plan_parts_, device}; }

 private:
  Result<void*> AddEvent(Context& context, std::shared_ptr<Event> event);
  Result<std::shared_ptr<Context>> MakeContext(Device& device, bool primary);
  /// Forgets destroyed pools that hold no memory any more. With the device's mutex.
  void EraseEmptyPools(Device& device) noexcept;
  void EndContext(const std::shared_ptr<Context>& context, bool wait) noexcept;

  template <typename Table, typename Object>
  Result<void*> InsertOwned(Table& table, std::shared_ptr<Object> object, Device& device,
                            std::set<void*> Device::*owned, Code code);
  Result<std::shared_ptr<OwnCell>> ShareCell(const std::shared_ptr<PhysicalMemory>& physical, ShareForm form,
                                             bool for_all_processes);
  /// The exported memory of this process that the cell shares; null if there is none.
  std::shared_ptr<PhysicalMemory> ExportedAt(const CellAddress& address);
  /// Lets other hosts import the memory. Returns where this process listens.
  Result<PeerAddress> Lend(PhysicalMemory& physical, const std::shared_ptr<OwnCell>& cell);
  Result<void*> ImportFromPeer(const FabricHandle& handle, std::int32_t device);
  Result<void*> ImportCell(const CellAddress& address, ShareForm form, std::int32_t device);

  const std::shared_ptr<PeerNetwork> network_;  // outlives all memory
  const std::unique_ptr<Backend> backend_;
  const RuntimeOptions options_;
  FailureReports failure_reports_;
  StreamRoster stream_roster_;
  MemoryRegistry memory_;
  ShareBoard board_;
  ForeignBoards others_;
  const NetworkKeys network_keys_;
  MemorySharing sharing_;
  AddressTable addresses_;
  PeerAccess peers_;
  const PlanParts plan_parts_{memory_, options_.profile, peers_, *backend_};
  std::vector<std::unique_ptr<Device>> devices_;
  HandleTable<Context, HandleKind::kContext> contexts_;
  HandleTable<Stream, HandleKind::kStream> streams_;
  HandleTable<Event, HandleKind::kEvent> events_;
  HandleTable<Notify, HandleKind::kNotify> notifies_;
  HandleTable<PhysicalMemory, HandleKind::kPhysical> physicals_;
  HandleTable<MemoryPool, HandleKind::kPool> pools_;
  HandleTable<OperatorBinary, HandleKind::kBinary> binaries_;
  ComputeSettings compute_settings_;
  std::atomic<std::size_t> pool_count_{0};
  std::mutex exported_mutex_;
  std::map<std::uint32_t, std::weak_ptr<PhysicalMemory>> exported_;  // by cell
  std::mutex retaining_mutex_;
  HostThreads host_threads_;
  const std::shared_ptr<ReportThreads> report_threads_ = std::make_shared<ReportThreads>();
};

}  // namespace sampan::core
