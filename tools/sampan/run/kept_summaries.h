// The summaries of processes that ended without a word.
#pragma once

#include <memory>

#include "tools/sampan/shared/process/environment.h"
#include "tools/sampan/shared/process/temporary_folder.h"

namespace sampan::tool {

/// Processes of the program keep their summary so far in a folder. A process that exits prints its summary
/// itself.
class KeptSummaries {
 public:
  /// Changes the environment of the program, if that asks for a summary.
  explicit KeptSummaries(Environment& environment);

  /// Prints on standard error what processes left that are gone and did not tell it.
  void Tell() const;

 private:
  std::unique_ptr<TemporaryFolder> folder_;  // null: there is nothing to keep
};

}  // namespace sampan::tool
