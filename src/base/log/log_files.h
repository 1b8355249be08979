// The files that log lines go to.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>
#include <string_view>

#include "base/system/descriptor.h"

namespace sampan {

/// Files of at most 20 MB, one after the other; with each one too many the oldest is deleted. Thread-safe,
/// also in a forked child. Lives until the process ends.
class LogFiles {
 public:
  /// Makes <root>/debug/plog/plog-<pid>_<time>.log, with all folders on the way. Follows no link below the
  /// root, and writes into no file that was there.
  LogFiles(const std::string& root, std::size_t max_files);
  LogFiles(const LogFiles&) = delete;
  LogFiles& operator=(const LogFiles&) = delete;

  /// Why there is no file, as errno; 0 when there is one.
  int error() const { return error_; }
  /// Nothing can be done about a line that cannot be written.
  void Write(std::string_view line);

 private:
  /// Changes to a new file; false, with errno, if there is none.
  bool BeginNext();

  const std::string root_;
  const std::size_t max_files_;
  int error_ = 0;
  // Under the lock of all files.
  Descriptor file_;
  std::uint64_t bytes_ = 0;  // of the file
  pid_t process_;            // whose files these are
  std::deque<std::string> names_;
};

}  // namespace sampan
