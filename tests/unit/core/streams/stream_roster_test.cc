// A stream whose wait is over does not stand, also if the thread that tells its queue is late.
#include "core/streams/stream_roster.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <string>
#include <thread>
#include <utility>

#include "backend/emulated/emulated_backend.h"
#include "base/error/fault.h"
#include "core/objects/device.h"
#include "core/streams/stream.h"

namespace sampan::core::stream_roster_test {
namespace {

/// While a thread checks the gate, its queue is taken for one that works.
constexpr int kLooks = 1000;

/// Opens before a queue can pass it, as a gate does that no thread has looked at yet.
class LateGate final : public Gate {
 public:
  bool Open() const noexcept override { return is_open; }
  bool TryPass() noexcept override { return is_noticed; }
  SleepWord* word() const noexcept override { return nullptr; }
  std::string Describe() const override { return "a late gate"; }

  std::atomic<bool> is_open{false}, is_noticed{false};
};

TEST(StreamRoster, TakesAStreamBeforeAnOpenGateForOneThatWorks) {
  FaultPlan faults;
  const std::unique_ptr<Backend> backend = std::move(*emulated::EmulatedBackend::Create(
      {.devices = 1, .device_bytes = std::size_t{1} << 20, .engines = 1, .schedule = {}, .faults = &faults}));
  FailureReports reports;
  StreamRoster roster;
  MemoryRegistry memory{false};
  const Profile profile = *FindProfile("ascend910b");
  Device device{*backend, 0, 0, profile, reports, roster, memory};
  const std::shared_ptr<Stream> stream = *device.CreateStream(std::make_shared<StickyFailure>(), {});
  const auto gate = std::make_shared<LateGate>();
  ASSERT_TRUE(stream->Enqueue(GateTask{gate}).ok());
  const auto stand = [&] { return roster.Look()->at(0).stand; };

  while (stand() != StreamStand::kGate)  // the queue has yet to come to it
    std::this_thread::yield();
  gate->is_open = true;
  for (int i = 0; i < kLooks; ++i)
    ASSERT_EQ(stand(), StreamStand::kWorks);
  gate->is_noticed = true;
  EXPECT_TRUE(stream->Synchronize(kNever, Code::kTaskTimeout).ok());
  EXPECT_TRUE(roster.Look()->empty());
}

}  // namespace
}  // namespace sampan::core::stream_roster_test
