// Host memory that the GPUs can reach: registered with the driver, and registered again when a context is
// replaced.
#include "backend/cuda/host_registrations.h"

#include "base/text.h"

namespace sampan::cuda {

void HostRegistrations::Use(Gpu& gpu) {
  const std::lock_guard lock(mutex_);
  if (gpu_ == nullptr) gpu_ = &gpu;
}

CuResult HostRegistrations::Make(void* address, const Entry& entry) {
  unsigned flags = cu::kRegisterPortable | cu::kRegisterDeviceMap;
  if (entry.read_only && gpu_->facts().read_only_registration) flags |= cu::kRegisterReadOnly;
  const ContextScope scope(*gpu_);
  return gpu_->driver().HostRegister(address, entry.bytes, flags);
}

CuResult HostRegistrations::Add(void* address, const Entry& entry) {
  const std::lock_guard lock(mutex_);
  if (gpu_ == nullptr) return cu::kNotInitialized;
  const auto [added, is_new] = entries_.emplace(address, entry);
  if (!is_new) return cu::kHostMemoryAlreadyRegistered;
  const CuResult result = Make(address, entry);
  if (result != cu::kSuccess) entries_.erase(added);
  return result;
}

Status HostRegistrations::StatusOf(CuResult result, const void* address, std::size_t bytes) {
  if (result == cu::kSuccess) return {};
  if (result == cu::kNotInitialized)
    return {Code::kContextNull, "host memory is registered with a device, and none is open"};
  if (result == cu::kHostMemoryAlreadyRegistered) {
    return {Code::kHostMemoryAlreadyRegistered,
            Text("[", Hex(address), ", +", bytes, " bytes] is registered with the driver already")};
  }
  return gpu_->Check(result, Text("registering host memory [", Hex(address), ", +", bytes, " bytes]"));
}

Status HostRegistrations::Register(void* address, std::size_t bytes, bool read_only) {
  CuResult result = Add(address, {bytes, read_only});
  if (result == cu::kHostMemoryAlreadyRegistered) {
    sweep_();  // the earlier one may only wait for somebody to notice that its copies are over
    result = Add(address, {bytes, read_only});
  }
  return StatusOf(result, address, bytes);
}

Status HostRegistrations::RegisterNew(void* address, std::size_t bytes) {
  return StatusOf(Add(address, {bytes, false}), address, bytes);
}

void HostRegistrations::Unregister(void* address) noexcept {
  const std::lock_guard lock(mutex_);
  if (entries_.erase(address) == 0) return;
  const ContextScope scope(*gpu_);
  gpu_->driver().HostUnregister(address);
}

Status HostRegistrations::Renew(const Gpu& gpu) {
  const std::lock_guard lock(mutex_);
  if (&gpu != gpu_) return {};
  for (const auto& [address, entry] : entries_) {
    const CuResult result = Make(address, entry);
    if (result == cu::kSuccess || result == cu::kHostMemoryAlreadyRegistered) continue;
    return gpu_->Check(result,
                       Text("registering host memory again [", Hex(address), ", +", entry.bytes, " bytes]"));
  }
  return {};
}

}  // namespace sampan::cuda
