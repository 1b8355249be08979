// The runtime of a process: devices, contexts, streams, events, memory.
#include "core/objects/runtime.h"

#include <utility>

#include "base/error/assert.h"
#include "base/error/text.h"
#include "base/system/environment.h"
#include "core/objects/dead_handle.h"
#include "observe/hooks.h"

namespace sampan::core {
namespace {

Status DeadContext() {
  return {Code::kContextNull, "the context was destroyed, or its device reset, at the same time"};
}

void TellEnded(observe::ObjectEvent::Kind kind, const void* handle) noexcept {
  if (observe::On()) observe::TellObject({.kind = kind, .handle = handle, .destroyed = true});
}

}  // namespace

Runtime::Runtime(std::unique_ptr<Backend> backend, RuntimeOptions options)
    : network_(options.network),
      backend_(std::move(backend)),
      options_(std::move(options)),
      memory_(options_.with_backtraces),
      network_keys_(network_.get(), options_.profile.fabric),
      sharing_(memory_, backend_->virtual_memory(), board_, others_, network_keys_),
      addresses_(memory_, backend_->virtual_memory()) {
  memory_.AddSource(backend_->pinned_memory());
  memory_.AddSource(backend_->pinned_memory_with_handles());
  for (const std::int32_t physical_id : options_.visible_devices) {
    devices_.push_back(std::make_unique<Device>(*backend_, device_count(), physical_id, options_.profile,
                                                failure_reports_, stream_roster_, memory_));
  }
}

std::string Runtime::WhyNoDevice() {
  constexpr const char* kList = "ASCEND_RT_VISIBLE_DEVICES";
  return Text(kList, "='", EnvironmentValue(kList).value_or(""),
              "' leaves no device: it takes ids in ascending order, without duplicates");
}

Result<Device*> Runtime::FindDevice(std::int64_t id) {
  if (id < 0 || id >= device_count()) {
    const std::string which =
        device_count() == 0 ? WhyNoDevice() : Text(device_count(), " are visible, from 0");
    return Error{Code::kInvalidDevice, Text("there is no device ", id, ": ", which)};
  }
  return devices_[static_cast<std::size_t>(id)].get();
}

Result<std::shared_ptr<Context>> Runtime::MakeContext(Device& device, bool primary) {
  auto opened = device.Open();
  if (!opened.ok()) return opened.TakeStatus();
  memory_.AddSource((*opened)->memory());
  auto made = Context::Create(device, primary);
  if (!made.ok()) return made;
  const std::shared_ptr<Context>& context = *made;
  bool complete = false;
  try {
    context->own_handle = contexts_.Insert(context);
    context->default_stream_handle = streams_.Insert(context->default_stream());
    complete = context->own_handle != nullptr && context->default_stream_handle != nullptr &&
               context->AddStream(context->default_stream_handle, context->default_stream());
  } catch (...) {
    contexts_.Remove(context->own_handle);
    streams_.Remove(context->default_stream_handle);
    throw;
  }
  if (complete) return made;
  contexts_.Remove(context->own_handle);
  streams_.Remove(context->default_stream_handle);
  return Error{Code::kResourceAllocFail, "no handle is left for another context"};
}

void Runtime::EndContext(const std::shared_ptr<Context>& context, bool wait) noexcept {
  const Context::Remains remains = context->Kill();
  contexts_.Remove(context->own_handle);
  for (const auto& [handle, stream] : remains.streams) {
    if (wait) {
      stream->Last().Wait(kNever);
    } else if (!stream->Last().Passed()) {
      // All streams drop their work before the first one is closed, because closing resumes streams that wait
      // for it.
      stream->Drop(Code::kStreamAbort);
    }
  }
  for (const auto& [handle, stream] : remains.streams) {
    stream->Close();
    streams_.Remove(handle);
    report_threads_->Forget(*stream);
  }
  for (void* handle : remains.events) {
    events_.Remove(handle);
    TellEnded(observe::ObjectEvent::Kind::kEvent, handle);
  }
  Device& device = context->device();
  bool last = false;
  std::uint64_t newest = 0;
  std::set<void*> notifies;
  std::set<void*> pools;
  std::vector<std::shared_ptr<MemoryPool>> ended_pools;
  {
    const std::lock_guard lock(device.mutex);
    SAMPAN_ASSERT(device.living.contains(context.get()) && device.living.size() == device.contexts);
    device.living.erase(context.get());
    last = --device.contexts == 0;
    if (last) {
      SAMPAN_ASSERT(device.primary == nullptr && device.primary_uses == 0);
      // From now on another thread may set the device again. This reset must not free what that thread
      // creates.
      newest = memory_.Newest();
      peers_.DisableAllFrom(device.id());
      notifies.swap(device.notifies);
      pools.swap(device.pools);
      ended_pools.swap(device.ended_pools);
    }
  }
  if (!last) return;
  for (void* handle : notifies)
    notifies_.Remove(handle);
  const auto end = [&](MemoryPool& pool) {
    SAMPAN_ASSERT(pool_count_.load() != 0);
    pool_count_.fetch_sub(1);
    pool.EndAtOnce();
  };
  for (void* handle : pools) {
    if (const auto pool = pools_.Remove(handle)) end(*pool);
  }
  for (const auto& pool : ended_pools)
    end(*pool);
  memory_.EndAllOf(device.id(), newest);
}

namespace {

/// Allocates a node of a set in advance.
std::set<Context*>::node_type MakeNode() {
  std::set<Context*> one = {nullptr};
  return one.extract(one.begin());
}

}  // namespace

Result<std::shared_ptr<Context>> Runtime::RetainPrimary(std::int32_t device_id) {
  auto device = FindDevice(device_id);
  if (!device.ok()) return device.TakeStatus();
  const std::lock_guard lock((*device)->mutex);
  SAMPAN_ASSERT(((*device)->primary == nullptr) == ((*device)->primary_uses == 0));
  if ((*device)->primary == nullptr) {
    auto place = MakeNode();
    auto context = MakeContext(**device, true);
    if (!context.ok()) return context;
    place.value() = context->get();
    (*device)->living.insert(std::move(place));
    (*device)->primary = *context;
    ++(*device)->contexts;
  }
  ++(*device)->primary_uses;
  return (*device)->primary;
}

namespace {

Status NotSet(std::int32_t device_id) {
  return {Code::kContextReleaseError, Text("device ", device_id, " is not set: reset more often than set")};
}

}  // namespace

Status Runtime::MayReleasePrimary(std::int32_t device_id) {
  auto device = FindDevice(device_id);
  if (!device.ok()) return device.TakeStatus();
  const std::lock_guard lock((*device)->mutex);
  return (*device)->primary_uses == 0 ? NotSet(device_id) : Status();
}

Status Runtime::ReleasePrimary(std::int32_t device_id, bool all) {
  auto device = FindDevice(device_id);
  if (!device.ok()) return device.TakeStatus();
  std::shared_ptr<Context> ending;
  {
    const std::lock_guard lock((*device)->mutex);
    if ((*device)->primary_uses == 0) return NotSet(device_id);
    (*device)->primary_uses = all ? 0 : (*device)->primary_uses - 1;
    if ((*device)->primary_uses == 0) ending = std::move((*device)->primary);
  }
  if (ending != nullptr) EndContext(ending, !all);
  return {};
}

Result<std::shared_ptr<Context>> Runtime::CreateContext(std::int32_t device_id) {
  auto device = FindDevice(device_id);
  if (!device.ok()) return device.TakeStatus();
  const std::lock_guard lock((*device)->mutex);
  auto place = MakeNode();
  auto context = MakeContext(**device, false);
  if (!context.ok()) return context;
  place.value() = context->get();
  (*device)->living.insert(std::move(place));
  ++(*device)->contexts;
  if (observe::On())
    observe::TellObject({observe::ObjectEvent::Kind::kContext, (*context)->own_handle, device_id});
  return context;
}

Status Runtime::DestroyContext(void* handle) {
  const auto context = contexts_.Find(handle);
  if (context == nullptr || context->primary()) {
    return {Code::kContextNull,
            Text(Hex(handle), context == nullptr ? " is not a living context"
                                                 : " is a device's primary context: reset the device")};
  }
  // If two threads destroy at the same time, the one that removes the handle does the work.
  if (contexts_.Remove(handle) == nullptr) {
    return {Code::kContextReleaseError, Text(Hex(handle), " is being destroyed by another thread")};
  }
  TellEnded(observe::ObjectEvent::Kind::kContext, handle);
  EndContext(context, false);
  return {};
}

Result<void*> Runtime::CreateStream(Context& context, const StreamOptions& options) {
  auto stream = context.device().CreateStream(context.failure(), options);
  if (!stream.ok()) return stream.TakeStatus();
  void* handle = streams_.Insert(*stream);
  if (handle == nullptr) return Error{Code::kNoStreamResource, "no handle is left for another stream"};
  bool added = false;
  try {
    added = context.AddStream(handle, *stream);
  } catch (...) {
    streams_.Remove(handle);
    throw;
  }
  if (added) return handle;
  streams_.Remove(handle);
  return DeadContext();
}

Status Runtime::MayDestroyStream(void* handle, const Context* caller) const {
  const auto stream = streams_.Find(handle);
  if (stream == nullptr) return DeadHandle("stream", "stream", handle);
  if (caller == nullptr) return {Code::kContextNull, "the calling thread has no context"};
  if (Status own = caller->CheckOwns(*stream); !own.ok()) return own;
  if (handle == caller->default_stream_handle) {
    return {Code::kParamInvalid, "the default stream of a context cannot be destroyed"};
  }
  return {};
}

Status Runtime::DestroyStream(void* handle, Context* caller, bool force) {
  if (Status may = MayDestroyStream(handle, caller); !may.ok()) return may;
  const auto stream = streams_.Remove(handle);
  if (stream == nullptr) return DeadHandle("stream", "stream", handle);
  caller->RemoveStream(handle);
  if (!force) stream->Last().Wait(kNever);
  stream->Close();
  report_threads_->Forget(*stream);
  return {};
}

Result<void*> Runtime::CreateEvent(Context& context, EventGeneration generation, std::uint32_t flags) {
  const std::shared_ptr<IdPool>& ids = context.device().event_ids();
  std::optional<IdLease> id;
  if (generation == EventGeneration::kLegacy) id = ids->Take();
  if (generation == EventGeneration::kLegacy && !id)
    return Error{Code::kNoEventResource, Text("device ", context.device().id(), " has no event left")};
  return AddEvent(context, std::make_shared<Event>(generation, flags, ids, std::move(id)));
}

Result<void*> Runtime::AddEvent(Context& context, std::shared_ptr<Event> event) {
  event->context = context.weak_from_this();
  void* handle = events_.Insert(std::move(event));
  if (handle == nullptr) return Error{Code::kNoEventResource, "no handle is left for another event"};
  bool added = false;
  try {
    added = context.AddEvent(handle);
  } catch (...) {
    events_.Remove(handle);
    throw;
  }
  if (added) {
    if (observe::On())
      observe::TellObject({observe::ObjectEvent::Kind::kEvent, handle, context.device().id()});
    return handle;
  }
  events_.Remove(handle);
  return DeadContext();
}

Status Runtime::DestroyEvent(void* handle) {
  const auto event = events_.Remove(handle);
  if (event == nullptr) return DeadHandle("event", "event", handle);
  TellEnded(observe::ObjectEvent::Kind::kEvent, handle);
  if (const auto context = event->context.lock()) context->RemoveEvent(handle);
  return {};
}

}  // namespace sampan::core
