/* Host memory: an owner, or a view of somebody else's. */
#ifndef SAMPAN_HCCL_PLATFORM_MEM_HOST_PUB_H
#define SAMPAN_HCCL_PLATFORM_MEM_HOST_PUB_H

#include "hccl/base.h"

namespace hccl {

/* Copies are views. What an owner holds is freed once. Not thread-safe. */
class HCCL_PLF_VISIBILITY HostMem {
 public:
  explicit HostMem();
  HostMem(const HostMem& that);
  HostMem(HostMem&& that) noexcept;
  ~HostMem();

  /* Frees what is owned. A view is left as it is. */
  void free();

  /* Pinned memory of the runtime, or plain memory of the process. Empty without memory: test it as a bool. */
  static HostMem alloc(u64 size, bool isRtsMem = true);
  /* A view of memory that somebody else owns. */
  static HostMem create(void* ptr, u64 size);

  /* Takes over; gives back a view. */
  HostMem operator=(HostMem&& that);
  HostMem& operator=(const HostMem& that);

  operator bool() const { return ptr_ != nullptr; }
  bool operator==(const HostMem& that) const { return ptr_ == that.ptr_ && size_ == that.size_; }
  bool operator!=(const HostMem& that) const { return !(*this == that); }

  void* ptr() const { return ptr_; }
  u64 size() const { return size_; }

  /* A view of a part; empty when the part is not inside. */
  HostMem range(u64 offset, u64 size) const;

 private:
  HostMem(void* ptr, u64 size, bool owner, bool isRtsMem);
  bool IsPartOfOwned(const HostMem& that) const;

  void* ptr_;
  u64 size_;
  void* owned_; /* what is to be freed; null for a view */
  u64 ownedSize_;
  bool isRtsMem_; /* how it is freed */
};

}  // namespace hccl

#endif /* SAMPAN_HCCL_PLATFORM_MEM_HOST_PUB_H */
