// Copies that are timed on the GPU while the runtime is made to take a certain way.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

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

struct Trial {
  Variation variation;
  CopyPlan plan;
};

/// The name of the first GPU, asked in a process of its own. Throws a Failure with the runtime's reason when
/// there is none that it can use.
std::string AskGpuName();

/// The median seconds of each trial, every one measured for about so long and its bytes verified. All with
/// the same variation share a process, which finds the limits in a table of its own; each has two, one after
/// all the others, and the shorter of both times counts. `show` is told of progress. Throws a Failure when
/// the runtime refuses a copy or bytes are wrong.
std::vector<double> RunTrials(const std::vector<Trial>& trials, const cuda::PathLimits& limits,
                              double seconds, const std::function<void(std::size_t done)>& show);

}  // namespace sampan::tool
