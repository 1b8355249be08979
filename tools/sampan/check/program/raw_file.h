// The files in which a program under check writes what is found, and what it holds.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "tools/sampan/shared/process/temporary_folder.h"

namespace sampan::tool {

/// May own a temporary folder: the destructor removes it. Not thread-safe.
class RawFile {
 public:
  /// Throws a Failure if there is no place for it.
  RawFile();
  /// A file that a program has written before. Throws a Failure if it cannot be read.
  explicit RawFile(const std::filesystem::path& written);
  ~RawFile();
  RawFile(const RawFile&) = delete;
  RawFile& operator=(const RawFile&) = delete;

  const std::filesystem::path& path() const { return path_; }

  /// A descriptor that can be read when a process wrote to the file; -1: the system cannot tell.
  int changes() const { return changes_; }

  /// The complete lines since the last call.
  std::vector<std::string> TakeLines();

  enum class NoCounters { kNone, kStillRuns };
  /// The counters of a process that is gone: see findings_file.h.
  std::variant<std::vector<std::uint64_t>, NoCounters> Counters(std::int64_t process) const;

 private:
  std::optional<TemporaryFolder> folder_;
  std::filesystem::path path_;
  int file_ = -1;
  int changes_ = -1;
  std::string rest_;  ///< of a line that is not complete
};

}  // namespace sampan::tool
