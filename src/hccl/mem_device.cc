// hccl::DeviceMem.
#include <utility>

#include "acl/acl_rt.h"
#include "hccl/platform/mem_device_pub.h"
#include "hccl/report.h"

namespace hccl {

using sampan::Hex;
using sampan::Text;

DeviceMem::DeviceMem() : ptr_(nullptr), size_(0), owner_(false) {}

DeviceMem::DeviceMem(void* ptr, u64 size, bool owner) : ptr_(ptr), size_(size), owner_(owner) {}

DeviceMem::DeviceMem(u64 size) : ptr_(nullptr), size_(size), owner_(true) {
  if (aclrtMalloc(&ptr_, size, ACL_MEM_MALLOC_HUGE_FIRST) != ACL_SUCCESS) ptr_ = nullptr;
}

DeviceMem::DeviceMem(const DeviceMem& that) : ptr_(that.ptr_), size_(that.size_), owner_(false) {}

DeviceMem::DeviceMem(DeviceMem&& that) noexcept
    : ptr_(std::exchange(that.ptr_, nullptr)),
      size_(std::exchange(that.size_, 0)),
      owner_(std::exchange(that.owner_, false)) {}

DeviceMem::~DeviceMem() {
  free();
}

void DeviceMem::free() {
  if (!owner_ || ptr_ == nullptr) return;
  // A failure has said why already, and there is nobody to tell.
  static_cast<void>(aclrtFree(ptr_));
  ptr_ = nullptr;
}

DeviceMem DeviceMem::alloc(u64 size, bool) {
  return DeviceMem(size);
}

HcclResult DeviceMem::alloc(DeviceMem& mem, u64 size, bool) {
  if (size == 0) return sampan::plf::Fail("DeviceMem::alloc", HCCL_E_PARA, "size is 0");
  DeviceMem made(size);
  if (!made) return HCCL_E_MEMORY;
  mem = std::move(made);
  return HCCL_SUCCESS;
}

DeviceMem DeviceMem::create(void* ptr, u64 size) {
  return DeviceMem(ptr, size);
}

DeviceMem DeviceMem::operator=(DeviceMem&& that) {
  if (&that != this) {
    free();
    ptr_ = std::exchange(that.ptr_, nullptr);
    size_ = std::exchange(that.size_, 0);
    owner_ = std::exchange(that.owner_, false);
  }
  return *this;
}

DeviceMem& DeviceMem::operator=(const DeviceMem& that) {
  if (&that == this) return *this;
  // A view of what this object owns keeps it: the object goes on owning its block.
  const bool same = that.ptr_ == ptr_;
  if (!same) free();
  ptr_ = that.ptr_;
  size_ = that.size_;
  if (!same) owner_ = false;
  return *this;
}

DeviceMem DeviceMem::range(u64 offset, u64 size) const {
  if (ptr_ == nullptr || offset > size_ || size > size_ - offset) {
    sampan::plf::Fail(
        "DeviceMem::range", HCCL_E_PARA,
        Text("offset ", offset, " and size ", size, " are not inside the ", size_, " bytes at ", Hex(ptr_)));
    return DeviceMem();
  }
  return DeviceMem(static_cast<u8*>(ptr_) + offset, size);
}

}  // namespace hccl
