// hccl::DeviceMem.
#include <utility>

#include "acl/acl_rt.h"
#include "hccl/address_part.h"
#include "hccl/platform/mem_device_pub.h"
#include "hccl/report.h"

namespace hccl {

using sampan::Hex;
using sampan::Text;

DeviceMem::DeviceMem() : DeviceMem(nullptr, 0) {}

DeviceMem::DeviceMem(void* ptr, u64 size, bool owner)
    : ptr_(ptr), size_(size), owned_(owner ? ptr : nullptr), ownedSize_(owner ? size : 0) {}

DeviceMem::DeviceMem(u64 size) : DeviceMem(nullptr, size) {
  if (aclrtMalloc(&ptr_, size, ACL_MEM_MALLOC_HUGE_FIRST) != ACL_SUCCESS) ptr_ = nullptr;
  owned_ = ptr_;
  ownedSize_ = size;
}

DeviceMem::DeviceMem(const DeviceMem& that) : DeviceMem(that.ptr_, that.size_) {}

DeviceMem::DeviceMem(DeviceMem&& that) noexcept
    : ptr_(std::exchange(that.ptr_, nullptr)),
      size_(std::exchange(that.size_, 0)),
      owned_(std::exchange(that.owned_, nullptr)),
      ownedSize_(std::exchange(that.ownedSize_, 0)) {}

DeviceMem::~DeviceMem() {
  free();
}

void DeviceMem::free() {
  if (owned_ == nullptr) return;
  // A failure has said why already, and there is nobody to tell.
  static_cast<void>(aclrtFree(std::exchange(owned_, nullptr)));
  ptr_ = nullptr;
}

bool DeviceMem::IsPartOfOwned(const DeviceMem& that) const {
  return sampan::hccl::IsPart(owned_, ownedSize_, that.ptr_) && that.owned_ == nullptr;
}

DeviceMem DeviceMem::alloc(u64 size, bool) {
  return DeviceMem(size);
}

HcclResult DeviceMem::alloc(DeviceMem& mem, u64 size, bool) {
  if (size == 0) return sampan::hccl::Fail("DeviceMem::alloc", HCCL_E_PARA, "size is 0");
  DeviceMem made(size);
  if (!made) return HCCL_E_MEMORY;
  mem = std::move(made);
  return HCCL_SUCCESS;
}

DeviceMem DeviceMem::create(void* ptr, u64 size) {
  return DeviceMem(ptr, size);
}

// NOLINTNEXTLINE(performance-noexcept-move-constructor): the interface says so.
DeviceMem DeviceMem::operator=(DeviceMem&& that) {
  if (&that == this) return *this;
  if (that.owned_ == nullptr) {
    *this = static_cast<const DeviceMem&>(that);  // a view: nothing to take over but what it shows
  } else {
    free();
    ptr_ = that.ptr_;
    size_ = that.size_;
    owned_ = std::exchange(that.owned_, nullptr);
    ownedSize_ = std::exchange(that.ownedSize_, 0);
  }
  that.ptr_ = nullptr;
  that.size_ = 0;
  return *this;
}

DeviceMem& DeviceMem::operator=(const DeviceMem& that) {
  if (&that == this) return *this;
  // An owner that is narrowed to a part of its block goes on owning the block.
  if (!IsPartOfOwned(that)) free();
  ptr_ = that.ptr_;
  size_ = that.size_;
  return *this;
}

DeviceMem DeviceMem::range(u64 offset, u64 size) const {
  if (ptr_ == nullptr || offset > size_ || size > size_ - offset) {
    sampan::hccl::Fail(
        "DeviceMem::range", HCCL_E_PARA,
        Text("offset ", offset, " and size ", size, " are not inside the ", size_, " bytes at ", Hex(ptr_)));
    return DeviceMem();
  }
  return DeviceMem(static_cast<u8*>(ptr_) + offset, size);
}

}  // namespace hccl
