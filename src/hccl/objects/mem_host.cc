// hccl::HostMem.
#include "hccl/platform/mem_host_pub.h"

#include <new>
#include <utility>

#include "acl/acl_rt.h"

namespace hccl {
namespace {

/// A failure is logged already, and destructors cannot return it.
void FreePinned(void* block) {
  static_cast<void>(aclrtFreeHost(block));
}

void FreePlain(void* block) {
  delete[] static_cast<u8*>(block);
}

}  // namespace

HostMem::HostMem() : HostMem(nullptr, 0, nullptr) {}
HostMem::HostMem(const HostMem& that) = default;
HostMem::HostMem(HostMem&& that) noexcept = default;
HostMem::~HostMem() = default;
HostMem& HostMem::operator=(const HostMem& that) = default;

// NOLINTNEXTLINE(performance-noexcept-move-constructor): the public interface requires it.
HostMem HostMem::operator=(HostMem&& that) {
  OwnedBlock::operator=(std::move(that));
  return *this;
}

HostMem HostMem::alloc(u64 size, bool isRtsMem) {
  void* block = nullptr;
  if (isRtsMem) {
    if (aclrtMallocHost(&block, size) != ACL_SUCCESS) block = nullptr;
  } else if (size != 0) {
    block = new (std::nothrow) u8[size];
  }
  return HostMem(block, size, isRtsMem ? &FreePinned : &FreePlain);
}

HostMem HostMem::create(void* ptr, u64 size) {
  return HostMem(ptr, size, nullptr);
}

HostMem HostMem::range(u64 offset, u64 size) const {
  void* const part = Part("HostMem::range", offset, size);
  return create(part, part != nullptr ? size : 0);
}

}  // namespace hccl
