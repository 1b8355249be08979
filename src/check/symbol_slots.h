// Redirects the calls that loaded files make to functions of other libraries.
#pragma once

#include <span>
#include <string_view>

namespace sampan::check {

/// Calls of the name go to the replacement.
struct Redirection {
  std::string_view name;
  void* replacement;
};

/// Changes the slots of all files that are loaded, without our own libraries and the C library. Calls of a
/// file that is loaded later are redirected by the next call of this. Returns true if files were added since
/// then.
bool RedirectCalls(std::span<const Redirection> redirections) noexcept;

}  // namespace sampan::check
