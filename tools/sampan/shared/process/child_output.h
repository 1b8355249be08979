// Asks a child process something and takes its answer from its standard output.
#pragma once

#include <functional>
#include <string>

namespace sampan::tool {

struct ChildOutput {
  int status = -1;  ///< exit status; -1 when a signal ended it
  std::string text;
};

/// Runs the body in a forked process without standard error. The body may become another program.
ChildOutput OutputOfChild(const std::function<int()>& body);

}  // namespace sampan::tool
