// The report as JSON, which the command makes of raw findings when the process ends.
#pragma once

#include <string>
#include <vector>

namespace sampan::check {

/// Prepared at the start, because a signal handler may end the process. Not thread-safe.
class ReportFile {
 public:
  /// `%p` in the name becomes the number of the process.
  explicit ReportFile(const std::string& name);
  ReportFile(const ReportFile&) = delete;
  ReportFile& operator=(const ReportFile&) = delete;

  /// Where the raw findings go until then.
  const std::string& raw() const { return raw_; }
  /// Lets the command make the report, and removes the raw findings. If that fails it says how to do it.
  /// Async-signal-safe.
  void Make() const noexcept;

 private:
  std::string raw_, failure_;
  std::vector<std::string> words_, variables_;
  std::vector<char*> arguments_, environment_;  // as the system wants them
};

}  // namespace sampan::check
