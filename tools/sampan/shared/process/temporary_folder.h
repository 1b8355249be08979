// A folder for the files of one run, removed at its end.
#pragma once

#include <filesystem>
#include <string>

#include "tools/sampan/shared/command_line/failure.h"

namespace sampan::tool {

/// Only this user can enter it.
class TemporaryFolder {
 public:
  /// Throws a Failure with the status if there is no place for it. `purpose` completes "no folder can be made
  /// in /tmp for ...".
  TemporaryFolder(const std::string& prefix, ExitStatus status, const std::string& purpose);
  ~TemporaryFolder() { Remove(); }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  const std::filesystem::path& path() const { return path_; }
  /// Removes it now, with all that is in it.
  void Remove();

 private:
  std::filesystem::path path_;
};

}  // namespace sampan::tool
