// A stream whose wait is over does not stand, also if the thread that tells its queue is late.
#include "core/streams/stream_roster.h"

#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <string>
#include <thread>

#include "tests/unit/core/device_world.h"

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
  DeviceWorld world;
  const std::shared_ptr<Stream> stream = world.MakeStream();
  const auto gate = std::make_shared<WordGate>();
  ASSERT_TRUE(stream->Enqueue(GateTask{gate}).ok());
  const auto stand = [&] { return world.roster.Look()->at(0).stand; };

  while (stand() != StreamStand::kGate)  // the queue has yet to come to it
    std::this_thread::yield();
  gate->is_open = true;
  EXPECT_EQ(stand(), StreamStand::kWorks);
  stream->Abort();
}

}  // namespace
}  // namespace sampan::core::stream_roster_test
