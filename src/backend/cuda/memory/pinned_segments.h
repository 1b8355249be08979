// Lists of segments in pinned memory, which kernels read directly.
#pragma once

#include "backend/api/segment_pool.h"
#include "backend/cuda/memory/reserved_memory.h"

namespace sampan::cuda {

/// Thread-safe.
class PinnedSegmentPool final : public SegmentPool {
 public:
  explicit PinnedSegmentPool(ReservedMemory& pinned) : pinned_(pinned) {}
  ~PinnedSegmentPool() override { Clear(); }

 private:
  Result<std::byte*> Allocate(std::size_t bytes) override {
    auto block = pinned_.Allocate(bytes, Pages::kBySize);
    if (!block.ok()) return block.TakeStatus();
    return reinterpret_cast<std::byte*>(block->address);
  }
  void Free(std::byte* memory, std::size_t bytes) noexcept override {
    pinned_.Free({.address = reinterpret_cast<std::uintptr_t>(memory), .bytes = bytes});
  }

  ReservedMemory& pinned_;
};

}  // namespace sampan::cuda
