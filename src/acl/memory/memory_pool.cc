// Pools of device memory that is allocated and freed in stream order.
#include <algorithm>
#include <cstdint>
#include <cstring>

#include "acl/acl_rt.h"
#include "acl/acl_rt_memory_soma.h"
#include "acl/caller.h"
#include "acl/guard.h"
#include "acl/sharing/shared_key.h"
#include "core/objects/dead_handle.h"
#include "process/thread_state.h"

namespace sampan::acl {
namespace {

/// The values of a pool's switches in the public interface.
constexpr std::uint32_t kOn = 1, kOff = 2;

/// The pool of a handle. The thread keeps it alive during the call.
Result<core::MemoryPool*> FindPool(const core::Runtime& runtime, aclrtMemPool handle) {
  core::MemoryPool* const pool = process::ThisThread().recent_pools.Get(
      handle, runtime.pools_removed(), [&](void* each) { return runtime.FindPool(each); });
  if (pool != nullptr) return pool;
  return core::DeadHandle("memPool", "pool", handle);
}

Result<core::MemoryPool*> FindPool(aclrtMemPool handle) {
  auto caller = ThisCaller();
  if (!caller.ok()) return caller.TakeStatus();
  return FindPool(caller->runtime, handle);
}

template <typename T>
T Read(const void* from) {
  T value;
  std::memcpy(&value, from, sizeof(value));
  return value;
}
template <typename T>
void Write(void* to, T value) {
  std::memcpy(to, &value, sizeof(value));
}

std::atomic<bool>* SwitchOf(core::PoolReuse& reuse, aclrtMemPoolAttr attribute) {
  switch (attribute) {
    case ACL_RT_MEM_POOL_REUSE_FOLLOW_EVENT_DEPENDENCIES:
      return &reuse.follow_events;
    case ACL_RT_MEM_POOL_REUSE_ALLOW_OPPORTUNISTIC:
      return &reuse.opportunistic;
    case ACL_RT_MEM_POOL_REUSE_ALLOW_INTERNAL_DEPENDENCIES:
      return &reuse.internal_dependencies;
    default:
      return nullptr;
  }
}

Status UnknownAttribute(aclrtMemPoolAttr attribute) {
  return {Code::kParamInvalid, Text("attr is ", static_cast<int>(attribute), ", it must be 1 to 8")};
}

Status SetAttribute(core::MemoryPool& pool, aclrtMemPoolAttr attribute, const void* value) {
  if (std::atomic<bool>* const allows = SwitchOf(pool.reuse, attribute)) {
    const auto number = Read<std::uint32_t>(value);
    if (number != kOn && number != kOff)
      return {Code::kParamInvalid, Text("the value is ", number, ", it must be 1 (on) or 2 (off)")};
    allows->store(number == kOn);
    return {};
  }
  const auto number = Read<std::uint64_t>(value);
  switch (attribute) {
    case ACL_RT_MEM_POOL_ATTR_RELEASE_THRESHOLD:
      pool.threshold.store(number);
      return {};
    case ACL_RT_MEM_POOL_ATTR_RESERVED_MEM_HIGH:
    case ACL_RT_MEM_POOL_ATTR_USED_MEM_HIGH:
      if (number != 0)
        return {Code::kParamInvalid, Text("the value is ", number, ": a high mark can only be set to 0")};
      if (attribute == ACL_RT_MEM_POOL_ATTR_RESERVED_MEM_HIGH) {
        pool.ResetReservedHigh();
      } else {
        pool.ResetUsedHigh();
      }
      return {};
    case ACL_RT_MEM_POOL_ATTR_RESERVED_MEM_CURRENT:
    case ACL_RT_MEM_POOL_ATTR_USED_MEM_CURRENT:
      return {Code::kParamInvalid, Text("attr ", static_cast<int>(attribute), " can only be read")};
    default:
      return UnknownAttribute(attribute);
  }
}

Status GetAttribute(core::MemoryPool& pool, aclrtMemPoolAttr attribute, void* value) {
  if (const std::atomic<bool>* const allows = SwitchOf(pool.reuse, attribute)) {
    Write<std::uint32_t>(value, allows->load() ? kOn : kOff);
    return {};
  }
  const core::MemoryPool::Usage usage = pool.usage();
  switch (attribute) {
    case ACL_RT_MEM_POOL_ATTR_RELEASE_THRESHOLD:
      Write<std::uint64_t>(value, pool.threshold.load());
      return {};
    case ACL_RT_MEM_POOL_ATTR_RESERVED_MEM_CURRENT:
      Write(value, usage.reserved);
      return {};
    case ACL_RT_MEM_POOL_ATTR_RESERVED_MEM_HIGH:
      Write(value, usage.reserved_high);
      return {};
    case ACL_RT_MEM_POOL_ATTR_USED_MEM_CURRENT:
      Write(value, usage.used);
      return {};
    case ACL_RT_MEM_POOL_ATTR_USED_MEM_HIGH:
      Write(value, usage.used_high);
      return {};
    default:
      return UnknownAttribute(attribute);
  }
}

/// Frees memory in stream order.
class FreeEffect final : public Effect {
 public:
  FreeEffect(core::MemoryRegistry& memory, void* address) : memory_(memory), address_(address) {}
  Status Apply() noexcept override {
    return memory_.End("ptr", address_, core::MemoryOrigin::kDevice, Code::kParamInvalid,
                       observe::MemoryChange::kDropped);
  }

