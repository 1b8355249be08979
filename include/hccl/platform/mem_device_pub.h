/* Device memory: an owner, or a view of memory that has another owner. */
#ifndef SAMPAN_HCCL_PLATFORM_MEM_DEVICE_PUB_H
#define SAMPAN_HCCL_PLATFORM_MEM_DEVICE_PUB_H

#include "owned_block.h"

namespace hccl {

/** Device memory: an owner, or a view of memory that another object owns. Copies are views. Owned memory is
 * freed once: when the owner is destroyed, gets other memory, or calls free.
 * @async no
 * @threads One thread at a time for each object.
 */
class HCCL_PLF_VISIBILITY DeviceMem : private OwnedBlock {
 public:
  /** An empty object, a view of [ptr, ptr + size) in bytes, or a copy, which is a view. With owner the object
   * frees ptr. Moving takes ownership from that.
   */
  explicit DeviceMem();
  explicit DeviceMem(void* ptr, u64 size, bool owner = false);
  DeviceMem(const DeviceMem& that);
  DeviceMem(DeviceMem&& that) noexcept;
  ~DeviceMem();

  /** Frees owned memory. A view does not change. */
  void free() { FreeBlock(); }

  /** Allocates size bytes on the current device. Without enough memory the object is empty, but has the
   * requested size. level2Address has no effect.
   */
  static DeviceMem alloc(u64 size, bool level2Address = false);

  /** Allocates size bytes on the current device into mem. level2Address has no effect.
   * @error HCCL_E_PARA size is 0.
   * @error HCCL_E_MEMORY There is not enough memory.
   */
  static HcclResult alloc(DeviceMem& mem, u64 size, bool level2Address = false);

  /** A view of size bytes at ptr, which another object owns. */
  static DeviceMem create(void* ptr, u64 size);

  /** Takes over what that owns, and returns a view; or becomes a view of that. Memory that was owned before
   * is freed.
   */
  DeviceMem operator=(DeviceMem&& that);
  DeviceMem& operator=(const DeviceMem& that);

  /** Whether there is memory, and whether that is the same memory: the same address and size. */
  operator bool() const { return ptr_ != nullptr; }
  bool operator==(const DeviceMem& that) const { return IsSameRange(that); }
  bool operator!=(const DeviceMem& that) const { return !(*this == that); }

  /** Address, and size in bytes. */
  void* ptr() const { return ptr_; }
  u64 size() const { return size_; }

  /** A view of size bytes from offset on. It is empty if the part is not inside. */
  DeviceMem range(u64 offset, u64 size) const;

  using OwnedBlock::ptr_;
};

}  // namespace hccl

#endif /* SAMPAN_HCCL_PLATFORM_MEM_DEVICE_PUB_H */
