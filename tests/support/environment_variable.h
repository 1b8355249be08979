// A variable of the environment for one test.
#pragma once

#include <cstdlib>

namespace sampan::test {

/// Sets it, and unsets it at the end. No other thread may read the environment meanwhile.
class EnvironmentVariable {
 public:
  EnvironmentVariable(const char* name, const char* value) : name_(name) { ::setenv(name, value, 1); }
  ~EnvironmentVariable() { ::unsetenv(name_); }
  EnvironmentVariable(const EnvironmentVariable&) = delete;
  EnvironmentVariable& operator=(const EnvironmentVariable&) = delete;

 private:
  const char* const name_;
};

}  // namespace sampan::test
