// The summary so far. The command that started the program finds it if the program ends without a word.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sampan::summary {

/// Names a folder for these files, in the environment of the program.
inline constexpr std::string_view kKeptVariable = "SAMPAN_SUMMARY_KEPT";

struct KeptText;

/// The text of this process in a file of the folder. One thread keeps texts, until it drops them. The file
/// lasts as long as the process.
class KeptSummary {
 public:
  /// Keeps nothing if the folder is empty or takes no file.
  KeptSummary(const std::string& folder, std::string_view program) noexcept;

  bool on() const { return file_ != nullptr; }
  /// Replaces the text. What is too long is cut.
  void Keep(std::string_view text) noexcept;
  /// The process has told its summary itself.
  void Drop() noexcept;

 private:
  struct File;
  friend std::optional<KeptText> ReadKeptSummary(const std::string& path);

  File* file_ = nullptr;
};

/// What a process left.
struct KeptText {
  std::uint64_t process = 0;
  std::string program;
  std::string text;
};

/// Nothing if the process dropped its text, has none yet, or still runs.
std::optional<KeptText> ReadKeptSummary(const std::string& path);
/// All of the folder, by process.
std::vector<KeptText> ReadKeptSummaries(const std::string& folder);

}  // namespace sampan::summary
