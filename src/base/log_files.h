// The files that log lines go to.
#pragma once

#include <sys/types.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <mutex>
#include <string>
#include <string_view>

namespace sampan {

/// Files of a limited size, one after the other; with each one too many the oldest goes. Thread-safe, and no
/// thread ever waits for another, so that a forked child can log too.
class LogFiles {
 public:
  /// Makes <root>/debug/plog/plog-<pid>_<time>.log, with all folders on the way.
  LogFiles(const std::string& root, std::size_t most_files);
  LogFiles(const LogFiles&) = delete;
  LogFiles& operator=(const LogFiles&) = delete;

  /// Why there is no file, as errno; 0 when there is one.
  int error() const { return error_; }
  /// Nothing can be done about a line that cannot be written.
  void Write(std::string_view line);

 private:
  int OpenNext();
  void BeginNext();

  const std::string folder_;
  const std::size_t most_files_;
  int descriptor_ = -1;  // stays the same whichever file it stands for
  int error_ = 0;
  std::atomic<std::uint64_t> bytes_{0};
  std::mutex mutex_;  // of what follows
  pid_t process_;     // whose files these are
  std::deque<std::string> paths_;
};

}  // namespace sampan
