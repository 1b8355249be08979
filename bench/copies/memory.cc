// A block of memory in any place, as source or destination of copies.
#include "bench/copies/memory.h"

#include <cstdlib>
#include <cstring>
#include <new>

#include "bench/measure/acl_call.h"

namespace bench {
namespace {

/// Makes the device of the memory current while it exists.
class OnDeviceOf {
 public:
  explicit OnDeviceOf(Place place) : is_other_(place == Place::kPeer) {
    if (is_other_) Require(::aclrtSetDevice(1), "aclrtSetDevice(1)");
  }
  ~OnDeviceOf() {
    if (is_other_) ::aclrtSetDevice(0);
  }
  OnDeviceOf(const OnDeviceOf&) = delete;
  OnDeviceOf& operator=(const OnDeviceOf&) = delete;

 private:
  bool is_other_;
};

}  // namespace

std::string_view NameOf(Place place) {
  switch (place) {
    case Place::kPageable:
      return "pageable";
    case Place::kPinned:
      return "pinned";
    case Place::kDevice:
      return "device";
    case Place::kPeer:
      return "peer";
  }
  return "";
}

Memory::Memory(Place place, std::size_t bytes) : place_(place), bytes_(bytes) {
  const OnDeviceOf device(place_);
  switch (place_) {
    case Place::kPageable:
      data_ = std::malloc(bytes_);
      if (data_ == nullptr) throw std::bad_alloc();
      break;
    case Place::kPinned:
      Require(::aclrtMallocHost(&data_, bytes_), "aclrtMallocHost");
      break;
    case Place::kDevice:
    case Place::kPeer:
      Require(::aclrtMalloc(&data_, bytes_, ACL_MEM_MALLOC_HUGE_FIRST), "aclrtMalloc");
      break;
  }
}

Memory::~Memory() {
  if (place_ == Place::kPageable)
    std::free(data_);
  else if (place_ == Place::kPinned)
    ::aclrtFreeHost(data_);
  else
    ::aclrtFree(data_);
}

void Memory::Write(std::span<const std::byte> contents) {
  if (IsHost(place_)) {
    std::memcpy(data_, contents.data(), contents.size());
    return;
  }
  const OnDeviceOf device(place_);
  Require(::aclrtMemcpy(data_, bytes_, contents.data(), contents.size(), ACL_MEMCPY_HOST_TO_DEVICE),
          "writing device memory");
}

Bytes Memory::Read() const {
  Bytes contents(bytes_);
  if (IsHost(place_)) {
    std::memcpy(contents.data(), data_, bytes_);
    return contents;
  }
  const OnDeviceOf device(place_);
  Require(::aclrtMemcpy(contents.data(), bytes_, data_, bytes_, ACL_MEMCPY_DEVICE_TO_HOST),
          "reading device memory");
  return contents;
}

}  // namespace bench
