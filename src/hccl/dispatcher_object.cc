// The dispatcher behind a handle: settings, observer, and the work that waits for a launch.
#include "hccl/dispatcher_object.h"

#include <algorithm>

#include "acl/acl_rt.h"
#include "hccl/platform_state.h"
#include "hccl/report.h"
#include "hccl/route.h"

namespace sampan::plf {
namespace {

/// An event of the launch: one stream's point, for another to wait for.
class Point {
 public:
  HcclResult Record(void* stream) {
    if (event_ == nullptr && aclrtCreateEventExWithFlag(&event_, ACL_EVENT_SYNC) != ACL_SUCCESS)
      return HCCL_E_RUNTIME;
    return aclrtRecordEvent(event_, stream) == ACL_SUCCESS ? HCCL_SUCCESS : HCCL_E_RUNTIME;
  }
  HcclResult WaitIn(void* stream) const {
    return aclrtStreamWaitEvent(stream, event_) == ACL_SUCCESS ? HCCL_SUCCESS : HCCL_E_RUNTIME;
  }
  Point() = default;
  Point(const Point&) = delete;
  Point& operator=(const Point&) = delete;
  ~Point() {
    if (event_ != nullptr) static_cast<void>(aclrtDestroyEvent(event_));
  }

 private:
  aclrtEvent event_ = nullptr;
};

/// The streams that the tasks are for, without the main one, in the order of first use.
std::vector<void*> SideStreams(const std::vector<Task>& tasks, const void* main_stream) {
  std::vector<void*> streams;
  for (const Task& task : tasks) {
    if (task.stream != main_stream && std::find(streams.begin(), streams.end(), task.stream) == streams.end())
      streams.push_back(task.stream);
  }
  return streams;
}

}  // namespace

Dispatcher::~Dispatcher() {
  Lost(held_.size(), "the dispatcher was destroyed");
}

u32 Dispatcher::WaitSeconds(u32 given) const {
  constexpr u32 kMost = NOTIFY_MAX_WAIT_TIME_910_93;
  if (given > 0 && given <= kMost) return given;
  switch (wait_mode()) {
    case SyncMode::CONFIGURABLE_TIMEWAITSYNCMODE:
      return exec_seconds_.load();
    case SyncMode::UNLIMITED_TIMEWAITSYNCMODE:
      return kMost;
    default:
      return NOTIFY_DEFAULT_WAIT_TIME;
  }
}

void Dispatcher::SetObserver(void* user, LoadTaskCallBack callback) {
  const std::lock_guard lock(mutex_);
  observer_user_ = user;
  observer_ = callback;
}

void Dispatcher::Observe(hccl::TaskPara para) const {
  void* user = nullptr;
  LoadTaskCallBack callback = nullptr;
  {
    const std::lock_guard lock(mutex_);
    user = observer_user_;
    callback = observer_;
  }
  if (callback != nullptr) callback(user, &para, sizeof(para));
}

void Dispatcher::ObserveHeld(const Task& task, u32 place) const {
  hccl::TaskPara para = RecordOf(task);
  para.isFftsDispatcher = true;
  if (std::holds_alternative<CopyTask>(task.content)) {
    para.dma.ctxId = place;
  } else if (std::holds_alternative<ReduceTask>(task.content)) {
    para.reduce.ctxId = place;
  } else {
    para.notify.ctxId = place;
  }
  if (ThePlatform().profiling_forced()) {
    para.profilerType = hccl::ProfilerType::TASK_PROFILING;
    Observe(para);
  }
  para.profilerType = hccl::ProfilerType::TASK_EXCEPTION;
  Observe(para);
}

void Dispatcher::CheckRoute(const CopyTask& copy) {
  if (copy.kind != HcclRtMemcpyKind::HCCL_RT_MEMCPY_KIND_DEVICE_TO_DEVICE) return;
  const auto actual = LinkBetween(copy.dst, copy.src);
  if (!actual || *actual == copy.peer.link) return;
  {
    const std::lock_guard lock(mutex_);
    if (!told_routes_.emplace(copy.peer.link, *actual).second) return;
  }
  Warn(Text("a copy from ", Hex(copy.src), " to ", Hex(copy.dst), " is said to go over ",
            Name(copy.peer.link), ", but by its addresses it goes over ", Name(*actual),
            ": the addresses decide (told once for this pair of links)"));
}

HcclResult Dispatcher::Submit(const Task& task) {
  if (holding()) {
    std::unique_lock lock(mutex_);
    if (holding_.load(std::memory_order_relaxed)) {
      const auto place = static_cast<u32>(held_.size());
      held_.push_back(task);
      lock.unlock();
      ObserveHeld(task, place);
      return HCCL_SUCCESS;
    }
  }
  return SubmitNow(task);
}

HcclResult Dispatcher::SubmitNow(const Task& task) {
  if (const auto* copy = std::get_if<CopyTask>(&task.content)) CheckRoute(*copy);
  return SubmitTask(task, ThePlatform().most_task_bytes(),
                    [this](const hccl::TaskPara& para) { Accepted(para); });
}

void Dispatcher::Accepted(const hccl::TaskPara& para) const {
  if (Traces()) Trace(Describe(para));
  Observe(para);
}

void Dispatcher::BeginLaunch() {
  EndLaunch("another InitTask came before LaunchTask");
  holding_.store(true, std::memory_order_release);
}

void Dispatcher::EndLaunch(const char* because) {
  std::vector<Task> lost;
  {
    const std::lock_guard lock(mutex_);
    holding_.store(false, std::memory_order_release);
    lost.swap(held_);
  }
  Lost(lost.size(), because);
}

void Dispatcher::Lost(std::size_t tasks, const char* because) {
  if (tasks == 0) return;
  Complain(
      Text(tasks, " tasks were submitted after InitTask and never launched: ", std::string_view(because)));
}

HcclResult Dispatcher::Launch(void* main_stream) {
  std::vector<Task> tasks;
  {
    const std::lock_guard lock(mutex_);
    holding_.store(false, std::memory_order_release);
    tasks.swap(held_);
  }
  if (tasks.empty()) return HCCL_SUCCESS;
  const std::vector<void*> sides = SideStreams(tasks, main_stream);
  Point begin;
  if (!sides.empty()) {
    if (const HcclResult result = begin.Record(main_stream); result != HCCL_SUCCESS) return result;
  }
  for (void* side : sides) {
    if (const HcclResult result = begin.WaitIn(side); result != HCCL_SUCCESS) return result;
  }
  for (const Task& task : tasks) {
    if (const auto* copy = std::get_if<CopyTask>(&task.content)) CheckRoute(*copy);
    // The records were given when the tasks came; the trace is of what streams get.
    const HcclResult result =
        SubmitTask(task, ThePlatform().most_task_bytes(), [](const hccl::TaskPara& para) {
          if (Traces()) Trace(Describe(para));
        });
    if (result != HCCL_SUCCESS) {
      return Fail("LaunchTask", result,
                  Text("task ", &task - tasks.data(), " of ", tasks.size(),
                       " was refused by the runtime; the ones behind it are lost"));
    }
  }
  for (void* side : sides) {
    Point end;
    if (const HcclResult result = end.Record(side); result != HCCL_SUCCESS) return result;
    if (const HcclResult result = end.WaitIn(main_stream); result != HCCL_SUCCESS) return result;
  }
  hccl::TaskPara para(hccl::TaskType::TASK_GRAPH_LAUNCH,
                      hccl::TaskParaGraphLaunch{static_cast<u32>(tasks.size())});
  para.stream = main_stream;
  para.isMainStream = true;
  para.isFftsDispatcher = true;
  para.beginTime = NowNs();
  Observe(para);
  return HCCL_SUCCESS;
}

}  // namespace sampan::plf
