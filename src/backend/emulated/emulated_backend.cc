// Devices without hardware: memory files are device memory, threads are copy engines.
#include "backend/emulated/emulated_backend.h"

#include <algorithm>
#include <atomic>
#include <thread>
#include <utility>

#include "backend/api/running_task.h"
#include "backend/emulated/queue/emulated_queue.h"
#include "backend/emulated/queue/race_watch.h"
#include "backend/emulated/queue/task_execution.h"
#include "backend/emulated/schedule/engine_pool.h"
#include "backend/emulated/schedule/stepped_scheduler.h"
#include "base/error/text.h"
#include "base/threads/thread_sanitizer.h"

namespace sampan::emulated {
namespace {

constexpr unsigned kMaxEnginesByDefault = 4;

class EmulatedDevice final : public BackendDevice {
 public:
  EmulatedDevice(std::unique_ptr<Arena> memory, std::unique_ptr<EnginePool> engines,
                 QueueScheduler& scheduler, GateWatch& gates, FaultPlan& faults)
      : memory_(std::move(memory)),
        engines_(std::move(engines)),
        scheduler_(scheduler),
        gates_(gates),
        faults_(faults) {}

  MemorySource& memory() override { return *memory_; }
  Result<std::shared_ptr<Queue>> CreateQueue(const QueueOptions& options) override {
    return std::shared_ptr<Queue>(EmulatedQueue::Create(scheduler_, gates_, options, faults_));
  }
  Status RunNow(Task task) override {
    if (faults_.ShouldFail(FaultKind::kQueue)) {
      return OrderedFailure("the copy could not be started");
    }
    if (races::Watched()) [[unlikely]]
      TellRaces(task);
    const RunningTask running{&task, {}};
    const TaskRuns runs(&running);
    return Execute(task, scheduler_);
  }
  Result<std::uint64_t> LoadWord(const std::byte* word) override {
    auto& value = *reinterpret_cast<std::uint64_t*>(const_cast<std::byte*>(word));
    return std::atomic_ref(value).load(std::memory_order_seq_cst);
  }

 private:
  const std::unique_ptr<Arena> memory_;
  const std::unique_ptr<EnginePool> engines_;  // null if one scheduler serves all devices
  QueueScheduler& scheduler_;
  GateWatch& gates_;
  FaultPlan& faults_;
};

}  // namespace

EmulatedBackend::EmulatedBackend(const EmulatedOptions& options)
    : options_(options),
      half_bytes_(host_memory_.AvailableBytes() / 2),
      pinned_budget_(half_bytes_, [this] { return host_memory_.SpareBytes(); }),
      device_budget_(options.host_bytes != 0 ? options.host_bytes : half_bytes_, host_memory_.AllBytes(),
                     [this] { return SpareForDevices(); }),
      gates_(options.schedule.kind == Schedule::Kind::kParallel ? GateWatch::Watching::kByThread
                                                                : GateWatch::Watching::kByCallers) {
  if (options_.engines == 0) {
    options_.engines = std::clamp(std::thread::hardware_concurrency(), 1U, kMaxEnginesByDefault);
  }
  devices_.resize(static_cast<std::size_t>(options_.devices));
}

EmulatedBackend::~EmulatedBackend() = default;

std::size_t EmulatedBackend::SpareForDevices() const {
  const std::size_t spare = host_memory_.SpareBytes();
  return spare - std::min(spare, pinned_budget_.UntouchedBytes());
}

Result<std::unique_ptr<EmulatedBackend>> EmulatedBackend::Create(const EmulatedOptions& options) {
  std::unique_ptr<EmulatedBackend> backend(new EmulatedBackend(options));
  auto pinned = Arena::Create({.name = "sampan pinned host memory",
                               .capacity_bytes = backend->pinned_budget_.limit_bytes(),
                               .gap_bytes = options.gap_bytes,
                               .host_visible = true,
                               .reserved_from = &backend->pinned_budget_,
                               .faults = options.faults});
  if (!pinned.ok()) return pinned.TakeStatus();
  backend->pinned_ = std::move(*pinned);
  if (options.schedule.kind != Schedule::Kind::kParallel) {
    backend->stepped_ =
        std::make_unique<SteppedScheduler>(options.schedule, backend->gates_, &backend->device_budget_);
  }
  return backend;
}

Result<BackendDevice*> EmulatedBackend::Device(std::int32_t physical_id) {
  const std::lock_guard lock(mutex_);
  auto& device = devices_[static_cast<std::size_t>(physical_id)];
  if (device == nullptr) {
    auto memory = Arena::Create({.name = Text("sampan device ", physical_id),
                                 .capacity_bytes = options_.device_bytes,
                                 .gap_bytes = options_.gap_bytes,
                                 .host_visible = options_.host_is_device,
                                 .written_from = &device_budget_,
                                 .fresh_byte = options_.fresh_byte,
                                 .faults = options_.faults});
    if (!memory.ok()) return memory.TakeStatus();
    std::unique_ptr<EnginePool> engines;
    if (stepped_ == nullptr) engines = std::make_unique<EnginePool>(options_.engines, &device_budget_);
    QueueScheduler& scheduler = stepped_ != nullptr ? static_cast<QueueScheduler&>(*stepped_) : *engines;
    device = std::make_unique<EmulatedDevice>(std::move(*memory), std::move(engines), scheduler, gates_,
                                              *options_.faults);
  }
  return device.get();
}

}  // namespace sampan::emulated
