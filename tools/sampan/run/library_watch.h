// Detects whether a program opens our library.
#pragma once

#include <filesystem>
#include <vector>

namespace sampan::tool {

/// Covers the program's children too, and does not affect them. It cannot tell which process opens a file. If
/// other programs use the same installation, true may be wrong, but false never is. Not thread-safe.
class LibraryWatch {
 public:
  explicit LibraryWatch(const std::vector<std::filesystem::path>& files);
  ~LibraryWatch();
  LibraryWatch(const LibraryWatch&) = delete;
  LibraryWatch& operator=(const LibraryWatch&) = delete;

  /// Returns true if a process has opened one since, or if the system cannot tell.
  bool MayHaveBeenOpened() const;

 private:
  int queue_;
  bool complete_ = true;
};

}  // namespace sampan::tool
