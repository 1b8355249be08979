// Runs a program under the checker and tells what is found while it runs.
#include "tools/sampan/check/program/checked_program.h"

#include <cstring>
#include <iostream>

#include "check/findings/findings_file.h"
#include "tools/sampan/check/program/raw_file.h"
#include "tools/sampan/check/program/raw_findings.h"
#include "tools/sampan/check/reports/findings_text.h"
#include "tools/sampan/shared/output/terminal.h"

namespace sampan::tool {
namespace {

/// Why the report may not be complete.
void NoteSilentEnding(const std::string& name, bool has_leaks, bool still_runs) {
  if (still_runs) {
    Note(name + " still runs; what it leaves is not known");
  } else {
    Note(name + " ended by _exit or a signal; " +
         (has_leaks ? "what it held then counts as left" : "its leaks were not looked for"));
  }
}

/// Adds what processes held that ended without a word. Says what the report cannot have because of that.
void AddSilentEndings(RawFindings& raw, const RawFile& file, const Ending& ending, CheckResults& results) {
  if (ending.signal != 0) {
    Note("the program was ended by signal " + std::to_string(ending.signal) + " (" +
         ::strsignal(ending.signal) + "); the report has what was found until then");
  }
  for (const RawFindings::SilentEnding& silent : raw.SilentEndings()) {
    const auto counters = file.Counters(silent.process);
    const auto* const known = std::get_if<std::vector<std::uint64_t>>(&counters);
    if (ending.signal == 0) {
      NoteSilentEnding(
          silent.name, known != nullptr,
          known == nullptr && std::get<RawFile::NoCounters>(counters) == RawFile::NoCounters::kStillRuns);
    }
    if (known == nullptr) continue;
    for (RawNews& news : raw.Held(silent.process, *known))
      results.Add(std::move(news));
  }
}

}  // namespace

CheckedEnding ReadChecked(const Arguments& arguments, const CheckFilter& filter, SourceFrames& frames) {
  RawFile file(arguments.ValueOr("--read", ""));
  RawFindings raw(frames);
  CheckResults results(filter,
                       [](const Finding& finding) { std::cerr << FindingText(finding) << std::flush; });
  for (const std::string& line : file.TakeLines()) {
    if (std::optional<RawNews> news = raw.Understand(line)) results.Add(std::move(*news));
  }
  const Ending ending = {};
  AddSilentEndings(raw, file, ending, results);
  return {.run = {.program = arguments.program, .findings = results.Take()}, .ending = ending};
}

CheckedEnding RunChecked(ProgramStart& program, const Arguments& arguments, const CheckFilter& filter,
                         SourceFrames& frames) {
  RawFile file;
  program.environment()["SAMPAN_CHECK"] = "1";
  program.environment()[std::string(check::kFindingsVariable)] = file.path().string();
  RawFindings raw(frames);
  CheckResults results(filter,
                       [](const Finding& finding) { std::cerr << FindingText(finding) << std::flush; });
  const auto read = [&] {
    for (const std::string& line : file.TakeLines()) {
      if (std::optional<RawNews> news = raw.Understand(line)) results.Add(std::move(*news));
    }
  };
  const Ending ending = program.Run({.descriptor = file.changes(), .on_readable = read});
  read();
  AddSilentEndings(raw, file, ending, results);
  if (results.suppressed() > 0)
    Note(std::to_string(results.suppressed()) + " findings were suppressed by " +
         arguments.ValueOr("--suppress", ""));
  return {.run = {.program = arguments.program, .findings = results.Take()},
          .ending = ending,
          .was_ended = raw.was_ended()};
}

}  // namespace sampan::tool
