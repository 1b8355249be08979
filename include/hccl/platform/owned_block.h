/* What DeviceMem and HostMem share: a range of memory, and the block that its owner frees. */
#ifndef SAMPAN_HCCL_PLATFORM_OWNED_BLOCK_H
#define SAMPAN_HCCL_PLATFORM_OWNED_BLOCK_H

#include "hccl/base.h"

namespace hccl {

/* An owner, or a view of memory that has another owner. Copies are views. The block of an owner is freed
 * once: when the owner is destroyed, is assigned other memory, or calls free. Not thread-safe. */
class HCCL_PLF_VISIBILITY OwnedBlock {
 protected:
  using Release = void (*)(void* block);

  /* Owns the block if `release` is not null. */
  OwnedBlock(void* ptr, u64 size, Release release);
  OwnedBlock(const OwnedBlock& that);
  OwnedBlock(OwnedBlock&& that) noexcept;
  ~OwnedBlock();
  /* Becomes a view. An owner that is narrowed to a part of its block keeps the block. */
  OwnedBlock& operator=(const OwnedBlock& that);
  /* Takes the block of an owner over; copies a view. */
  OwnedBlock& operator=(OwnedBlock&& that) noexcept;

  /* Frees the block of an owner. A view does not change. */
  void FreeBlock();

  bool IsSameRange(const OwnedBlock& that) const { return ptr_ == that.ptr_ && size_ == that.size_; }
  /* The address of a part; null, with a message of `function`, if the part is not inside. */
  void* Part(const char* function, u64 offset, u64 size) const;

  void* ptr_;
  u64 size_;

 private:
  void* block_; /* null for a view */
  u64 blockSize_;
  Release release_; /* how the block is freed */
};

}  // namespace hccl

#endif /* SAMPAN_HCCL_PLATFORM_OWNED_BLOCK_H */
