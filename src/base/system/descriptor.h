// A file descriptor that is closed with its owner.
#pragma once

#include <unistd.h>

#include <utility>

namespace sampan {

/// Owns a descriptor, or nothing (-1). Move-only.
class Descriptor {
 public:
  explicit Descriptor(int descriptor = -1) : descriptor_(descriptor) {}
  ~Descriptor() { Close(); }
  Descriptor(Descriptor&& that) noexcept : descriptor_(std::exchange(that.descriptor_, -1)) {}
  Descriptor& operator=(Descriptor&& that) noexcept {
    Close();
    descriptor_ = std::exchange(that.descriptor_, -1);
    return *this;
  }
  int get() const { return descriptor_; }
  void Close() {
    if (descriptor_ >= 0) ::close(descriptor_);
    descriptor_ = -1;
  }

 private:
  int descriptor_;
};

}  // namespace sampan
