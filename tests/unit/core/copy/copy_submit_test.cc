// A blocking copy that the network does is told to observers like one of the device.
#include "core/copy/copy_submit.h"

#include <gtest/gtest.h>

#include <array>
#include <functional>
#include <memory>
#include <optional>
#include <utility>

#include "base/containers/round.h"
#include "observe/observers.h"
#include "tests/support/child_process.h"
#include "tests/unit/core/device_world.h"

namespace sampan::core::copy_submit_test {
namespace {

constexpr std::size_t kBytes = 100;

/// Remembers the last blocking task.
class Witness final : public observe::Observer {
 public:
  void OnThreadBegan(const observe::ThreadRole&) noexcept override {}
  void OnCallBegan(const char*, const observe::Peer*) noexcept override {}
  void OnCallEnded(const char*, std::int32_t) noexcept override {}
  void OnCallAwaits(const observe::AwaitedWork&) noexcept override {}
  void OnHostWaitBegan(const observe::HostWaitBegin&) noexcept override {}
  void OnHostWait(const observe::HostWaitEvent&) noexcept override {}
  void OnSubmitting(const observe::Submission& submission, const Task& task) noexcept override {
    const CopyTask* const copy = LinearCopyOf(task);
    told_bytes = copy == nullptr ? 0 : copy->segment.bytes;
    is_blocking = submission.blocking != nullptr;
  }
  void OnSubmitted(const observe::Submission&, std::uint64_t number,
                   const observe::Execution* executed) noexcept override {
    EXPECT_EQ(number, 0U);
    ASSERT_NE(executed, nullptr);
    execution = *executed;
  }
  void OnExecuted(const observe::Execution&) noexcept override {}
  void OnHelped(const observe::TaskKey&, std::int64_t) noexcept override {}
  void OnMemory(const observe::MemoryEvent&) noexcept override {}
  void OnStream(const observe::StreamEvent&) noexcept override {}

  std::size_t told_bytes = 0;
  bool is_blocking = false;
  std::optional<observe::Execution> execution;
};

/// A copy that another thing than the device does.
class Elsewhere final : public HostWork {
 public:
  explicit Elsewhere(Status outcome, AllocationUse dst = {})
      : task_(CopyTask{{nullptr, nullptr, kBytes}, std::move(dst), {}, Direction::kHostToDevice}),
        outcome_(std::move(outcome)) {}
  void Start(std::function<void(Status)> resume) noexcept override {
    ++started;
    resume(std::move(outcome_));
  }
  const Task* device_task() const override { return &task_; }

  int started = 0;

 private:
  const Task task_;
  Status outcome_;
};

struct World : DeviceWorld {
  World() : DeviceWorld("ascend910c") {}

  /// Runs the work as a blocking copy.
  Status Run(const std::shared_ptr<Elsewhere>& work) {
    Plan plan;
    plan.Make<HostTask>(HostTask{work});
    return RunPlan(device, std::move(plan));
  }
};

TEST(CopySubmit, TellsObserversOfBlockingCopiesOutsideTheDevice) {
  if (test::DoneInChild()) return;
  World world;
  const auto run = [&](Status outcome) {
    const auto work = std::make_shared<Elsewhere>(std::move(outcome));
    Status status = world.Run(work);
    EXPECT_EQ(work->started, 1);
    return status;
  };
  static Witness witness;
  EXPECT_TRUE(run({}).ok());
  EXPECT_FALSE(witness.execution) << "not attached yet";

  ASSERT_TRUE(observe::Attach(witness));
  EXPECT_TRUE(run({}).ok());
  EXPECT_EQ(witness.told_bytes, kBytes);
  EXPECT_TRUE(witness.is_blocking);
  ASSERT_TRUE(witness.execution);
  EXPECT_EQ(witness.execution->task.type, observe::TaskType::kMemcpy);
  EXPECT_NE(witness.execution->begin_ns, 0);
  EXPECT_LE(witness.execution->begin_ns, witness.execution->end_ns);
  EXPECT_EQ(witness.execution->code, 0);

  EXPECT_EQ(run({Code::kSdmaCopyError, "the other host is gone"}).code(), Code::kSdmaCopyError);
  EXPECT_EQ(witness.execution->code, static_cast<std::int32_t>(Code::kSdmaCopyError));
  observe::Detach(witness);
}

// Such a copy wrote a pool's block before the work of the block's earlier owner. Rules of docs/BEHAVIOUR.md:
// pool-7.
TEST(CopySubmit, RefusesBlockingCopiesElsewhereBeforeMemoryIsHandedOver) {
  struct Owner final : MemoryKeeper {
    bool HandoverIsOver() override { return is_over; }
    bool is_over = false;
  };
  alignas(kDevicePageBytes) static std::array<std::byte, kDevicePageBytes> bytes;
  World world;
  const auto owner = std::make_shared<Owner>();
  Allocation* const block = *world.memory.Adopt({.address = reinterpret_cast<std::uintptr_t>(bytes.data()),
                                                 .bytes = bytes.size(),
                                                 .asked_bytes = bytes.size(),
                                                 .place = {PlaceKind::kDevice, 0},
                                                 .made_by = "the test",
                                                 .backtrace = {}},
                                                owner, MemoryOrigin::kPool);
  world.memory.BeginHandover(*block);
  const auto run = [&] {
    const auto work =
        std::make_shared<Elsewhere>(Status(), world.memory.Find(reinterpret_cast<std::uintptr_t>(&bytes)));
    const Status status = world.Run(work);
    EXPECT_EQ(work->started, status.ok() ? 1 : 0);
    return status.code();
  };
  EXPECT_EQ(run(), Code::kSdmaCopyError);
  owner->is_over = true;
  EXPECT_EQ(run(), Code::kOk);
}

}  // namespace
}  // namespace sampan::core::copy_submit_test
