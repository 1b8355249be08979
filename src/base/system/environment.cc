// Reads environment variables. No other file does.
#include "base/system/environment.h"

#include <sys/auxv.h>
#include <unistd.h>

#include <cstdlib>

namespace sampan {

namespace {

/// True if the process has rights that its caller lacks (setuid, setgid, file capabilities). Its variables
/// must then not make the process read or write files.
bool IsPrivileged() {
  return ::getauxval(AT_SECURE) != 0;
}

}  // namespace

std::optional<std::string> EnvironmentValue(const char* name) {
  if (IsPrivileged()) return std::nullopt;
  // Races only with a program that changes its environment, which no reader can prevent.
  const char* value = std::getenv(name);  // NOLINT(concurrency-mt-unsafe)
  return value == nullptr ? std::nullopt : std::optional<std::string>(value);
}

std::vector<std::pair<std::string, std::string>> EnvironmentWithPrefix(std::string_view prefix) {
  std::vector<std::pair<std::string, std::string>> found;
  if (IsPrivileged()) return found;
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
    const std::string_view text(*entry);
    const auto equals = text.find('=');
    if (!text.starts_with(prefix) || equals == std::string_view::npos) continue;
    found.emplace_back(text.substr(0, equals), text.substr(equals + 1));
  }
  return found;
}

}  // namespace sampan
