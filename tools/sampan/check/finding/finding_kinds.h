// The kinds of findings.
#pragma once

#include <span>
#include <string_view>

namespace sampan::tool {

struct FindingKind {
  std::string_view name;
  bool is_error;
  std::string_view meaning;
};

/// All kinds, in the order of docs/CHECK.md.
std::span<const FindingKind> FindingKinds();

/// The kind of that name; nullptr when there is none.
const FindingKind* FindKind(std::string_view name);

}  // namespace sampan::tool
