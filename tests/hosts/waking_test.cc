// The network's thread sleeps, but never past what is left to do.
#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <thread>
#include <vector>

#include "backend/fabric/network.h"
#include "tests/hosts/lent_bytes.h"
#include "tests/hosts/raw_importer.h"
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

PeerName SomeName() {
  sampan::test::Random random;
  PeerName name;
  name.address.version = 4;
  name.address.host = {127, 0, 0, 1};
  name.process = ::getpid();
  name.secret = {random.Next(), random.Next()};
  return name;
}

TEST(WakingTest, AThreadThatFallsAsleepKnowsOfTransfersThatBeginThen) {
  sampan::test::Random random;
  Network importer(test::Loopback());
  const PeerName name = SomeName();
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
    // The thread falls asleep soon after the answer.
    const Deadline next = Clock::now() + std::chrono::nanoseconds(random.Next() % 100'000);
    while (Clock::now() < next) {
    }
  }
}

/// A process that lends and imports: the thread that waits for a copy also hears its importers.
TEST(WakingTest, AConnectionThatAHelperFoundBrokenIsClosed) {
  NetworkOptions options = test::Loopback();
  options.limit = 60s;  // so that no overdue answer wakes the thread
  Network network(options);
  PeerMemoryFacts facts;
  facts.bytes = 4096;
  std::atomic<bool> answers{false};
  const test::ScriptedOwner slow(SomeName(), facts, [&](const FrameHeader& request) {
    while (!answers.load())
      std::this_thread::sleep_for(1ms);
    return FrameHeader{.kind = FrameKind::kDone, .request = request.request};
  });
  auto peer = network.Import(slow.name());
  ASSERT_TRUE(peer.ok()) << peer.error().message;
  PeerName own = SomeName();
  own.address = *network.Listen();
  sampan::test::Bytes memory(4096);
  network.Lend(own.cell, own.secret, std::make_shared<test::LentBytes>(memory));
  std::vector<std::unique_ptr<test::RawImporter>> importers;
  for (int i = 0; i < 8; ++i)
    importers.push_back(std::make_unique<test::RawImporter>(own, 20s));
  std::atomic<bool> ended{false}, over{false};
  std::byte byte{};
  (*peer)->Start({PeerTransfer::Kind::kWrite, {{&byte, 0, 1}}}, [&](Status) { ended.store(true); });
  std::thread helper([&] {
    while (!over.load())
      (*peer)->Help([&] { return over.load(); });
  });
  for (const auto& importer : importers) {
    importer->Send({.kind = FrameKind::kDone, .request = 1}, {});  // which only owners send
    std::this_thread::sleep_for(3ms);
  }
  std::this_thread::sleep_for(20ms);
  over.store(true);
  helper.join();
  const Deadline patience = Clock::now() + 10s;
  for (const auto& importer : importers) {
    while (!importer->IsOwnerGone() && Clock::now() < patience)
      std::this_thread::sleep_for(1ms);
    EXPECT_TRUE(importer->IsOwnerGone()) << "the connection stays open";
  }
  answers.store(true);
  while (!ended.load())
    std::this_thread::sleep_for(1ms);
}

}  // namespace
}  // namespace sampan::fabric::waking_test
