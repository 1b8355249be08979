// The trace record of a task, from the task itself.
#pragma once

#include <cstddef>

#include "backend/api/task.h"
#include "trace/record.h"

namespace sampan::trace {

/// A record in the making, with what belongs behind it.
struct TaskDescription {
  TaskRecord record{};
  union {
    RowsShape rows;
    Piece pieces[kMaxPieces];
    BatchOutline outline;
    ReduceShape reduce;
    WordShape word;
  };
  std::size_t more_bytes = 0;

  TaskDescription() {
  }  // NOLINT(cppcoreguidelines-pro-type-member-init): what is behind is written where needed
};

/// Fills in what the task tells: its type, form, bytes, ends and shape.
void FillRecord(const Task& task, TaskDescription& description);

}  // namespace sampan::trace
