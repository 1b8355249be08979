// hccl::HostMem.
#include <new>
#include <utility>

#include "acl/acl_rt.h"
#include "hccl/address_part.h"
#include "hccl/platform/mem_host_pub.h"
#include "hccl/report.h"

namespace hccl {

using sampan::Hex;
using sampan::Text;

HostMem::HostMem() : HostMem(nullptr, 0, false, false) {}

HostMem::HostMem(void* ptr, u64 size, bool owner, bool isRtsMem)
    : ptr_(ptr),
      size_(size),
      owned_(owner ? ptr : nullptr),
      ownedSize_(owner ? size : 0),
      isRtsMem_(isRtsMem) {}

HostMem::HostMem(const HostMem& that) : HostMem(that.ptr_, that.size_, false, that.isRtsMem_) {}

HostMem::HostMem(HostMem&& that) noexcept
    : ptr_(std::exchange(that.ptr_, nullptr)),
      size_(std::exchange(that.size_, 0)),
      owned_(std::exchange(that.owned_, nullptr)),
      ownedSize_(std::exchange(that.ownedSize_, 0)),
      isRtsMem_(that.isRtsMem_) {}

HostMem::~HostMem() {
  free();
}

void HostMem::free() {
  if (owned_ == nullptr) return;
  void* const owned = std::exchange(owned_, nullptr);
  if (isRtsMem_) {
    static_cast<void>(aclrtFreeHost(owned));
  } else {
    delete[] static_cast<u8*>(owned);
  }
  ptr_ = nullptr;
}

bool HostMem::IsPartOfOwned(const HostMem& that) const {
  return sampan::hccl::IsPart(owned_, ownedSize_, that.ptr_) && that.owned_ == nullptr;
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

// NOLINTNEXTLINE(performance-noexcept-move-constructor): the interface says so.
HostMem HostMem::operator=(HostMem&& that) {
  if (&that == this) return *this;
  if (that.owned_ == nullptr) {
    *this = static_cast<const HostMem&>(that);  // a view: nothing to take over but what it shows
  } else {
    free();
    ptr_ = that.ptr_;
    size_ = that.size_;
    owned_ = std::exchange(that.owned_, nullptr);
    ownedSize_ = std::exchange(that.ownedSize_, 0);
    isRtsMem_ = that.isRtsMem_;
  }
  that.ptr_ = nullptr;
  that.size_ = 0;
  return *this;
}

HostMem& HostMem::operator=(const HostMem& that) {
  if (&that == this) return *this;
  // An owner that is narrowed to a part of its block goes on owning the block.
  if (!IsPartOfOwned(that)) free();
  ptr_ = that.ptr_;
  size_ = that.size_;
  return *this;
}

HostMem HostMem::range(u64 offset, u64 size) const {
  if (ptr_ == nullptr || offset > size_ || size > size_ - offset) {
    sampan::hccl::Fail(
        "HostMem::range", HCCL_E_PARA,
        Text("offset ", offset, " and size ", size, " are not inside the ", size_, " bytes at ", Hex(ptr_)));
    return HostMem();
  }
  return create(static_cast<u8*>(ptr_) + offset, size);
}

}  // namespace hccl