 private:
  core::MemoryRegistry& memory_;
  void* const address_;
};

}  // namespace
}  // namespace sampan::acl

using namespace sampan;
using namespace sampan::acl;

aclError aclrtMemPoolCreate(aclrtMemPool* memPool, const aclrtMemPoolProps* poolProps) {
  return Guard("aclrtMemPoolCreate", [&]() -> Status {
    if (Status present = RequireNonNull("memPool", memPool, "poolProps", poolProps); !present.ok())
      return present;
    if (poolProps->allocType != ACL_MEM_ALLOCATION_TYPE_PINNED)
      return InvalidArgument(Text("allocType is ", static_cast<int>(poolProps->allocType), ", it must be 0"));
    if (poolProps->location.type != ACL_MEM_LOCATION_TYPE_DEVICE) {
      return InvalidArgument(
          Text("location.type is ", static_cast<int>(poolProps->location.type), ", it must be DEVICE"));
    }
    const auto* const end = poolProps->reserved + sizeof(poolProps->reserved);
    if (std::any_of(poolProps->reserved, end, [](unsigned char byte) { return byte != 0; }))
      return InvalidArgument("a reserved byte is not 0");
    auto caller = ThisCaller();
    if (!caller.ok()) return caller.TakeStatus();
    if (Status may = RequireSharing(caller->runtime.profile()); !may.ok()) return may;
    auto device = caller->runtime.FindDevice(poolProps->location.id);
    if (!device.ok()) return device.TakeStatus();
    auto pool = caller->runtime.CreatePool(**device, poolProps->maxSize);
    if (!pool.ok()) return pool.TakeStatus();
    *memPool = *pool;
    return {};
  });
}

aclError aclrtMemPoolDestroy(const aclrtMemPool memPool) {
  return Guard("aclrtMemPoolDestroy", [&]() -> Status {
    if (Status present = RequireNonNull("memPool", memPool); !present.ok()) return present;
    auto caller = ThisCaller();
    if (!caller.ok()) return caller.TakeStatus();
    return caller->runtime.DestroyPool(memPool);
  });
}

aclError aclrtMemPoolSetAttr(aclrtMemPool memPool, aclrtMemPoolAttr attr, void* value) {
  return Guard("aclrtMemPoolSetAttr", [&]() -> Status {
    if (Status present = RequireNonNull("memPool", memPool, "value", value); !present.ok()) return present;
    auto pool = FindPool(memPool);
    if (!pool.ok()) return pool.TakeStatus();
    return SetAttribute(**pool, attr, value);
  });
}

