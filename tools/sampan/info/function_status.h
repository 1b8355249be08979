// All public functions of AscendCL and HCCL, and whether they work here. The table is generated from the
// sources.
#pragma once

#include <span>
#include <string_view>

namespace sampan::tool {

struct FunctionStatus {
  std::string_view name;
  bool works;  ///< otherwise it is exported and refuses
};

/// Sorted by name.
std::span<const FunctionStatus> AllFunctions();

}  // namespace sampan::tool
