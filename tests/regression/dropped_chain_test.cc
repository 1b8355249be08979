// Work that waited for dropped work failed, but what waited for that in turn passed with code 0.
// Rules of docs/BEHAVIOUR.md: event-1, event-5, event-6.
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <functional>
#include <optional>
#include <thread>

#include "acl/acl.h"
#include "tests/support/copy_fixture.h"

namespace sampan::test::dropped_chain_test {
namespace {

constexpr std::size_t kBytes = 4'096, kStreams = 4;

/// Each stream waits for the one before it, copies that one's bytes and records an event for the next.
class DroppedChain : public CopyTest {
 protected:
  struct Chain {
    explicit Chain(Random& random) {
      for (DeviceBuffer& each : links)
        each.Write(0, random.Fill(kBytes));
      source.Write(0, random.Fill(kBytes));
    }
    /// The first stream makes the bytes, behind a gate.
    void Produce() {
      gate.emplace(streams[0]);
      EXPECT_ACL(ACL_SUCCESS, aclrtMemcpyAsync(links[0].data(), kBytes, source.data(), kBytes,
                                               ACL_MEMCPY_HOST_TO_DEVICE, streams[0]));
      EXPECT_ACL(ACL_SUCCESS, aclrtRecordEvent(events[0], streams[0]));
    }
    void Link(std::size_t at) {
      EXPECT_ACL(ACL_SUCCESS, aclrtStreamWaitEvent(streams[at], events[at - 1]));
      EXPECT_ACL(ACL_SUCCESS, aclrtMemcpyAsync(links[at].data(), kBytes, links[at - 1].data(), kBytes,
                                               ACL_MEMCPY_DEVICE_TO_DEVICE, streams[at]));
      EXPECT_ACL(ACL_SUCCESS, aclrtRecordEvent(events[at], streams[at]));
    }
    void LinkAll() {
      for (std::size_t at = 1; at < kStreams; ++at)
        Link(at);
    }
    void ExpectFailures(aclError code) {
      EXPECT_ACL(code, aclrtSynchronizeEvent(events[kStreams - 1]));
      for (std::size_t at = 1; at < kStreams; ++at)
        EXPECT_ACL(code, aclrtSynchronizeStream(streams[at])) << "stream " << at;
    }

