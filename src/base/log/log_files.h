// Log files: created, written, limited in size and number.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>
#include <string_view>

#include "base/system/descriptor.h"

namespace sampan {

/// A sequence of files of at most 20 MB. If there are more than `max_files`, the oldest is deleted.
/// Thread-safe, also in a forked child. Lives until the process exits.
class LogFiles {
 public:
  /// Creates <root>/debug/plog/plog-<pid>_<time>.log and its folders. Follows no link below the root, and
  /// writes to no existing file.
  LogFiles(const std::string& root, std::size_t max_files);
  LogFiles(const LogFiles&) = delete;
  LogFiles& operator=(const LogFiles&) = delete;

  /// The errno value if there is no file, 0 otherwise.
  int error() const { return error_; }
  /// A line that cannot be written is dropped.
  void Write(std::string_view line);

 private:
  /// Changes to a new file. On failure returns false and sets errno.
  bool BeginNext();

  const std::string root_;
  const std::size_t max_files_;
  int error_ = 0;
  // Guarded by the lock of all files.
  Descriptor file_;
  std::uint64_t bytes_ = 0;  // of the file
  pid_t process_;            // whose files these are
  std::deque<std::string> names_;
};

}  // namespace sampan
