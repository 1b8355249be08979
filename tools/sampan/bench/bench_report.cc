// The results of `sampan bench` as a table, as JSON and as CSV.
#include "tools/sampan/bench/bench_report.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <sstream>

#include "tools/sampan/bench/ranks/rank_alternative.h"
#include "tools/sampan/shared/output/machine.h"
#include "tools/sampan/shared/output/quantities.h"
#include "tools/sampan/shared/output/terminal.h"

namespace sampan::tool {
namespace {

constexpr const char* kBesideTitles = "   FMA x    GB/s  mem. x    GB/s";
constexpr const char* kBesideMeaning =
    "FMA x, mem. x: the time of a program's kernel beside the copies over its time alone; behind it the rate "
    "of the copies meanwhile.\n";

std::string Right(const std::string& text, std::size_t width) {
  return (text.size() < width ? std::string(width - text.size(), ' ') : "") + text;
}

std::string Left(const std::string& text, std::size_t width) {
  return text + (text.size() < width ? std::string(width - text.size(), ' ') : "");
}

std::string StatusOf(const BenchResult& result) {
  if (result.failed()) return "failed";
  return result.measurement.offered ? "verified" : "not offered";
}

std::string FaultOf(const BenchResult& result) {
  return result.error.empty() ? result.measurement.fault.value_or("") : result.error;
}

std::string BesideColumns(const std::optional<bench::Disturbance>& beside) {
  if (!beside) return "";
  std::string columns;
  for (const bench::Beside& one : {beside->arithmetic, beside->memory})
    columns += Right(ShowRate(one.kernel_times), 8) + Right(ShowRate(one.rate), 8);
  return columns;
}

std::string TableRow(const BenchResult& result) {
  const bench::Measurement& measured = result.measurement;
  const BenchCase& bench = result.bench;
  const std::string head =
      "  " + Left(bench.path, 20) + Right(bench.has_rate() ? ShowBytes(bench.bytes) : "-", 9);
  if (result.failed()) return head + "  " + Coloured(Colour::kBad, "FAILED") + ": " + FaultOf(result) + "\n";
  if (!measured.offered) return head + "  " + Coloured(Colour::kFaint, "not offered here") + "\n";
  if (!bench.has_rate()) {
    return head + Right(ShowSeconds(measured.sampan.median_seconds), 10) + Right("-", 8) + "  " +
           Left(ShowRate(measured.sampan.lower_seconds * 1e6) + " - " +
                    ShowRate(measured.sampan.upper_seconds * 1e6) + " us",
                14) +
           Right(ShowSeconds(measured.alternative.median_seconds), 8) + Right(ShowRate(measured.ratio()), 8) +
           "\n";
  }
  const auto rate = [&](double seconds) { return ShowRate(result.gigabytes_per_second(seconds)); };
  // The slowest quarter of the times gives the lower end of the rates.
  return head + Right(ShowSeconds(measured.sampan.median_seconds), 10) +
         Right(rate(measured.sampan.median_seconds), 8) + "  " +
         Left(rate(measured.sampan.upper_seconds) + " - " + rate(measured.sampan.lower_seconds), 14) +
         Right(rate(measured.alternative.median_seconds), 8) + Right(ShowRate(measured.ratio()), 8) +
         BesideColumns(measured.beside) + "\n";
}

/// Below the row of a result: its path, and why.
std::string PathRow(const BenchResult& result) {
  if (!result.taken) return "";
  const TakenPath& taken = *result.taken;
  const std::string why = taken.reason.empty() ? "" : ": " + taken.reason;
  return Coloured(Colour::kFaint, "    by " + taken.name + why) + "\n";
}

bool IsOfRanks(const BenchResult& result) {
  return std::holds_alternative<RankPlan>(result.bench.plan);
}

bool HasRanks(const BenchRun& run) {
  return std::any_of(run.results.begin(), run.results.end(), IsOfRanks);
}

std::string RanksLine(const BenchRun& run) {
  std::string ranks = "Of ranks";
  if (!run.gpu.empty())
    ranks += ", " + std::to_string(RankPlan::kRanks) + " threads on " + std::to_string(run.gpus_of_ranks) +
             (run.gpus_of_ranks == 1 ? " GPU" : " GPUs");
  return ranks + ": the time of the slowest one; " + std::string(RankAlternativeMeaning(run.alternative())) +
         ".\n";
}

nlohmann::json TimingJson(const BenchResult& result, const bench::Timing& timing) {
  nlohmann::json times = {{"median_seconds", timing.median_seconds},
                          {"lower_quartile_seconds", timing.lower_seconds},
                          {"upper_quartile_seconds", timing.upper_seconds}};
  if (result.bench.has_rate()) times["median_gb_per_s"] = result.gigabytes_per_second(timing.median_seconds);
  return times;
}

nlohmann::json BesideJson(const bench::Beside& beside) {
  return {{"kernel_times", beside.kernel_times}, {"gb_per_s", beside.rate}};
}

nlohmann::json ResultJson(const BenchResult& result, const std::string& alternative) {
  const BenchCase& bench = result.bench;
  nlohmann::json entry = {{"group", bench.group},
                          {"call", bench.call},
                          {"path", bench.path},
                          {"bytes", bench.bytes},
                          {"piece_bytes", bench.piece_bytes},
                          {"pieces", bench.pieces},
                          {"status", StatusOf(result)}};
  if (result.failed()) entry["error"] = FaultOf(result);
  if (result.taken) entry["taken"] = {{"path", result.taken->name}, {"reason", result.taken->reason}};
  if (result.measured()) {
    entry["rounds"] = result.measurement.rounds;
    entry["sampan"] = TimingJson(result, result.measurement.sampan);
    entry[alternative] = TimingJson(result, result.measurement.alternative);
    entry["ratio"] = result.measurement.ratio();
    if (const auto& beside = result.measurement.beside)
      entry["beside"] = {{"fma", BesideJson(beside->arithmetic)}, {"memory", BesideJson(beside->memory)}};
  }
  return entry;
}

/// The load of other processes during the run.
std::string BusyText(const BenchRun& run) {
  return "other processes used " + ShowRate(*run.others * 100) + " % of the " +
         std::to_string(ThisMachine().cores) + " cores";
}

/// Compares the run with results of a similar machine.
std::string Verdict(const BenchRun& run) {
  if (run.interrupted()) return "Not compared with reference results: the run was interrupted";
  const std::string quiet =
      run.busy() ? ". The machine was BUSY: " + BusyText(run) + "; repeat this when it is quiet" : "";
  if (!run.comparison)
    return "There are no reference results for this machine, backend and sizes to compare with" + quiet;
  constexpr double kAsExpected = 0.8;
  const Comparison& comparison = *run.comparison;
  const char* const judgement = comparison.median >= kAsExpected ? "As fast as expected: "
                                : run.busy()                     ? "Not judged on a busy machine: "
                                                                 : "SLOWER than expected: ";
  return judgement + ShowRate(comparison.median) + " times the rates of " + comparison.reference +
         " (median of " + std::to_string(comparison.cases) + " cases), at least " +
         ShowRate(comparison.slowest) + " (" + comparison.slowest_case + ")" + quiet;
}

nlohmann::json ComparisonJson(const std::optional<Comparison>& comparison) {
  if (!comparison) return nullptr;
  return {{"reference", comparison->reference},
          {"cases", comparison->cases},
          {"median", comparison->median},
          {"slowest", comparison->slowest},
          {"slowest_case", comparison->slowest_case}};
}

std::string BesideFields(const std::optional<bench::Disturbance>& beside) {
  if (!beside) return ",,,,";
  std::ostringstream text;
  for (const bench::Beside& one : {beside->arithmetic, beside->memory})
    text << "," << one.kernel_times << "," << one.rate;
  return text.str();
}

std::string CsvField(const std::string& text) {
  if (text.find_first_of(",\"\n") == std::string::npos) return text;
  std::string quoted = "\"";
  for (const char character : text)
    quoted += character == '"' ? "\"\"" : std::string(1, character);
  return quoted + "\"";
}

}  // namespace

std::size_t BenchRun::CountFailed() const {
  return static_cast<std::size_t>(std::count_if(results.begin(), results.end(),
                                                [](const BenchResult& result) { return result.failed(); }));
}

std::string BenchTable(const BenchRun& run) {
  const Machine machine = ThisMachine();
  std::string text = (run.gpu.empty() ? "" : run.gpu + ", ") + machine.processor + ", " +
                     std::to_string(machine.cores) + " cores; backend " + run.facts.Value("SAMPAN_BACKEND") +
                     ", profile " + run.facts.Value("SAMPAN_PROFILE") +
                     "\nFrom the call to the synchronised stream; " +
                     std::string(bench::AlternativeMeaning(run.alternative())) + ".\n";
  if (HasRanks(run)) text += RanksLine(run);
  if (run.is_beside) text += kBesideMeaning;
  std::string title;
  for (const BenchResult& result : run.results) {
    const std::string own_title = std::string(result.bench.group) + " (" + result.bench.call + ")";
    if (own_title != title) {
      title = own_title;
      text += "\n" + Coloured(Colour::kTitle, title) + "\n" +
              Coloured(Colour::kFaint, "  " + Left("path", 20) + Right("size", 9) + Right("time", 10) +
                                           Right("GB/s", 8) + "  " + Left("middle half", 14) +
                                           Right(run.alternative(), 8) + Right("ratio", 8) +
                                           (run.is_beside && !IsOfRanks(result) ? kBesideTitles : "")) +
              "\n";
    }
    text += TableRow(result) + PathRow(result);
  }
  const std::size_t failed = run.CountFailed();
  const std::size_t offered = static_cast<std::size_t>(std::count_if(
      run.results.begin(), run.results.end(), [](const BenchResult& r) { return r.measured(); }));
  text += "\n";
  if (run.interrupted())
    text += "Interrupted after " + std::to_string(run.results.size()) + " of " + std::to_string(run.planned) +
            " cases. ";
  text += failed == 0
              ? Coloured(Colour::kGood, std::to_string(offered) + " cases measured, all data verified")
              : Coloured(Colour::kBad, std::to_string(failed) + " cases FAILED");
  return text + "\n" + Verdict(run) + "\n";
}

std::string BenchJson(const BenchRun& run) {
  const Machine machine = ThisMachine();
  auto results = nlohmann::json::array();
  for (const BenchResult& result : run.results)
    results.push_back(ResultJson(result, run.alternative()));
  nlohmann::json machine_facts = {
      {"processor", machine.processor}, {"cores", machine.cores}, {"system", machine.system}};
  if (!run.gpu.empty()) machine_facts["gpu"] = run.gpu;
  nlohmann::json all = {{"sampan", SAMPAN_VERSION},
                        {"backend", run.facts.Value("SAMPAN_BACKEND")},
                        {"profile", run.facts.Value("SAMPAN_PROFILE")},
                        {"machine", machine_facts},
                        {"interrupted", run.interrupted()},
                        {"others_share", run.others ? nlohmann::json(*run.others) : nlohmann::json(nullptr)},
                        {"busy", run.busy()},
                        {"comparison", ComparisonJson(run.comparison)},
                        {"results", results}};
  if (!run.gpu.empty() && HasRanks(run))
    all["ranks"] = {{"threads", RankPlan::kRanks}, {"gpus", run.gpus_of_ranks}};
  return all.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
}

std::string BenchCsv(const BenchRun& run) {
  std::ostringstream text;
  text << "group,call,path,bytes,pieces,status,rounds,seconds,lower_quartile_seconds,upper_quartile_seconds,"
          "gb_per_s,"
       << run.alternative() << "_seconds," << run.alternative() << "_gb_per_s,ratio,error"
       << (run.has_paths ? ",taken,reason" : "")
       << (run.is_beside ? ",fma_times,beside_fma_gb_per_s,memory_times,beside_memory_gb_per_s" : "") << "\n";
  for (const BenchResult& result : run.results) {
    const BenchCase& bench = result.bench;
    const bench::Measurement& measured = result.measurement;
    const auto rate = [&](const bench::Timing& timing) {
      std::ostringstream number;
      if (bench.has_rate()) number << result.gigabytes_per_second(timing.median_seconds);
      return number.str();
    };
    text << bench.group << "," << bench.call << "," << bench.path << "," << bench.bytes << "," << bench.pieces
         << "," << StatusOf(result) << ",";
    if (result.measured()) {
      text << measured.rounds << "," << measured.sampan.median_seconds << "," << measured.sampan.lower_seconds
           << "," << measured.sampan.upper_seconds << "," << rate(measured.sampan) << ","
           << measured.alternative.median_seconds << "," << rate(measured.alternative) << ","
           << measured.ratio() << ",";
    } else {
      text << ",,,,,,,," << CsvField(FaultOf(result));
    }
    const TakenPath taken = result.taken.value_or(TakenPath{});
    if (run.has_paths) text << "," << taken.name << "," << CsvField(taken.reason);
    if (run.is_beside) text << BesideFields(measured.beside);
    text << "\n";
  }
  return text.str();
}

}  // namespace sampan::tool
