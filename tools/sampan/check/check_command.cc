// sampan check: runs a program and says which of its copies, waits and frees are wrong.
#include <iostream>
#include <memory>

#include "check/findings/findings_file.h"
#include "tools/sampan/check/check_request.h"
#include "tools/sampan/check/program/checked_program.h"
#include "tools/sampan/check/reports/findings_json.h"
#include "tools/sampan/check/reports/findings_page.h"
#include "tools/sampan/check/reports/findings_sarif.h"
#include "tools/sampan/check/reports/findings_text.h"
#include "tools/sampan/shared/command_line/failure.h"
#include "tools/sampan/shared/output/output_file.h"
#include "tools/sampan/shared/output/terminal.h"

namespace sampan::tool {
namespace {

/// The files of a report. They are opened before the program runs, so that an unwritable one costs no run.
class ReportFiles {
 public:
  explicit ReportFiles(const Arguments& arguments)
      : json_(Open(arguments, "--json")),
        sarif_(Open(arguments, "--sarif")),
        page_(Open(arguments, "--html")) {}

  void Write(const CheckedRun& run, int status, const std::string& schedule) const {
    Commit(json_, [&] { return FindingsJson(run); });
    Commit(sarif_, [&] { return FindingsSarif(run, status); });
    Commit(page_, [&] { return FindingsPage(run, schedule); });
  }

 private:
  using File = std::unique_ptr<OutputFile>;

  /// The statuses below 125 belong to the program.
  template <typename Work>
  static auto WithRunStatus(Work&& work) {
    try {
      return work();
    } catch (const Failure& failure) {
      throw Failure(kRunFailed, std::string("check: ") + failure.what());
    }
  }
  static File Open(const Arguments& arguments, const char* option) {
    if (!arguments.Has(option)) return nullptr;
    return WithRunStatus([&] { return std::make_unique<OutputFile>(arguments.ValueOr(option, "")); });
  }
  template <typename Contents>
  static void Commit(const File& file, Contents&& contents) {
    if (file != nullptr) WithRunStatus([&] { file->Commit(contents()); });
  }

