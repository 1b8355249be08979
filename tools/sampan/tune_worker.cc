// A process in which the runtime is made to copy by a certain way.
#include "tune_worker.h"

#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include <fstream>
#include <memory>
#include <optional>
#include <vector>

#include "driver_calls.h"
#include "failure.h"
#include "interrupt.h"
#include "measurement.h"
#include "repeated_copy.h"
#include "session.h"

namespace sampan::tool {
namespace {

/// For a child: what the runtime has to say comes back as an answer, and nothing of the caller's settings
/// changes the ways that are measured. Rows within a device are part of it, which only this release has.
void UseGpuQuietly() {
  const int nowhere = ::open("/dev/null", O_RDWR | O_CLOEXEC);
  for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
    ::dup2(nowhere, stream);
  ::setenv("SAMPAN_BACKEND", "cuda", 1);
  ::setenv("SAMPAN_PROFILE", "ascend910b,cann9", 1);
  for (const char* const other : {"SAMPAN_COPY_BLOCKS", "SAMPAN_TRACE", "SAMPAN_SUMMARY"})
    ::unsetenv(other);
}

cuda::PathLimits With(cuda::PathLimits limits, const Variation& variation) {
  for (const cuda::LimitField& field : cuda::limit_fields()) {
    if (field.name == variation.limit) field.of(limits) = variation.value;
  }
  return limits;
}

std::filesystem::path NewTablePath() {
  static int made = 0;
  return std::filesystem::temp_directory_path() /
         ("sampan_tune." + std::to_string(::getpid()) + "." + std::to_string(++made) + ".txt");
}

}  // namespace

std::string AskGpuName() {
  AnsweringProcess process("a process that asked for the GPU", []() -> AnsweringProcess::Answer {
    UseGpuQuietly();
    return [](std::string_view) {
      const Session session;
      return GpuName();
    };
  });
  const auto name = process.Ask("name");
  StopIfInterrupted();
  return name.value();
}

TuneWorker::TableFile::TableFile(const cuda::PathLimits& limits) : path_(NewTablePath()) {
  std::ofstream file(path_);
  file << cuda::WriteCopyTable(limits);
  if (!file.flush())
    throw Failure(kOutputFailed, "cannot write " + path_.string() + "; TMPDIR chooses the folder");
}

TuneWorker::TableFile::~TableFile() {
  std::error_code ignored;
  std::filesystem::remove(path_, ignored);
}

class TuneWorker::Bench {
 public:
  double Do(const Request& request) {
    if (!session_) session_.emplace();
    switch (request.step) {
      case Step::kBegin:
        copy_.reset();
        copy_.emplace(request.plan, *session_);
        if (!copy_->Begin()) throw Failure(kCheckFailed, "the runtime does not offer " + copy_->name());
        return 0;
      case Step::kMeasure: {
        std::vector<double> times;
        RepeatFor(request.seconds, [&] { times.push_back(copy_->TimeOnce()); });
        if (times.empty()) throw Failure(kCheckFailed, "interrupted");
        return Summarize(std::move(times)).median_seconds;
      }
      case Step::kVerify:
        if (const auto fault = copy_->Verify())
          throw Failure(kCheckFailed, copy_->name() + ": wrong bytes, " + *fault);
        return 0;
    }
    return 0;
  }

 private:
  std::optional<Session> session_;
  std::optional<RepeatedCopy> copy_;
};

TuneWorker::TuneWorker(const Variation& variation, const cuda::PathLimits& limits)
    : variation_(variation),
      table_(With(limits, variation)),
      process_("a process that measured", [&]() -> AnsweringProcess::Answer {
        UseGpuQuietly();
        ::setenv("SAMPAN_COPY_PATH", std::string(variation_.path).c_str(), 1);
        ::setenv("SAMPAN_COPY_TABLE", table_.name().c_str(), 1);
        return [bench = std::make_shared<Bench>()](std::string_view asked) {
          const double answer = bench->Do(FromBytes<Request>(asked));
          return std::string(BytesOf(answer));
        };
      }) {}

double TuneWorker::Ask(const Request& request) {
  const auto told = process_.Ask(BytesOf(request));
  StopIfInterrupted();
  return FromBytes<double>(told.value());
}

void TuneWorker::Begin(const CopyPlan& plan) {
  Ask({.step = Step::kBegin, .plan = plan, .seconds = 0});
}

double TuneWorker::Measure(double seconds) {
  return Ask({.step = Step::kMeasure, .plan = {}, .seconds = seconds});
}

void TuneWorker::Verify() {
  Ask({.step = Step::kVerify, .plan = {}, .seconds = 0});
}

}  // namespace sampan::tool
