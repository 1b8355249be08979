// Callbacks that a subscribed thread runs: aclrtSubscribeReport, aclrtLaunchCallback, aclrtProcessReport.
// Rules of docs/BEHAVIOUR.md: callback-1.
#include <gtest/gtest.h>
#include <pthread.h>

#include <atomic>
#include <bit>
#include <cstdint>
#include <thread>
#include <vector>

#include "acl/acl.h"
#include "tests/support/acl_expect.h"
#include "tests/support/device_fixture.h"
#include "tests/support/memory_buffer.h"
#include "tests/support/stream.h"

namespace sampan::test::callback_test {
namespace {

constexpr std::int32_t kLong = 5000;
constexpr std::int32_t kShort = 10;

std::uint64_t ThisThread() {
  return static_cast<std::uint64_t>(pthread_self());
}

/// The calling thread runs the callbacks of the stream.
class Subscription {
 public:
  explicit Subscription(aclrtStream stream) : stream_(stream) {
    EXPECT_ACL(ACL_SUCCESS, aclrtSubscribeReport(ThisThread(), stream));
  }
  ~Subscription() { EXPECT_ACL(ACL_SUCCESS, aclrtUnSubscribeReport(ThisThread(), stream_)); }
  Subscription(const Subscription&) = delete;
  Subscription& operator=(const Subscription&) = delete;

 private:
  aclrtStream stream_;
};

/// Counts its calls and notes the thread.
struct Calls {
  std::atomic<int> count = 0;
  std::thread::id thread;

