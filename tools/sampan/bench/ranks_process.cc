// Measures ranks in a child process. Its devices have as many engines as ranks need.
#include "tools/sampan/bench/ranks_process.h"

#include <cstdlib>
#include <nlohmann/json.hpp>

#include "bench/copies/alternative.h"
#include "bench/ranks/ranks_together.h"
#include "tools/sampan/bench/ranks/rank_measurement.h"
#include "tools/sampan/shared/process/environment.h"

namespace sampan::tool {
namespace {

using nlohmann::json;

json JsonOf(const bench::Timing& timing) {
  return {timing.median_seconds, timing.lower_seconds, timing.upper_seconds};
}

bench::Timing TimingOf(const json& told) {
  return {.median_seconds = told.at(0), .lower_seconds = told.at(1), .upper_seconds = told.at(2)};
}

json JsonOf(const bench::Measurement& measured) {
  return {{"offered", measured.offered},
          {"rounds", measured.rounds},
          {"sampan", JsonOf(measured.sampan)},
          {"alternative", JsonOf(measured.alternative)},
          {"fault", measured.fault.value_or("")}};
}

bench::Measurement MeasurementOf(const json& told) {
  bench::Measurement measured{.offered = told.at("offered"), .rounds = told.at("rounds")};
  measured.sampan = TimingOf(told.at("sampan"));
  measured.alternative = TimingOf(told.at("alternative"));
  if (const std::string fault = told.at("fault"); !fault.empty()) measured.fault = fault;
  return measured;
}

/// The plan and the duration of a measurement.
struct Request {
  RankPlan plan;
  double seconds;
};

std::string AnswerTo(std::string_view asked) {
  const auto request = FromBytes<Request>(asked);
  const char* const backend = std::getenv("SAMPAN_BACKEND");
  const bench::Measurement measured =
      MeasureRanks(request.plan, request.seconds, bench::AlternativeName(backend != nullptr ? backend : ""));
  return JsonOf(measured).dump(-1, ' ', false, json::error_handler_t::replace);
}

}  // namespace

// If the child refuses settings, the parent refuses and reports them too.
RanksProcess::RanksProcess(const Arguments& arguments)
    : process_("the process of the ranks", [&]() -> WorkerProcess::Reply {
        ApplySettings(arguments);
        bench::ShareCores(RankPlan::kRanks);
        return AnswerTo;
      }) {}

bench::Measurement RanksProcess::Measure(const RankPlan& plan, double seconds) {
  const Request request{plan, seconds};
  const auto answer = process_.Ask(BytesOf(request));
  return answer ? MeasurementOf(json::parse(*answer)) : bench::Measurement{};
}

}  // namespace sampan::tool
