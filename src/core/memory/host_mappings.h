// What is mapped in the process, as far as host memory has to be judged before a copy touches it.
#pragma once

#include <cstdint>

namespace sampan {

enum class HostAccess { kRead, kWrite };

/// The mappings as /proc/self/maps shows them. Asks the kernel for one at a time and remembers the last:
/// lives no longer than a request.
class HostMappings {
 public:
  HostMappings() = default;
  ~HostMappings();
  HostMappings(const HostMappings&) = delete;
  HostMappings& operator=(const HostMappings&) = delete;

  /// Whether the mapping that was asked for last says that Anonymous is true.
  bool Remembered(std::uintptr_t first, std::uintptr_t last, HostAccess access) const {
    return first >= begin_ && last < end_ && Permits(access);
  }
  /// Whether all of [first, last] is memory without a file, with that access. False also where the kernel
  /// cannot be asked, which those before 6.11 cannot.
  bool Anonymous(std::uintptr_t first, std::uintptr_t last, HostAccess access);

  /// The same from the text of /proc/self/maps, which every kernel has, and of files too if they count.
  enum class Kind { kAny, kAnonymous };
  static bool TextShows(std::uintptr_t first, std::uintptr_t last, HostAccess access, Kind kind);

 private:
  bool Permits(HostAccess access) const { return access == HostAccess::kRead ? readable_ : writable_; }
  /// Remembers the mapping there, if it has no file.
  bool Ask(std::uintptr_t address);

  int file_ = -1;
  std::uintptr_t begin_ = 0, end_ = 0;
  bool readable_ = false, writable_ = false;
};

}  // namespace sampan