    std::array<Stream, kStreams> streams;
    std::array<Event, kStreams> events;
    std::array<DeviceBuffer, kStreams> links{DeviceBuffer(kBytes), DeviceBuffer(kBytes), DeviceBuffer(kBytes),
                                             DeviceBuffer(kBytes)};
    PinnedBuffer source{kBytes};
    std::optional<Gate> gate;
  };
};

TEST_F(DroppedChain, FailsToItsEnd) {
  Chain chain(random());
  chain.Produce();
  chain.LinkAll();
  EXPECT_ACL(ACL_SUCCESS, aclrtStreamAbort(chain.streams[0]));
  chain.ExpectFailures(ACL_ERROR_RT_STREAM_ABORT);
}

TEST_F(DroppedChain, FailsToItsEndIfItIsQueuedAfterTheAbort) {
  Chain chain(random());
  chain.Produce();
  EXPECT_ACL(ACL_SUCCESS, aclrtStreamAbort(chain.streams[0]));
  chain.LinkAll();
  chain.ExpectFailures(ACL_ERROR_RT_STREAM_ABORT);
}

TEST_F(DroppedChain, FailsToItsEndAfterAForcedDestroy) {
  Chain chain(random());
  chain.Produce();
  chain.LinkAll();
  EXPECT_ACL(ACL_SUCCESS, aclrtDestroyStreamForce(chain.streams[0].Release()));
  chain.ExpectFailures(ACL_ERROR_RT_STREAM_ABORT);
}

TEST_F(DroppedChain, EndsWhereTheProgramIsTold) {
  Chain chain(random());
  chain.Produce();
  chain.Link(1);
  EXPECT_ACL(ACL_SUCCESS, aclrtStreamAbort(chain.streams[0]));
  EXPECT_ACL(ACL_ERROR_RT_STREAM_ABORT, aclrtSynchronizeStream(chain.streams[1]));
  // Work from here on does not depend on what was dropped.
  EXPECT_ACL(ACL_SUCCESS, aclrtRecordEvent(chain.events[1], chain.streams[1]));
  EXPECT_ACL(ACL_SUCCESS, aclrtSynchronizeEvent(chain.events[1]));
  chain.Link(2);
  EXPECT_ACL(ACL_SUCCESS, aclrtSynchronizeStream(chain.streams[2]));
}

TEST_F(DroppedChain, GoesOnForWorkThatWasQueuedBeforeTheProgramWasTold) {
  Chain chain(random());
  chain.Produce();
  chain.Link(1);
  EXPECT_ACL(ACL_SUCCESS, aclrtStreamAbort(chain.streams[0]));
  // The wait has failed. The stream stands at the gate when the program is told.
  EXPECT_ACL(ACL_ERROR_RT_STREAM_ABORT, aclrtSynchronizeEvent(chain.events[1]));
  chain.gate.emplace(chain.streams[1]);
  EXPECT_ACL(ACL_SUCCESS, aclrtRecordEvent(chain.events[1], chain.streams[1]));
  aclrtStreamStatus status = ACL_STREAM_STATUS_RESERVED;
  EXPECT_ACL(ACL_ERROR_RT_STREAM_ABORT, aclrtStreamQuery(chain.streams[1], &status));
  chain.gate->Open();
  EXPECT_ACL(ACL_ERROR_RT_STREAM_ABORT, aclrtSynchronizeEvent(chain.events[1]));
  EXPECT_ACL(ACL_SUCCESS, aclrtSynchronizeStream(chain.streams[1]));
}

TEST_F(DroppedChain, EndsWithAnAbortOfTheDependantStream) {
  Chain chain(random());
  chain.Produce();
  chain.Link(1);
  EXPECT_ACL(ACL_SUCCESS, aclrtStreamAbort(chain.streams[0]));
  EXPECT_ACL(ACL_SUCCESS, aclrtStreamAbort(chain.streams[1]));
  EXPECT_ACL(ACL_SUCCESS, aclrtRecordEvent(chain.events[1], chain.streams[1]));
  EXPECT_ACL(ACL_SUCCESS, aclrtSynchronizeEvent(chain.events[1]));
}

// An abort that came while the dependant stream's wait failed did not end the dependence: a recording that
// was queued behind it failed too.
TEST_F(DroppedChain, EndsWithAnAbortBesideTheFailure) {
  constexpr int kRounds = 2'000;
  aclrtNotify never = nullptr;
  ASSERT_ACL(ACL_SUCCESS, aclrtCreateNotify(&never, 0));
  Stream producer, dependant;
  Event produced, behind;
  std::atomic<int> begun{0}, aborted{0};
  std::thread other([&] {
    EXPECT_ACL(ACL_SUCCESS, aclrtSetDevice(0));
    for (int round = 1; round <= kRounds; ++round) {
      begun.wait(round - 1);
      EXPECT_ACL(ACL_SUCCESS, aclrtStreamAbort(producer));
      aborted.store(round);
      aborted.notify_one();
    }
    EXPECT_ACL(ACL_SUCCESS, aclrtResetDevice(0));
  });
  int failed = 0;
  for (int round = 1; round <= kRounds; ++round) {
    EXPECT_ACL(ACL_SUCCESS, aclrtWaitAndResetNotify(never, producer, 0));
    EXPECT_ACL(ACL_SUCCESS, aclrtRecordEvent(produced, producer));
    EXPECT_ACL(ACL_SUCCESS, aclrtStreamWaitEvent(dependant, produced));
    begun.store(round);
    begun.notify_one();
    for (int pause = 0; pause < round % 100 * 100; ++pause)
      asm volatile("");
    EXPECT_ACL(ACL_SUCCESS, aclrtStreamAbort(dependant));
    EXPECT_ACL(ACL_SUCCESS, aclrtRecordEvent(behind, dependant));
    failed += aclrtSynchronizeEvent(behind) == ACL_SUCCESS ? 0 : 1;
    aborted.wait(round - 1);
    static_cast<void>(aclrtSynchronizeStream(dependant));  // the failure may have come before the abort
  }
  other.join();
  EXPECT_EQ(failed, 0) << "of " << kRounds;
  EXPECT_ACL(ACL_SUCCESS, aclrtDestroyNotify(never));
}

}  // namespace
}  // namespace sampan::test::dropped_chain_test
