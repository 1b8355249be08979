// Which path the runtime takes for a copy, and why. The trace of a process of its own says it.
#pragma once

#include <optional>
#include <string>

#include "bench/copies/copy_case.h"
#include "tools/sampan/bench/worker_process.h"
#include "tools/sampan/shared/command_line/command.h"
#include "tools/sampan/shared/process/temporary_folder.h"

namespace sampan::tool {

struct TakenPath {
  std::string name;    ///< as in docs/TRACE.md
  std::string reason;  ///< empty: the runtime had no choice
};

/// A process that makes each copy once, with the same settings as this one. A trace would cost the measured
/// copies time. Create it before this process starts the runtime. Not thread-safe.
class TakenPaths {
 public:
  explicit TakenPaths(const Arguments& arguments);

  /// Returns nothing if the imitated chip has no such copy, or after an interrupt. Throws a Failure if the
  /// copy or its trace fails.
  std::optional<TakenPath> Of(const bench::CopyPlan& plan);

 private:
  const TemporaryFolder folder_;
  WorkerProcess process_;
};

}  // namespace sampan::tool
