// Says which path a request took, and why: to observers and to the debug log.
#pragma once

#include "backend/cuda/paths/copy_path.h"
#include "base/error/text.h"
#include "base/log/log.h"
#include "observe/hooks.h"

namespace sampan::cuda {

inline observe::Path ObservedPath(CopyPath path) {
  switch (path) {
    case CopyPath::kEngine:
      return observe::Path::kEngine;
    case CopyPath::kBatchCall:
      return observe::Path::kBatchCall;
    case CopyPath::kKernel:
      return observe::Path::kKernel;
    case CopyPath::kDense:
      return observe::Path::kDense;
    case CopyPath::kBlocking:
      return observe::Path::kBlocking;
    case CopyPath::kStaged:
      return observe::Path::kStaged;
  }
  return observe::Path::kNone;
}

/// `what` becomes text only if the log takes it.
template <typename... What>
void NotePath(Direction direction, const PathChoice& choice, const What&... what) {
  observe::NotePath(ObservedPath(choice.path), choice.why);
  if (!LogEnabled(LogLevel::kDebug, "RUNTIME")) return;
  Log(LogLevel::kDebug, "RUNTIME",
      Text(what..., ", ", Describe(direction), ": path ", Describe(choice.path), ", because ", choice.why));
}

}  // namespace sampan::cuda
