// sampan replay: repeats the copies of a trace.
#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <functional>
#include <optional>
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
#include "tools/sampan/shared/process/temporary_folder.h"
#include "tools/sampan/shared/trace/trace_place.h"
#include "tools/sampan/shared/trace/trace_summary.h"

namespace sampan::tool {
namespace {

/// The trace of the replay, if the user names no file for it. It has a name only until the runtime has
/// created it. Then only a descriptor remains, so that no file is left behind.
class UnnamedTrace {
 public:
  UnnamedTrace() : folder_("sampan-replay", kOutputFailed, "the trace of the replay") {}
  ~UnnamedTrace() {
    if (file_ >= 0) ::close(file_);
  }
  UnnamedTrace(const UnnamedTrace&) = delete;
  UnnamedTrace& operator=(const UnnamedTrace&) = delete;

  /// The file that the runtime creates.
  std::filesystem::path path() const { return folder_.path() / "replay.json.gz"; }
  /// Opens the file when it exists, and removes its name.
  void TakeOver() {
    if (file_ >= 0) return;
    file_ = ::open(path().c_str(), O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
    if (file_ >= 0) folder_.Remove();
  }
  /// The path for reading, after TakeOver.
  std::filesystem::path readable_path() const { return "/proc/self/fd/" + std::to_string(file_); }

 private:
  TemporaryFolder folder_;
  int file_ = -1;
};

/// Runs in a child process. Its trace is complete when the child has exited. Calls `between` repeatedly until
/// then. Returns how the child exited.
Ending ReplayInChild(const ReplayPlan& plan, ReplaySpeed speed, const std::function<void()>& between) {
  const pid_t parent = ::getpid();
  const pid_t child = ::fork();
  if (child < 0) throw Failure(kCheckFailed, "fork: " + std::generic_category().message(errno));
  if (child == 0) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);  // if this process is killed, the child exits too
    if (::getppid() != parent) ::_exit(kCheckFailed);
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
    between();
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
  between();
  return WIFSIGNALED(status) ? Ending{.signal = WTERMSIG(status)}
                             : Ending{.exit_status = WEXITSTATUS(status)};
}

/// The summary of a trace. Prints the trace's notes.
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
    throw Failure(
        kBadTrace,
        "there are no copies in this trace that could be made again; record one with 'sampan run --trace'");
  Print(Printable("Recorded: " + plan.facts.program + ", backend " + plan.facts.backend + ", profile " +
                  plan.facts.profile + "\n" + summary::TerminalText(plan.recorded)));
  const bool asap = arguments.ValueOr("--speed", "as-recorded") == "asap";
  std::optional<UnnamedTrace> unnamed;
  if (!arguments.Has("--trace")) unnamed.emplace();
  const std::filesystem::path trace = unnamed ? unnamed->path().string() : arguments.ValueOr("--trace", "");
  try {
    MakeRoomForTrace(trace);
  } catch (const Failure& failure) {
    throw Failure(kOutputFailed, failure.what());
  }
  ApplySettings(arguments);
  ::setenv("SAMPAN_TRACE", std::filesystem::absolute(trace).c_str(), 1);
  ::setenv("SAMPAN_SUMMARY", "0", 1);  // this command prints the summary
  const Ending ending = ReplayInChild(plan, asap ? ReplaySpeed::kAsap : ReplaySpeed::kAsRecorded, [&] {
    if (unnamed) unnamed->TakeOver();
  });
  StopIfInterrupted();
  if (ending.signal != 0 || ending.exit_status != kSuccess) return EndLike(ending);
  Print("\nReplayed here, " + std::string(asap ? "as soon as possible" : "at the recorded times") + ": " +
        std::to_string(plan.copies) + " copies and fills, " + ShowBytes(plan.bytes) + "\n" +
        SummaryOf(unnamed ? unnamed->readable_path() : trace));
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
                "same sizes. It uses as many streams and threads, in the same order and with the same "
                "waits. Shows the summary as it was recorded and the one of the replay. So performance on "
                "another machine can be reproduced, or compared with another backend.",
                "The contents do not matter and are not in the trace. A function of the program becomes one "
                "that sleeps as long, whatever the speed. Of batches with more than 32 entries the trace "
                "knows the sizes and the part of the memory, but not the places: the entries are spread over "
                "that part. Order that a program keeps by polling is kept by the recorded times only.",
                "These are left out, and counted: signals of other processes; waits for words in device "
                "memory that something else than aclrtValueWrite changed; copies whose operands only the "
                "device knew (traces of NVIDIA GPUs); and what failed."},
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
