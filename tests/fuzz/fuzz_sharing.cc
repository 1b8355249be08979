// Makes, uses and takes away what fuzzed calls share and signal with.
#include "tests/fuzz/fuzz_sharing.h"

#include <unistd.h>

#include "tests/fuzz/fuzz_world.h"

namespace sampan::fuzz {
namespace {

constexpr std::size_t kUnit = std::size_t{2} << 20;
constexpr std::int32_t kSoonMs = 20;

/// Mostly one of those at hand, now and then one that never was.
template <typename Things>
auto PickHandle(const Things& things, Input& input) {
  const std::size_t choice = input.Below(16);
  using Handle = decltype(things[0].handle);
  if (choice == 15) return reinterpret_cast<Handle>(static_cast<std::uintptr_t>(input.Long()));
  return things[choice % things.size()].handle;
}

/// Multiples of what memory is mapped in, and other sizes.
std::size_t PickUnits(Input& input) {
  return input.Below(6) == 5 ? input.Long() : (input.Below(3) + 1) * kUnit;
}

/// Ends what a stream waits for, by force if the signal was not the right one.
void EndWait(aclrtStream stream) {
  if (aclrtSynchronizeStreamWithTimeout(stream, kSoonMs) != ACL_ERROR_RT_STREAM_SYNC_TIMEOUT) return;
  if (const aclError code = aclrtStreamAbort(stream); code != ACL_SUCCESS)
    Violation("a stream that waits cannot be aborted", code);
}

}  // namespace

void Sharing::End() {
  for (Key& key : keys_) {
    if (!key.live) continue;
    if (key.of_notify && key.imported != nullptr) aclrtDestroyNotify(static_cast<aclrtNotify>(key.imported));
    if (!key.of_notify) aclrtIpcMemClose(key.text.data());
  }
  for (const auto& mapping : mapped_) {
    if (mapping.live) aclrtUnmapMem(mapping.handle);
  }
  for (const auto& memory : physical_) {
    if (memory.live) aclrtFreePhysical(memory.handle);
  }
  for (const auto& addresses : reserved_) {
    if (addresses.live) aclrtReleaseMemAddress(addresses.handle);
  }
  for (const auto& notify : notifies_) {
    if (notify.live) aclrtDestroyNotify(notify.handle);
  }
  for (const auto& pool : pools_) {
    if (pool.live) aclrtMemPoolDestroy(pool.handle);
  }
  if (signals_ != nullptr) aclrtDestroyStreamForce(signals_);
}

aclrtStream Sharing::Signals() {
  if (signals_ == nullptr) Judge(aclrtCreateStream(&signals_));
  return signals_;
}

void* Sharing::PickAddress(Input& input) const {
  const std::size_t slot = input.Below(kSlots);
  switch (input.Below(4)) {
    case 0:
      return pooled_[slot].handle;
    case 1:
      return reserved_[slot].handle;
    case 2:
      return keys_[slot].of_notify ? nullptr : keys_[slot].imported;
    default:
      return mapped_[slot].handle;
  }
}

void Sharing::UsePool(World& world, Input& input) {
  auto& pool = pools_[input.Below(kSlots)];
  auto& memory = pooled_[input.Below(kSlots)];
  switch (input.Below(6)) {
    case 0: {
      if (pool.live) return;
      aclrtMemPoolProps props = {};
      props.allocType = static_cast<aclrtMemAllocationType>(input.Below(16) / 15);
      props.location = {static_cast<std::uint32_t>(input.Below(3)),
                        input.Below(8) == 7 ? ACL_MEM_LOCATION_TYPE_HOST : ACL_MEM_LOCATION_TYPE_DEVICE};
      props.maxSize = input.Below(2) == 0 ? 0 : world.PickSize(input);
      const aclError code = aclrtMemPoolCreate(&pool.handle, &props);
      pool.Take(code);
      return Judge(code);
    }
    case 1: {
      const aclError code = aclrtMemPoolDestroy(pool.handle);
      pool.Drop(code);
      return Judge(code);
    }
    case 2: {
      std::uint64_t value = input.Long();
      const auto attribute = static_cast<aclrtMemPoolAttr>(input.Below(10));
      return Judge(input.Below(2) == 0 ? aclrtMemPoolSetAttr(PickHandle(pools_, input), attribute, &value)
                                       : aclrtMemPoolGetAttr(PickHandle(pools_, input), attribute, &value));
    }
    case 3:
      return Judge(aclrtMemPoolTrimTo(PickHandle(pools_, input), world.PickSize(input)));
    case 4: {
      if (memory.live) return;
      const aclError code = aclrtMemPoolMallocAsync(&memory.handle, world.PickSize(input),
                                                    PickHandle(pools_, input), world.PickStream(input));
      memory.Take(code);
      return Judge(code);
    }
    default: {
      const aclError code = aclrtMemPoolFreeAsync(memory.handle, world.PickStream(input));
      memory.Drop(code);
      return Judge(code);
    }
  }
}

void Sharing::UseNotify(World& world, Input& input) {
  auto& notify = notifies_[input.Below(kSlots)];
  switch (input.Below(6)) {
    case 0: {
      if (notify.live) return;
      const aclError code = aclrtCreateNotify(&notify.handle, input.Below(8) / 7);
      notify.Take(code);
      return Judge(code);
    }
    case 1: {
      const aclError code = aclrtDestroyNotify(notify.handle);
      notify.Drop(code);
      return Judge(code);
    }
    case 2:
      return Judge(aclrtRecordNotify(PickHandle(notifies_, input), world.PickStream(input)));
    case 3: {
      std::uint32_t id = 0;
      return Judge(aclrtGetNotifyId(PickHandle(notifies_, input), &id));
    }
    case 4: {
      std::array<aclrtNotify, 2> some = {PickHandle(notifies_, input), PickHandle(notifies_, input)};
      return Judge(aclrtNotifyBatchReset(some.data(), input.Below(3)));
    }
    default: {
      const aclrtStream stream = world.PickStream(input);
      const aclError code = aclrtWaitAndResetNotify(notify.handle, stream, 0);
      Judge(code);
      if (code != ACL_SUCCESS) return;
      if (input.Below(8) != 7) Judge(aclrtRecordNotify(notify.handle, Signals()));
      return EndWait(stream);
    }
  }
}

void Sharing::UseWord(World& world, Input& input) {
  void* const word = input.Below(4) == 0 ? world.PickPointer(input).pointer
                                         : static_cast<std::uint8_t*>(world.table) + input.Below(8) * 8;
  const std::uint64_t value = input.Byte();
  const aclrtStream stream = world.PickStream(input);
  switch (input.Below(4)) {
    case 0:
      return Judge(aclrtValueWrite(word, value, input.Below(8) == 7 ? 1U : 0U, stream));
    case 1: {
      const aclError code = aclrtValueWait(word, value, static_cast<std::uint32_t>(input.Below(5)), stream);
      Judge(code);
      if (code != ACL_SUCCESS) return;
      Judge(aclrtValueWrite(word, input.Below(4) == 0 ? input.Byte() : value, 0, Signals()));
      return EndWait(stream);
    }
    default: {
      const Argument dst = world.PickPointer(input);
      return Judge(aclrtReduceAsync(
          dst.pointer, world.PickDevicePointer(input), world.PickSize(input, dst.max_bytes / 16),
          static_cast<aclrtReduceKind>(input.Below(16)),
          static_cast<aclDataType>(static_cast<int>(input.Below(40)) - 1), stream, nullptr));
    }
  }
}

void Sharing::UseAddresses(World& world, Input& input) {
  auto& addresses = reserved_[input.Below(kSlots)];
  auto& mapping = mapped_[input.Below(kSlots)];
  switch (input.Below(6)) {
    case 0: {
      if (addresses.live) return;
      const aclError code = aclrtReserveMemAddress(
          &addresses.handle, PickUnits(input), input.Below(8) == 7 ? input.Long() : 0,
          input.Below(4) == 3 ? world.PickPointer(input).pointer : nullptr, input.Below(4));
      addresses.Take(code);
      return Judge(code);
    }
    case 1: {
      const aclError code = aclrtReleaseMemAddress(addresses.handle);
      addresses.Drop(code);
      return Judge(code);
    }
    case 2:
    case 3: {
      if (mapping.live) return;
      auto* const at = static_cast<std::uint8_t*>(addresses.handle) + input.Below(3) * kUnit;
      const std::size_t bytes = PickUnits(input);
      const std::size_t offset = input.Below(8) == 7 ? PickUnits(input) : 0;
      const aclrtDrvMemHandle memory = PickHandle(physical_, input);
      const aclError code = input.Below(4) == 0 ? aclrtMemMapNoAccess(at, bytes, offset, memory, 0)
                                                : aclrtMapMem(at, bytes, offset, memory, input.Below(8) / 7);
      if (code == ACL_SUCCESS) mapping.handle = at;
      mapping.Take(code);
      return Judge(code);
    }
    case 4: {
      const aclError code = aclrtUnmapMem(mapping.handle);
      mapping.Drop(code);
      return Judge(code);
    }
    default: {
      aclrtMemAccessDesc rights = {};
      rights.flags = static_cast<aclrtMemAccessFlags>(input.Below(5));
      rights.location = {static_cast<std::uint32_t>(input.Below(3)),
                         static_cast<aclrtMemLocationType>(input.Below(4))};
      std::uint64_t flag = 0;
      if (input.Below(2) == 0) return Judge(aclrtMemGetAccess(mapping.handle, &rights.location, &flag));
      return Judge(aclrtMemSetAccess(mapping.handle, PickUnits(input), &rights, input.Below(3)));
    }
  }
}

void Sharing::UsePhysical(Input& input) {
  auto& memory = physical_[input.Below(kSlots)];
  switch (input.Below(5)) {
    case 0:
    case 1: {
      if (memory.live) return;
      aclrtPhysicalMemProp prop = {};
      prop.handleType = static_cast<aclrtMemHandleType>(input.Below(16) / 15);
      prop.allocationType = static_cast<aclrtMemAllocationType>(input.Below(16) / 15);
      prop.memAttr = input.Below(8) == 7 ? static_cast<aclrtMemAttr>(input.Byte()) : ACL_HBM_MEM_HUGE;
      prop.location = {static_cast<std::uint32_t>(input.Below(3)),
                       input.Below(8) == 7 ? static_cast<aclrtMemLocationType>(input.Below(4))
                                           : ACL_MEM_LOCATION_TYPE_DEVICE};
      const aclError code = aclrtMallocPhysical(&memory.handle, PickUnits(input), &prop, 0);
      memory.Take(code);
      return Judge(code);
    }
    case 2: {
      const aclError code = aclrtFreePhysical(memory.handle);
      memory.Drop(code);
      return Judge(code);
    }
    case 3: {
      if (memory.live) return;
      const aclError code = aclrtMemRetainAllocationHandle(PickAddress(input), &memory.handle);
      memory.Take(code);
      return Judge(code);
    }
    default: {
      std::uint64_t shared = 0;
      const aclError code = aclrtMemExportToShareableHandle(
          PickHandle(physical_, input), static_cast<aclrtMemHandleType>(input.Below(16) / 15),
          input.Below(8) / 7, &shared);
      Judge(code);
      if (memory.live) return;
      if (input.Below(4) == 3) shared = input.Long();
      const auto device = static_cast<std::int32_t>(input.Below(4)) - 1;
      const aclError imported = aclrtMemImportFromShareableHandle(shared, device, &memory.handle);
      memory.Take(imported);
      return Judge(imported);
    }
  }
}

void Sharing::UseKey(World& world, Input& input) {
  Key& key = keys_[input.Below(kSlots)];
  // As many as a call is ever told that there are.
  std::array<std::int32_t, 2> pids = {getpid(), getpid()};
  if (input.Below(4) == 3) pids[0] = static_cast<std::int32_t>(input.Long());
  switch (input.Below(6)) {
    case 0: {
      if (key.live) return;
      const aclError code =
          aclrtIpcMemGetExportKey(world.PickDevicePointer(input), world.PickSize(input), key.text.data(),
                                  input.Below(8) == 7 ? input.Byte() % kKeyBytes : kKeyBytes, input.Below(3));
      key.of_notify = false;
      key.imported = nullptr;
      key.live = code == ACL_SUCCESS;
      return Judge(code);
    }
    case 1: {
      if (key.live) return;
      const aclError code =
          aclrtNotifyGetExportKey(PickHandle(notifies_, input), key.text.data(), kKeyBytes, input.Below(3));
      key.of_notify = true;
      key.imported = nullptr;
      key.live = code == ACL_SUCCESS;
      return Judge(code);
    }
    case 2:
      return Judge(key.of_notify
                       ? aclrtNotifySetImportPid(PickHandle(notifies_, input), pids.data(), input.Below(3))
                       : aclrtIpcMemSetImportPid(key.text.data(), pids.data(), input.Below(3)));
    case 3: {
      if (input.Below(8) == 7) key.text[input.Below(kKeyBytes - 1)] = static_cast<char>(input.Byte());
      if (key.imported != nullptr) return;
      const aclError code = key.of_notify
                                ? aclrtNotifyImportByKey(reinterpret_cast<aclrtNotify*>(&key.imported),
                                                         key.text.data(), input.Below(3))
                                : aclrtIpcMemImportByKey(&key.imported, key.text.data(), input.Below(3));
      return Judge(code);
    }
    default: {
      if (key.of_notify) {
        if (key.imported == nullptr) return;
        Judge(aclrtDestroyNotify(static_cast<aclrtNotify>(key.imported)));
        key.imported = nullptr;
        key.live = false;
        return;
      }
      const aclError code = aclrtIpcMemClose(key.text.data());
      if (code == ACL_SUCCESS) key.live = false;
      return Judge(code);
    }
  }
}

}  // namespace sampan::fuzz
