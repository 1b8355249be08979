// A process that answers: answers and refusals, its end, interrupts, requests that do not fit, and programs
// whose standard streams are closed.
#include "tools/sampan/bench/worker_process.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <stdexcept>
#include <string>

#include "tools/sampan/shared/command_line/failure.h"
#include "tools/sampan/shared/process/interrupt.h"

namespace sampan::tool::worker_process_test {
namespace {

struct Sum {
  int first, second;
};

WorkerProcess::Reply AddThem() {
  return [sums = 0](std::string_view request) mutable {
    const auto [first, second] = FromBytes<Sum>(request);
    if (first < 0) throw Failure(kCheckFailed, "sum " + std::to_string(sums) + " begins below 0");
    if (second < 0) ::raise(SIGKILL);
    ++sums;
    return std::to_string(first + second);
  };
}

std::string ReasonOf(WorkerProcess& process, std::string_view request) {
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

TEST(WorkerProcess, AnswersUntilItGoes) {
  WorkerProcess process("the adder", AddThem);
  EXPECT_EQ(process.Ask(BytesOf(Sum{1, 2})), "3");
  EXPECT_EQ(process.Ask(BytesOf(Sum{20, 22})), "42");
}

TEST(WorkerProcess, RefusesWithTheReasonAndGoesOn) {
  WorkerProcess process("the adder", AddThem);
  EXPECT_EQ(process.Ask(BytesOf(Sum{1, 2})), "3");
  EXPECT_EQ(ReasonOf(process, BytesOf(Sum{-1, 2})), "sum 1 begins below 0");
  EXPECT_EQ(ReasonOf(process, "cut"), "a message between processes is cut");
  EXPECT_EQ(process.Ask(BytesOf(Sum{2, 2})), "4");
}

TEST(WorkerProcess, ItsEndIsTold) {
  WorkerProcess process("the adder", AddThem);
  EXPECT_EQ(ReasonOf(process, BytesOf(Sum{1, -1})), "signal 9 ended the adder");
  EXPECT_EQ(ReasonOf(process, BytesOf(Sum{1, 1})), "the adder has ended");
}

TEST(WorkerProcess, ABeginningThatFailsIsItsEnd) {
  WorkerProcess process("the adder", []() -> WorkerProcess::Reply { throw std::runtime_error("no"); });
  EXPECT_EQ(ReasonOf(process, BytesOf(Sum{1, 1})), "the adder ended with status 1");
}

TEST(WorkerProcess, RequestsThatDoNotFitAreRefused) {
  WorkerProcess process("the adder", AddThem);
  EXPECT_THROW(process.Ask(""), std::length_error);
  EXPECT_THROW(process.Ask(std::string(WorkerProcess::kMaxRequestBytes + 1, 'x')), std::length_error);
  EXPECT_EQ(process.Ask(BytesOf(Sum{1, 2})), "3");
}

TEST(WorkerProcess, LongAnswersAreCut) {
  WorkerProcess process("the writer", []() -> WorkerProcess::Reply {
    return [](std::string_view) { return std::string(2 * WorkerProcess::kMaxReplyBytes, 'x'); };
  });
  EXPECT_EQ(process.Ask("?").value_or(""), std::string(WorkerProcess::kMaxReplyBytes - 1, 'x'));
}

TEST(WorkerProcess, AnInterruptEndsTheWait) {
  const int status = StatusOf([] {
    WorkerProcess process("the sleeper", []() -> WorkerProcess::Reply {
      return [](std::string_view) {
        ::kill(::getppid(), SIGINT);
        ::pause();
        return std::string();
      };
    });
    ::signal(SIGINT, SIG_DFL);  // a test that a shell started in the background inherits that it is ignored
    WatchForInterrupt();
    return process.Ask("?").has_value() ? 1 : Interrupted();
  });
  EXPECT_EQ(status, SIGINT);
}

TEST(WorkerProcess, WorksWhereTheStandardStreamsAreClosed) {
  const int status = StatusOf([] {
    for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
      ::close(stream);
    WorkerProcess process("the adder", []() -> WorkerProcess::Reply {
      for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
        ::close(stream);  // as a child does that puts something else there
      return AddThem();
    });
    return process.Ask(BytesOf(Sum{1, 2})) == "3" ? 0 : 1;
  });
  EXPECT_EQ(status, 0);
}

}  // namespace
}  // namespace sampan::tool::worker_process_test
