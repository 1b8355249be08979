// The network's thread sleeps, but never past the time by which a peer must have answered.
#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <thread>

#include "backend/fabric/network.h"
#include "tests/hosts/lent_bytes.h"
#include "tests/hosts/scripted_owner.h"
#include "tests/support/random_bytes.h"

namespace sampan::fabric::waking_test {
namespace {

using namespace std::chrono_literals;

constexpr auto kLimit = 3s;
constexpr int kRounds = 500;

/// Returns true when the thread is asleep and will look for an overdue answer in time. The machine may be
/// busy.
bool SleepsInTime(const Network& network) {
  const Deadline latest = Clock::now() + 5s;
  while (Clock::now() < latest) {
    const Deadline until = network.sleeps_until();
    if (until != Deadline{} && until <= Clock::now() + kLimit) return true;
    std::this_thread::yield();
  }
  return false;
}

TEST(WakingTest, AThreadThatFallsAsleepKnowsOfTransfersThatBeginThen) {
  sampan::test::Random random;
  Network importer(test::Loopback());
  PeerName name;
  name.address.version = 4;
  name.address.host = {127, 0, 0, 1};
  name.process = ::getpid();
  name.secret = {random.Next(), random.Next()};
  PeerMemoryFacts facts;
  facts.bytes = 4096;
  std::atomic<int> answered{0};  // the owner holds later answers back, so that no answer wakes the thread
  const test::ScriptedOwner owner(name, facts, [&](const FrameHeader& request) {
    while (static_cast<int>(request.request) > answered.load())
      std::this_thread::yield();
    return FrameHeader{.kind = FrameKind::kDone, .request = request.request};
  });
  auto peer = importer.Import(owner.name());
  ASSERT_TRUE(peer.ok()) << peer.error().message;
  std::byte byte{};
  bool in_time = true;
  for (int round = 1; round <= kRounds && in_time; ++round) {
    std::atomic<int> ended{-1};  // watched without sleeping, which would take longer than the thread polls
    (*peer)->Start({PeerTransfer::Kind::kWrite, {{&byte, 0, 1}}},
                   [&](Status status) { ended.store(static_cast<int>(status.code())); });
    // As a blocking copy does. What has been sent is told to this thread then, which wakes no other.
    (*peer)->Help([&] { return ended.load() >= 0; });
    in_time = SleepsInTime(importer);
    EXPECT_TRUE(in_time) << "round " << round << ": the thread sleeps past the time limit of a transfer";
    answered.store(round);
    while (ended.load() < 0) {
    }
    ASSERT_EQ(ended.load(), 0);
    // The thread polls for 30 us after the answer, then it falls asleep.
    const Deadline next = Clock::now() + std::chrono::nanoseconds(random.Next() % 100'000);
    while (Clock::now() < next) {
    }
  }
}

}  // namespace
}  // namespace sampan::fabric::waking_test
