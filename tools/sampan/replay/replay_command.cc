// sampan replay: the copies of a trace once more, here.
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <iostream>
#include <thread>

#include "tools/sampan/replay/replay_plan.h"
#include "tools/sampan/replay/replay_run.h"
#include "tools/sampan/shared/command_line/command.h"
#include "tools/sampan/shared/command_line/failure.h"
#include "tools/sampan/shared/command_line/runtime_options.h"
#include "tools/sampan/shared/output/quantities.h"
#include "tools/sampan/shared/output/terminal.h"
#include "tools/sampan/shared/process/child_process.h"
#include "tools/sampan/shared/process/environment.h"
#include "tools/sampan/shared/process/interrupt.h"
#include "tools/sampan/shared/trace/trace_place.h"
#include "tools/sampan/shared/trace/trace_summary.h"

namespace sampan::tool {
namespace {

/// A folder for a trace that nobody wants to keep.
class PassingFolder {
 public:
  PassingFolder() {
    std::error_code error;
    path_ = (std::filesystem::temp_directory_path(error) / "sampan-replay-XXXXXX").string();
    if (error || ::mkdtemp(path_.data()) == nullptr) {
      throw Failure(kOutputFailed,
                    "there is no place for the trace of the replay; set TMPDIR to a folder that can be "
                    "written to, or name a file with --trace");
    }
  }
  ~PassingFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  PassingFolder(const PassingFolder&) = delete;
  PassingFolder& operator=(const PassingFolder&) = delete;

  std::filesystem::path path() const { return path_; }

 private:
  std::string path_;
};

/// In a process of its own, whose trace is whole when it has ended. Answers how it ended.
Ending ReplayInChild(const ReplayPlan& plan, ReplaySpeed speed) {
  const pid_t child = ::fork();
  if (child < 0) throw Failure(kCheckFailed, "fork: " + std::generic_category().message(errno));
  if (child == 0) {
    int status = kSuccess;
    try {
      RunReplay(plan, speed);
    } catch (const Failure& failure) {
      ErrorNote(failure.what());
      status = failure.status();
    } catch (const bench::Failure& failure) {
      ErrorNote(failure.what());
      status = kCheckFailed;
    } catch (const Interruption& interruption) {
      status = EndLike({.signal = interruption.signal});
    }
    std::exit(status);
  }
  int status = 0;
  bool told = false;
  while (::waitpid(child, &status, WNOHANG) == 0) {
    if (Interrupted() != 0 && !told) told = ::kill(child, Interrupted()) == 0;
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
  return WIFSIGNALED(status) ? Ending{.signal = WTERMSIG(status)}
                             : Ending{.exit_status = WEXITSTATUS(status)};
}

/// The summary of a trace; what it says about itself comes as notes.
std::string SummaryOf(const std::filesystem::path& trace) {
  summary::Summary summary;
  const TraceFacts facts = ReadTrace(trace, [&](const TraceEvent& event) { AddTo(summary, event); });
  for (const std::string& note : facts.notes)
    Note("the replay's own trace: " + note);
  return summary::TerminalText(summary.MakeReport());
}

int Execute(const Arguments& arguments) {
  WatchForInterrupt();
  const ReplayPlan plan = PlanReplay(arguments.operands.front());
  for (const std::string& note : plan.facts.notes)
    Note(note);
  for (const std::string& what : plan.left_out)
    Note("left out: " + what);
  if (plan.copies == 0)
    throw Failure(kBadTrace, "there are no copies in this trace that could be made again");
  Print("Recorded: " + plan.facts.program + ", backend " + plan.facts.backend + ", profile " +
        plan.facts.profile + "\n" + summary::TerminalText(plan.recorded));
  const bool asap = arguments.ValueOr("--speed", "as-recorded") == "asap";
  const PassingFolder folder;
  const std::filesystem::path trace =
      arguments.ValueOr("--trace", (folder.path() / "replay.json.gz").string());
  try {
    MakeRoomForTrace(trace);
  } catch (const Failure& failure) {
    throw Failure(kOutputFailed, failure.what());
  }
  ApplySettings(arguments);
  ::setenv("SAMPAN_TRACE", std::filesystem::absolute(trace).c_str(), 1);
  ::setenv("SAMPAN_SUMMARY", "0", 1);  // it is printed here
  const Ending ending = ReplayInChild(plan, asap ? ReplaySpeed::kAsap : ReplaySpeed::kAsRecorded);
  StopIfInterrupted();
  if (ending.signal != 0 || ending.exit_status != kSuccess) return EndLike(ending);
  Print("\nReplayed here, " + std::string(asap ? "as soon as possible" : "at the recorded times") + ": " +
        std::to_string(plan.copies) + " copies and fills, " + ShowBytes(plan.bytes) + "\n" +
        SummaryOf(trace));
  return kSuccess;
}

}  // namespace

const Command& ReplayCommand() {
  static const Command command{
      .description =
          {.name = "replay",
           .summary = "issue the copies of a trace again",
           .paragraphs =
               {"Issues the copies of a trace again: the same sizes, shapes and kinds between memory of the "
                "same "
                "sizes, on as many streams, by as many threads, in the same order and with the same waits. "
                "Shows "
                "the summary as it was recorded and the one of the replay, so that performance that somebody "
                "else "
                "has seen can be reproduced, or compared with another backend.",
                "The contents do not matter and are not in the trace. A function of the program becomes one "
                "that sleeps as long, whatever the speed. Of batches with more than 32 entries the trace "
                "knows the sizes and the part of the memory, but not the places: the entries are spread over "
                "that part. Order that a program keeps by polling is kept by the recorded times only.",
                "Left out, and said so: signals of other processes, waits for words in device memory that "
                "something else than aclrtValueWrite changed, copies whose operands only the device knew "
                "(traces of NVIDIA GPUs), and what failed."},
           .operands = {{.name = "TRACE",
                         .meaning = "a file of 'sampan run --trace', compressed or not",
                         .is_file = true,
                         .is_required = true}},
           .options = WithRuntimeOptions({{.name = "--speed",
                                           .value = "SPEED",
                                           .meaning = "as-recorded (default): no copy before its time; asap: "
                                                      "without the pauses of the program",
                                           .choices = {"as-recorded", "asap"}},
                                          {.name = "--trace",
                                           .value = "FILE",
                                           .meaning = "keep the trace of the replay itself there"}}),
           .examples = {{"sampan replay app.json.gz", "how fast is that here?"},
                        {"sampan replay app.json.gz --backend cuda --speed asap",
                         "on an NVIDIA GPU, without pauses"},
                        {"sampan replay app.json.gz --trace again.json.gz",
                         "to look at with 'sampan report'"}},
           .exits =
               {{"0", "replayed"},
                {"1", "a runtime that does not start"},
                {"2", "the arguments could not be understood"},
                {"3", "the summary or the trace could not be written"},
                {"4",
                 "the trace cannot be read, or not be replayed here: too few devices, too little memory"},
                {"130", "ended by Ctrl-C"}}},
      .execute = Execute};
  return command;
}

}  // namespace sampan::tool
