// Writes the path of a request and its reason to the trace and to the debug log.
#pragma once

#include "backend/cuda/paths/copy_path.h"
#include "base/error/text.h"
#include "base/log/log.h"
#include "trace/trace.h"

namespace sampan::cuda {

inline summary::Path TracePath(CopyPath path) {
  switch (path) {
    case CopyPath::kEngine:
      return summary::Path::kEngine;
    case CopyPath::kBatchCall:
      return summary::Path::kBatchCall;
    case CopyPath::kKernel:
      return summary::Path::kKernel;
    case CopyPath::kBlocking:
      return summary::Path::kBlocking;
    case CopyPath::kStaged:
      return summary::Path::kStaged;
  }
  return summary::Path::kNone;
}

/// `what` becomes text only if a log or a trace reads it.
template <typename... What>
void NotePath(Direction direction, const PathChoice& choice, const What&... what) {
  trace::NotePath(TracePath(choice.path), choice.why);
  if (!LogEnabled(LogLevel::kDebug, "RUNTIME")) return;
  Log(LogLevel::kDebug, "RUNTIME",
      Text(what..., ", ", Describe(direction), ": path ", Describe(choice.path), ", because ", choice.why));
}

}  // namespace sampan::cuda
