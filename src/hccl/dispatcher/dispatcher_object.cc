// The dispatcher behind a handle: settings, observer, and the commands that wait for a launch.
#include "hccl/dispatcher/dispatcher_object.h"

#include <algorithm>
#include <cstdint>

#include "acl/acl_rt.h"
#include "base/time/clock.h"
#include "hccl/dispatcher/route.h"
#include "hccl/platform_state.h"
#include "hccl/report.h"

namespace sampan::hccl {
namespace {

/// An event that orders two streams of a launch.
class LaunchEvent {
 public:
  HcclResult Record(void* stream) {
    if (event_ == nullptr && aclrtCreateEventExWithFlag(&event_, ACL_EVENT_SYNC) != ACL_SUCCESS)
      return HCCL_E_RUNTIME;
    return aclrtRecordEvent(event_, stream) == ACL_SUCCESS ? HCCL_SUCCESS : HCCL_E_RUNTIME;
  }
  HcclResult WaitIn(void* stream) const {
    return aclrtStreamWaitEvent(stream, event_) == ACL_SUCCESS ? HCCL_SUCCESS : HCCL_E_RUNTIME;
  }
  LaunchEvent() = default;
  LaunchEvent(const LaunchEvent&) = delete;
  LaunchEvent& operator=(const LaunchEvent&) = delete;
  ~LaunchEvent() {
    if (event_ != nullptr) static_cast<void>(aclrtDestroyEvent(event_));
  }

