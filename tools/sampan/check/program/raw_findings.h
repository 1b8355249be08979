// Reads what a program under check wrote. src/check/findings/findings_file.h has the format.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "tools/sampan/check/finding/finding.h"
#include "tools/sampan/check/program/source_frames.h"

namespace sampan::tool {

/// One process of the program numbers its findings.
struct RawNumber {
  std::int64_t process = 0;
  std::int64_t number = 0;
  auto operator<=>(const RawNumber&) const = default;
};

/// What one line says.
struct RawNews {
  RawNumber of;
  std::optional<Finding> finding;      ///< new, with its places resolved
  std::optional<std::uint64_t> count;  ///< how often it was made until now
};

/// The processes of one run of a program and their modules. Lines that say nothing it knows are ignored. Not
/// thread-safe.
class RawFindings {
 public:
  explicit RawFindings(SourceFrames& frames) : frames_(frames) {}

  std::optional<RawNews> Understand(std::string_view line);

  bool has_processes() const { return !processes_.empty(); }
  /// Returns true if a finding ended a process, which then exited with kFindingStatus.
  bool was_ended() const { return was_ended_; }
  /// A process that ended without a word: by a crash, a signal or _exit.
  struct SilentEnding {
    std::int64_t process;
    std::string name;  ///< the program and its process, for messages
  };
  std::vector<SilentEnding> SilentEndings() const;
  /// What the process still held by its counters (see findings_file.h), as leaks.
  std::vector<RawNews> Held(std::int64_t process, const std::vector<std::uint64_t>& counters);

 private:
  struct Module {
    std::string path;
    std::string build_id;
  };
  struct Process {
    std::string program;
    bool has_ended = false;
    std::map<std::int64_t, Module> modules;
    std::map<std::int64_t, std::string>
        held;  ///< lines by their number: places are resolved when they matter
  };

  void AddProcess(std::int64_t pid, const nlohmann::json& line);
  void AddModule(std::int64_t pid, const nlohmann::json& line);
  void EndProcess(std::int64_t pid, const nlohmann::json& line);
  Finding ReadFinding(std::int64_t pid, const nlohmann::json& line);
  FoundAccess ReadAccess(std::int64_t pid, const nlohmann::json& access);
  FoundBuffer ReadBuffer(std::int64_t pid, const nlohmann::json& buffer);
  Stack ReadStack(std::int64_t pid, const nlohmann::json& holder);

  SourceFrames& frames_;
  std::map<std::int64_t, Process> processes_;
  bool was_ended_ = false;
};

}  // namespace sampan::tool
