// A stream whose wait is over does not stand, also if the thread that tells its queue is late.
#include "core/streams/stream_roster.h"

#include <gtest/gtest.h>

#include <atomic>
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

class WordGate final : public Gate {
 public:
  bool Open() const noexcept override { return is_open; }
  bool TryPass() noexcept override { return is_open; }
  SleepWord* word() const noexcept override { return nullptr; }
  std::string Describe() const override { return "a gate"; }

  std::atomic<bool> is_open{false};
};

// No thread looks at gates here, as if it came too late.
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
  const auto gate = std::make_shared<WordGate>();
  ASSERT_TRUE(stream->Enqueue(GateTask{gate}).ok());
  const auto stand = [&] { return roster.Look()->at(0).stand; };

  while (stand() != StreamStand::kGate)  // the queue has yet to come to it
    std::this_thread::yield();
  gate->is_open = true;
  EXPECT_EQ(stand(), StreamStand::kWorks);
  stream->Abort();
}

}  // namespace
}  // namespace sampan::core::stream_roster_test
