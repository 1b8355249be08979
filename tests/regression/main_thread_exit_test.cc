// After pthread_exit of the main thread the process went on for ever, with nothing but threads of the
// runtime.
#include <gtest/gtest.h>
#include <pthread.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <string>
#include <string_view>
#include <thread>

#include "acl/acl.h"
#include "tests/support/acl_expect.h"
#include "tests/support/child_process.h"
#include "tests/support/memory_buffer.h"

// Each test ends its process by the end of its threads.
namespace sampan::test::main_thread_exit_test {
namespace {

void Say(std::string_view text) {
  [[maybe_unused]] const ssize_t written = ::write(STDOUT_FILENO, text.data(), text.size());
}

void ExpectEnd(const std::string& said) {
  // The test framework would catch what pthread_exit unwinds with.
  const ChildResult child = RunInChild({{"GTEST_CATCH_EXCEPTIONS", "0"}});
  EXPECT_FALSE(child.timed_out) << "the process never ends";
  EXPECT_EQ(child.exit_code, 0) << child;
  EXPECT_NE(child.output.find(said), std::string::npos) << child;
}

TEST(MainThreadExit, EndsTheProcessWhenNoOtherThreadIsLeft) {
  if (InChild()) {
    EXPECT_ACL(ACL_SUCCESS, aclrtSetDevice(0));
    std::atexit([] { Say("exit handlers ran\n"); });
    ::pthread_exit(nullptr);
  }
  ExpectEnd("exit handlers ran");
}

TEST(MainThreadExit, LetsOtherThreadsOfTheProgramFinish) {
  if (InChild()) {
    EXPECT_ACL(ACL_SUCCESS, aclrtSetDevice(0));
    std::thread([] {
      std::this_thread::sleep_for(std::chrono::milliseconds(300));
      const bool works = aclrtSetDevice(0) == ACL_SUCCESS && aclrtSynchronizeDevice() == ACL_SUCCESS;
      Say(works ? "the thread finished\n" : "a call failed\n");
    }).detach();
    ::pthread_exit(nullptr);
  }
  ExpectEnd("the thread finished");
}

TEST(MainThreadExit, BeforeTheFirstCallEndsTheProcessToo) {
  if (InChild()) {
    std::thread([] {
      std::this_thread::sleep_for(std::chrono::milliseconds(100));
      Say(aclrtSetDevice(0) == ACL_SUCCESS ? "the call worked\n" : "the call failed\n");
    }).detach();
    ::pthread_exit(nullptr);
  }
  ExpectEnd("the call worked");
}

TEST(MainThreadExit, WaitsForARunningHostFunction) {
  if (InChild()) {
    EXPECT_ACL(ACL_SUCCESS, aclrtSetDevice(0));
    const auto finish = [](void*) {
      std::this_thread::sleep_for(std::chrono::milliseconds(300));
      Say("the function finished\n");
    };
    EXPECT_ACL(ACL_SUCCESS, aclrtLaunchHostFunc(nullptr, finish, nullptr));
    std::this_thread::sleep_for(std::chrono::milliseconds(100));  // until it runs
    ::pthread_exit(nullptr);
  }
  ExpectEnd("the function finished");
}

}  // namespace
}  // namespace sampan::test::main_thread_exit_test
