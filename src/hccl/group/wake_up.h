// Wakes a thread that polls a descriptor.
#pragma once

#include <sys/eventfd.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <system_error>

namespace sampan::hccl {

/// Thread-safe.
class WakeUp {
 public:
  WakeUp() : descriptor_(::eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC)) {
    if (descriptor_ < 0) throw std::system_error(errno, std::generic_category(), "eventfd");
  }
  ~WakeUp() { ::close(descriptor_); }
  WakeUp(const WakeUp&) = delete;
  WakeUp& operator=(const WakeUp&) = delete;

  int descriptor() const { return descriptor_; }
  void Wake() noexcept {
    const std::uint64_t one = 1;
    while (::write(descriptor_, &one, sizeof(one)) < 0 && errno == EINTR) {
    }
  }
  void Clear() noexcept {
    std::uint64_t count = 0;
    while (::read(descriptor_, &count, sizeof(count)) < 0 && errno == EINTR) {
    }
  }

 private:
  const int descriptor_;
};

}  // namespace sampan::hccl
