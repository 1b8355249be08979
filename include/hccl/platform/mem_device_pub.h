/* Device memory: an owner, or a view of somebody else's. */
#ifndef SAMPAN_HCCL_PLATFORM_MEM_DEVICE_PUB_H
#define SAMPAN_HCCL_PLATFORM_MEM_DEVICE_PUB_H

#include "hccl/base.h"

namespace hccl {

/* Copies are views. What an owner holds is freed once: when the owner ends, is given something else, or is
 * told to free. Not thread-safe. */
class HCCL_PLF_VISIBILITY DeviceMem {
 public:
  explicit DeviceMem();
  explicit DeviceMem(void* ptr, u64 size, bool owner = false);
  DeviceMem(const DeviceMem& that);
  DeviceMem(DeviceMem&& that) noexcept;
  ~DeviceMem();

  /* Frees what is owned. A view is left as it is. */
  void free();

  /* Without memory the object is empty: test it as a bool. Its size is then still the one asked for. */
  static DeviceMem alloc(u64 size, bool level2Address = false);
  /* The same with a code: HCCL_E_PARA for size 0, HCCL_E_MEMORY when there is not enough. */
  static HcclResult alloc(DeviceMem& mem, u64 size, bool level2Address = false);
  /* A view of memory that somebody else owns. */
  static DeviceMem create(void* ptr, u64 size);

  /* Takes over; gives back a view. */
  DeviceMem operator=(DeviceMem&& that);
  DeviceMem& operator=(const DeviceMem& that);

  operator bool() const { return ptr_ != nullptr; }
  bool operator==(const DeviceMem& that) const { return ptr_ == that.ptr_ && size_ == that.size_; }
  bool operator!=(const DeviceMem& that) const { return !(*this == that); }

  void* ptr() const { return ptr_; }
  u64 size() const { return size_; }

  /* A view of a part; empty when the part is not inside. */
  DeviceMem range(u64 offset, u64 size) const;

  void* ptr_;

 private:
  explicit DeviceMem(u64 size);
  bool IsPartOfOwned(const DeviceMem& that) const;

  u64 size_;
  void* owned_; /* what is to be freed; null for a view */
  u64 ownedSize_;
};

}  // namespace hccl

#endif /* SAMPAN_HCCL_PLATFORM_MEM_DEVICE_PUB_H */