  static void Note(void* argument) {
    auto& calls = *static_cast<Calls*>(argument);
    calls.thread = std::this_thread::get_id();
    ++calls.count;
  }
  /// Runs callbacks on this thread until there were so many.
  void ProcessUntil(int wanted) const {
    while (count < wanted)
      ASSERT_ACL(ACL_SUCCESS, aclrtProcessReport(kLong));
  }
};

bool IsIdle(aclrtStream stream) {
  aclrtStreamStatus status = ACL_STREAM_STATUS_RESERVED;
  EXPECT_ACL(ACL_SUCCESS, aclrtStreamQuery(stream, &status));
  return status == ACL_STREAM_STATUS_COMPLETE;
}

class Callback : public DeviceTest {};

// ---- arguments and states ----

TEST_F(Callback, ArgumentsAreChecked) {
  Stream stream;
  const Subscription subscription(stream);
  Calls calls;
  EXPECT_ACL(ACL_ERROR_INVALID_PARAM,
             aclrtLaunchCallback(&Calls::Note, &calls, std::bit_cast<aclrtCallbackBlockType>(2), stream));
  EXPECT_ACL(ACL_ERROR_RT_PARAM_INVALID, aclrtLaunchCallback(nullptr, &calls, ACL_CALLBACK_BLOCK, stream));
  EXPECT_ACL(ACL_ERROR_RT_INVALID_HANDLE,
             aclrtLaunchCallback(&Calls::Note, &calls, ACL_CALLBACK_BLOCK, DeadStream()));
  EXPECT_EQ(calls.count, 0);
}

TEST_F(Callback, NeedsASubscription) {
  Stream stream;
  Calls calls;
  EXPECT_ACL(ACL_ERROR_RT_STREAM_NO_CB_REG,
             aclrtLaunchCallback(&Calls::Note, &calls, ACL_CALLBACK_NO_BLOCK, stream));
  { const Subscription subscription(stream); }
  EXPECT_ACL(ACL_ERROR_RT_STREAM_NO_CB_REG,
             aclrtLaunchCallback(&Calls::Note, &calls, ACL_CALLBACK_NO_BLOCK, stream))
      << "it has ended";
}

TEST_F(Callback, ForeignStreamIsRefused) {
  ForeignStream foreign;
  Calls calls;
  OnNewThread([&] {
    EXPECT_ACL(ACL_SUCCESS, aclrtSetCurrentContext(foreign.context()));
    EXPECT_ACL(ACL_SUCCESS, aclrtSubscribeReport(1, foreign));
  });
  EXPECT_ACL(ACL_ERROR_RT_STREAM_CONTEXT,
             aclrtLaunchCallback(&Calls::Note, &calls, ACL_CALLBACK_NO_BLOCK, foreign));
  OnNewThread([&] {
    EXPECT_ACL(ACL_SUCCESS, aclrtSetCurrentContext(foreign.context()));
    EXPECT_ACL(ACL_SUCCESS, aclrtUnSubscribeReport(1, foreign));
  });
}

TEST_F(Callback, StreamIsSubscribedOnce) {
  Stream stream;
  {
    const Subscription subscription(stream);
    EXPECT_ACL(ACL_ERROR_RT_STREAM_SUBSCRIBE, aclrtSubscribeReport(ThisThread(), stream));
    EXPECT_ACL(ACL_ERROR_RT_STREAM_SUBSCRIBE, aclrtSubscribeReport(ThisThread() + 1, stream))
        << "by any thread";
  }
  const Subscription again(stream);
}

TEST_F(Callback, OnlyTheSubscribedThreadCanEndIt) {
  Stream stream;
  EXPECT_NE(aclrtUnSubscribeReport(ThisThread(), stream), ACL_SUCCESS) << "nothing to end";
  const Subscription subscription(stream);
  EXPECT_NE(aclrtUnSubscribeReport(ThisThread() + 1, stream), ACL_SUCCESS) << "another thread's";
}

TEST_F(Callback, ExcludesHostFunctions) {
  Stream stream;
  Calls calls;
  {
    const Subscription subscription(stream);
    EXPECT_ACL(ACL_ERROR_RT_STREAM_SUBSCRIBE, aclrtLaunchHostFunc(stream, &Calls::Note, &calls));
  }
  EXPECT_ACL(ACL_SUCCESS, aclrtLaunchHostFunc(stream, &Calls::Note, &calls));
  EXPECT_ACL(ACL_SUCCESS, aclrtSynchronizeStream(stream));
  EXPECT_EQ(calls.count, 1);
}

// ---- aclrtProcessReport ----

TEST_F(Callback, ProcessChecksItsTimeout) {
  EXPECT_ACL(ACL_ERROR_INVALID_PARAM, aclrtProcessReport(-2));
  EXPECT_ACL(ACL_ERROR_INVALID_PARAM, aclrtProcessReport(0));
}

TEST_F(Callback, ProcessNeedsASubscribedThread) {
  OnNewThread([] { EXPECT_ACL(ACL_ERROR_RT_THREAD_SUBSCRIBE, aclrtProcessReport(kShort)); });
}

TEST_F(Callback, ProcessWithoutALimitNeedsASubscribedThread) {
  OnNewThread([] { EXPECT_ACL(ACL_ERROR_RT_THREAD_SUBSCRIBE, aclrtProcessReport(-1)); });
}

TEST_F(Callback, ProcessWithoutALimitEndsWithTheSubscription) {
  for (const bool destroyed : {false, true}) {
    Stream stream;
    std::atomic<bool> subscribed = false;
    std::thread worker([&] {
      while (!subscribed)
        std::this_thread::yield();
      EXPECT_ACL(ACL_ERROR_RT_THREAD_SUBSCRIBE, aclrtProcessReport(-1));
    });
    const auto worker_id = static_cast<std::uint64_t>(worker.native_handle());
    EXPECT_ACL(ACL_SUCCESS, aclrtSubscribeReport(worker_id, stream));
    subscribed = true;
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    if (destroyed) {
      EXPECT_ACL(ACL_SUCCESS, aclrtDestroyStream(stream.Release()));
    } else {
      EXPECT_ACL(ACL_SUCCESS, aclrtUnSubscribeReport(worker_id, stream));
    }
    worker.join();
  }
}

TEST_F(Callback, ProcessWithoutACallbackEndsWithItsTimeout) {
  Stream stream;
  const Subscription subscription(stream);
  EXPECT_ACL(ACL_ERROR_RT_REPORT_TIMEOUT, aclrtProcessReport(kShort));
  EXPECT_TRUE(MessageHas("time limit of " + std::to_string(kShort) + " ms"));
}

TEST_F(Callback, ProcessWaitsForASubscription) {
  Stream stream;
  Calls calls;
  std::atomic<bool> stop = false;
  std::thread worker([&] {
    while (!stop) {
      const aclError answer = aclrtProcessReport(20);
      EXPECT_TRUE(answer == ACL_SUCCESS || answer == ACL_ERROR_RT_THREAD_SUBSCRIBE ||
                  answer == ACL_ERROR_RT_REPORT_TIMEOUT)
          << answer;
    }
  });
  const auto worker_id = static_cast<std::uint64_t>(worker.native_handle());
  EXPECT_ACL(ACL_SUCCESS, aclrtSubscribeReport(worker_id, stream));
  EXPECT_ACL(ACL_SUCCESS, aclrtLaunchCallback(&Calls::Note, &calls, ACL_CALLBACK_BLOCK, stream));
  EXPECT_ACL(ACL_SUCCESS, aclrtSynchronizeStream(stream));
  EXPECT_EQ(calls.count, 1);
  EXPECT_EQ(calls.thread, worker.get_id());
  EXPECT_ACL(ACL_SUCCESS, aclrtUnSubscribeReport(worker_id, stream));
  stop = true;
  worker.join();
}

TEST_F(Callback, ProcessWithoutALimitWaitsForACallback) {
  Stream stream;
  Calls calls;
  const Subscription subscription(stream);
  std::thread launcher([&] {
    EXPECT_ACL(ACL_SUCCESS, aclrtSetDevice(0));
    EXPECT_ACL(ACL_SUCCESS, aclrtLaunchCallback(&Calls::Note, &calls, ACL_CALLBACK_BLOCK, stream));
    EXPECT_ACL(ACL_SUCCESS, aclrtSynchronizeStream(stream));
    EXPECT_ACL(ACL_SUCCESS, aclrtResetDevice(0));
  });
  EXPECT_ACL(ACL_SUCCESS, aclrtProcessReport(-1));
  EXPECT_EQ(calls.count, 1);
  launcher.join();
}

// ---- order ----

TEST_F(Callback, RunsOnTheSubscribedThread) {
  Stream stream;
  Calls calls;
  const Subscription subscription(stream);
  EXPECT_ACL(ACL_SUCCESS, aclrtLaunchCallback(&Calls::Note, &calls, ACL_CALLBACK_BLOCK, stream));
  EXPECT_EQ(calls.count, 0) << "not before aclrtProcessReport";
  EXPECT_ACL(ACL_SUCCESS, aclrtProcessReport(kLong));
  EXPECT_EQ(calls.count, 1);
  EXPECT_EQ(calls.thread, std::this_thread::get_id());
}

TEST_F(Callback, WaitsForTheWorkBefore) {
  Stream producer, stream;
  Event event;
  Calls calls;
  const Subscription subscription(stream);
  Gate gate(producer);
  EXPECT_ACL(ACL_SUCCESS, aclrtRecordEvent(event, producer));
  EXPECT_ACL(ACL_SUCCESS, aclrtStreamWaitEvent(stream, event));
  EXPECT_ACL(ACL_SUCCESS, aclrtLaunchCallback(&Calls::Note, &calls, ACL_CALLBACK_NO_BLOCK, stream));
  EXPECT_ACL(ACL_ERROR_RT_REPORT_TIMEOUT, aclrtProcessReport(kShort));
  EXPECT_EQ(calls.count, 0);
  gate.Open();
  EXPECT_ACL(ACL_SUCCESS, aclrtProcessReport(kLong));
  EXPECT_EQ(calls.count, 1);
}

TEST_F(Callback, BlockHoldsTheStream) {
  Stream stream;
  DeviceBuffer data(1);
  Calls calls;
  EXPECT_ACL(ACL_SUCCESS, aclrtMemset(data.data(), 1, 0, 1));
  const Subscription subscription(stream);
  EXPECT_ACL(ACL_SUCCESS, aclrtLaunchCallback(&Calls::Note, &calls, ACL_CALLBACK_BLOCK, stream));
  EXPECT_ACL(ACL_SUCCESS, aclrtMemsetAsync(data.data(), 1, 9, 1, stream));
  EXPECT_ACL(ACL_ERROR_RT_STREAM_SYNC_TIMEOUT, aclrtSynchronizeStreamWithTimeout(stream, kShort));
  EXPECT_FALSE(IsIdle(stream));
  EXPECT_EQ(data.Read(0, 1), Bytes{std::byte{0}});
  EXPECT_ACL(ACL_SUCCESS, aclrtProcessReport(kLong));
  EXPECT_ACL(ACL_SUCCESS, aclrtSynchronizeStream(stream));
  EXPECT_EQ(data.Read(0, 1), Bytes{std::byte{9}});
}

TEST_F(Callback, NoBlockLetsTheStreamGoOn) {
  Stream stream;
  DeviceBuffer data(1);
  Calls calls;
  const Subscription subscription(stream);
  EXPECT_ACL(ACL_SUCCESS, aclrtLaunchCallback(&Calls::Note, &calls, ACL_CALLBACK_NO_BLOCK, stream));
  EXPECT_ACL(ACL_SUCCESS, aclrtMemsetAsync(data.data(), 1, 9, 1, stream));
  EXPECT_ACL(ACL_SUCCESS, aclrtSynchronizeStreamWithTimeout(stream, kLong));
  EXPECT_EQ(data.Read(0, 1), Bytes{std::byte{9}});
  EXPECT_EQ(calls.count, 0);
  EXPECT_ACL(ACL_SUCCESS, aclrtProcessReport(kLong));
  EXPECT_EQ(calls.count, 1);
}

TEST_F(Callback, RunInTheOrderOfTheStream) {
  Stream stream;
  const Subscription subscription(stream);
  struct Item {
    std::vector<int>* order;
    int number;
  };
  std::vector<int> order;
  std::vector<Item> items;
  for (int i = 0; i < 10; ++i)
    items.push_back({&order, i});
  for (Item& item : items) {
    const auto append = [](void* argument) {
      const auto* const one = static_cast<Item*>(argument);
      one->order->push_back(one->number);
    };
    const auto block = item.number % 3 == 0 ? ACL_CALLBACK_BLOCK : ACL_CALLBACK_NO_BLOCK;
    EXPECT_ACL(ACL_SUCCESS, aclrtLaunchCallback(append, &item, block, stream));
  }
  while (order.size() < items.size())
    ASSERT_ACL(ACL_SUCCESS, aclrtProcessReport(kLong));
  EXPECT_EQ(order, (std::vector<int>{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}));
}

TEST_F(Callback, OfTwoStreamsRunOnOneThread) {
  Stream first, second;
  Calls of_first, of_second;
  const Subscription first_subscription(first), second_subscription(second);
  EXPECT_ACL(ACL_SUCCESS, aclrtLaunchCallback(&Calls::Note, &of_first, ACL_CALLBACK_BLOCK, first));
  EXPECT_ACL(ACL_SUCCESS, aclrtLaunchCallback(&Calls::Note, &of_second, ACL_CALLBACK_BLOCK, second));
  while (of_first.count + of_second.count < 2)
    ASSERT_ACL(ACL_SUCCESS, aclrtProcessReport(kLong));
  EXPECT_EQ(of_first.count, 1);
  EXPECT_EQ(of_second.count, 1);
  EXPECT_ACL(ACL_SUCCESS, aclrtSynchronizeStream(first));
  EXPECT_ACL(ACL_SUCCESS, aclrtSynchronizeStream(second));
}

TEST_F(Callback, OfTwoStreamsGoToTheirOwnThreads) {
  Stream first, second;
  Calls of_first, of_second;
  const Subscription subscription(first);
  std::thread worker([&] {
    EXPECT_ACL(ACL_SUCCESS, aclrtSetDevice(0));
    {
      const Subscription own(second);
      EXPECT_ACL(ACL_SUCCESS, aclrtLaunchCallback(&Calls::Note, &of_second, ACL_CALLBACK_BLOCK, second));
      of_second.ProcessUntil(1);
      EXPECT_EQ(of_second.thread, std::this_thread::get_id());
    }
    EXPECT_ACL(ACL_SUCCESS, aclrtResetDevice(0));
  });
  EXPECT_ACL(ACL_SUCCESS, aclrtLaunchCallback(&Calls::Note, &of_first, ACL_CALLBACK_BLOCK, first));
  of_first.ProcessUntil(1);
  EXPECT_EQ(of_first.thread, std::this_thread::get_id());
  worker.join();
}

TEST_F(Callback, OfAHeldStreamDoesNotStopTheOther) {
  Stream producer, held, free;
  Event event;
  Calls of_held, of_free;
  const Subscription held_subscription(held), free_subscription(free);
  Gate gate(producer);
  EXPECT_ACL(ACL_SUCCESS, aclrtRecordEvent(event, producer));
  EXPECT_ACL(ACL_SUCCESS, aclrtStreamWaitEvent(held, event));
  EXPECT_ACL(ACL_SUCCESS, aclrtLaunchCallback(&Calls::Note, &of_held, ACL_CALLBACK_BLOCK, held));
  EXPECT_ACL(ACL_SUCCESS, aclrtLaunchCallback(&Calls::Note, &of_free, ACL_CALLBACK_BLOCK, free));
  of_free.ProcessUntil(1);
  EXPECT_EQ(of_held.count, 0);
  gate.Open();
  of_held.ProcessUntil(1);
}

TEST_F(Callback, OfTheDefaultStream) {
  Calls calls;
  const Subscription subscription(nullptr);
  EXPECT_ACL(ACL_SUCCESS, aclrtLaunchCallback(&Calls::Note, &calls, ACL_CALLBACK_BLOCK, nullptr));
  calls.ProcessUntil(1);
  EXPECT_ACL(ACL_SUCCESS, aclrtSynchronizeStream(nullptr));
}

// ---- the end of a subscription ----

TEST_F(Callback, QueuedOnesAreDroppedAndReportedWhenTheSubscriptionEnds) {
  Stream producer, stream;
  Event event;
  DeviceBuffer data(1);
  Calls calls;
  Gate gate(producer);
  EXPECT_ACL(ACL_SUCCESS, aclrtRecordEvent(event, producer));
  {
    const Subscription subscription(stream);
    EXPECT_ACL(ACL_SUCCESS, aclrtStreamWaitEvent(stream, event));
    EXPECT_ACL(ACL_SUCCESS, aclrtLaunchCallback(&Calls::Note, &calls, ACL_CALLBACK_BLOCK, stream));
    EXPECT_ACL(ACL_SUCCESS, aclrtMemsetAsync(data.data(), 1, 9, 1, stream));
  }
  gate.Open();
  EXPECT_ACL(ACL_ERROR_RT_STREAM_NO_CB_REG, aclrtSynchronizeStreamWithTimeout(stream, kLong));
  EXPECT_EQ(calls.count, 0);
  EXPECT_EQ(data.Read(0, 1), Bytes{std::byte{9}}) << "the stream goes on";
}

}  // namespace
}  // namespace sampan::test::callback_test
