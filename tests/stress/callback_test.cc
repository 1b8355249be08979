// Host functions and callbacks from many streams at once.
#include <pthread.h>

#include <atomic>

#include "tests/stress/stress_fixture.h"

namespace sampan::stress::callback_test {
namespace {

class Callbacks : public StressTest {};

/// Counts calls, and notes when one came out of turn. Used by one stream, whose functions follow one another.
struct Turn {
  int next = 0;
  bool out_of_turn = false;
};
struct Ticket {
  Turn* turn;
  int number;

  static void Redeem(void* ticket) {
    const auto& self = *static_cast<const Ticket*>(ticket);
    if (self.turn->next++ != self.number) self.turn->out_of_turn = true;
  }
};

TEST_F(Callbacks, HostFunctionsOfAStreamRunInOrderAndAllOfThem) {
  const int calls = Scaled(300);
  OnThreads(kThreads, [&](int thread) {
    ASSERT_ACL(ACL_SUCCESS, aclrtSetDevice(thread % kDevices));
    aclrtStream stream = nullptr;
    ASSERT_ACL(ACL_SUCCESS, aclrtCreateStream(&stream));
    const Memory device = Memory::Device(256);
    Turn turn;
    std::vector<Ticket> tickets;
    for (int i = 0; i < calls; ++i)
      tickets.push_back({&turn, i});
    for (Ticket& ticket : tickets) {
      EXPECT_ACL(ACL_SUCCESS, aclrtMemsetAsync(device.get(), 256, 1, 256, stream));
      EXPECT_ACL(ACL_SUCCESS, aclrtLaunchHostFunc(stream, &Ticket::Redeem, &ticket));
    }
    EXPECT_ACL(ACL_SUCCESS, aclrtSynchronizeStream(stream));
    EXPECT_EQ(turn.next, calls);
    EXPECT_FALSE(turn.out_of_turn);
    EXPECT_ACL(ACL_SUCCESS, aclrtDestroyStream(stream));
  });
}

TEST_F(Callbacks, OneThreadServesManyStreams) {
  constexpr int kStreams = 4;
  const int calls = Scaled(150);
  std::atomic<bool> serving = true;
  std::atomic<std::uint64_t> server_id = 0;
  std::thread server([&] {
    server_id = pthread_self();
    while (serving.load()) {
      EXPECT_TRUE(IsOneOf(aclrtProcessReport(20),
                          {ACL_SUCCESS, ACL_ERROR_RT_REPORT_TIMEOUT, ACL_ERROR_RT_THREAD_SUBSCRIBE}));
    }
  });
  while (server_id.load() == 0)
    std::this_thread::yield();
  OnThreads(kStreams, [&](int thread) {
    ASSERT_ACL(ACL_SUCCESS, aclrtSetDevice(0));
    aclrtStream stream = nullptr;
    ASSERT_ACL(ACL_SUCCESS, aclrtCreateStream(&stream));
    ASSERT_ACL(ACL_SUCCESS, aclrtSubscribeReport(server_id.load(), stream));
    Turn turn;
    std::vector<Ticket> tickets;
    for (int i = 0; i < calls; ++i)
      tickets.push_back({&turn, i});
    for (Ticket& ticket : tickets) {
      EXPECT_ACL(ACL_SUCCESS, aclrtLaunchCallback(&Ticket::Redeem, &ticket, ACL_CALLBACK_BLOCK, stream));
    }
    EXPECT_ACL(ACL_SUCCESS, aclrtSynchronizeStream(stream));
    EXPECT_EQ(turn.next, calls) << "stream of thread " << thread;
    EXPECT_FALSE(turn.out_of_turn);
    EXPECT_ACL(ACL_SUCCESS, aclrtUnSubscribeReport(server_id.load(), stream));
    EXPECT_ACL(ACL_SUCCESS, aclrtDestroyStream(stream));
  });
  serving = false;
  server.join();
}

TEST_F(Callbacks, SubscriptionsEndUnderTheirCallbacks) {
  std::atomic<bool> serving = true;
  std::atomic<std::uint64_t> server_id = 0;
  std::thread server([&] {
    server_id = pthread_self();
    while (serving.load())
      aclrtProcessReport(5);
  });
  while (server_id.load() == 0)
    std::this_thread::yield();
  std::atomic<int> calls = 0;
  const auto count = [](void* counter) { ++*static_cast<std::atomic<int>*>(counter); };
  for (int round = 0; round < Scaled(60); ++round) {
    aclrtStream stream = nullptr;
    ASSERT_ACL(ACL_SUCCESS, aclrtCreateStream(&stream));
    ASSERT_ACL(ACL_SUCCESS, aclrtSubscribeReport(server_id.load(), stream));
    for (int i = 0; i < 10; ++i) {
      const auto blocking = i % 2 == 0 ? ACL_CALLBACK_BLOCK : ACL_CALLBACK_NO_BLOCK;
      EXPECT_ACL(ACL_SUCCESS, aclrtLaunchCallback(count, &calls, blocking, stream));
    }
    EXPECT_ACL(ACL_SUCCESS, aclrtUnSubscribeReport(server_id.load(), stream));
    EXPECT_TRUE(IsOneOf(aclrtSynchronizeStream(stream), {ACL_SUCCESS, ACL_ERROR_RT_STREAM_NO_CB_REG}));
    EXPECT_ACL(ACL_SUCCESS, aclrtDestroyStream(stream));
  }
  EXPECT_LE(calls.load(), Scaled(60) * 10);
  serving = false;
  server.join();
}

}  // namespace
}  // namespace sampan::stress::callback_test
