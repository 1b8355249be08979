// hccl::DeviceMem.
#include "hccl/platform/mem_device_pub.h"

#include <utility>

#include "acl/acl_rt.h"
#include "hccl/report.h"

namespace hccl {
namespace {

/// A failure is logged already, and destructors cannot return it.
void FreeDevice(void* block) {
  static_cast<void>(aclrtFree(block));
}

}  // namespace

DeviceMem::DeviceMem() : DeviceMem(nullptr, 0) {}

DeviceMem::DeviceMem(void* ptr, u64 size, bool owner)
    : OwnedBlock(ptr, size, owner ? &FreeDevice : nullptr) {}

DeviceMem::DeviceMem(const DeviceMem& that) = default;
DeviceMem::DeviceMem(DeviceMem&& that) noexcept = default;
DeviceMem::~DeviceMem() = default;
DeviceMem& DeviceMem::operator=(const DeviceMem& that) = default;

// NOLINTNEXTLINE(performance-noexcept-move-constructor): the public interface requires it.
DeviceMem DeviceMem::operator=(DeviceMem&& that) {
  OwnedBlock::operator=(std::move(that));
  return *this;
}

DeviceMem DeviceMem::alloc(u64 size, bool) {
  void* block = nullptr;
  if (aclrtMalloc(&block, size, ACL_MEM_MALLOC_HUGE_FIRST) != ACL_SUCCESS) block = nullptr;
  return DeviceMem(block, size, true);
}

HcclResult DeviceMem::alloc(DeviceMem& mem, u64 size, bool) {
  if (size == 0) return sampan::hccl::Fail("DeviceMem::alloc", HCCL_E_PARA, "size is 0");
  DeviceMem made = alloc(size);
  if (!made) return HCCL_E_MEMORY;
  mem = std::move(made);
  return HCCL_SUCCESS;
}

DeviceMem DeviceMem::create(void* ptr, u64 size) {
  return DeviceMem(ptr, size);
}

DeviceMem DeviceMem::range(u64 offset, u64 size) const {
  void* const part = Part("DeviceMem::range", offset, size);
  return DeviceMem(part, part != nullptr ? size : 0);
}

}  // namespace hccl