 private:
  aclrtEvent event_ = nullptr;
};

/// The streams of the commands, without the main one, in the order of first use.
std::vector<void*> SideStreams(const std::vector<HeldCommand>& commands, const void* main_stream) {
  std::vector<void*> streams;
  for (const HeldCommand& held : commands) {
    if (held.stream != main_stream && std::find(streams.begin(), streams.end(), held.stream) == streams.end())
      streams.push_back(held.stream);
  }
  return streams;
}

void ReportLost(std::size_t count, const char* because) {
  if (count == 0) return;
  LogError(
      Text(count, " tasks were submitted after InitTask and never launched: ", std::string_view(because)));
}

}  // namespace

void Dispatcher::Open(DispatcherType type) {
  is_virtual_.store(type == DispatcherType::DISPATCHER_VIRTURAL);
  set_wait_mode(SyncMode::DEFAULT_TIMEWAITSYNCMODE);
  set_exec_seconds(NOTIFY_DEFAULT_WAIT_TIME);
}

void Dispatcher::Close() {
  EndLaunch("the dispatcher was destroyed");
  SetObserver(nullptr, nullptr);
  const std::lock_guard lock(mutex_);
  warned_routes_.clear();
}

u32 Dispatcher::WaitSeconds(u32 given) const {
  constexpr u32 kMax = NOTIFY_MAX_WAIT_TIME_910_93;
  if (given > 0 && given <= kMax) return given;
  switch (wait_mode()) {
    case SyncMode::CONFIGURABLE_TIMEWAITSYNCMODE:
      return exec_seconds_.load();
    case SyncMode::UNLIMITED_TIMEWAITSYNCMODE:
      return kMax;
    default:
      return NOTIFY_DEFAULT_WAIT_TIME;
  }
}

void Dispatcher::SetObserver(void* user, LoadTaskCallBack callback) {
  const std::lock_guard lock(mutex_);
  observer_user_ = user;
  observer_ = callback;
  is_observed_.store(callback != nullptr, std::memory_order_relaxed);
}

SubmissionWatch Dispatcher::WatchOf(::hccl::Stream& stream) const {
  const std::lock_guard lock(mutex_);
  return {stream.ptr(), stream.IsMainStream(), static_cast<u64>(NowNs()), observer_user_, observer_};
}

void Dispatcher::ObserveHeld(::hccl::TaskPara record, u32 index, ::hccl::Stream& stream) const {
  const SubmissionWatch watch = WatchOf(stream);
  if (watch.observer == nullptr) return;
  record.isFftsDispatcher = true;
  switch (record.type) {
    case ::hccl::TaskType::TASK_SDMA:
      record.dma.ctxId = index;
      break;
    case ::hccl::TaskType::TASK_REDUCE_INLINE:
    case ::hccl::TaskType::TASK_REDUCE_TBE:
      record.reduce.ctxId = index;
      break;
    default:
      record.notify.ctxId = index;
  }
  if (ThePlatform().is_profiling_forced()) {
    record.profilerType = ::hccl::ProfilerType::TASK_PROFILING;
    watch.Observe(record);
  }
  record.profilerType = ::hccl::ProfilerType::TASK_EXCEPTION;
  watch.Observe(record);
}

void Dispatcher::CheckRoute(const CopyCommand& copy) {
  if (!LogsWarnings() || copy.kind != HcclRtMemcpyKind::HCCL_RT_MEMCPY_KIND_DEVICE_TO_DEVICE) return;
  const auto actual = LinkBetween(copy.dst, copy.src);
  if (!actual || *actual == copy.peer.link) return;
  {
    const std::lock_guard lock(mutex_);
    if (!warned_routes_.emplace(copy.peer.link, *actual).second) return;
  }
  LogWarning(Text("a copy from ", Hex(copy.src), " to ", Hex(copy.dst), " is said to go over ",
                  Name(copy.peer.link), ", but by its addresses it goes over ", Name(*actual),
                  ": the addresses decide (told once for this pair of links)"));
}

template <typename Command>
bool Dispatcher::Hold(const Command& command, ::hccl::Stream& stream) {
  u32 index = 0;
  {
    const std::lock_guard lock(mutex_);
    if (!is_holding_.load(std::memory_order_relaxed)) return false;
    index = static_cast<u32>(held_.size());
    held_.push_back({stream.ptr(), command});
  }
  if (is_observed_.load(std::memory_order_relaxed)) ObserveHeld(RecordOf(command), index, stream);
  return true;
}

template <typename Command>
HcclResult Dispatcher::SubmitWatched(const Command& command, ::hccl::Stream& stream) {
  CheckRoute(command);
  const SubmissionWatch watch = WatchOf(stream);
  return SubmitCommand(command, stream.ptr(), &watch);
}

template bool Dispatcher::Hold(const CopyCommand&, ::hccl::Stream&);
template bool Dispatcher::Hold(const ReduceCommand&, ::hccl::Stream&);
template bool Dispatcher::Hold(const PostCommand&, ::hccl::Stream&);
template bool Dispatcher::Hold(const WaitCommand&, ::hccl::Stream&);
template HcclResult Dispatcher::SubmitWatched(const CopyCommand&, ::hccl::Stream&);
template HcclResult Dispatcher::SubmitWatched(const ReduceCommand&, ::hccl::Stream&);
template HcclResult Dispatcher::SubmitWatched(const PostCommand&, ::hccl::Stream&);
template HcclResult Dispatcher::SubmitWatched(const WaitCommand&, ::hccl::Stream&);

void Dispatcher::BeginLaunch() {
  EndLaunch("another InitTask came before LaunchTask");
  is_holding_.store(true, std::memory_order_release);
}

void Dispatcher::EndLaunch(const char* because) {
  std::vector<HeldCommand> lost;
  {
    const std::lock_guard lock(mutex_);
    is_holding_.store(false, std::memory_order_release);
    lost.swap(held_);
  }
  ReportLost(lost.size(), because);
}

HcclResult Dispatcher::Launch(void* main_stream) {
  std::vector<HeldCommand> commands;
  {
    const std::lock_guard lock(mutex_);
    is_holding_.store(false, std::memory_order_release);
    commands.swap(held_);
  }
  if (commands.empty()) return HCCL_SUCCESS;
  const std::vector<void*> sides = SideStreams(commands, main_stream);
  LaunchEvent begin;
  if (!sides.empty()) {
    if (const HcclResult result = begin.Record(main_stream); result != HCCL_SUCCESS) return result;
  }
  for (void* side : sides) {
    if (const HcclResult result = begin.WaitIn(side); result != HCCL_SUCCESS) return result;
  }
  for (const HeldCommand& held : commands) {
    const HcclResult result = std::visit(
        [&](const auto& command) {
          CheckRoute(command);
          // No observer: it got its records when the commands arrived.
          const SubmissionWatch watch{.stream = held.stream};
          return SubmitCommand(command, held.stream, IsWatched() ? &watch : nullptr);
        },
        held.command);
    if (result != HCCL_SUCCESS) {
      return Fail("LaunchTask", result,
                  Text("task ", &held - commands.data(), " of ", commands.size(),
                       " was refused by the runtime; the ones behind it are lost"));
    }
  }
  for (void* side : sides) {
    LaunchEvent end;
    if (const HcclResult result = end.Record(side); result != HCCL_SUCCESS) return result;
    if (const HcclResult result = end.WaitIn(main_stream); result != HCCL_SUCCESS) return result;
  }
  ::hccl::Stream stream(main_stream, true);
  ::hccl::TaskPara record(::hccl::TaskType::TASK_GRAPH_LAUNCH,
                          ::hccl::TaskParaGraphLaunch{static_cast<u32>(commands.size())});
  record.isFftsDispatcher = true;
  WatchOf(stream).Observe(record);
  return HCCL_SUCCESS;
}

}  // namespace sampan::hccl
