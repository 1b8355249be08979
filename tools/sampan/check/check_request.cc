// What the command line asks of a check.
#include "tools/sampan/check/check_request.h"

#include <charconv>
#include <limits>

#include "check/findings/findings_file.h"
#include "tools/sampan/check/finding/finding_kinds.h"
#include "tools/sampan/shared/command_line/failure.h"

namespace sampan::tool {
namespace {

/// A whole number of an option, from `min` to `max`.
int ParseNumber(const std::string& option, const std::string& text, int min, int max) {
  int number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size() || number < min || number > max)
    throw Failure(kRunFailed, "check: " + option + " " + text + " is not a number from " +
                                  std::to_string(min) + " to " + std::to_string(max));
  return number;
}

std::set<std::string, std::less<>> ParseKinds(const std::string& list) {
  std::set<std::string, std::less<>> kinds;
  for (std::size_t begin = 0; begin <= list.size();) {
    const std::size_t end = std::min(list.find(',', begin), list.size());
    const std::string name = list.substr(begin, end - begin);
    if (FindKind(name) == nullptr) {
      std::string known;
      for (const FindingKind& kind : FindingKinds())
        known += (known.empty() ? "" : ", ") + std::string(kind.name);
      throw Failure(kRunFailed, "check: --only: there is no kind '" + name + "'; there are " + known);
    }
    kinds.insert(name);
    begin = end + 1;
  }
  return kinds;
}

/// First the two that show most mistakes, then random orders.
std::vector<std::string> FirstSchedules(int count) {
  std::vector<std::string> schedules = {"late", "early"};
  schedules.resize(std::min<std::size_t>(schedules.size(), count));
  for (int seed = 1; static_cast<int>(schedules.size()) < count; ++seed)
    schedules.push_back("seed:" + std::to_string(seed));
  return schedules;
}

/// The word in quotes if a shell would read it differently.
std::string ShellWord(const std::string& word) {
  constexpr std::string_view kPlain =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./:=,@%+-";
  if (!word.empty() && word.find_first_not_of(kPlain) == std::string::npos) return word;
  std::string quoted = "'";
  for (const char letter : word)
    quoted += letter == '\'' ? "'\\''" : std::string(1, letter);
  return quoted + "'";
}

}  // namespace

CheckRequest ReadCheckRequest(const Arguments& arguments) {
  constexpr int kMaxStatus = 255;
  CheckRequest request{.error_status = check::kFindingStatus};
  if (arguments.Has("--error-exitcode"))
    request.error_status =
        ParseNumber("--error-exitcode", arguments.ValueOr("--error-exitcode", ""), 0, kMaxStatus);
  if (arguments.Has("--only")) request.filter.only = ParseKinds(arguments.ValueOr("--only", ""));
  request.filter.leaks = arguments.ValueOr("--leaks", "yes") == "yes";
  if (arguments.Has("--suppress"))
    request.filter.suppressions = Suppressions(arguments.ValueOr("--suppress", ""));
  if (!arguments.Has("--seeds")) return request;
  if (arguments.Has("--schedule"))
    throw Failure(kRunFailed, "check: --seeds chooses the schedules itself; leave out --seeds or --schedule");
  if (arguments.ValueOr("--backend", "emulated") != "emulated")
    throw Failure(kRunFailed,
                  "check: --seeds needs schedules, which emulated devices alone have; leave out --seeds "
                  "or --backend");
  request.schedules = FirstSchedules(
      ParseNumber("--seeds", arguments.ValueOr("--seeds", ""), 1, std::numeric_limits<int>::max()));
  return request;
}

std::string RepeatCommand(const Arguments& arguments, const std::string& schedule) {
  std::string command = "sampan check --schedule " + schedule;
  for (const auto& [name, value] : arguments.options) {
    if (name == "--seeds") continue;
    command += " " + name + (value.empty() ? "" : " " + ShellWord(value));
  }
  command += " --";
  for (const std::string& word : arguments.program)
    command += " " + ShellWord(word);
  return command;
}

}  // namespace sampan::tool
