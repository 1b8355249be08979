// The part of the runtime that creates notifies, shared events, physical memory and pools.
#include <algorithm>
#include <utility>

#include "base/containers/reserve.h"
#include "base/error/text.h"
#include "base/log/log.h"
#include "core/objects/dead_handle.h"
#include "core/objects/runtime.h"
#include "core/sharing/network_key.h"
#include "observe/hooks.h"

namespace sampan::core {

template <typename Table, typename Object>
Result<void*> Runtime::InsertOwned(Table& table, std::shared_ptr<Object> object, Device& device,
                                   std::set<void*> Device::*owned, Code code) {
  void* const handle = table.Insert(std::move(object));
  if (handle == nullptr) return Error{code, "no handle is left for another one"};
  try {
    const std::lock_guard lock(device.mutex);
    (device.*owned).insert(handle);
  } catch (...) {
    table.Remove(handle);
    throw;
  }
  return handle;
}

Result<void*> Runtime::CreateSharedEvent(Context& context) {
  auto cell = board_.Take(SharedKind::kEvent, ShareBoard::FoundBy::kKey);
  if (!cell.ok()) return cell.TakeStatus();
  (**cell)->for_all_processes.store(1);  // an event's handle is its only protection
  return AddEvent(context, std::make_shared<Event>(std::make_unique<SharedEvent>(std::move(*cell)),
                                                   context.device().event_ids()));
}

Result<void*> Runtime::OpenSharedEvent(Context& context, const std::string& key) {
  auto address = CellAddress::FromKey(key, SharedKind::kEvent);
  if (!address.ok()) return address.TakeStatus();
  auto cell = others_.Import(*address, SharedKind::kEvent);
  if (!cell.ok()) return cell.TakeStatus();
  return AddEvent(context, std::make_shared<Event>(std::make_unique<SharedEvent>(std::move(*cell)),
                                                   context.device().event_ids()));
}

Result<void*> Runtime::CreateNotify(Device& device) {
  auto id = device.notify_ids()->Take();
  if (!id) return Error{Code::kNoNotifyResource, Text("device ", device.id(), " has no notify left")};
  auto cell = board_.Take(SharedKind::kNotify, ShareBoard::FoundBy::kKey);
  if (!cell.ok()) return cell.TakeStatus();
  return InsertOwned(notifies_, std::make_shared<Notify>(std::move(*cell), std::move(*id)), device,
                     &Device::notifies, Code::kNoNotifyResource);
}

Result<void*> Runtime::ImportNotify(Device& device, const std::string& key) {
  auto target = network_keys_.Find(key, SharedKind::kNotify);
  if (!target.ok()) return target.TakeStatus();
  std::shared_ptr<Notify> notify;
  if (target->elsewhere) {
    auto peer = network_keys_.Import(*target->elsewhere, SharedKind::kNotify);
    if (!peer.ok()) return peer.TakeStatus();
    notify = std::make_shared<Notify>(std::move(*peer));
  } else {
    auto cell = others_.Import(target->cell, SharedKind::kNotify);
    if (!cell.ok()) return cell.TakeStatus();
    notify = std::make_shared<Notify>(std::move(*cell));
  }
  return InsertOwned(notifies_, std::move(notify), device, &Device::notifies, Code::kNoNotifyResource);
}

Result<std::string> Runtime::KeyOfNotify(Notify& notify, bool for_all_processes) {
  std::string key = network_keys_.KeyOf(*notify.own_cell(), SharedKind::kNotify);
  if (!for_all_processes) return key;
  notify.own_cell()->AdmitAll();
  if (!NetworkKey::IsOne(key)) return key;
  if (Status reachable = notify.Lend(network_keys_); !reachable.ok()) return reachable;
  return key;
}

Status Runtime::AdmitToNotify(Notify& notify, std::uint32_t server, std::span<const std::int32_t> processes) {
  if (Status reachable = notify.Lend(network_keys_); !reachable.ok()) return reachable;
  return notify.own_cell()->AdmitOfServer(server, processes);
}

Status Runtime::DestroyNotify(void* handle) {
  if (notifies_.Remove(handle) == nullptr) return DeadHandle("notify", "notify", handle);
  for (const auto& device : devices_) {
    const std::lock_guard lock(device->mutex);
    device->notifies.erase(handle);
  }
  return {};
}

std::int32_t Runtime::VisibleDevice(std::int32_t physical_id, std::int32_t otherwise) const {
  const auto& visible = options_.visible_devices;
  const auto found = std::find(visible.begin(), visible.end(), physical_id);
  return found == visible.end() ? otherwise : static_cast<std::int32_t>(found - visible.begin());
}

Result<void*> Runtime::HandleFor(const std::shared_ptr<PhysicalMemory>& physical) {
  const std::lock_guard lock(retaining_mutex_);
  if (void* const open = physical->handle(); open != nullptr && physicals_.Find(open) == physical)
    return open;
  void* const handle = physicals_.Insert(physical);
  physical->set_handle(handle);
  if (handle != nullptr) return handle;
  return Error{Code::kResourceAllocFail, "no handle is left for more physical memory"};
}

Result<void*> Runtime::CreatePhysical(Device* device, std::size_t bytes,
                                      const PhysicalProperties& properties) {
  if (backend_->virtual_memory() == nullptr) {
    return Error{Code::kFeatureNotSupport, "this backend has no physical memory apart from addresses"};
  }
  MemorySource* source = &backend_->pinned_memory_with_handles();
  Place place{PlaceKind::kPinned, 0};
  if (device != nullptr) {
    auto opened = device->Open();
    if (!opened.ok()) return opened.TakeStatus();
    memory_.AddSource((*opened)->memory());
    source = &(*opened)->memory();
    place = {PlaceKind::kDevice, device->id()};
  }
  auto block = memory_.TakeBlock(*source, bytes, Pages::kHuge);
  if (!block.ok()) return block.TakeStatus();
  std::shared_ptr<PhysicalMemory> physical;
  try {
    auto file = source->FileOf(*block);
    if (!file.ok()) {
      source->Free(*block);
      return file.TakeStatus();
    }
    if (device != nullptr) file->device = device->physical_id();
    source->Hide(*block);
    physical = std::make_shared<PhysicalMemory>(sharing_, *source, *block, *file, place, properties);
  } catch (...) {
    source->Free(*block);
    throw;
  }
  return HandleFor(physical);
}

Result<std::shared_ptr<OwnCell>> Runtime::ShareCell(const std::shared_ptr<PhysicalMemory>& physical,
                                                    ShareForm form, bool for_all_processes) {
  auto cell = physical->Export(board_, form, for_all_processes);
  if (!cell.ok()) return cell;
  const std::lock_guard lock(exported_mutex_);
  std::erase_if(exported_, [](const auto& entry) { return entry.second.expired(); });
  exported_[(*cell)->Address().index] = physical;
  return cell;
}

std::shared_ptr<PhysicalMemory> Runtime::ExportedAt(const CellAddress& address) {
  std::shared_ptr<PhysicalMemory> physical;
  {
    const std::lock_guard lock(exported_mutex_);
    const auto found = exported_.find(address.index);
    if (found != exported_.end()) physical = found->second.lock();
  }
  const auto cell = physical != nullptr ? physical->own_cell() : nullptr;
  return cell != nullptr && cell->IsAt(address) ? physical : nullptr;
}

Result<std::uint64_t> Runtime::ExportPhysical(const std::shared_ptr<PhysicalMemory>& physical,
                                              bool for_all_processes) {
  auto cell = ShareCell(physical, ShareForm::kNumber, for_all_processes);
  if (!cell.ok()) return cell.TakeStatus();
  return (*cell)->Number();
}

Status Runtime::AdmitToPhysical(std::uint64_t number, std::span<const std::int32_t> processes) {
  const auto address = CellAddress::FromNumber(number);
  const auto physical = address.ok() ? ExportedAt(address.value()) : nullptr;
  if (physical != nullptr) return physical->own_cell()->Admit(processes);
  return {Code::kParamInvalid,
          Text(number, " is no shareable handle of this process's, or its memory is gone")};
}

Result<void*> Runtime::ImportPhysical(std::uint64_t number, std::int32_t device) {
  auto address = CellAddress::FromNumber(number);
  if (!address.ok()) return address.TakeStatus();
  return ImportCell(*address, ShareForm::kNumber, device);
}

Result<void*> Runtime::ImportCell(const CellAddress& address, ShareForm form, std::int32_t device) {
  VirtualMemory* const views = backend_->virtual_memory();
  if (views == nullptr) return Error{Code::kFeatureNotSupport, "this backend cannot map others' memory"};
  auto cell = others_.Import(address, SharedKind::kPhysical);
  if (!cell.ok()) return cell.TakeStatus();
  auto extent = (*cell)->Extent();
  if (!extent.ok()) return extent.TakeStatus();
  const bool on_host = extent->device < 0;
  const Place place = on_host ? Place{PlaceKind::kPinned, 0}
                              : Place{PlaceKind::kDevice, VisibleDevice(extent->device, device)};
  auto file = (*cell)->OpenMemory(*views, *extent, PhysicalDevice(place.device));
  if (!file.ok()) return file.TakeStatus();
  PhysicalProperties properties{extent->attribute, extent->location_id, extent->location_type};
  if (!on_host) properties.location_id = static_cast<std::uint32_t>(place.device);
  return HandleFor(std::make_shared<PhysicalMemory>(
      sharing_, PhysicalMemory::Import{std::move(*cell), form, nullptr}, *file, place, properties));
}

Result<FabricHandle::Bytes> Runtime::ExportToFabric(const std::shared_ptr<PhysicalMemory>& physical,
                                                    bool for_all_processes) {
  auto host = ThisHost();
  if (!host.ok()) return host.TakeStatus();
  auto cell = ShareCell(physical, ShareForm::kFabric, for_all_processes);
  if (!cell.ok()) return cell.TakeStatus();
  FabricHandle handle{*host, (*cell)->Address(), physical->bytes(), {}};
  auto address = Lend(*physical, *cell);
  if (address.ok()) {
    handle.address = *address;
  } else {
    Log(LogLevel::kWarning, "RUNTIME",
        Text("a FABRIC handle is for this host alone: ", address.error().message));
  }
  return handle.Encode();
}

Result<PeerAddress> Runtime::Lend(PhysicalMemory& physical, const std::shared_ptr<OwnCell>& cell) {
  if (network_ == nullptr) return Error{Code::kFeatureNotSupport, kNoPeerNetwork};
  auto address = network_->Listen();
  if (!address.ok()) return address;
  const PeerMemoryFacts facts{.bytes = physical.bytes(),
                              .on_host = physical.place().on_device() ? 0U : 1U,
                              .attribute = physical.properties().attribute,
                              .location_type = physical.properties().location_type};
  const CellAddress own = cell->Address();
  auto loan = std::make_unique<Loan>(*network_, own.index);
  network_->Lend(own.index, own.secret,
                 std::make_shared<LentPhysical>(*backend_->virtual_memory(), physical.file(), cell, facts));
  physical.set_loan(std::move(loan));
  return address;
}

Status Runtime::AdmitToFabric(std::span<const std::byte, FabricHandle::kBytes> handle,
                              std::span<const std::int32_t> processes) {
  auto decoded = FabricHandle::Decode(handle);
  if (!decoded.ok()) return decoded.TakeStatus();
  const auto physical = ExportedAt(decoded->cell);
  if (physical != nullptr) return physical->own_cell()->Admit(processes);
  return {Code::kParamInvalid, "shareableHandle is no export of this process's, or its memory is gone"};
}

Result<void*> Runtime::ImportFromPeer(const FabricHandle& handle, std::int32_t device) {
  const auto refuse = [&](std::string_view why) {
    return Error{Code::kFeatureNotSupport, Text("shareableHandle was made by process ", handle.cell.process,
                                                " on another host or in another network namespace: ", why)};
  };
  if (network_ == nullptr) return refuse(kNoPeerNetwork);
  if (handle.address.version == 0)
    return refuse(
        "its owner had no network: its devices are GPUs, or libfabric (Debian: libfabric1) is not there");
  auto peer = network_->Import({handle.address, handle.cell.process, handle.cell.index, handle.cell.secret});
  if (!peer.ok()) return peer.TakeStatus();
  const PeerMemoryFacts& facts = (*peer)->facts();
  if (facts.bytes == 0 || facts.bytes != handle.memory_bytes) {
    return Error{Code::kParamInvalid, Text("shareableHandle is of ", handle.memory_bytes, " bytes, ",
                                           (*peer)->Describe(), " says ", facts.bytes)};
  }
  const Place place = facts.on_host != 0 ? Place{PlaceKind::kPinned, 0} : Place{PlaceKind::kDevice, device};
  PhysicalProperties properties{facts.attribute, 0, facts.location_type};
  if (place.on_device()) properties.location_id = static_cast<std::uint32_t>(device);
  MemoryFile nowhere;
  nowhere.bytes = facts.bytes;
  return HandleFor(std::make_shared<PhysicalMemory>(
      sharing_, PhysicalMemory::Import{nullptr, ShareForm::kFabric, std::move(*peer)}, nowhere, place,
      properties));
}

Result<void*> Runtime::ImportFromFabric(std::span<const std::byte, FabricHandle::kBytes> handle,
                                        std::int32_t device) {
  auto decoded = FabricHandle::Decode(handle);
  if (!decoded.ok()) return decoded.TakeStatus();
  auto host = ThisHost();
  if (!host.ok()) return host.TakeStatus();
  if (decoded->host != *host) return ImportFromPeer(*decoded, device);
  return ImportCell(decoded->cell, ShareForm::kFabric, device);
}

Result<void*> Runtime::CreatePool(Device& device, std::size_t max_bytes) {
  auto opened = device.Open();
  if (!opened.ok()) return opened.TakeStatus();
  memory_.AddSource((*opened)->memory());
  const MemoryPool::Options options{(*opened)->memory(), {PlaceKind::kDevice, device.id()}, max_bytes};
  auto handle = InsertOwned(pools_, std::make_shared<MemoryPool>(memory_, options), device, &Device::pools,
                            Code::kResourceAllocFail);
  if (handle.ok()) pool_count_.fetch_add(1);
  return handle;
}

Status Runtime::DestroyPool(void* handle) {
  const auto pool = pools_.Find(handle);
  if (pool == nullptr) return DeadHandle("memPool", "pool", handle);
  Device& device = *devices_[static_cast<std::size_t>(pool->device())];
  const std::lock_guard lock(device.mutex);
  ReserveDoubling(device.ended_pools, device.ended_pools.size() + 1);
  if (pools_.Remove(handle) == nullptr) return DeadHandle("memPool", "pool", handle);
  device.pools.erase(handle);
  device.ended_pools.push_back(pool);
  pool->End();
  EraseEmptyPools(device);
  return {};
}

void Runtime::EraseEmptyPools(Device& device) noexcept {
  pool_count_.fetch_sub(std::erase_if(device.ended_pools, [](const auto& pool) { return pool->empty(); }));
}

void Runtime::TrimPools(Trim trim) noexcept {
  for (const auto& device : devices_) {
    const std::lock_guard lock(device->mutex);
    for (void* handle : device->pools) {
      const auto pool = pools_.Find(handle);
      if (pool == nullptr) continue;
      if (trim == Trim::kAll) {
        pool->TrimTo(0);
      } else {
        pool->TrimToThreshold();
      }
    }
    for (const auto& pool : device->ended_pools)
      pool->TrimTo(0);
    EraseEmptyPools(*device);
  }
}

void Runtime::AbortDevice(Device& device) {
  std::vector<std::shared_ptr<Stream>> streams;
  {
    const std::lock_guard lock(device.mutex);
    for (const Context* context : device.living) {
      for (auto& stream : context->Streams())
        streams.push_back(std::move(stream));
    }
  }
  std::vector<Point> dropped;
  dropped.reserve(streams.size());
  for (const auto& stream : streams)
    dropped.push_back(stream->Drop(Code::kDeviceTaskAbort));
  for (const auto& stream : streams)
    stream->PassDropped();
  for (const Point& point : dropped) {
    point.Wait(kNever);
    point.Observe();
    observe::Learned(point);
  }
}

}  // namespace sampan::core
