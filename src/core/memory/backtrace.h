// Where in the program a call came from.
#pragma once

#include <string>

namespace sampan {

/// The frames of the calling thread, one a line, without the runtime's own first ones.
std::string CurrentBacktrace();

}  // namespace sampan
