/* Host memory: an owner, or a view of memory that has another owner. */
#ifndef SAMPAN_HCCL_PLATFORM_MEM_HOST_PUB_H
#define SAMPAN_HCCL_PLATFORM_MEM_HOST_PUB_H

#include "owned_block.h"

namespace hccl {

/* Copies are views. The memory of an owner is freed once. Not thread-safe. */
class HCCL_PLF_VISIBILITY HostMem : private OwnedBlock {
 public:
  explicit HostMem();
  HostMem(const HostMem& that);
  HostMem(HostMem&& that) noexcept;
  ~HostMem();

  /* Frees the memory of an owner. A view stays as it is. */
  void free() { FreeBlock(); }

  /* Pinned memory of the runtime, or plain memory of the process. If there is no memory, the object is empty:
   * test it as a bool. */
  static HostMem alloc(u64 size, bool isRtsMem = true);
  /* A view. */
  static HostMem create(void* ptr, u64 size);

  /* Takes the memory over; returns a view. */
  HostMem operator=(HostMem&& that);
  HostMem& operator=(const HostMem& that);

  operator bool() const { return ptr_ != nullptr; }
  bool operator==(const HostMem& that) const { return IsSameRange(that); }
  bool operator!=(const HostMem& that) const { return !(*this == that); }

  void* ptr() const { return ptr_; }
  u64 size() const { return size_; }

  /* A view of a part; empty if the part is not inside. */
  HostMem range(u64 offset, u64 size) const;

 private:
  using OwnedBlock::OwnedBlock;
};

}  // namespace hccl

#endif /* SAMPAN_HCCL_PLATFORM_MEM_HOST_PUB_H */
