// The steps of a replay: the copies of a trace, and everything that orders them.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "base/reduce/reduce_kernels.h"
#include "summary/activity.h"
#include "summary/summary.h"
#include "tools/sampan/shared/trace/trace_reader.h"

namespace sampan::tool {

/// One end of a copy: an offset in an allocation of the trace. If the allocation is 0: an address of pageable
/// memory.
struct ReplayPlace {
  std::uint64_t allocation = 0;
  std::uint64_t offset = 0;
};

struct ReplayPiece {
  ReplayPlace dst, src;
  std::uint64_t bytes = 0;
};

struct ReplayRows {
  std::uint64_t width = 0, height = 0, dst_pitch = 0, src_pitch = 0;
};

struct ReplayReduction {
  ReduceOperation operation{};
  ReduceElement element{};
};

struct ReplayStep {
  enum class Kind : std::uint8_t {
    kCopy,  ///< also fills and reductions
    kRecordEvent,
    kWaitForEvent,
    kResetEvent,
    kRecordNotify,
    kWaitForNotify,
    kWriteValue,
    kWaitForValue,
    kHostFunction,
    kAllocate,
    kFree,
    kCreateStream,
    kDestroyStream,
    kSynchronizeStream,
    kSynchronizeEvent,
    kSynchronizeDevice,
  };

  Kind kind = Kind::kCopy;
  summary::Form form = summary::Form::kNone;
  summary::Operation operation = summary::Operation::kNone;
  bool blocking = false;     ///< submitted by a blocking call
  std::uint32_t thread = 0;  ///< of the replay, from 0
  std::int32_t device = 0;
  std::int32_t dst_device = 0, src_device = 0;
  std::int64_t stream = -1;     ///< -1: none
  std::int64_t task = -1;       ///< its number in the stream
  std::int64_t connection = 0;  ///< of a task
  std::uint64_t object = 0;     ///< allocation, event or notify; the value of a word
  std::uint64_t bytes = 0;      ///< of a host function: its nanoseconds
  std::int64_t at_ns = 0;       ///< orders all steps
  std::int64_t due_ns = 0;      ///< when the program called, since the first step
  std::size_t line = 0;         ///< of the trace
  std::size_t detail = 0;       ///< index of rows, batch or reduction; condition of a wait for a word
  ReplayPlace dst, src;
};

struct ReplayAllocation {
  std::uint64_t bytes = 0;
  std::int32_t device = -1;  ///< -1: pinned memory
};

struct ReplayPlan {
  std::vector<ReplayStep> steps;  ///< in the order in which they begin
  std::vector<ReplayRows> rows;
  std::vector<std::vector<ReplayPiece>> batches;
  std::vector<ReplayReduction> reductions;
  std::map<std::uint64_t, ReplayAllocation> allocations;
  std::vector<std::pair<std::uint64_t, std::uint64_t>> pageable;  ///< ranges [begin, end) of pageable memory
  std::map<std::pair<std::int32_t, std::int64_t>, bool> default_streams;  ///< by device and number
  std::uint32_t threads = 0;
  std::int32_t devices = 0;  ///< how many are needed
  std::size_t copies = 0;
  std::uint64_t bytes = 0;
  std::vector<std::string> left_out;  ///< what cannot be repeated, in sentences
  TraceFacts facts;
  summary::Report recorded;
};

/// Reads the trace. Throws a Failure if it cannot be read.
ReplayPlan PlanReplay(const std::filesystem::path& trace);

}  // namespace sampan::tool
