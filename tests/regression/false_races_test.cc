// ThreadSanitizer reported races between copies and the accesses of correct programs, and found none of wrong
// ones.
#include <gtest/gtest.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/personality.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <sstream>
#include <string>
#include <vector>

namespace sampan::test::false_races_test {
namespace {

struct Outcome {
  int exit_code = -1;
  std::string text;

  bool IsSilent() const { return exit_code == 0 && text.find("ThreadSanitizer") == std::string::npos; }
  bool IsReport() const {
    return exit_code == 66 && text.find("WARNING: ThreadSanitizer: data race") != std::string::npos;
  }
};

Outcome RunCommand(const std::string& command) {
  // Older versions of ThreadSanitizer do not start under every random layout of addresses.
  const int before = ::personality(0xffffffff);
  ::personality(static_cast<unsigned long>(before) | ADDR_NO_RANDOMIZE);
  FILE* const pipe = ::popen((command + " 2>&1").c_str(), "r");
  ::personality(static_cast<unsigned long>(before));
  Outcome outcome;
  if (pipe == nullptr) return outcome;
  std::array<char, 4096> piece{};
  while (const std::size_t length = ::fread(piece.data(), 1, piece.size(), pipe))
    outcome.text.append(piece.data(), length);
  const int status = ::pclose(pipe);
  if (WIFEXITED(status)) outcome.exit_code = WEXITSTATUS(status);
  return outcome;
}

/// The long history is for the cases in which a stream does much after the race.
Outcome RunCase(const std::string& program, const std::string& arguments, bool with_names = false) {
  return RunCommand("TSAN_OPTIONS=halt_on_error=1:exitcode=66:atexit_sleep_ms=50:history_size=7:symbolize=" +
                    std::string(with_names ? "1" : "0") + " '" + program + "' " + arguments);
}

std::vector<std::string> Programs() {
  std::vector<std::string> programs;
  std::istringstream paths(WATCHED_PROGRAMS);
  for (std::string path; std::getline(paths, path, ':');)
    programs.push_back(path);
  return programs;
}

/// How often each case runs: WATCHED_RUNS, or once.
int RunCount() {
  const char* const text = ::getenv("WATCHED_RUNS");
  return text == nullptr ? 1 : ::atoi(text);
}

/// process-6
class WatchedProgram : public ::testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    if (::access(GetParam().c_str(), X_OK) != 0)
      GTEST_SKIP() << GetParam() << " was not made: the compiler is missing or has no ThreadSanitizer";
    std::istringstream lines(RunCommand("'" + GetParam() + "'").text);
    for (std::string line; std::getline(lines, line);)
      cases_.push_back(line);
    ASSERT_GE(cases_.size(), 25U);
  }

  std::vector<std::string> cases_;
};

TEST_P(WatchedProgram, IsSilentWhenItIsCorrect) {
  for (const std::string& each : cases_) {
    for (int i = 0; i < RunCount(); ++i) {
      const Outcome outcome = RunCase(GetParam(), each);
      ASSERT_TRUE(outcome.IsSilent()) << each << ", run " << i << ", exit code " << outcome.exit_code << "\n"
                                      << outcome.text;
    }
  }
}

TEST_P(WatchedProgram, IsToldOfAMissingSynchronisation) {
  for (const std::string& each : cases_) {
    for (int i = 0; i < RunCount(); ++i) {
      const Outcome outcome = RunCase(GetParam(), each + " wrong");
      ASSERT_TRUE(outcome.IsReport()) << each << ", run " << i << ", exit code " << outcome.exit_code << "\n"
                                      << outcome.text;
    }
  }
}

/// A report names the stream, and the call in the program that submitted the copy.
TEST_P(WatchedProgram, IsToldWhereTheCopyCameFrom) {
  const Outcome outcome = RunCase(GetParam(), "write_short wrong", true);
  for (const char* const part : {"stream 1 of device 0", "aclrtMemcpyAsync", "Up", "watched_program.cc"})
    EXPECT_NE(outcome.text.find(part), std::string::npos) << part << " is missing in\n" << outcome.text;
}

INSTANTIATE_TEST_SUITE_P(Compilers, WatchedProgram, ::testing::ValuesIn(Programs()), [](const auto& each) {
  return std::string(each.param.find("clang") != std::string::npos ? "Clang" : "Gcc");
});

}  // namespace
}  // namespace sampan::test::false_races_test
