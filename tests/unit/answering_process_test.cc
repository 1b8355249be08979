// A process that answers: answers and refusals, its end, interrupts, requests that do not fit, and programs
// whose standard streams are closed.
#include "tools/sampan/bench/answering_process.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <stdexcept>
#include <string>

#include "tools/sampan/shared/command_line/failure.h"
#include "tools/sampan/shared/process/interrupt.h"

namespace sampan::tool::answering_process_test {
namespace {

struct Sum {
  int first, second;
};

AnsweringProcess::Answer AddThem() {
  return [sums = 0](std::string_view request) mutable {
    const auto [first, second] = FromBytes<Sum>(request);
    if (first < 0) throw Failure(kCheckFailed, "sum " + std::to_string(sums) + " begins below 0");
    if (second < 0) ::raise(SIGKILL);
    ++sums;
    return std::to_string(first + second);
  };
}

std::string ReasonOf(AnsweringProcess& process, std::string_view request) {
  try {
    return "answered " + process.Ask(request).value_or("nothing");
  } catch (const Failure& failure) {
    return failure.what();
  }
}

/// The exit status of a process of its own.
template <typename Body>
int StatusOf(Body body) {
  const pid_t child = ::fork();
  if (child == 0) ::_exit(body());
  int status = 0;
  ::waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

TEST(AnsweringProcess, AnswersUntilItGoes) {
  AnsweringProcess process("the adder", AddThem);
  EXPECT_EQ(process.Ask(BytesOf(Sum{1, 2})), "3");
  EXPECT_EQ(process.Ask(BytesOf(Sum{20, 22})), "42");
}

TEST(AnsweringProcess, RefusesWithTheReasonAndGoesOn) {
  AnsweringProcess process("the adder", AddThem);
  EXPECT_EQ(process.Ask(BytesOf(Sum{1, 2})), "3");
  EXPECT_EQ(ReasonOf(process, BytesOf(Sum{-1, 2})), "sum 1 begins below 0");
  EXPECT_EQ(ReasonOf(process, "cut"), "a message between processes is cut");
  EXPECT_EQ(process.Ask(BytesOf(Sum{2, 2})), "4");
}

TEST(AnsweringProcess, ItsEndIsTold) {
  AnsweringProcess process("the adder", AddThem);
  EXPECT_EQ(ReasonOf(process, BytesOf(Sum{1, -1})), "signal 9 ended the adder");
  EXPECT_EQ(ReasonOf(process, BytesOf(Sum{1, 1})), "the adder has ended");
}

TEST(AnsweringProcess, ABeginningThatFailsIsItsEnd) {
  AnsweringProcess process("the adder", []() -> AnsweringProcess::Answer { throw std::runtime_error("no"); });
  EXPECT_EQ(ReasonOf(process, BytesOf(Sum{1, 1})), "the adder ended with status 1");
}

TEST(AnsweringProcess, RequestsThatDoNotFitAreRefused) {
  AnsweringProcess process("the adder", AddThem);
  EXPECT_THROW(process.Ask(""), std::length_error);
  EXPECT_THROW(process.Ask(std::string(AnsweringProcess::kMostRequest + 1, 'x')), std::length_error);
  EXPECT_EQ(process.Ask(BytesOf(Sum{1, 2})), "3");
}

TEST(AnsweringProcess, LongAnswersAreCut) {
  AnsweringProcess process("the writer", []() -> AnsweringProcess::Answer {
    return [](std::string_view) { return std::string(2 * AnsweringProcess::kMostAnswer, 'x'); };
  });
  EXPECT_EQ(process.Ask("?").value_or(""), std::string(AnsweringProcess::kMostAnswer - 1, 'x'));
}

TEST(AnsweringProcess, AnInterruptEndsTheWait) {
  const int status = StatusOf([] {
    AnsweringProcess process("the sleeper", []() -> AnsweringProcess::Answer {
      return [](std::string_view) {
        ::kill(::getppid(), SIGINT);
        ::pause();
        return std::string();
      };
    });
    WatchForInterrupt();
    return process.Ask("?").has_value() ? 1 : Interrupted();
  });
  EXPECT_EQ(status, SIGINT);
}

TEST(AnsweringProcess, WorksWhereTheStandardStreamsAreClosed) {
  const int status = StatusOf([] {
    for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
      ::close(stream);
    AnsweringProcess process("the adder", []() -> AnsweringProcess::Answer {
      for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
        ::close(stream);  // as a child does that puts something else there
      return AddThem();
    });
    return process.Ask(BytesOf(Sum{1, 2})) == "3" ? 0 : 1;
  });
  EXPECT_EQ(status, 0);
}

}  // namespace
}  // namespace sampan::tool::answering_process_test
