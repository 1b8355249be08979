// A block of memory in any place, as source or destination of copies.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>

#include "bench/measure/contents.h"

namespace bench {

enum class Place {
  kPageable,  ///< ordinary host memory
  kPinned,    ///< pinned host memory
  kDevice,    ///< memory of device 0
  kPeer,      ///< memory of device 1
};

std::string_view NameOf(Place place);

constexpr bool IsHost(Place place) {
  return place == Place::kPageable || place == Place::kPinned;
}

/// Owns one block. Device 0 must be current. Not thread-safe.
class Memory {
 public:
  Memory(Place place, std::size_t bytes);
  ~Memory();
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;

  std::byte* at(std::size_t offset) const { return static_cast<std::byte*>(data_) + offset; }
  std::size_t bytes() const { return bytes_; }
  Place place() const { return place_; }

  /// Blocking, of the whole block.
  void Write(std::span<const std::byte> contents);
  Bytes Read() const;

 private:
  Place place_;
  std::size_t bytes_;
  void* data_ = nullptr;
};

}  // namespace bench
