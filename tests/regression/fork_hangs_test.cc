// A forked child's first call waited for ever for a lock that a thread of its parent held. It must answer
// 507033.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <ctime>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "acl/acl.h"
#include "tests/support/acl_expect.h"
#include "tests/support/child_process.h"

// The children of these tests end themselves by an alarm when they hang.
namespace sampan::test::fork_hangs_test {
namespace {

constexpr unsigned kLongestSeconds = 20;
enum Answer : int { kRefused = 10, kSucceeded, kOther };

/// In a child: what its call answers. Never returns.
template <typename Call>
[[noreturn]] void AnswerAndExit(Call call) {
  ::alarm(kLongestSeconds);
  const aclError code = call();
  ::_exit(code == ACL_SUCCESS ? kSucceeded : code == ACL_ERROR_RT_DEV_SETUP_ERROR ? kRefused : kOther);
}

/// How a child ended: its Answer, or the signal as a negative number.
int EndOf(pid_t child) {
  int status = 0;
  if (::waitpid(child, &status, 0) != child) return -1;
  return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

template <typename Call>
int AnswerOfForkedChild(Call call) {
  const pid_t child = ::fork();
  if (child == 0) AnswerAndExit(call);
  return EndOf(child);
}

TEST(ForkHangs, WhileThreadsAskForTheLocalTime) {
  if (DoneInChild()) return;
  ASSERT_ACL(ACL_SUCCESS, aclrtSetDevice(0));
  std::atomic<bool> stop{false};
  std::vector<std::thread> threads;
  for (int i = 0; i < 3; ++i) {
    threads.emplace_back([&] {
      while (!stop.load()) {
        const std::time_t now = std::time(nullptr);
        tm parts{};
        ::localtime_r(&now, &parts);
      }
    });
  }
  int hung = 0;
  for (int i = 0; i < 200 && hung == 0; ++i) {
    const int answer = AnswerOfForkedChild([] { return aclrtSynchronizeDevice(); });
    if (answer == -SIGALRM) ++hung;
    EXPECT_EQ(answer, kRefused) << "child " << i << (answer == -SIGALRM ? " hung" : "");
  }
  stop.store(true);
  for (std::thread& thread : threads)
    thread.join();
}

TEST(ForkHangs, WhileThreadsReportFailures) {
  if (DoneInChild()) return;
  ASSERT_ACL(ACL_SUCCESS, aclrtSetDevice(0));
  std::atomic<bool> stop{false};
  std::vector<std::thread> threads;
  for (int i = 0; i < 3; ++i) {
    threads.emplace_back([&] {
      while (!stop.load())
        aclrtFree(nullptr);
    });
  }
  int hung = 0;
  for (int i = 0; i < 200 && hung == 0; ++i) {
    const int answer = AnswerOfForkedChild([] { return aclrtSynchronizeDevice(); });
    if (answer == -SIGALRM) ++hung;
    EXPECT_EQ(answer, kRefused) << "child " << i << (answer == -SIGALRM ? " hung" : "");
  }
  stop.store(true);
  for (std::thread& thread : threads)
    thread.join();
}

void IgnoreFailure(aclrtExceptionInfo*) {}

aclError SetExceptionCallback() {
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
  return aclrtSetExceptionInfoCallback(&IgnoreFailure);
#pragma GCC diagnostic pop
}

TEST(ForkHangs, WhileThreadsSetTheExceptionCallback) {
  if (DoneInChild()) return;
  ASSERT_ACL(ACL_SUCCESS, aclrtSetDevice(0));
  const auto call = &SetExceptionCallback;
  std::atomic<bool> stop{false};
  std::vector<std::thread> threads;
  for (int i = 0; i < 3; ++i) {
    threads.emplace_back([&] {
      while (!stop.load())
        call();
    });
  }
  int hung = 0;
  for (int i = 0; i < 200 && hung == 0; ++i) {
    const int answer = AnswerOfForkedChild(call);
    if (answer == -SIGALRM) ++hung;
    EXPECT_EQ(answer, kRefused) << "child " << i << (answer == -SIGALRM ? " hung" : "");
  }
  stop.store(true);
  for (std::thread& thread : threads)
    thread.join();
}

/// In a process of its own: forks while another thread makes its very first call.
template <typename First, typename Call>
[[noreturn]] void ForkDuringFirstCall(std::chrono::microseconds delay, First first, Call call) {
  std::atomic<bool> calling{false};
  std::thread thread([&] {
    calling.store(true);
    first();
  });
  while (!calling.load()) {
  }
  const auto until = std::chrono::steady_clock::now() + delay;
  while (std::chrono::steady_clock::now() < until) {
  }
  const int answer = AnswerOfForkedChild(call);
  thread.join();
  ::_exit(answer < 0 ? 99 : answer);
}

template <typename First, typename Call>
void ExpectNoHangDuringFirstCall(First first, Call call) {
  std::random_device seed;
  std::mt19937 random(seed());
  std::uniform_int_distribution<int> delay_us(0, 3000);
  for (int i = 0; i < 100; ++i) {
    const std::chrono::microseconds delay(delay_us(random));
    const pid_t process = ::fork();  // it has not used the runtime
    if (process == 0) ForkDuringFirstCall(delay, first, call);
    const int answer = EndOf(process);
    ASSERT_TRUE(answer == kRefused || answer == kSucceeded)
        << "fork " << i << ", " << delay.count() << " us after the first call began: "
        << (answer == 99 ? "the child hung" : "answer " + std::to_string(answer));
  }
}

TEST(ForkHangs, DuringAnotherThreadsFirstCall) {
  if (DoneInChild()) return;
  const auto call = [] { return aclrtSetDevice(0); };
  ExpectNoHangDuringFirstCall(call, call);
}

TEST(ForkHangs, DuringAnotherThreadsInitialisation) {
  if (DoneInChild()) return;
  const auto call = [] { return aclInit(nullptr); };
  ExpectNoHangDuringFirstCall(call, call);
}

}  // namespace
}  // namespace sampan::test::fork_hangs_test
