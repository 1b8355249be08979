// Owners of memory at every place that a copy can have an end in.
#pragma once

#include <gtest/gtest.h>
#include <sys/mman.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <ostream>
#include <span>
#include <utility>

#include "acl/acl.h"
#include "tests/support/acl_expect.h"
#include "tests/support/random_bytes.h"

namespace sampan::test {

enum class Place {
  kPageable,    ///< malloc
  kPinned,      ///< aclrtMallocHost
  kRegistered,  ///< mmap, then aclrtHostRegister
  kDevice,      ///< aclrtMalloc on the current device
};

inline bool IsHost(Place place) {
  return place != Place::kDevice;
}

inline std::ostream& operator<<(std::ostream& out, Place place) {
  static constexpr const char* kNames[] = {"pageable", "pinned", "registered", "device"};
  return out << kNames[static_cast<int>(place)];
}

/// Device memory through the blocking copy, whichever device is current.
inline void WriteDevice(void* dst, std::span<const std::byte> contents) {
  ASSERT_ACL(ACL_SUCCESS,
             aclrtMemcpy(dst, contents.size(), contents.data(), contents.size(), ACL_MEMCPY_HOST_TO_DEVICE));
}
inline Bytes ReadDevice(const void* src, std::size_t bytes) {
  Bytes contents(bytes);
  EXPECT_ACL(ACL_SUCCESS, aclrtMemcpy(contents.data(), bytes, src, bytes, ACL_MEMCPY_DEVICE_TO_HOST));
  return contents;
}

/// Owns one allocation. Not thread-safe. The device must outlive it.
class Buffer {
 public:
  Buffer(Place place, std::size_t bytes) : place_(place), bytes_(bytes) {
    switch (place) {
      case Place::kPageable:
        address_ = std::malloc(bytes);
        break;
      case Place::kPinned:
        EXPECT_ACL(ACL_SUCCESS, aclrtMallocHost(&address_, bytes));
        break;
      case Place::kDevice:
        EXPECT_ACL(ACL_SUCCESS, aclrtMalloc(&address_, bytes, ACL_MEM_MALLOC_HUGE_FIRST));
        break;
      case Place::kRegistered: {
        address_ = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        void* seen_by_device = nullptr;
        EXPECT_ACL(ACL_SUCCESS,
                   aclrtHostRegister(address_, bytes, ACL_HOST_REGISTER_MAPPED, &seen_by_device));
        break;
      }
    }
    if (address_ == nullptr || address_ == MAP_FAILED) std::abort();
  }
  ~Buffer() { Free(); }
  Buffer(Buffer&& other) noexcept
      : place_(other.place_), bytes_(other.bytes_), address_(std::exchange(other.address_, nullptr)) {}
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;
  Buffer& operator=(Buffer&&) = delete;

  void Free() {
    void* address = std::exchange(address_, nullptr);
    if (address == nullptr) return;
    switch (place_) {
      case Place::kPageable:
        std::free(address);
        break;
      case Place::kPinned:
        EXPECT_ACL(ACL_SUCCESS, aclrtFreeHost(address));
        break;
      case Place::kDevice:
        EXPECT_ACL(ACL_SUCCESS, aclrtFree(address));
        break;
      case Place::kRegistered:
        EXPECT_ACL(ACL_SUCCESS, aclrtHostUnregister(address));
        munmap(address, bytes_);
        break;
    }
  }

  Place place() const { return place_; }
  std::size_t bytes() const { return bytes_; }
  void* data() const { return address_; }
  std::byte* at(std::size_t offset) const { return static_cast<std::byte*>(address_) + offset; }

  void Write(std::size_t offset, std::span<const std::byte> contents) const {
    if (contents.empty()) return;
    if (IsHost(place_)) {
      std::memcpy(at(offset), contents.data(), contents.size());
    } else {
      WriteDevice(at(offset), contents);
    }
  }
  Bytes Read(std::size_t offset, std::size_t bytes) const {
    if (!IsHost(place_)) return ReadDevice(at(offset), bytes);
    return Bytes(at(offset), at(offset) + bytes);
  }

 private:
  Place place_;
  std::size_t bytes_;
  void* address_ = nullptr;
};

struct DeviceBuffer : Buffer {
  explicit DeviceBuffer(std::size_t bytes) : Buffer(Place::kDevice, bytes) {}
};
struct PinnedBuffer : Buffer {
  explicit PinnedBuffer(std::size_t bytes) : Buffer(Place::kPinned, bytes) {}
};
struct PageableBuffer : Buffer {
  explicit PageableBuffer(std::size_t bytes) : Buffer(Place::kPageable, bytes) {}
};

}  // namespace sampan::test
