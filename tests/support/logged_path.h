// Which way the runtime says, in its debug log, that a copy took.
#pragma once

#include <gtest/gtest.h>

#include <initializer_list>
#include <string>

#include "tests/support/child_process.h"

namespace sampan::test {

/// Runs the current test in a child process with that SAMPAN_COPY_PATH, and looks for the lines.
inline void ExpectLogged(const char* path, std::initializer_list<const char*> lines) {
  const ChildResult child = RunInChild(
      {{"ASCEND_GLOBAL_LOG_LEVEL", "0"}, {"ASCEND_LOG_PRINT_TO_STDOUT", "1"}, {"SAMPAN_COPY_PATH", path}});
  EXPECT_TRUE(child.Passed()) << child;
  for (const char* const line : lines)
    EXPECT_NE(child.output.find(line), std::string::npos) << line << "\n" << child;
}

}  // namespace sampan::test
