/* Host memory: an owner, or a view of memory that has another owner. */
#ifndef SAMPAN_HCCL_PLATFORM_MEM_HOST_PUB_H
#define SAMPAN_HCCL_PLATFORM_MEM_HOST_PUB_H

#include "owned_block.h"

namespace hccl {

/** Host memory: an owner, or a view of memory that another object owns. Copies are views. Owned memory is
 * freed once: when the owner is destroyed, gets other memory, or calls free.
 * @async no
 * @threads One thread at a time for each object.
 */
class HCCL_PLF_VISIBILITY HostMem : private OwnedBlock {
 public:
  /** An empty object, or a copy, which is a view. Moving takes ownership from that. */
  explicit HostMem();
  HostMem(const HostMem& that);
  HostMem(HostMem&& that) noexcept;
  ~HostMem();

  /** Frees owned memory. A view does not change. */
  void free() { FreeBlock(); }

  /** Allocates size bytes: pinned memory if isRtsMem is true, else plain memory of the process. Without
   * enough memory the object is empty.
   */
  static HostMem alloc(u64 size, bool isRtsMem = true);

  /** A view of size bytes at ptr, which another object owns. */
  static HostMem create(void* ptr, u64 size);

  /** Takes over what that owns, and returns a view; or becomes a view of that. Memory that was owned before
   * is freed.
   */
  HostMem operator=(HostMem&& that);
  HostMem& operator=(const HostMem& that);

  /** Whether there is memory, and whether that is the same memory: the same address and size. */
  operator bool() const { return ptr_ != nullptr; }
  bool operator==(const HostMem& that) const { return IsSameRange(that); }
  bool operator!=(const HostMem& that) const { return !(*this == that); }

  /** Address, and size in bytes. */
  void* ptr() const { return ptr_; }
  u64 size() const { return size_; }

  /** A view of size bytes from offset on. It is empty if the part is not inside. */
  HostMem range(u64 offset, u64 size) const;

 private:
  using OwnedBlock::OwnedBlock;
};

}  // namespace hccl

#endif /* SAMPAN_HCCL_PLATFORM_MEM_HOST_PUB_H */
