// One GPU: its context, our kernels, events that order streams, and whether it is lost.
#include "backend/cuda/gpu.h"

#include <algorithm>
#include <array>
#include <utility>

#include "backend/cuda/kernel_image.h"
#include "base/error/text.h"
#include "base/log/log.h"
#include "base/time/clock.h"

namespace sampan::cuda {
namespace {

constexpr int kOldestMajor = 7;
/// The driver returns times as float milliseconds since another event. Longer times are imprecise.
constexpr double kLongestClockStepNs = 4e9;

int Attribute(const Driver& driver, int attribute, CuDevice device) {
  int value = 0;
  return driver.DeviceGetAttribute(&value, attribute, device) == cu::kSuccess ? value : 0;
}

std::vector<bool> ReachedFrom(const Driver& driver, int ordinal, CuDevice device) {
  int gpus = 0;
  driver.DeviceGetCount(&gpus);
  std::vector<bool> reaches(static_cast<std::size_t>(gpus), false);
  for (int other = 0; other < gpus; ++other) {
    CuDevice peer = 0;
    int can = other == ordinal ? 1 : 0;
    if (can == 0 && driver.DeviceGet(&peer, other) == cu::kSuccess)
      driver.DeviceCanAccessPeer(&can, device, peer);
    reaches[static_cast<std::size_t>(other)] = can != 0;
  }
  return reaches;
}

Status Unusable(const GpuFacts& facts, std::string_view why) {
  return {Code::kDeviceSetupError, Text("GPU ", facts.ordinal, " (", facts.name, "): ", why)};
}

}  // namespace

void ContextScope::Enter(CuContext wanted, CuContext current) {
  if (current == nullptr) {
    driver_.ContextSetCurrent(wanted);
  } else {
    pushed_ = driver_.ContextPush(wanted) == cu::kSuccess;
  }
}

void ContextScope::Pop() {
  CuContext popped = nullptr;
  driver_.ContextPop(&popped);
}

GpuEvent::~GpuEvent() {
  gpu_.GiveBack(event_);
}

Gpu::Gpu(const Driver& driver, CuDevice device, GpuFacts facts)
    : driver_(driver),
      device_(device),
      facts_(std::move(facts)),
      reaches_all_(std::find(facts_.reaches.begin(), facts_.reaches.end(), false) == facts_.reaches.end()) {}

Result<std::unique_ptr<Gpu>> Gpu::Open(const Driver& driver, int ordinal) {
  CuDevice device = 0;
  if (const CuResult found = driver.DeviceGet(&device, ordinal); found != cu::kSuccess)
    return Error{Code::kDeviceSetupError, Text("GPU ", ordinal, ": ", Describe(driver, found))};
  std::array<char, 128> name{};
  driver.DeviceGetName(name.data(), static_cast<int>(name.size()), device);
  GpuFacts facts{.name = name.data(),
                 .ordinal = ordinal,
                 .major = Attribute(driver, cu::kMajor, device),
                 .minor = Attribute(driver, cu::kMinor, device),
                 .multiprocessors = static_cast<unsigned>(Attribute(driver, cu::kMultiprocessors, device)),
                 .max_pitch = static_cast<std::size_t>(Attribute(driver, cu::kMaxPitch, device)),
                 .read_only_registration = Attribute(driver, cu::kReadOnlyRegistration, device) != 0,
                 .shares_memory = Attribute(driver, cu::kPosixHandles, device) != 0,
                 .reaches = ReachedFrom(driver, ordinal, device)};
  driver.DeviceTotalMem(&facts.total_bytes, device);
  if (facts.major < kOldestMajor) {
    return Unusable(facts,
                    Text("compute capability ", facts.major, ".", facts.minor, ", 7.0 or newer is needed"));
  }
  for (const auto& [attribute, what] : {std::pair{cu::kUnifiedAddressing, "unified addressing"},
                                        {cu::kVirtualMemory, "virtual memory management"},
                                        {cu::kHostPointersUsable, "host pointers for registered memory"}}) {
    if (Attribute(driver, attribute, device) == 0)
      return Unusable(facts, Text("it has no ", std::string_view(what)));
  }
  std::unique_ptr<Gpu> gpu(new Gpu(driver, device, std::move(facts)));
  if (Status entered = gpu->Enter(); !entered.ok()) return entered;
  return gpu;
}

Status Gpu::Enter() {
  CuContext context = nullptr;
  if (const CuResult result = driver_.PrimaryContextRetain(&context, device_); result != cu::kSuccess)
    return Unusable(facts_, Text("no context: ", Describe(driver_, result)));
  context_.store(context, std::memory_order_release);
  const ContextScope scope(*this);
  CuModule module = nullptr;
  CuResult result = driver_.ModuleLoadData(&module, CopyKernelImage());
  const std::array<std::pair<CuFunction*, const char*>, 11> functions = {
      {{&kernels_.pieces, "sampan_copy_pieces"},
       {&kernels_.inline_pieces, "sampan_copy_few"},
       {&kernels_.rows, "sampan_copy_rows"},
       {&kernels_.rows_of_vectors, "sampan_copy_rows_of_vectors"},
       {&kernels_.rows_of_words, "sampan_copy_rows_of_words"},
       {&kernels_.link_rows_of_vectors, "sampan_link_rows_of_vectors"},
       {&kernels_.link_rows_of_words, "sampan_link_rows_of_words"},
       {&kernels_.link_pack_rows, "sampan_link_pack_rows"},
       {&kernels_.rows_of_bytes, "sampan_copy_rows_of_bytes"},
       {&kernels_.pack_rows, "sampan_pack_rows"},
       {&kernels_.indirect, "sampan_copy_indirect"}}};
  for (const auto& [function, name] : functions) {
    if (result == cu::kSuccess) result = driver_.ModuleGetFunction(function, module, name);
  }
  if (result != cu::kSuccess) return Unusable(facts_, Text("the copy kernels: ", Describe(driver_, result)));
  return {};
}

bool Gpu::ReachesOwnerOf(CuAddress device_memory) const {
  int owner = 0;
  if (driver_.PointerGetAttribute(&owner, cu::kPointerOrdinal, device_memory) != cu::kSuccess) return false;
  const auto index = static_cast<std::size_t>(owner);
  return index < facts_.reaches.size() && facts_.reaches[index];
}

Result<CuFunction> Gpu::ReduceKernel() {
  const std::lock_guard lock(loading_);
  CuFunction kernel = reduce_kernel_;
  if (kernel != nullptr) return kernel;
  CuModule module = nullptr;
  CuResult result = driver_.ModuleLoadData(&module, ReduceKernelImage());
  if (result == cu::kSuccess) result = driver_.ModuleGetFunction(&kernel, module, "sampan_reduce");
  if (Status loaded = Check(result, "the kernel of reductions"); !loaded.ok()) return loaded;
  reduce_kernel_ = kernel;
  return kernel;
}

Status Gpu::Fail(CuResult result, std::string_view what) {
  if (!IsSticky(result)) return Failure(driver_, result, what);
  bool first = false;
  {
    const std::lock_guard lock(mutex_);
    first = !lost_.load(std::memory_order_relaxed);
    if (first) {
      lost_error_ =
          Failure(driver_, result, Text("GPU ", facts_.ordinal, " (", facts_.name, ") is lost")).error();
      lost_error_.message += "; reset the device to go on";
      lost_.store(true);
    }
  }
  if (first && result != cu::kDeinitialized) Log(LogLevel::kError, "RUNTIME", LostStatus().error().message);
  if (first && on_lost_) on_lost_();
  return LostStatus();
}

Status Gpu::LostStatus() const {
  const std::lock_guard lock(mutex_);
  return Status(lost_error_);
}

std::optional<ContextUse> Gpu::TryUse() noexcept {
  // Count first, then check: a thread that finds a lost GPU unused must not miss this use.
  uses_.fetch_add(1);
  ContextUse use(*this);
  if (lost_.load()) return std::nullopt;
  return use;
}

Result<ContextUse> Gpu::Use() {
  auto use = TryUse();
  if (!use) return LostStatus();
  return std::move(*use);
}

bool Gpu::Unused() {
  std::shared_ptr<GpuEvent> old_clock;  // destroyed after the lock is released
  {
    const std::lock_guard lock(mutex_);
    old_clock.swap(clock_event_);
  }
  old_clock.reset();
  return uses_.load() == 0;
}

Status Gpu::Revive(const std::function<Status()>& prepare) {
  {
    const std::lock_guard lock(mutex_);
    idle_events_.clear();  // their context destroys them
  }
  // The reset destroys the old context. If the hardware is gone, entering the new one fails.
  {
    const std::lock_guard lock(loading_);
    reduce_kernel_ = nullptr;
  }
  driver_.ContextSetCurrent(nullptr);
  driver_.PrimaryContextReset(device_);
  if (Status entered = Enter(); !entered.ok()) return entered;
  if (Status prepared = prepare(); !prepared.ok()) return prepared;
  lost_.store(false);
  Log(LogLevel::kWarning, "RUNTIME", Text("GPU ", facts_.ordinal, " has a new context"));
  return {};
}

Result<std::shared_ptr<GpuEvent>> Gpu::TakeEvent() {
  auto use = Use();
  if (!use.ok()) return use.TakeStatus();
  CuEvent event = nullptr;
  {
    const std::lock_guard lock(mutex_);
    if (!idle_events_.empty()) {
      event = idle_events_.back();
      idle_events_.pop_back();
    }
  }
  if (event == nullptr) {
    if (Status made = Check(driver_.EventCreate(&event, 0), "cuEventCreate"); !made.ok()) return made;
  }
  return std::make_shared<GpuEvent>(std::move(*use), *this, event);
}

void Gpu::GiveBack(CuEvent event) noexcept {
  const std::lock_guard lock(mutex_);
  try {
    idle_events_.push_back(event);
  } catch (const std::bad_alloc&) {
    driver_.EventDestroy(event);
  }
}

void Gpu::StartClock(CuStream stream) {
  const ContextScope scope(*this);
  const auto event = TakeEvent();
  if (!event.ok() || driver_.EventRecord(event.value()->get(), stream) != cu::kSuccess) return;
  if (driver_.EventSynchronize(event.value()->get()) == cu::kSuccess) TimeNs(event.value());
}

std::int64_t Gpu::TimeNs(const std::shared_ptr<GpuEvent>& event) {
  std::shared_ptr<GpuEvent> old_clock;  // destroyed after the lock is released
  const std::lock_guard lock(mutex_);
  float milliseconds = 0;
  if (clock_event_ == nullptr) {
    if (lost()) return NowNs();  // it would keep the context
    clock_event_ = event;
    clock_ns_ = static_cast<double>(NowNs());
  } else if (event != clock_event_ &&
             driver_.EventElapsedTime(&milliseconds, clock_event_->get(), event->get()) != cu::kSuccess) {
    return NowNs();
  }
  const double time_ns = clock_ns_ + static_cast<double>(milliseconds) * 1e6;
  if (time_ns - clock_ns_ > kLongestClockStepNs) {
    old_clock = std::exchange(clock_event_, event);
    clock_ns_ = time_ns;
  }
  return static_cast<std::int64_t>(time_ns);
}

}  // namespace sampan::cuda
