// aclInit and aclFinalize ran their callbacks under the lock that every call without a context takes.
#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <future>
#include <string>
#include <thread>

#include "acl/acl.h"
#include "tests/support/acl_expect.h"
#include "tests/support/child_process.h"

namespace sampan::test::init_callback_deadlock_test {
namespace {

constexpr std::chrono::seconds kTimeout{10};

/// Runs a call on another thread; ACL_ERROR_FAILURE when it does not return.
template <typename Call>
aclError OnAnotherThread(Call call) {
  std::packaged_task<aclError()> task(call);
  auto answer = task.get_future();
  std::thread(std::move(task)).detach();
  return answer.wait_for(kTimeout) == std::future_status::ready ? answer.get() : ACL_ERROR_FAILURE;
}

/// A call without a context, which asks for the default device.
aclError AskForDevice() {
  std::int32_t device = -1;
  return aclrtGetDevice(&device);
}

aclError WaitForACallAtInit(const char*, std::size_t, void* argument) {
  *static_cast<aclError*>(argument) = OnAnotherThread(AskForDevice);
  return ACL_SUCCESS;
}

aclError WaitForACallAtFinalize(void* argument) {
  *static_cast<aclError*>(argument) = OnAnotherThread(AskForDevice);
  return ACL_SUCCESS;
}

TEST(InitCallbackDeadlock, ACallbackMayWaitForACallOfAnotherThread) {
  if (DoneInChild()) return;
  aclError at_init = ACL_SUCCESS, at_finalize = ACL_SUCCESS, late = ACL_SUCCESS;
  ASSERT_ACL(ACL_SUCCESS, aclInitCallbackRegister(ACL_REG_TYPE_OTHER, &WaitForACallAtInit, &at_init));
  ASSERT_ACL(ACL_SUCCESS,
             aclFinalizeCallbackRegister(ACL_REG_TYPE_OTHER, &WaitForACallAtFinalize, &at_finalize));
  EXPECT_ACL(ACL_SUCCESS, aclInit(nullptr));
  EXPECT_ACL(ACL_ERROR_RT_CONTEXT_NULL, at_init);
  EXPECT_ACL(ACL_SUCCESS, aclInitCallbackRegister(ACL_REG_TYPE_OTHER, &WaitForACallAtInit, &late));
  EXPECT_ACL(ACL_ERROR_RT_CONTEXT_NULL, late);
  EXPECT_ACL(ACL_SUCCESS, aclFinalize());
  EXPECT_ACL(ACL_ERROR_RT_CONTEXT_NULL, at_finalize);
}

aclError RegisterFromAnotherThread(const char*, std::size_t, void* argument) {
  const auto ignore = [](const char*, std::size_t, void*) -> aclError { return ACL_SUCCESS; };
  *static_cast<aclError*>(argument) =
      OnAnotherThread([&] { return aclInitCallbackRegister(ACL_REG_TYPE_OTHER, ignore, nullptr); });
  return ACL_SUCCESS;
}

TEST(InitCallbackDeadlock, ACallbackMayWaitForARegistration) {
  if (DoneInChild()) return;
  aclError answer = ACL_ERROR_FAILURE;
  ASSERT_ACL(ACL_SUCCESS, aclInitCallbackRegister(ACL_REG_TYPE_OTHER, &RegisterFromAnotherThread, &answer));
  EXPECT_ACL(ACL_SUCCESS, aclInit(nullptr));
  EXPECT_ACL(ACL_SUCCESS, answer);
}

struct Slow {
  std::promise<void> begun;
  std::atomic<bool> over{false};
};
aclError InitSlowly(const char*, std::size_t, void* argument) {
  Slow& slow = *static_cast<Slow*>(argument);
  slow.begun.set_value();
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  slow.over.store(true);
  return ACL_SUCCESS;
}

TEST(InitCallbackDeadlock, AnotherInitialisationStillWaitsForTheCallbacks) {
  if (DoneInChild()) return;
  Slow slow;
  ASSERT_ACL(ACL_SUCCESS, aclInitCallbackRegister(ACL_REG_TYPE_OTHER, &InitSlowly, &slow));
  std::thread first([] { EXPECT_ACL(ACL_SUCCESS, aclInit(nullptr)); });
  slow.begun.get_future().wait();
  EXPECT_ACL(ACL_ERROR_REPEAT_INITIALIZE, aclInit(nullptr));
  EXPECT_TRUE(slow.over.load());
  first.join();
}

}  // namespace
}  // namespace sampan::test::init_callback_deadlock_test
