// Redirects the calls that loaded files make to functions of other libraries.
#pragma once

#include <atomic>
#include <initializer_list>
#include <span>
#include <string_view>

namespace sampan::check {

/// Calls of the name go to the replacement.
struct Redirection {
  std::string_view name;
  void* replacement;
};

using RedirectionGroups = std::initializer_list<std::span<const Redirection>>;

template <typename Function>
Redirection To(std::string_view name, Function* replacement) {
  return {name, reinterpret_cast<void*>(replacement)};
}

/// Lasts as long as the process.
class CallRedirector {
 public:
  /// Changes the slots of all files that are loaded, without our own libraries and the C library. Calls of a
  /// file that is loaded later are redirected by the next call of this. Does nothing if no file was added
  /// since the last one.
  void Redirect(RedirectionGroups groups) noexcept;

 private:
  std::atomic<unsigned long long> files_{0};
};

}  // namespace sampan::check
