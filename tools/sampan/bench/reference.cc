// Shipped results of similar machines, for comparison.
#include "tools/sampan/bench/reference.h"

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>
#include <vector>

#include "tools/sampan/shared/output/machine.h"
#include "tools/sampan/shared/output/terminal.h"

namespace sampan::tool {
namespace {

using nlohmann::json;

bool Fits(const json& reference, const BenchRun& run) {
  const json& other = reference.at("machine");
  if (reference.at("backend") != run.backend()) return false;
  if (!run.gpu.empty()) return other.value("gpu", "") == run.gpu;
  const Machine machine = ThisMachine();
  return other.at("processor") == machine.processor && other.at("cores") == machine.cores;
}

/// The rate divided by the reference's rate of the same case. Nothing if the reference does not have the
/// case.
std::optional<double> RatioTo(const json& reference, const BenchResult& result) {
  const BenchCase& bench = result.bench;
  const double seconds = result.measurement.sampan.median_seconds;
  for (const json& entry : reference.at("results")) {
    if (entry.at("group") != bench.group || entry.at("path") != bench.path ||
        entry.at("bytes") != bench.bytes || entry.value("call", bench.call) != bench.call ||
        !entry.contains("sampan"))
      continue;
    if (!bench.has_rate()) return entry.at("sampan").at("median_seconds").get<double>() / seconds;
    return result.gigabytes_per_second(seconds) / entry.at("sampan").at("median_gb_per_s").get<double>();
  }
  return std::nullopt;
}

std::optional<Comparison> Compare(const BenchRun& run, const json& reference, const std::string& name) {
  Comparison comparison{.reference = name};
  std::vector<double> ratios;
  for (const BenchResult& result : run.results) {
    if (!result.measured()) continue;
    const std::optional<double> ratio = RatioTo(reference, result);
    if (!ratio) continue;
    if (ratios.empty() || *ratio < comparison.slowest) {
      comparison.slowest = *ratio;
      comparison.slowest_case = result.bench.Describe();
    }
    ratios.push_back(*ratio);
  }
  if (ratios.empty()) return std::nullopt;
  std::sort(ratios.begin(), ratios.end());
  comparison.cases = ratios.size();
  comparison.median = ratios[ratios.size() / 2];
  return comparison;
}

}  // namespace

std::optional<Comparison> CompareWithReference(const BenchRun& run, const std::filesystem::path& folder) {
  std::error_code missing;
  std::vector<std::filesystem::path> files;
  for (const auto& file : std::filesystem::directory_iterator(folder, missing)) {
    if (file.path().extension() == ".json") files.push_back(file);
  }
  std::sort(files.begin(), files.end());
  for (const std::filesystem::path& file : files) {
    try {
      std::ifstream text(file);
      const json reference = json::parse(text);
      if (!Fits(reference, run)) continue;
      if (auto comparison = Compare(run, reference, file.stem().string())) return comparison;
    } catch (const json::exception& error) {
      Note(file.string() +
           " is not a result of 'sampan bench --format json' and is left out: " + error.what());
    }
  }
  return std::nullopt;
}

}  // namespace sampan::tool
