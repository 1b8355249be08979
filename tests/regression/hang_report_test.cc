// A hang was invisible: no message said what a stream waits for and who has to signal it. (process-7,
// process-8)
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <string>
#include <string_view>

#include "acl/acl.h"
#include "tests/support/acl_expect.h"
#include "tests/support/child_process.h"
#include "tests/support/device_fixture.h"
#include "tests/support/stream.h"

namespace sampan::test::hang_report_test {
namespace {

bool Has(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

/// The latest failure of the calling thread, in words.
std::string Message() {
  const char* const text = aclGetRecentErrMsg();
  return text != nullptr ? text : "";
}

/// Returns when the stream stands at a wait, however long an engine takes to come to it.
void AwaitStand(aclrtStream stream) {
  const auto give_up = std::chrono::steady_clock::now() + std::chrono::seconds(60);
  do {
    EXPECT_ACL(507046, aclrtSynchronizeStreamWithTimeout(stream, 5));
  } while (!Has(Message(), "stands at task ") && std::chrono::steady_clock::now() < give_up);
}

/// A notify that nothing records until the object goes.
class HeldStream {
 public:
  HeldStream() {
    EXPECT_ACL(ACL_SUCCESS, aclrtCreateNotify(&notify_, 0));
    EXPECT_ACL(ACL_SUCCESS, aclrtWaitAndResetNotify(notify_, held, 0));
    AwaitStand(held);
  }
  ~HeldStream() {
    EXPECT_ACL(ACL_SUCCESS, aclrtRecordNotify(notify_, other_));
    EXPECT_ACL(ACL_SUCCESS, aclrtSynchronizeStream(held));
    EXPECT_ACL(ACL_SUCCESS, aclrtDestroyNotify(notify_));
  }
  HeldStream(const HeldStream&) = delete;
  HeldStream& operator=(const HeldStream&) = delete;

  Stream held;

 private:
  Stream other_;
  aclrtNotify notify_ = nullptr;
};

class HangReport : public DeviceTest {};

TEST_F(HangReport, ATimeLimitOfAStreamNamesTheWaitAndWhoSignals) {
  HeldStream stream;
  EXPECT_ACL(507046, aclrtSynchronizeStreamWithTimeout(stream.held, 50));
  const std::string message = Message();
  EXPECT_TRUE(Has(message, "time limit of 50 ms")) << message;
  EXPECT_TRUE(Has(message, "stands at task 1 of 1: a wait for notify ")) << message;
  EXPECT_TRUE(Has(message, "no queued task of this process records notify ")) << message;
}

TEST_F(HangReport, ATimeLimitFollowsEventsToTheirStream) {
  const Stream waiting;
  const Event event;
  HeldStream stream;
  EXPECT_ACL(ACL_SUCCESS, aclrtRecordEvent(event, stream.held));
  EXPECT_ACL(ACL_SUCCESS, aclrtStreamWaitEvent(waiting, event));
  AwaitStand(waiting);
  EXPECT_ACL(507046, aclrtSynchronizeStreamWithTimeout(waiting, 50));
  std::string message = Message();
  EXPECT_TRUE(Has(message, "a wait for event ")) << message;
  EXPECT_TRUE(Has(message, " records it; that stream stands at task 1")) << message;
  EXPECT_TRUE(Has(message, "stands at task 1 of 2: a wait for notify ")) << message;
  EXPECT_ACL(507047, aclrtSynchronizeEventWithTimeout(event, 50));
  message = Message();
  EXPECT_TRUE(Has(message, "time limit of 50 ms: task 2 of stream ")) << message;
  EXPECT_TRUE(Has(message, "stands at task 1 of 2: a wait for notify ")) << message;
  EXPECT_ACL(507046, aclrtSynchronizeDeviceWithTimeout(50));
  message = Message();
  EXPECT_TRUE(Has(message, "stands at task ")) << message;
}

TEST_F(HangReport, AWaitThatRunsOutNamesTheRecordingStream) {
  const Stream waiting;
  const Event event;
  HeldStream stream;
  EXPECT_ACL(ACL_SUCCESS, aclrtRecordEvent(event, stream.held));
  EXPECT_ACL(ACL_SUCCESS, aclrtStreamWaitEventWithTimeout(waiting, event, 1));
  EXPECT_NE(aclrtSynchronizeStream(waiting), ACL_SUCCESS);
  const std::string message = Message();
  EXPECT_TRUE(Has(message, "ran past its time limit of 1 s: task 2 of stream ")) << message;
  EXPECT_TRUE(Has(message, "at that time stream ")) << message;
  EXPECT_TRUE(Has(message, "a wait for notify ")) << message;
}

/// Hangs in a child, which the signal ends.
ChildResult EndedBy(int signal, void (*prepare)(int), void (*afterwards)() = nullptr) {
  if (InChild()) {
    if (prepare != nullptr) prepare(signal);
    EXPECT_ACL(ACL_SUCCESS, aclrtSetDevice(0));
    aclrtNotify notify = nullptr;
    aclrtStream stream = nullptr;
    EXPECT_ACL(ACL_SUCCESS, aclrtCreateNotify(&notify, 0));
    EXPECT_ACL(ACL_SUCCESS, aclrtCreateStream(&stream));
    EXPECT_ACL(ACL_SUCCESS, aclrtWaitAndResetNotify(notify, stream, 0));
    AwaitStand(stream);
    if (afterwards != nullptr) afterwards();
    ::raise(signal);
    ::_exit(42);
  }
  return RunInChild({});
}

TEST(HangReportSignal, SaysWhatAStreamWaitsForAndEndsTheProcess) {
  const ChildResult child = EndedBy(SIGTERM, nullptr);
  EXPECT_EQ(child.signal, SIGTERM) << child;
  EXPECT_TRUE(Has(child.errors, "Sampan: SIGTERM while 1 stream has work left:\n")) << child;
  EXPECT_TRUE(Has(child.errors, "stands at task 1 of 1: a wait for notify ")) << child;
}

TEST(HangReportSignal, HonoursAnIgnoredSignal) {
  const ChildResult child = EndedBy(SIGINT, [](int signal) { ::signal(signal, SIG_IGN); });
  EXPECT_EQ(child.exit_code, 42) << child;
  EXPECT_FALSE(Has(child.errors, "Sampan: SIGINT")) << child;
}

TEST(HangReportSignal, LeavesTheProgramsHandlerAlone) {
  const ChildResult child = EndedBy(SIGINT, [](int signal) { ::signal(signal, [](int) { ::_exit(7); }); });
  EXPECT_EQ(child.exit_code, 7) << child;
  EXPECT_FALSE(Has(child.errors, "Sampan: SIGINT")) << child;
}

TEST(HangReportSignal, LeavesAHandlerThatIsSetLaterAlone) {
  const ChildResult child = EndedBy(SIGQUIT, nullptr, [] { ::signal(SIGQUIT, [](int) { ::_exit(8); }); });
  EXPECT_EQ(child.exit_code, 8) << child;
  EXPECT_FALSE(Has(child.errors, "Sampan: SIGQUIT")) << child;
}

TEST(HangReportSignal, EndsAForkedChildWithoutAReport) {
  const ChildResult child = EndedBy(SIGTERM, nullptr, [] {
    const pid_t forked = ::fork();
    if (forked == 0) {
      ::raise(SIGTERM);
      ::_exit(9);
    }
    int status = 0;
    ::waitpid(forked, &status, 0);
    ::_exit(WIFSIGNALED(status) && WTERMSIG(status) == SIGTERM ? 10 : 11);
  });
  EXPECT_EQ(child.exit_code, 10) << child;
  EXPECT_FALSE(Has(child.errors, "Sampan: SIGTERM")) << child;
}

}  // namespace
}  // namespace sampan::test::hang_report_test
