// The size of the host's pages, in which the kernel maps memory.
#pragma once

#include <unistd.h>

#include <cstddef>

namespace sampan {

/// 4 KiB on x86-64; 4, 16 or 64 KiB on AArch64, as the kernel was built. The pages of device memory are
/// another matter: kDevicePageBytes. Thread-safe.
inline std::size_t HostPageBytes() {
  static const auto bytes = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  return bytes;
}

}  // namespace sampan
