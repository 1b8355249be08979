// hccl::OwnedBlock.
#include "hccl/platform/owned_block.h"

#include <cstdint>
#include <utility>

#include "hccl/report.h"

namespace hccl {
namespace {

bool IsInside(const void* block, u64 bytes, const void* address) {
  const auto begin = reinterpret_cast<std::uintptr_t>(block);
  const auto at = reinterpret_cast<std::uintptr_t>(address);
  return block != nullptr && at >= begin && at - begin < bytes;
}

}  // namespace

OwnedBlock::OwnedBlock(void* ptr, u64 size, Release release)
    : ptr_(ptr),
      size_(size),
      block_(release != nullptr ? ptr : nullptr),
      blockSize_(release != nullptr ? size : 0),
      release_(release) {}

OwnedBlock::OwnedBlock(const OwnedBlock& that) : OwnedBlock(that.ptr_, that.size_, nullptr) {}

OwnedBlock::OwnedBlock(OwnedBlock&& that) noexcept
    : ptr_(std::exchange(that.ptr_, nullptr)),
      size_(std::exchange(that.size_, 0)),
      block_(std::exchange(that.block_, nullptr)),
      blockSize_(std::exchange(that.blockSize_, 0)),
      release_(that.release_) {}

OwnedBlock::~OwnedBlock() {
  FreeBlock();
}

void OwnedBlock::FreeBlock() {
  if (block_ == nullptr) return;
  release_(std::exchange(block_, nullptr));
  ptr_ = nullptr;
}

OwnedBlock& OwnedBlock::operator=(const OwnedBlock& that) {
  if (&that == this) return *this;
  if (that.block_ != nullptr || !IsInside(block_, blockSize_, that.ptr_)) FreeBlock();
  ptr_ = that.ptr_;
  size_ = that.size_;
  return *this;
}

OwnedBlock& OwnedBlock::operator=(OwnedBlock&& that) noexcept {
  if (&that == this) return *this;
  if (that.block_ == nullptr) {
    *this = static_cast<const OwnedBlock&>(that);
  } else {
    FreeBlock();
    ptr_ = that.ptr_;
    size_ = that.size_;
    block_ = std::exchange(that.block_, nullptr);
    blockSize_ = std::exchange(that.blockSize_, 0);
    release_ = that.release_;
  }
  that.ptr_ = nullptr;
  that.size_ = 0;
  return *this;
}

void* OwnedBlock::Part(const char* function, u64 offset, u64 size) const {
  if (ptr_ != nullptr && offset <= size_ && size <= size_ - offset) return static_cast<u8*>(ptr_) + offset;
  sampan::hccl::Fail(function, HCCL_E_PARA,
                     sampan::Text("offset ", offset, " and size ", size, " are not inside the ", size_,
                                  " bytes at ", sampan::Hex(ptr_)));
  return nullptr;
}

}  // namespace hccl
