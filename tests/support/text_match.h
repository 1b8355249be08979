// Regular expressions over captured text; POSIX extended ones, because std::regex does not compile
// warning-free with sanitizers.
#pragma once

#include <regex.h>

#include <string>

namespace sampan::test {

/// What the first group of the pattern matched, or the whole match without groups; empty when nothing does.
inline std::string FindMatch(const std::string& text, const std::string& pattern) {
  regex_t compiled;
  if (regcomp(&compiled, pattern.c_str(), REG_EXTENDED | REG_NEWLINE) != 0) return {};
  regmatch_t found[2] = {};
  const bool matched = regexec(&compiled, text.c_str(), 2, found, 0) == 0;
  regfree(&compiled);
  if (!matched) return {};
  const regmatch_t& part = found[1].rm_so >= 0 ? found[1] : found[0];
  return text.substr(static_cast<std::size_t>(part.rm_so), static_cast<std::size_t>(part.rm_eo - part.rm_so));
}

/// Whether some part of the text matches; `^` and `$` stand for the ends of a line.
inline bool Matches(const std::string& text, const std::string& pattern) {
  return !FindMatch(text, pattern).empty();
}

}  // namespace sampan::test
