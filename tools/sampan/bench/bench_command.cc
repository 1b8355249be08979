// sampan bench: measures copies, and compares them with the same work without the runtime.
#include <algorithm>
#include <optional>

#include "bench/copies/driver_calls.h"
#include "tools/sampan/bench/bench_matrix.h"
#include "tools/sampan/bench/bench_plot.h"
#include "tools/sampan/bench/bench_report.h"
#include "tools/sampan/bench/busy_watch.h"
#include "tools/sampan/bench/ranks_process.h"
#include "tools/sampan/bench/reference.h"
#include "tools/sampan/bench/taken_path.h"
#include "tools/sampan/shared/command_line/command.h"
#include "tools/sampan/shared/command_line/failure.h"
#include "tools/sampan/shared/command_line/runtime_options.h"
#include "tools/sampan/shared/output/output_file.h"
#include "tools/sampan/shared/output/quantities.h"
#include "tools/sampan/shared/output/terminal.h"
#include "tools/sampan/shared/process/child_process.h"
#include "tools/sampan/shared/process/installation.h"
#include "tools/sampan/shared/process/interrupt.h"

namespace sampan::tool {
namespace {

constexpr std::string_view kDefaultSizes = "4K,64K,1M,16M,64M";

struct BenchOptions {
  std::string group;
  std::vector<std::size_t> sizes;
  std::string format;
  double seconds = 0;
};

BenchOptions OptionsOf(const Arguments& arguments) {
  return {.group = arguments.operands.empty() ? "all" : arguments.operands.front(),
          .sizes = ParseSizes(arguments.ValueOr("--sizes", kDefaultSizes)),
          .format = arguments.ValueOr("--format", "table"),
          .seconds = ParseSeconds("bench", arguments.ValueOr("--time", "0.1"), 3600)};
}

/// The objects that measure.
struct Bench {
  const bench::Session& session;
  RanksProcess* ranks;             ///< null if the group has no cases of ranks
  TakenPaths* paths;               ///< null if they were not asked for
  bench::DisturbanceMeter* meter;  ///< null if copies are not measured beside kernels
  double seconds;
  std::string alternative;

