// A file that the checker writes, although the program may close what it did not open.
#pragma once

#include <sys/types.h>

#include <string>

#include "base/error/status.h"

namespace sampan::check {

/// A program that closes all descriptors closes this one as well. Then it gets the number for a file of its
/// own. So the descriptor is compared before each use. If it is another file's, this file is opened again.
/// Not thread-safe.
class LastingFile {
 public:
  LastingFile() = default;
  /// Opens a file of this user to append to it. `variable` names the setting in the message.
  static Result<LastingFile> Open(std::string_view variable, const std::string& path);

  bool is_open() const { return !path_.empty(); }
  /// Its descriptor; -1: it cannot be opened again. Async-signal-safe.
  int Get() noexcept;

 private:
  std::string path_;
  int file_ = -1;
  dev_t device_ = 0;
  ino_t inode_ = 0;
};

}  // namespace sampan::check
