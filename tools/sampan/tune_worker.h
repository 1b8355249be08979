// A process in which the runtime is made to copy by a certain way.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>

#include "answering_process.h"
#include "backend/cuda/copy_table.h"
#include "copy_case.h"

namespace sampan::tool {

/// What is different from the runtime's usual choice.
struct Variation {
  std::string_view path = "auto";  ///< SAMPAN_COPY_PATH
  std::string_view limit = {};     ///< a limit of the table that has another value
  std::size_t value = 0;

  bool operator==(const Variation&) const = default;
};

/// The name of the first GPU, asked in a process of its own. Throws a Failure with the runtime's reason when
/// there is none that it can use.
std::string AskGpuName();

/// Uses the first GPU. The members throw a Failure when the runtime refuses the copy, and an Interruption.
class TuneWorker {
 public:
  /// The process finds the limits, with the variation, in a table of its own.
  TuneWorker(const Variation& variation, const cuda::PathLimits& limits);

  const Variation& variation() const { return variation_; }
  /// Gets a copy ready.
  void Begin(const CopyPlan& plan);
  /// The median seconds of that copy, made for about so long.
  double Measure(double seconds);
  /// Makes it once more; throws a Failure when bytes are wrong.
  void Verify();

 private:
  /// A file that is gone with this object.
  class TableFile {
   public:
    explicit TableFile(const cuda::PathLimits& limits);
    ~TableFile();
    TableFile(const TableFile&) = delete;
    TableFile& operator=(const TableFile&) = delete;
    const std::string& name() const { return path_.native(); }

   private:
    const std::filesystem::path path_;
  };
  enum class Step { kBegin, kMeasure, kVerify };
  struct Request {
    Step step;
    CopyPlan plan;
    double seconds;
  };
  class Bench;  // the child's side

  double Ask(const Request& request);

  const Variation variation_;
  const TableFile table_;
  AnsweringProcess process_;
};

}  // namespace sampan::tool
