// Names the place of an instruction, in this process or another one.
#pragma once

#include <cstdint>
#include <string>

namespace sampan::core {

/// "main at /src/copy.cc:12"; without debug information "app+0x1234"; empty if the process has no such code,
/// or is not this user's. Slow: callers keep the result. Thread-safe.
std::string DescribeCode(std::int64_t process, std::uintptr_t instruction);

}  // namespace sampan::core
