// hccl::HostMem.
#include <new>
#include <utility>

#include "acl/acl_rt.h"
#include "hccl/platform/mem_host_pub.h"
#include "hccl/report.h"

namespace hccl {

using sampan::Hex;
using sampan::Text;

HostMem::HostMem() : HostMem(nullptr, 0, false, false) {}

HostMem::HostMem(void* ptr, u64 size, bool owner, bool isRtsMem)
    : ptr_(ptr), size_(size), owner_(owner), isRtsMem_(isRtsMem) {}

HostMem::HostMem(const HostMem& that) : HostMem(that.ptr_, that.size_, false, that.isRtsMem_) {}

HostMem::HostMem(HostMem&& that) noexcept
    : ptr_(std::exchange(that.ptr_, nullptr)),
      size_(std::exchange(that.size_, 0)),
      owner_(std::exchange(that.owner_, false)),
      isRtsMem_(that.isRtsMem_) {}

HostMem::~HostMem() {
  free();
}

void HostMem::free() {
  if (!owner_ || ptr_ == nullptr) return;
  if (isRtsMem_) {
    static_cast<void>(aclrtFreeHost(ptr_));
  } else {
    delete[] static_cast<u8*>(ptr_);
  }
  ptr_ = nullptr;
}

HostMem HostMem::alloc(u64 size, bool isRtsMem) {
  void* ptr = nullptr;
  if (isRtsMem) {
    if (aclrtMallocHost(&ptr, size) != ACL_SUCCESS) ptr = nullptr;
  } else if (size != 0) {
    ptr = new (std::nothrow) u8[size];
  }
  return HostMem(ptr, size, true, isRtsMem);
}

HostMem HostMem::create(void* ptr, u64 size) {
  return HostMem(ptr, size, false, false);
}

HostMem HostMem::operator=(HostMem&& that) {
  if (&that != this) {
    free();
    ptr_ = std::exchange(that.ptr_, nullptr);
    size_ = std::exchange(that.size_, 0);
    owner_ = std::exchange(that.owner_, false);
    isRtsMem_ = that.isRtsMem_;
  }
  return *this;
}

HostMem& HostMem::operator=(const HostMem& that) {
  if (&that == this) return *this;
  const bool same = that.ptr_ == ptr_;
  if (!same) free();
  ptr_ = that.ptr_;
  size_ = that.size_;
  if (!same) {
    owner_ = false;
    isRtsMem_ = that.isRtsMem_;
  }
  return *this;
}

HostMem HostMem::range(u64 offset, u64 size) const {
  if (ptr_ == nullptr || offset > size_ || size > size_ - offset) {
    sampan::plf::Fail(
        "HostMem::range", HCCL_E_PARA,
        Text("offset ", offset, " and size ", size, " are not inside the ", size_, " bytes at ", Hex(ptr_)));
    return HostMem();
  }
  return create(static_cast<u8*>(ptr_) + offset, size);
}

}  // namespace hccl
