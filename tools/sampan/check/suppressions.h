// Findings that the user wants to hear nothing of.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "tools/sampan/check/finding/finding.h"

namespace sampan::tool {

/// The lines of a suppression file. Immutable.
class Suppressions {
 public:
  Suppressions() = default;
  /// Throws a Failure that names the file and the line if it cannot be read or understood.
  explicit Suppressions(const std::filesystem::path& file);

  bool Match(const Finding& finding) const;

 private:
  enum class Part { kId, kKind, kFunction, kFile };
  struct Condition {
    Part part;
    std::string name;
  };
  using Line = std::vector<Condition>;  // all of them have to hold

  static Condition ParseCondition(std::string_view word);
  static Line ParseLine(std::string_view text);
  static bool Holds(const Condition& condition, const Finding& finding);

  std::vector<Line> lines_;
};

}  // namespace sampan::tool