aclError aclrtMemPoolGetAttr(aclrtMemPool memPool, aclrtMemPoolAttr attr, void* value) {
  return Guard("aclrtMemPoolGetAttr", [&]() -> Status {
    if (Status present = RequireNonNull("memPool", memPool, "value", value); !present.ok()) return present;
    auto pool = FindPool(memPool);
    if (!pool.ok()) return pool.TakeStatus();
    return GetAttribute(**pool, attr, value);
  });
}

aclError aclrtMemPoolMallocAsync(void** ptr, size_t size, aclrtMemPool memPool, aclrtStream stream) {
  return Guard("aclrtMemPoolMallocAsync", [&]() -> Status {
    if (ptr == nullptr || memPool == nullptr || stream == nullptr)
      return RequireNonNull("ptr", ptr, "memPool", memPool, "stream", stream);
    if (size == 0) return {};
    auto caller = ThisCaller();
    if (!caller.ok()) return caller.TakeStatus();
    auto pool = FindPool(caller->runtime, memPool);
    if (!pool.ok()) return pool.TakeStatus();
    auto call = FindOwnStreamCall(*caller, stream);
    if (!call.ok()) return call.TakeStatus();
    auto address = (*pool)->Allocate(size, call->stream());
    if (!address.ok() && address.code() == Code::kMemoryAllocation) {
      call->runtime.TrimPools(core::Runtime::Trim::kAll);
      address = (*pool)->Allocate(size, call->stream());
    }
    if (!address.ok()) return address.TakeStatus();
    *ptr = *address;
    return {};
  });
}

aclError aclrtMemPoolFreeAsync(void* ptr, aclrtStream stream) {
  return Guard("aclrtMemPoolFreeAsync", [&]() -> Status {
    if (Status present = RequireNonNull("ptr", ptr); !present.ok()) return present;
    if (stream == nullptr) return {Code::kInternalError, "stream is NULL"};
    auto call = FindOwnStreamCall(stream);
    if (!call.ok()) return call.TakeStatus();
    core::MemoryRegistry& memory = call->runtime.memory();
    const AllocationUse use = memory.Find(reinterpret_cast<std::uintptr_t>(ptr));
    if (!use || use->facts.address != reinterpret_cast<std::uintptr_t>(ptr)) {
      return {Code::kParamInvalid,
              Text("ptr ", Hex(ptr), " is not where memory begins that the runtime knows",
                   use ? Text(": it lies inside ", Describe(*use.get())) : std::string())};
    }
    switch (memory.OriginOf(*use.get())) {
      case core::MemoryOrigin::kPool:
        return core::MemoryPool::Free(memory, use, call->stream());
      case core::MemoryOrigin::kDevice:
        if (!call->runtime.backend().has_signals()) {
          if (Status drained = call->stream().Synchronize(kNever); !drained.ok()) return drained;
          return memory.End("ptr", ptr, core::MemoryOrigin::kDevice, Code::kParamInvalid);
        }
        return call->stream().Enqueue(EffectTask{std::make_shared<FreeEffect>(memory, ptr)});
      default:
        return {Code::kParamInvalid,
                Text("ptr ", Hex(ptr), " is neither a pool's nor aclrtMalloc's: ", Describe(*use.get()))};
    }
  });
}

aclError aclrtMemPoolTrimTo(aclrtMemPool memPool, size_t minBytesToKeep) {
  return Guard("aclrtMemPoolTrimTo", [&]() -> Status {
    if (Status present = RequireNonNull("memPool", memPool); !present.ok()) return present;
    auto pool = FindPool(memPool);
    if (!pool.ok()) return pool.TakeStatus();
    (*pool)->TrimTo(minBytesToKeep);
    return {};
  });
}
