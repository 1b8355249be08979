// The process's mappings, read to check host memory before a copy accesses it.
#pragma once

#include <cstdint>

namespace sampan::core {

enum class HostAccess { kRead, kWrite };

/// The mappings of /proc/self/maps. Queries the kernel for one at a time and caches the last, so an object
/// serves one request only.
class HostMappings {
 public:
  HostMappings() = default;
  ~HostMappings();
  HostMappings(const HostMappings&) = delete;
  HostMappings& operator=(const HostMappings&) = delete;

  /// Returns true if the cached mapping shows that Anonymous is true.
  bool Remembered(std::uintptr_t first, std::uintptr_t last, HostAccess access) const {
    return first >= begin_ && last < end_ && Permits(access);
  }
  /// Returns true if all of [first, last] is memory without a file and has this access. Also false if the
  /// kernel has no such query (before 6.11).
  bool Anonymous(std::uintptr_t first, std::uintptr_t last, HostAccess access);

  /// The same from the text of /proc/self/maps, which every kernel has. kAny includes mapped files.
  enum class Kind { kAny, kAnonymous };
  static bool TextShows(std::uintptr_t first, std::uintptr_t last, HostAccess access, Kind kind);

 private:
  bool Permits(HostAccess access) const { return access == HostAccess::kRead ? readable_ : writable_; }
  /// Queries the mapping at the address, and caches it if it has no file.
  bool Ask(std::uintptr_t address);

  int file_ = -1;
  std::uintptr_t begin_ = 0, end_ = 0;
  bool readable_ = false, writable_ = false;
};

}  // namespace sampan::core
