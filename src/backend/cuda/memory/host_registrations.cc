// Host memory that is registered with the driver, and registered again when a context is replaced.
#include "backend/cuda/memory/host_registrations.h"

#include "base/error/text.h"

namespace sampan::cuda {
namespace {

Status RegisteredBefore(const void* address, std::size_t bytes) {
  return {Code::kHostMemoryAlreadyRegistered,
          Text("[", Hex(address), ", +", bytes, " bytes] is registered with the driver already")};
}

}  // namespace

Status HostRegistrations::Use(Gpu& gpu) {
  const std::lock_guard lock(mutex_);
  if (gpu_ != nullptr) return {};
  if (Status made = MakeAll(gpu); !made.ok()) return made;
  gpu_ = &gpu;
  return {};
}

Status HostRegistrations::Make(Gpu& gpu, void* address, const Entry& entry) {
  unsigned flags = cu::kRegisterPortable | cu::kRegisterDeviceMap;
  if (entry.read_only && gpu.facts().read_only_registration) flags |= cu::kRegisterReadOnly;
  const ContextScope scope(gpu);
  const CuResult result = gpu.driver().HostRegister(address, entry.bytes, flags);
  if (result == cu::kSuccess) return {};
  if (result == cu::kHostMemoryAlreadyRegistered) return RegisteredBefore(address, entry.bytes);
  return gpu.Check(result, Text("registering host memory [", Hex(address), ", +", entry.bytes, " bytes]"));
}

Status HostRegistrations::MakeAll(Gpu& gpu) {
  for (const auto& [address, entry] : entries_) {
    Status made = Make(gpu, address, entry);
    if (!made.ok() && made.code() != Code::kHostMemoryAlreadyRegistered) return made;
  }
  return {};
}

Status HostRegistrations::Add(void* address, const Entry& entry) {
  auto use = gpu_->Use();
  if (!use.ok()) return use.TakeStatus();
  if (entries_.contains(address)) return RegisteredBefore(address, entry.bytes);
  const auto added = entries_.emplace(address, entry).first;
  try {
    Status made = Make(*gpu_, address, entry);
    if (!made.ok()) entries_.erase(added);
    return made;
  } catch (...) {
    entries_.erase(added);
    throw;
  }
}

Status HostRegistrations::Register(void* address, std::size_t bytes, bool read_only) {
  const auto add = [&]() -> Status {
    const std::lock_guard lock(mutex_);
    if (gpu_ == nullptr)
      return {Code::kContextNull, "host memory is registered with a device, and none is open"};
    return Add(address, {bytes, read_only});
  };
  Status added = add();
  if (added.code() != Code::kHostMemoryAlreadyRegistered) return added;
  sweep_();  // an earlier registration may wait only until its copies are retired
  return add();
}

Status HostRegistrations::RegisterNew(void* address, std::size_t bytes) {
  const std::lock_guard lock(mutex_);
  if (gpu_ == nullptr) {
    entries_.emplace(address, Entry{bytes, false});
    return {};
  }
  Status added = Add(address, {bytes, false});
  if (added.ok() || gpu_->lost()) return added;
  return {Code::kMemoryAllocation, added.error().message};  // one code for all errors of the driver
}

void HostRegistrations::Unregister(void* address) noexcept {
  const std::lock_guard lock(mutex_);
  if (entries_.erase(address) == 0 || gpu_ == nullptr) return;
  const auto use = gpu_->TryUse();
  if (!use) return;  // the registration is gone with the context
  const ContextScope scope(*gpu_);
  gpu_->driver().HostUnregister(address);
}

Status HostRegistrations::Revive(Gpu& gpu) {
  const std::lock_guard lock(mutex_);
  return gpu.Revive([&] { return &gpu == gpu_ ? MakeAll(gpu) : Status(); });
}

}  // namespace sampan::cuda
