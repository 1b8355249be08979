// Copies that are timed on the GPU while the runtime is made to take a certain way.
#include "tune_trials.h"

#include <stdlib.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <limits>

#include "child_output.h"
#include "child_process.h"
#include "driver_calls.h"
#include "failure.h"
#include "interrupt.h"
#include "measurement.h"
#include "session.h"

namespace sampan::tool {
namespace {

/// What a child process does; its text is the answer, or the reason why there is none.
std::string AskChild(const std::function<std::string()>& body) {
  const ChildOutput output = OutputOfChild([&] {
    int status = kSuccess;
    std::string text;
    try {
      text = body();
    } catch (const Interruption& interruption) {
      return EndLike({.signal = interruption.signal});
    } catch (const std::exception& error) {
      text = error.what();
      status = kCheckFailed;
    }
    std::fputs(text.c_str(), stdout);
    return std::fflush(stdout) == 0 ? status : static_cast<int>(kOutputFailed);
  });
  StopIfInterrupted();
  if (output.status == kSuccess) return output.text;
  throw Failure(kCheckFailed, output.text.empty() ? "a process that measured ended early" : output.text);
}

/// Rows within a device are part of it, which only this release has.
void UseGpu() {
  ::setenv("SAMPAN_BACKEND", "cuda", 1);
  ::setenv("SAMPAN_PROFILE", "ascend910b,cann9", 1);
  ::unsetenv("SAMPAN_COPY_BLOCKS");
}

/// A file that is gone with this object.
class TableFile {
 public:
  explicit TableFile(const cuda::PathLimits& limits)
      : path_(std::filesystem::temp_directory_path() /
              ("sampan_tune." + std::to_string(::getpid()) + ".txt")) {
    std::ofstream file(path_);
    file << cuda::WriteCopyTable(limits);
    if (!file.flush())
      throw Failure(kOutputFailed, "cannot write " + path_.string() + "; TMPDIR chooses the folder");
  }
  ~TableFile() {
    std::error_code ignored;
    std::filesystem::remove(path_, ignored);
  }
  TableFile(const TableFile&) = delete;
  TableFile& operator=(const TableFile&) = delete;
  const std::string& name() const { return path_.native(); }

 private:
  const std::filesystem::path path_;
};

cuda::PathLimits With(cuda::PathLimits limits, const Variation& variation) {
  for (const cuda::LimitField& field : cuda::limit_fields()) {
    if (field.name == variation.limit) field.of(limits) = variation.value;
  }
  return limits;
}

std::string MeasureHere(const std::vector<const Trial*>& trials, double seconds) {
  const Session session;
  std::string text;
  for (const Trial* const trial : trials) {
    const Measurement measured = MeasureAlone(trial->plan, session, seconds);
    StopIfInterrupted();
    if (!measured.offered)
      throw Failure(kCheckFailed, "the runtime does not offer " + std::string(CallOf(trial->plan.form)));
    if (measured.fault) {
      throw Failure(kCheckFailed, std::string(CallOf(trial->plan.form)) + ", " + PathName(trial->plan) +
                                      ": wrong bytes, " + *measured.fault);
    }
    text += std::to_string(static_cast<long long>(measured.sampan.median_seconds * 1e12)) + "\n";
  }
  return text;
}

/// The trials with the variation, measured in a process of their own; keeps the shorter of what they took
/// here and before.
void RunVariation(const Variation& variation, const std::vector<Trial>& trials,
                  const cuda::PathLimits& limits, double seconds, std::vector<double>& times) {
  std::vector<const Trial*> together;
  std::vector<std::size_t> places;
  for (std::size_t i = 0; i < trials.size(); ++i) {
    if (trials[i].variation != variation) continue;
    together.push_back(&trials[i]);
    places.push_back(i);
  }
  const TableFile table(With(limits, variation));
  const std::string text = AskChild([&] {
    UseGpu();
    ::setenv("SAMPAN_COPY_PATH", std::string(variation.path).c_str(), 1);
    ::setenv("SAMPAN_COPY_TABLE", table.name().c_str(), 1);
    return MeasureHere(together, seconds);
  });
  const char* at = text.data();
  for (const std::size_t place : places) {
    long long picoseconds = 0;
    const auto [end, error] = std::from_chars(at, text.data() + text.size(), picoseconds);
    if (error != std::errc()) throw Failure(kCheckFailed, "a process that measured ended early");
    at = end + 1;
    times[place] = std::min(times[place], static_cast<double>(picoseconds) * 1e-12);
  }
}

}  // namespace

std::string AskGpuName() {
  return AskChild([] {
    UseGpu();
    const Session session;
    return GpuName();
  });
}

std::vector<double> RunTrials(const std::vector<Trial>& trials, const cuda::PathLimits& limits,
                              double seconds, const std::function<void(std::size_t done)>& show) {
  // Twice, all of them in between: what slows the machine for a while does not slow one way alone.
  constexpr std::size_t kPasses = 2;
  std::vector<Variation> variations;
  for (const Trial& trial : trials) {
    if (std::find(variations.begin(), variations.end(), trial.variation) == variations.end())
      variations.push_back(trial.variation);
  }
  std::vector<double> times(trials.size(), std::numeric_limits<double>::infinity());
  for (std::size_t pass = 0; pass < kPasses; ++pass) {
    for (std::size_t i = 0; i < variations.size(); ++i) {
      show(trials.size() * (pass * variations.size() + i) / (kPasses * variations.size()));
      RunVariation(variations[i], trials, limits, seconds / kPasses, times);
    }
  }
  return times;
}

}  // namespace sampan::tool
