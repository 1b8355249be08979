// Names of functions as programmers write them.
#pragma once

#include <string>
#include <string_view>

namespace sampan::tool {

/// "Pool::Refill" for "_ZN4Pool6RefillEPvm": without parameters, return type and what the compiler appended.
/// A name that is not mangled stays.
std::string FunctionName(std::string_view symbol);

}  // namespace sampan::tool