  bench::Measurement operator()(const bench::CopyPlan& plan) const {
    return bench::Measure(plan, session, alternative,
                          {.seconds = seconds, .stopped = [] { return Interrupted() != 0; }}, meter);
  }
  bench::Measurement operator()(const RankPlan& plan) const { return ranks->Measure(plan, seconds); }
};

/// A refused copy is a result too. The other cases are still measured.
BenchResult MeasureCase(const BenchCase& bench, const Bench& with) {
  BenchResult result{.bench = bench};
  try {
    const auto* const plan = std::get_if<bench::CopyPlan>(&bench.plan);
    if (with.paths != nullptr && plan != nullptr) result.taken = with.paths->Of(*plan);
    result.measurement = std::visit(with, bench.plan);
  } catch (const bench::Failure& failure) {
    result.error = failure.what();
  } catch (const std::bad_alloc&) {
    result.error = "there is not enough memory for this size";
  }
  return result;
}

/// `--beside` needs a GPU for the kernels, and copies of this process.
void RequireGpu(const std::string& backend, const std::string& group) {
  if (backend != "cuda") {
    throw Failure(kBadUsage,
                  "bench: --beside measures copies beside the kernels of a GPU, and the backend is " +
                      backend + "; add --backend cuda");
  }
  if (group == "hccl") {
    throw Failure(kBadUsage,
                  "bench: --beside measures linear, 2d, batch and desc copies, and the group is hccl");
  }
}

std::string Formatted(const BenchRun& run, const std::string& format) {
  if (format == "json") return BenchJson(run);
  return format == "csv" ? BenchCsv(run) : BenchTable(run);
}

int Execute(const Arguments& arguments) {
  const BenchOptions options = OptionsOf(arguments);
  std::optional<OutputFile> plot;
  if (arguments.Has("--plot")) plot.emplace(arguments.ValueOr("--plot", ""));
  std::optional<RanksProcess> ranks;  // created before the runtime starts in this process
  if (HasRanks(options.group)) ranks.emplace(arguments);
  std::optional<TakenPaths> paths;
  if (arguments.Has("--why")) paths.emplace(arguments);
  BenchRun run;
  run.has_paths = paths.has_value();
  const auto session = StartRuntime(arguments, run.facts);
  std::optional<bench::DisturbanceMeter> meter;
  if (arguments.Has("--beside")) {
    RequireGpu(run.backend(), options.group);
    meter.emplace();
  }
  run.is_beside = meter.has_value();
  const std::vector<BenchCase> cases = BenchMatrix(options.group, options.sizes, session->has_peer());
  run.planned = cases.size();
  if (run.backend() == "cuda") {
    run.gpu = bench::GpuName();
    run.gpus_of_ranks = std::min({RankPlan::kRanks, session->devices(), static_cast<u32>(bench::GpuCount())});
  }
  WatchForInterrupt();
  const BusyWatch busy;
  const Bench with{
      *session,        ranks ? &*ranks : nullptr, paths ? &*paths : nullptr, meter ? &*meter : nullptr,
      options.seconds, run.alternative()};
  {
    const ProgressBar progress(cases.size());
    for (const BenchCase& bench : cases) {
      progress.Show(run.results.size(), bench.Describe());
      BenchResult result = MeasureCase(bench, with);
      if (Interrupted() != 0) break;  // this case is incomplete
      run.results.push_back(std::move(result));
    }
  }
  ranks.reset();  // its processor time is added to this process's
  run.others = busy.ShareOfOthers();
  if (!run.interrupted())
    run.comparison = CompareWithReference(run, FindInstallation().root / "share" / "sampan" / "reference");
  Print(Formatted(run, options.format));
  if (plot) plot->Commit(BenchPlot(run.results, run.alternative()));
  if (const int signal = Interrupted(); signal != 0) {
    plot.reset();
    return EndLike({.signal = signal});
  }
  return run.CountFailed() == 0 ? kSuccess : kCheckFailed;
}

}  // namespace

const Command& BenchCommand() {
  static const Command command{
      .description =
          {.name = "bench",
           .summary = "measure how fast copies are here",
           .paragraphs =
               {"Measures copies by size, each from the call to the synchronised stream. Copies take turns "
                "with what a program would do without the runtime: one thread's memcpy over ordinary "
                "memory of the same shape. With --backend cuda it is the driver's own call over memory "
                "of its own. Shown are the median after a warm-up and the middle half of all rounds. The "
                "ratio says how many times faster than the alternative it was. Every case ends with a "
                "copy whose bytes are verified.",
                "linear: plain copies. 2d: rows of 1 KiB, 2 KiB apart. batch: scattered pieces of "
                "4 KiB. desc: "
                "copies by a descriptor in device memory.",
                "hccl: two ranks of HCCL's platform layer, each on a device where there are two. They are "
                "threads of a process of their own, whose emulated devices share the cores "
                "(SAMPAN_ENGINES). Copies of "
                "HcclD2DMemcpyAsync, and signals over a link. The time is that of the slowest rank. The "
                "alternative is memcpy between mappings that the ranks share; for signals, a word that one "
                "thread changes and another one sleeps on (std::atomic). hccl_bench measures collectives.",
                "hccl with --backend cuda: ranks share a GPU where there is one only. The alternative is the "
                "driver's copies of the same lengths in a stream for each rank; for signals, events that one "
                "stream records and the other one waits for.",
                "The last line compares with reference results, where the installation has some "
                "for this machine: files "
                "of 'sampan bench --format json' below share/sampan/reference. It also says whether other "
                "processes "
                "used the machine during the run; a run that was interrupted is not judged.",
                "--why copies each case once more, in a process of its own that writes a trace. It shows "
                "the path and the reason of that trace. So the settings count, SAMPAN_COPY_PATH and the like "
                "among them.",
                "--beside repeats each copy while a kernel of a program fills the GPU, two submissions at a "
                "time: once a kernel of multiplications and additions (FMA), once a kernel that streams "
                "device "
                "memory. Shown is how many times as long as alone each kernel takes, and behind it the rate "
                "of "
                "the copies meanwhile.",
                "Ctrl-C stops early and shows what there is so far."},
           .operands = {{.name = "WHAT",
                         .meaning = "linear, 2d, batch, desc, hccl or all (default: all)",
                         .choices = {"linear", "2d", "batch", "desc", "hccl", "all"}}},
           .options = WithRuntimeOptions(
               {{.name = "--sizes",
                 .value = "LIST",
                 .meaning = "bytes of one call, joined by commas; K, M and G may follow a number (default: "
                            "4K,64K,1M,16M,64M)"},
                {.name = "--format",
                 .value = "FORMAT",
                 .meaning = "table (default), json or csv",
                 .choices = {"table", "json", "csv"}},
                {.name = "--time",
                 .value = "SECONDS",
                 .meaning = "how long to measure each case (default: 0.1)"},
                {.name = "--why",
                 .meaning = "say also which path each copy of this process takes, and why (not for hccl)"},
                {.name = "--beside",
                 .meaning = "measure each copy of this process also beside kernels that fill the GPU: their "
                            "time, and the rate of the copies (--backend cuda; not for hccl)"},
                {.name = "--plot",
                 .value = "FILE.svg",
                 .meaning = "draw the rates over the sizes as well, - for standard output"}}),
           .examples =
               {{"sampan bench", "everything, in half a minute"},
                {"sampan bench linear --sizes 1M,256M --time 1", "plain copies, measured for longer"},
                {"sampan bench batch --why --backend cuda", "which path a GPU copies batches by, and why"},
                {"sampan bench batch --beside --backend cuda", "what batches cost a program's kernels"},
                {"sampan bench all --format json --plot rates.svg > rates.json", "figures and a picture"}},
           .exits = {{"0", "measured, and all data verified"},
                     {"1", "wrong bytes, a refused copy, or a runtime that does not start"},
                     {"2", "the arguments could not be understood"},
                     {"3", "the results could not be written"},
                     {"130", "ended by Ctrl-C"}}},
      .execute = Execute};
  return command;
}

}  // namespace sampan::tool
