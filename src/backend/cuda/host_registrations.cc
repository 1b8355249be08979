// Host memory that the GPUs can reach: registered with the driver, and registered again when a context is
// replaced.
#include "backend/cuda/host_registrations.h"

#include "base/text.h"

namespace sampan::cuda {
namespace {

Status RegisteredBefore(const void* address, std::size_t bytes) {
  return {Code::kHostMemoryAlreadyRegistered,
          Text("[", Hex(address), ", +", bytes, " bytes] is registered with the driver already")};
}

}  // namespace

void HostRegistrations::Use(Gpu& gpu) {
  const std::lock_guard lock(mutex_);
  if (gpu_ == nullptr) gpu_ = &gpu;
}

Status HostRegistrations::Make(void* address, const Entry& entry) {
  auto use = gpu_->Use();
  if (!use.ok()) return use.TakeStatus();
  unsigned flags = cu::kRegisterPortable | cu::kRegisterDeviceMap;
  if (entry.read_only && gpu_->facts().read_only_registration) flags |= cu::kRegisterReadOnly;
  const ContextScope scope(*gpu_);
  const CuResult result = gpu_->driver().HostRegister(address, entry.bytes, flags);
  if (result == cu::kSuccess) return {};
  if (result == cu::kHostMemoryAlreadyRegistered) return RegisteredBefore(address, entry.bytes);
  return gpu_->Check(result, Text("registering host memory [", Hex(address), ", +", entry.bytes, " bytes]"));
}

Status HostRegistrations::Add(void* address, const Entry& entry) {
  const std::lock_guard lock(mutex_);
  if (gpu_ == nullptr)
    return {Code::kContextNull, "host memory is registered with a device, and none is open"};
  const auto [added, is_new] = entries_.emplace(address, entry);
  if (!is_new) return RegisteredBefore(address, entry.bytes);
  Status made = Make(address, entry);
  if (!made.ok()) entries_.erase(added);
  return made;
}

Status HostRegistrations::Register(void* address, std::size_t bytes, bool read_only) {
  Status added = Add(address, {bytes, read_only});
  if (added.code() != Code::kHostMemoryAlreadyRegistered) return added;
  sweep_();  // the earlier one may only wait for somebody to notice that its copies are over
  return Add(address, {bytes, read_only});
}

Status HostRegistrations::RegisterNew(void* address, std::size_t bytes) {
  return Add(address, {bytes, false});
}

void HostRegistrations::Unregister(void* address) noexcept {
  const std::lock_guard lock(mutex_);
  if (entries_.erase(address) == 0) return;
  const auto use = gpu_->TryUse();
  if (!use) return;  // it goes with the context
  const ContextScope scope(*gpu_);
  gpu_->driver().HostUnregister(address);
}

Status HostRegistrations::Renew(const Gpu& gpu) {
  const std::lock_guard lock(mutex_);
  if (&gpu != gpu_) return {};
  for (const auto& [address, entry] : entries_) {
    Status made = Make(address, entry);
    if (!made.ok() && made.code() != Code::kHostMemoryAlreadyRegistered) return made;
  }
  return {};
}

}  // namespace sampan::cuda
