// Findings that the user wants to hear nothing of.
#include "tools/sampan/check/suppressions.h"

#include <algorithm>
#include <cerrno>
#include <fstream>
#include <sstream>
#include <system_error>

#include "tools/sampan/check/finding/finding_kinds.h"
#include "tools/sampan/check/finding/frame_words.h"
#include "tools/sampan/shared/command_line/failure.h"

namespace sampan::tool {
namespace {

constexpr std::size_t kIdDigits = 8;

bool IsId(std::string_view word) {
  return word.size() == kIdDigits && word.find_first_not_of("0123456789abcdef") == word.npos;
}

/// Returns true if `name` is the path or its last parts.
bool IsEndOfPath(std::string_view path, std::string_view name) {
  return path == name || (path.ends_with(name) && path[path.size() - name.size() - 1] == '/');
}

/// Returns true if `name` is the function with or without its namespaces and classes.
bool IsNameOf(std::string_view function, std::string_view name) {
  return function == name ||
         (function.ends_with(name) && function.substr(0, function.size() - name.size()).ends_with("::"));
}

template <typename Test>
bool AnyFrame(const Finding& finding, Test&& test) {
  const auto any = [&](const Stack& stack) { return std::any_of(stack.begin(), stack.end(), test); };
  if (finding.accesses.empty()) return finding.buffer && any(finding.buffer->stack);
  return std::any_of(finding.accesses.begin(), finding.accesses.end(),
                     [&](const FoundAccess& access) { return any(access.stack); });
}

}  // namespace

Suppressions::Suppressions(const std::filesystem::path& file) {
  std::ifstream input(file);
  std::error_code error;
  if (!input || std::filesystem::is_directory(file, error))
    throw Failure(kRunFailed, "check: the suppression file " + file.string() + " cannot be read: " +
                                  std::generic_category().message(input ? EISDIR : errno));
  std::size_t number = 0;
  for (std::string text; std::getline(input, text);) {
    ++number;
    try {
      Line line = ParseLine(std::string_view(text).substr(0, text.find('#')));
      if (!line.empty()) lines_.push_back(std::move(line));
    } catch (const Failure& failure) {
      throw Failure(kRunFailed, file.string() + ":" + std::to_string(number) + ": " + failure.what());
    }
  }
}

Suppressions::Line Suppressions::ParseLine(std::string_view text) {
  Line line;
  std::istringstream words{std::string(text)};
  for (std::string word; words >> word;)
    line.push_back(ParseCondition(word));
  constexpr std::size_t kMaxConditions = 2;
  if (line.size() > kMaxConditions)
    throw Failure(kRunFailed, "'" + std::string(text) + "' has " + std::to_string(line.size()) +
                                  " parts; at most two can be joined by a blank");
  if (line.size() == kMaxConditions && line[0].part == line[1].part)
    throw Failure(kRunFailed,
                  "'" + std::string(text) + "' has two parts of the same sort; write them on two lines");
  return line;
}

Suppressions::Condition Suppressions::ParseCondition(std::string_view word) {
  constexpr std::array<std::pair<std::string_view, Part>, 3> kParts = {
      {{"kind:", Part::kKind}, {"function:", Part::kFunction}, {"file:", Part::kFile}}};
  if (IsId(word)) return {Part::kId, std::string(word)};
  for (const auto& [begin, part] : kParts) {
    if (!word.starts_with(begin)) continue;
    const std::string name(word.substr(begin.size()));
    if (name.empty()) throw Failure(kRunFailed, "'" + std::string(word) + "' has no name behind its colon");
    if (part == Part::kKind && FindKind(name) == nullptr)
      throw Failure(kRunFailed, "there is no kind '" + name + "'; 'sampan check --help' lists them");
    return {part, name};
  }
  throw Failure(kRunFailed,
                "'" + std::string(word) +
                    "' is neither an id of eight digits nor kind:KIND, function:NAME or file:NAME");
}

bool Suppressions::Holds(const Condition& condition, const Finding& finding) {
  switch (condition.part) {
    case Part::kId:
      return finding.id == condition.name;
    case Part::kKind:
      return finding.kind == condition.name;
    case Part::kFunction:
      return AnyFrame(finding, [&](const Frame& frame) { return IsNameOf(frame.function, condition.name); });
    case Part::kFile:
      return AnyFrame(finding, [&](const Frame& frame) { return IsEndOfPath(frame.file, condition.name); });
  }
  return false;
}

bool Suppressions::Match(const Finding& finding) const {
  return std::any_of(lines_.begin(), lines_.end(), [&](const Line& line) {
    return std::all_of(line.begin(), line.end(), [&](const Condition& each) { return Holds(each, finding); });
  });
}

}  // namespace sampan::tool
