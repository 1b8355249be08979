/* Device memory: an owner, or a view of memory that has another owner. */
#ifndef SAMPAN_HCCL_PLATFORM_MEM_DEVICE_PUB_H
#define SAMPAN_HCCL_PLATFORM_MEM_DEVICE_PUB_H

#include "owned_block.h"

namespace hccl {

/* Copies are views. The memory of an owner is freed once. Not thread-safe. */
class HCCL_PLF_VISIBILITY DeviceMem : private OwnedBlock {
 public:
  explicit DeviceMem();
  explicit DeviceMem(void* ptr, u64 size, bool owner = false);
  DeviceMem(const DeviceMem& that);
  DeviceMem(DeviceMem&& that) noexcept;
  ~DeviceMem();

  /* Frees the memory of an owner. A view stays as it is. */
  void free() { FreeBlock(); }

  /* If there is no memory, the object is empty: test it as a bool. Its size is still the one asked for. */
  static DeviceMem alloc(u64 size, bool level2Address = false);
  /* The same with a code: HCCL_E_PARA for size 0, HCCL_E_MEMORY if there is not enough memory. */
  static HcclResult alloc(DeviceMem& mem, u64 size, bool level2Address = false);
  /* A view. */
  static DeviceMem create(void* ptr, u64 size);

  /* Takes the memory over; returns a view. */
  DeviceMem operator=(DeviceMem&& that);
  DeviceMem& operator=(const DeviceMem& that);

  operator bool() const { return ptr_ != nullptr; }
  bool operator==(const DeviceMem& that) const { return IsSameRange(that); }
  bool operator!=(const DeviceMem& that) const { return !(*this == that); }

  void* ptr() const { return ptr_; }
  u64 size() const { return size_; }

  /* A view of a part; empty if the part is not inside. */
  DeviceMem range(u64 offset, u64 size) const;

  using OwnedBlock::ptr_;
};

}  // namespace hccl

#endif /* SAMPAN_HCCL_PLATFORM_MEM_DEVICE_PUB_H */
