// Runs a function in a child process and returns its standard output.
#pragma once

#include <functional>
#include <string>

namespace sampan::tool {

struct ChildOutput {
  int status = -1;  ///< exit status; -1 if a signal killed it
  std::string text;
};

/// Runs the body in a forked process without standard error. The body may call exec.
ChildOutput OutputOfChild(const std::function<int()>& body);

}  // namespace sampan::tool
