// sampan tune: measures where one way of copying becomes faster than another on this GPU, and writes the
// table.
#include <ctime>
#include <optional>

#include "command.h"
#include "failure.h"
#include "interrupt.h"
#include "output_file.h"
#include "quantities.h"
#include "terminal.h"
#include "tune_questions.h"

namespace sampan::tool {
namespace {

std::string Today() {
  const std::time_t now = std::time(nullptr);
  std::tm day{};
  char text[16];
  ::gmtime_r(&now, &day);
  std::strftime(text, sizeof(text), "%Y-%m-%d", &day);
  return text;
}

cuda::PathLimits Tuned(const std::string& gpu, double seconds) {
  const std::vector<Question> questions = AllQuestions();
  std::size_t trials = 0;
  for (const Question& question : questions)
    trials += question.trials.size();
  cuda::PathLimits limits = cuda::FindTable({}, gpu);
  limits.gpu = gpu;
  const ProgressBar progress(trials);
  std::size_t done = 0;
  const auto show = [&] { progress.Show(done++, "copies on " + gpu); };
  show();
  TrialRunner runner(limits, seconds, show);
  for (const Question& question : questions)
    question.conclude(runner.Run(question.trials), limits);
  return limits;
}

int Execute(const Arguments& arguments) {
  const double seconds = ParseSeconds("tune", arguments.ValueOr("--time", "0.02"), 60);
  std::optional<OutputFile> file;
  if (arguments.Has("--output")) file.emplace(arguments.ValueOr("--output", ""));
  WatchForInterrupt();
  const std::string gpu = AskGpuName();
  const std::string table = "# Limits between the ways of copying, measured by sampan tune on " + Today() +
                            ".\n# SAMPAN_COPY_TABLE names this file to the runtime.\n" +
                            cuda::WriteCopyTable(Tuned(gpu, seconds));
  if (!file) {
    Print(table);
  } else {
    file->Commit(table);
    Note("wrote the table of " + gpu + "; SAMPAN_COPY_TABLE=" + arguments.ValueOr("--output", "") +
         " uses it");
  }
  return kSuccess;
}

}  // namespace

const Command& TuneCommand() {
  static const Command command{
      .description =
          {.name = "tune",
           .summary = "measure which way of copying is fastest on this GPU",
           .paragraphs =
               {"On cuda the runtime chooses between copy engines, the driver's batch call and kernels of "
                "its own, and for pageable memory between the driver's copy and pinned buffers, by a table "
                "of limits: from how many entries on, up to which width of rows, by how many threads. "
                "Tables for some GPUs are part of it. This command measures the ways of each limit in turn, "
                "on the first GPU and in processes of their own, with every copy's bytes verified, and "
                "prints the table that comes of it; about two minutes.",
                "A table begins with 'gpu NAME' and is for every GPU with NAME in its name. Each line that "
                "follows has the name of a limit and a number, or any for no limit; what follows a # does "
                "not count, and limits without a line are as the runtime has them. A file may hold several "
                "tables. The runtime reads it where SAMPAN_COPY_TABLE names it, in front of its own, and "
                "refuses one that is wrong with the file, the line and the value.",
                "Let nothing else use the GPU or many of the processor's cores meanwhile. It takes "
                "some GiB of the host's memory and of the GPU's."},
           .options = {{.name = "--output",
                        .letter = "-o",
                        .value = "FILE",
                        .meaning = "write the table there instead of printing it"},
                       {.name = "--time",
                        .value = "SECONDS",
                        .meaning = "how long to measure each copy (default: 0.02)"}},
           .examples = {{"sampan tune", "print the table of this machine's GPU"},
                        {"sampan tune -o limits.txt && SAMPAN_COPY_TABLE=limits.txt sampan bench --backend "
                         "cuda",
                         "write it, and measure with it"}},
           .exits = {{"0", "measured, and all data verified"},
                     {"1", "no GPU that the runtime can use, a refused copy or wrong bytes"},
                     {"2", "the arguments could not be understood"},
                     {"3", "the table could not be written"},
                     {"130", "ended by Ctrl-C"}}},
      .execute = Execute};
  return command;
}

}  // namespace sampan::tool
