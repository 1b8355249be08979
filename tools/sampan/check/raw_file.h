// The file in which a program under check writes what is found.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace sampan::tool {

/// Owns a temporary file: the destructor removes it. Not thread-safe.
class RawFile {
 public:
  /// Throws a Failure if there is no place for it.
  RawFile();
  ~RawFile();
  RawFile(const RawFile&) = delete;
  RawFile& operator=(const RawFile&) = delete;

  const std::filesystem::path& path() const { return path_; }

  /// A descriptor that can be read when a process wrote to the file; -1: the system cannot tell.
  int changes() const { return changes_; }

  /// The complete lines since the last call.
  std::vector<std::string> TakeLines();

 private:
  std::filesystem::path path_;
  int file_ = -1;
  int changes_ = -1;
  std::string rest_;  ///< of a line that is not complete
};

}  // namespace sampan::tool