  File json_;
  File sarif_;
  File page_;
};

/// The status of the whole command, if the program was not ended by a signal.
int StatusOf(const CheckedEnding& run, int error_status) {
  const bool by_finding = run.was_ended && run.ending.exit_status == check::kFindingStatus;
  if (run.ending.exit_status != 0 && !by_finding) return run.ending.exit_status;
  return run.run.CountErrors() > 0 ? error_status : run.ending.exit_status;
}

bool IsClean(const CheckedEnding& run) {
  return run.run.findings.empty() && run.ending.exit_status == 0 && run.ending.signal == 0;
}

/// Runs under one schedule after the other until a run is not clean.
CheckedEnding RunSchedules(ProgramStart& program, const Arguments& arguments, const CheckRequest& request,
                           std::string& schedule) {
  SourceFrames frames;
  if (request.schedules.empty()) {
    const auto set = program.environment().find("SAMPAN_SCHEDULE");
    if (set != program.environment().end()) schedule = set->second;
    return RunChecked(program, arguments, request.filter, frames);
  }
  CheckedEnding last;
  for (const std::string& each : request.schedules) {
    schedule = each;
    program.environment()["SAMPAN_SCHEDULE"] = each;
    last = RunChecked(program, arguments, request.filter, frames);
    if (IsClean(last)) continue;
    Note(std::string(last.run.findings.empty() ? "the program failed" : "this was found") +
         " under the schedule " + each + "; to repeat exactly this run: " + RepeatCommand(arguments, each));
    return last;
  }
  Note("the program ran under " + std::to_string(request.schedules.size()) + " schedules: late" +
       (request.schedules.size() > 1 ? ", early" : "") +
       (request.schedules.size() > 2 ? " and seed:1 to " + request.schedules.back() : ""));
  return last;
}

/// The report of a program that ran without the command.
int ReportWritten(const Arguments& arguments, const CheckRequest& request) {
  const ReportFiles files(arguments);
  SourceFrames frames;
  const CheckedEnding checked = ReadChecked(arguments, request.filter, frames);
  const int status = StatusOf(checked, request.error_status);
  std::cerr << SummaryText(checked.run) << std::flush;
  files.Write(checked.run, status, "");
  return status;
}

int Execute(const Arguments& arguments) {
  const CheckRequest request = ReadCheckRequest(arguments);
  if (arguments.Has("--read")) return ReportWritten(arguments, request);
  ProgramStart program(arguments);
  const ReportFiles files(arguments);
  std::string schedule;
  const CheckedEnding checked = RunSchedules(program, arguments, request, schedule);
  const int status = StatusOf(checked, request.error_status);
  program.NoteIfUnused();
  std::cerr << SummaryText(checked.run) << std::flush;
  files.Write(checked.run, status, schedule);
  return checked.ending.signal != 0 ? EndLike(checked.ending) : status;
}

std::vector<OptionDescription> Options() {
  return WithRuntimeOptions(
      {{.name = "--json",
        .value = "FILE",
        .meaning = "write the findings there as JSON, - for standard output"},
       {.name = "--sarif",
        .value = "FILE",
        .meaning = "write them there as SARIF 2.1.0, which editors and code hosts show beside the source"},
       {.name = "--html",
        .value = "FILE",
        .meaning = "write one HTML page there: each finding with its source lines, its streams and the "
                   "missing order"},
       {.name = "--read",
        .value = "RAW",
        .meaning = "do not run the program: report what it has written into this file, see "
                   "SAMPAN_CHECK_JSON"},
       {.name = "--error-exitcode",
        .value = "N",
        .meaning = "exit with N if there are findings of severity error and the program's status is 0 "
                   "(default: 99)"},
       {.name = "--suppress",
        .value = "FILE",
        .meaning = "leave out the findings that a line of the file names: an id, kind:KIND, function:NAME, "
                   "file:NAME, or two of them joined by a blank; # begins a comment"},
       {.name = "--only",
        .value = "KIND,...",
        .meaning =
            "report these kinds alone: race, host-read-before-sync, host-write-in-flight, freed-in-flight, "
            "stale-descriptor, pageable-async, deadlock, lost-signal, wait-without-record, out-of-bounds, "
            "use-after-free, uninitialised-read, wrong-kind, failed-task, leak"},
       {.name = "--leaks",
        .value = "WHETHER",
        .meaning = "report what is left at the end of the program (default: yes)",
        .choices = {"yes", "no"}},
       {.name = "--seeds",
        .value = "N",
        .meaning = "run the program N times, under the schedules late, early, seed:1, seed:2, ...; stop at "
                   "the first "
                   "run with a finding or a failure"},
       PreloadOption()});
}

}  // namespace

const Command& CheckCommand() {
  static const Command command{
      .description =
          {.name = "check",
           .summary = "find wrong copies, waits and frees of a program",
           .paragraphs =
               {"Runs a program as 'sampan run' does and says which of its copies, waits and frees are "
                "wrong. It names both places in the source. It judges the order that the calls promise, not "
                "whether the bytes went wrong this time. So the same program gives the same findings in "
                "every run.",
                "Findings go to standard error as soon as they are made, each once; the last line counts "
                "them. "
                "Build the program with -g: without debug information, places are functions and offsets.",
                "SAMPAN_CHECK=1 does the same without this command, with modules and offsets for places. "
                "SAMPAN_CHECK_JSON=FILE writes the JSON report at the end of the program."},
           .operands = {{.name = "PROGRAM [ARGS...]",
                         .meaning = "the program and what it is to get; everything behind -- belongs to it",
                         .is_program = true}},
           .options = Options(),
           .examples = {{"sampan check -- ./app --verbose", "find mistakes in one run"},
                        {"sampan check --html app.html -- ./app", "the same as a page for any browser"},
                        {"sampan check --seeds 20 --sarif app.sarif -- ./app",
                         "for CI: under 20 schedules, with a report for the code host"},
                        {"sampan check --suppress known.txt --leaks no -- python3 test.py",
                         "without the findings that known.txt names, and without leaks"}},
           .exits = {{"N",
                      "what the program exited with, if that is not 0; a signal that ended it ends us too"},
                     {"99", "findings of severity error were made; --error-exitcode chooses another status"},
                     {"0", "no findings, or warnings alone"},
                     {"125",
                      "sampan itself failed: bad arguments, a suppression file with errors, a report that "
                      "cannot be written"},
                     {"126", "the program cannot be executed"},
                     {"127", "there is no such program"}}},
      .execute = Execute};
  return command;
}

}  // namespace sampan::tool
