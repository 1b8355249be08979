// Owners of reserved addresses and physical memory for tests.
#pragma once

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <utility>

#include "acl/acl.h"
#include "tests/support/acl_expect.h"

namespace sampan::test {

inline constexpr std::size_t kPiece = std::size_t{2} << 20;  // what mapped memory is counted in

inline aclrtPhysicalMemProp DeviceProperties(std::uint32_t device = 0) {
  aclrtPhysicalMemProp prop = {};
  prop.handleType = ACL_MEM_HANDLE_TYPE_NONE;
  prop.allocationType = ACL_MEM_ALLOCATION_TYPE_PINNED;
  prop.memAttr = ACL_HBM_MEM_HUGE;
  prop.location.id = device;
  prop.location.type = ACL_MEM_LOCATION_TYPE_DEVICE;
  return prop;
}

class Physical {
 public:
  explicit Physical(std::size_t bytes = kPiece, const aclrtPhysicalMemProp& prop = DeviceProperties()) {
    EXPECT_ACL(ACL_SUCCESS, aclrtMallocPhysical(&handle_, bytes, &prop, 0));
  }
  ~Physical() { Free(); }
  Physical(const Physical&) = delete;
  Physical& operator=(const Physical&) = delete;
  void Free() {
    const aclrtDrvMemHandle handle = std::exchange(handle_, nullptr);
    if (handle == nullptr) return;
    EXPECT_ACL(ACL_SUCCESS, aclrtFreePhysical(handle));
  }
  operator aclrtDrvMemHandle() const { return handle_; }

 private:
  aclrtDrvMemHandle handle_ = nullptr;
};

class Reserved {
 public:
  explicit Reserved(std::size_t bytes) {
    EXPECT_ACL(ACL_SUCCESS, aclrtReserveMemAddress(&address_, bytes, 0, nullptr, 0));
  }
  ~Reserved() { EXPECT_ACL(ACL_SUCCESS, aclrtReleaseMemAddress(address_)); }
  Reserved(const Reserved&) = delete;
  Reserved& operator=(const Reserved&) = delete;
  std::byte* at(std::size_t offset) const { return static_cast<std::byte*>(address_) + offset; }
  void* data() const { return address_; }

 private:
  void* address_ = nullptr;
};

/// Physical memory at an address, until the end of the scope.
class Mapped {
 public:
  Mapped(void* address, std::size_t bytes, aclrtDrvMemHandle handle) : address_(address) {
    EXPECT_ACL(ACL_SUCCESS, aclrtMapMem(address, bytes, 0, handle, 0));
  }
  ~Mapped() { Unmap(); }
  Mapped(const Mapped&) = delete;
  Mapped& operator=(const Mapped&) = delete;
  void Unmap() {
    void* const address = std::exchange(address_, nullptr);
    if (address == nullptr) return;
    EXPECT_ACL(ACL_SUCCESS, aclrtUnmapMem(address));
  }

 private:
  void* address_;
};

}  // namespace sampan::test
