// A vector that stores a small number of elements inside itself.
#pragma once

#include <algorithm>
#include <cstddef>
#include <memory>
#include <span>
#include <utility>

#include "base/error/assert.h"

namespace sampan {

/// Elements must move without throwing. Move-only, not thread-safe. Does not allocate for up to kInside
/// elements.
template <typename T, std::size_t kInside>
class InlineVector {
 public:
  InlineVector() noexcept {}
  /// So many elements, each made by make(its index), which does not throw.
  template <typename Make>
  InlineVector(std::size_t count, Make make) {
    if (count > kInside) [[unlikely]] {
      outside_ = std::allocator<T>().allocate(count);
      capacity_ = count;
    }
    for (T* const first = data(); size_ < count; ++size_)
      std::construct_at(first + size_, make(size_));
  }
  InlineVector(InlineVector&& other) noexcept { Take(other); }
  InlineVector& operator=(InlineVector&& other) noexcept {
    if (this == &other) return *this;
    Reset();
    Take(other);
    return *this;
  }
  ~InlineVector() { Reset(); }

  void push_back(T&& element) {
    if (size_ == capacity_) Grow();
    std::construct_at(data() + size_++, std::move(element));
  }

  T* data() { return outside_ != nullptr ? outside_ : Inside(); }
  const T* data() const { return outside_ != nullptr ? outside_ : Inside(); }
  std::size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  T* begin() { return data(); }
  T* end() { return data() + size_; }
  const T* begin() const { return data(); }
  const T* end() const { return data() + size_; }
  T& operator[](std::size_t i) {
    SAMPAN_ASSERT(i < size_);
    return data()[i];
  }
  const T& operator[](std::size_t i) const {
    SAMPAN_ASSERT(i < size_);
    return data()[i];
  }

 private:
  T* Inside() { return reinterpret_cast<T*>(inside_); }
  const T* Inside() const { return reinterpret_cast<const T*>(inside_); }

  /// Moves all elements out of `other`. This vector must be empty.
  void Take(InlineVector& other) noexcept {
    outside_ = std::exchange(other.outside_, nullptr);
    size_ = std::exchange(other.size_, 0U);
    capacity_ = std::exchange(other.capacity_, kInside);
    if (outside_ != nullptr) return;
    std::uninitialized_move_n(other.Inside(), size_, Inside());
    std::destroy_n(other.Inside(), size_);
  }
  void Reset() noexcept {
    std::destroy_n(data(), size_);
    if (outside_ != nullptr) std::allocator<T>().deallocate(outside_, capacity_);
    outside_ = nullptr;
    size_ = 0;
    capacity_ = kInside;
  }
  [[gnu::noinline]] void Grow() {
    T* const larger = std::allocator<T>().allocate(2 * capacity_);
    std::uninitialized_move_n(data(), size_, larger);
    std::destroy_n(data(), size_);
    if (outside_ != nullptr) std::allocator<T>().deallocate(outside_, capacity_);
    outside_ = larger;
    capacity_ *= 2;
  }

  T* outside_ = nullptr;  // null if the elements are inside
  std::size_t size_ = 0;
  std::size_t capacity_ = kInside;
  alignas(T) std::byte inside_[kInside * sizeof(T)];
};

}  // namespace sampan
