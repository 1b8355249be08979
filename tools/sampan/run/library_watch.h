// Watches certain files for being opened: finds out whether a program loads our library.
#pragma once

#include <filesystem>
#include <vector>

namespace sampan::tool {

/// Sees the program's children too, and changes nothing for them. It cannot tell who opens a file: while
/// other programs start on the same installation the answer may be a maybe, never a wrong no. Used by one
/// thread.
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
