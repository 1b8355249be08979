// With and without a trace, a queue on a GPU makes the same copies and launches: checked against a driver of
// the test's own. What a trace adds are events, for its clock and behind each task.
#include <gtest/gtest.h>
#include <sys/mman.h>

#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "backend/api/segment_pool.h"
#include "backend/cuda/memory/reserved_memory.h"
#include "backend/cuda/paths/copy_path.h"
#include "backend/cuda/queue/cuda_queue.h"
#include "base/error/text.h"
#include "core/copy/batch_run.h"
#include "core/memory/memory_registry.h"
#include "observe/observers.h"
#include "tests/support/child_process.h"
#include "tests/support/temporary_folder.h"
#include "tests/unit/backend/cuda/driver_of_tests.h"
#include "trace/session.h"

namespace sampan::cuda::cuda_observer_test {
namespace {

constexpr std::size_t kUnit = ReservedMemory::kUnitBytes;
constexpr std::uintptr_t kDeviceAt = 0x7000'0000'0000, kPinnedAt = 0x6000'0000'0000;
constexpr std::size_t kBytes = std::size_t{16} << 20;

/// Copies and launches, in the driver's order.
std::vector<std::string>* calls = nullptr;
int event_records = 0;

template <typename... Parts>
CuResult Note(const Parts&... parts) {
  calls->push_back(Text(parts...));
  return cu::kSuccess;
}

/// Memory of the queue's own lies elsewhere in each run.
std::string HostAddress(const void* address) {
  const auto offset = reinterpret_cast<std::uintptr_t>(address) - kPinnedAt;
  return offset < kBytes ? Text("pinned + ", offset) : std::string("the queue's");
}

Driver NotingDriver() {
  static int anything = 0;
  Driver driver = DriverOfTests();
  driver.ModuleGetFunction = [](CuFunction* function, CuModule, const char* name) {
    *function = reinterpret_cast<CuFunction>(const_cast<char*>(name));
    return cu::kSuccess;
  };
  driver.StreamQuery = [](CuStream) { return cu::kSuccess; };
  driver.StreamWriteWord = [](CuStream, CuAddress word, unsigned long long value, unsigned) {
    *reinterpret_cast<std::uint64_t*>(word) = value;
    return cu::kSuccess;
  };
  driver.EventCreate = [](CuEvent* event, unsigned) {
    return *event = reinterpret_cast<CuEvent>(&anything), cu::kSuccess;
  };
  driver.EventDestroy = [](CuEvent) { return cu::kSuccess; };
  driver.EventRecord = [](CuEvent, CuStream) { return ++event_records, cu::kSuccess; };
  driver.EventQuery = [](CuEvent) { return cu::kSuccess; };
  driver.EventSynchronize = [](CuEvent) { return cu::kSuccess; };
  driver.EventElapsedTime = [](float* ms, CuEvent, CuEvent) { return *ms = 1, cu::kSuccess; };
  driver.CopyHostToDevice = [](CuAddress dst, const void* src, std::size_t bytes, CuStream) {
    return Note("in ", dst, " ", HostAddress(src), " ", bytes);
  };
  driver.CopyDeviceToHost = [](void* dst, CuAddress src, std::size_t bytes, CuStream) {
    return Note("out ", HostAddress(dst), " ", src, " ", bytes);
  };
  driver.CopyDeviceToDevice = [](CuAddress dst, CuAddress src, std::size_t bytes, CuStream) {
    return Note("within ", dst, " ", src, " ", bytes);
  };
  driver.CopyAny = [](CuAddress dst, CuAddress src, std::size_t bytes, CuStream) {
    return Note("any ", dst, " ", src, " ", bytes);
  };
  driver.Copy2d = [](const CuCopy2d* copy, CuStream) {
    return Note("rows ", copy->dst_device, " ", copy->src_device, " ", copy->width, " ", copy->height);
  };
  driver.CopyBatch = [](CuAddress* dsts, CuAddress* srcs, std::size_t* sizes, std::size_t count,
                        CuBatchAttributes*, std::size_t*, std::size_t, std::size_t*, CuStream) {
    return Note("batch ", count, " ", dsts[0], " ", srcs[0], " ", sizes[count - 1]);
  };
  driver.FillBytes = [](CuAddress dst, unsigned char byte, std::size_t bytes, CuStream) {
    return Note("fill ", dst, " ", int{byte}, " ", bytes);
  };
  driver.FillWords = [](CuAddress dst, unsigned word, std::size_t words, CuStream) {
    return Note("words ", dst, " ", word, " ", words);
  };
  driver.LaunchKernel = [](CuFunction kernel, unsigned blocks, unsigned, unsigned, unsigned threads, unsigned,
                           unsigned, unsigned, CuStream, void**, void**) {
    return Note("launch ", reinterpret_cast<const char*>(kernel), " ", blocks, " ", threads);
  };
  driver.GraphCreate = [](CuGraph* graph, unsigned) {
    return *graph = reinterpret_cast<CuGraph>(&anything), cu::kSuccess;
  };
  driver.GraphAddKernel = [](CuGraphNode*, CuGraph, const CuGraphNode*, std::size_t,
                             const CuKernelNode* node) {
    return Note("graph of ", reinterpret_cast<const char*>(node->function), " ", node->blocks[0]);
  };
  driver.GraphInstantiate = [](CuGraphExec* made, CuGraph, unsigned long long) {
    return *made = reinterpret_cast<CuGraphExec>(&anything), cu::kSuccess;
  };
  driver.GraphSetKernel = [](CuGraphExec, CuGraphNode, const CuKernelNode* node) {
    return Note("set ", reinterpret_cast<const char*>(node->function), " ", node->blocks[0]);
  };
  driver.GraphLaunch = [](CuGraphExec, CuStream) { return Note("launch a graph"); };
  driver.GraphDestroyExecutable = [](CuGraphExec) { return cu::kSuccess; };
  driver.GraphDestroy = [](CuGraph) { return cu::kSuccess; };
  return driver;
}

/// Real memory, so that words can be written there.
class WritableBacking final : public Backing {
 public:
  Status Commit(std::uintptr_t address, std::size_t bytes) override {
    EXPECT_EQ(::mprotect(reinterpret_cast<void*>(address), bytes, PROT_READ | PROT_WRITE), 0);
    return {};
  }
  void Decommit(std::uintptr_t, std::size_t) noexcept override {}
};

class NoFailures final : public QueueListener {
 public:
  bool OnTaskFailed(std::uint64_t task, Status failure) noexcept override {
    ADD_FAILURE() << "task " << task << ": " << failure.error().message;
    return false;
  }
};

/// Submits copies of every form and size; each plan's ends are device and pinned memory that is only named.
class Program {
 public:
  explicit Program(const PathSettings& settings) : paths_("", 9, settings) {
    mapping_ = ::mmap(nullptr, 3 * kUnit, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    const auto base = (reinterpret_cast<std::uintptr_t>(mapping_) + kUnit - 1) / kUnit * kUnit;
    gpu_ = std::move(*Gpu::Open(driver_, 0));
    pinned_.emplace(ReservedMemoryOptions{.name = "pinned memory",
                                          .base = base,
                                          .reserved_bytes = 2 * kUnit,
                                          .capacity_bytes = 2 * kUnit,
                                          .host_visible = true,
                                          .faults = &faults_},
                    std::make_unique<WritableBacking>());
    Adopt(kDeviceAt, {PlaceKind::kDevice, 0});
    Adopt(kPinnedAt, {PlaceKind::kPinned, 0});
    watch_.Start();
    queue_ = *CudaQueue::Create({*gpu_, *pinned_, *pinned_, paths_},
                                {.listener = listener_, .depth = 1792, .label = {}}, watch_, faults_);
  }
  ~Program() {
    queue_->Close();
    queue_.reset();
    pinned_.reset();
    ::munmap(mapping_, 3 * kUnit);
  }
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;

  /// What the driver was asked to copy and launch.
  std::vector<std::string> Run() {
    std::vector<std::string> noted;
    calls = &noted;
    for (const std::size_t bytes : {std::size_t{1}, std::size_t{64}, std::size_t{4096}, kBytes / 2}) {
      Submit(CopyTask{
          {At(kDeviceAt), At(kPinnedAt), bytes}, Use(kDeviceAt), Use(kPinnedAt), Direction::kHostToDevice});
      Submit(CopyTask{
          {At(kPinnedAt), At(kDeviceAt), bytes}, Use(kPinnedAt), Use(kDeviceAt), Direction::kDeviceToHost});
      Submit(CopyTask{{At(kDeviceAt), At(kDeviceAt + kBytes / 2), bytes},
                      Use(kDeviceAt),
                      Use(kDeviceAt),
                      Direction::kDeviceToDevice});
      Submit(FillTask{At(kDeviceAt), bytes, 0x07070707, Use(kDeviceAt)});
      Submit(FillTask{At(kDeviceAt), RoundDown(bytes), 0x01020304, Use(kDeviceAt)});
      SubmitBatch({.entries = 1, .bytes = std::min<std::size_t>(bytes, 4096), .captured = true});
    }
    for (const std::size_t width : {4, 7, 64, 4096}) {
      Submit(RowsTask{{At(kDeviceAt), At(kPinnedAt), width, width + 64, width, 100},
                      Use(kDeviceAt),
                      Use(kPinnedAt),
                      Direction::kHostToDevice});
      Submit(RowsTask{{At(kPinnedAt), At(kDeviceAt), width + 32, width + 64, width, 9},
                      Use(kPinnedAt),
                      Use(kDeviceAt),
                      Direction::kDeviceToHost});
    }
    for (const std::size_t bytes : {16, 64, 512}) {
      for (std::size_t entries = 1; entries <= 40; ++entries)
        SubmitBatch({.entries = entries, .bytes = bytes});
    }
    for (const std::size_t entries : {2, 8, 9, 100})
      SubmitBatch({.entries = entries, .bytes = 64, .first_bytes = std::size_t{1} << 20});
    for (const std::size_t entries : {4, 64})
      SubmitBatch({.entries = entries, .bytes = std::size_t{96} << 10});
    // More than the distance at which a queue records an event by itself.
    for (int i = 0; i < 600; ++i) {
      Submit(CopyTask{
          {At(kDeviceAt + 64), At(kPinnedAt), 64}, Use(kDeviceAt), Use(kPinnedAt), Direction::kHostToDevice});
    }
    EXPECT_TRUE(queue_->timeline()->Wait(queue_->submitted(), kNever));
    calls = nullptr;
    return noted;
  }
  /// The same for a captured copy, whose segments are cut.
  std::vector<std::string> RunCaptured(std::size_t bytes) {
    std::vector<std::string> noted;
    calls = &noted;
    BatchTask batch(store_);
    batch.captured = std::make_unique<std::byte[]>(bytes);
    EXPECT_TRUE(core::AppendEntry({At(kDeviceAt), batch.captured.get(), bytes}, 0, batch).ok());
    EXPECT_GT(batch.segments.size(), 1U);
    batch.direction = Direction::kHostToDevice;
    batch.memory.push_back(Use(kDeviceAt));
    Submit(std::move(batch));
    EXPECT_TRUE(queue_->timeline()->Wait(queue_->submitted(), kNever));
    calls = nullptr;
    return noted;
  }

 private:
  struct BatchShape {
    std::size_t entries, bytes;
    std::size_t first_bytes = 0;  ///< of the first, where it differs
    bool captured = false;
  };

  static std::byte* At(std::uintptr_t address) { return reinterpret_cast<std::byte*>(address); }
  static std::size_t RoundDown(std::size_t bytes) { return std::max<std::size_t>(bytes / 4 * 4, 4); }
  void Adopt(std::uintptr_t address, Place place) {
    EXPECT_TRUE(registry_
                    .Adopt({.address = address,
                            .bytes = kBytes,
                            .asked_bytes = kBytes,
                            .place = place,
                            .made_by = "the test",
                            .backtrace = {}},
                           std::make_shared<core::MemoryKeeper>(), core::MemoryOrigin::kImported)
                    .ok());
  }
  AllocationUse Use(std::uintptr_t address) const { return registry_.Find(address); }
  void Submit(Task task) { EXPECT_TRUE(queue_->Submit(task, 0).ok()); }
  void SubmitBatch(const BatchShape& shape) {
    BatchTask batch(store_);
    EXPECT_TRUE(batch.segments.Reserve(shape.entries).ok());
    if (shape.captured) batch.captured = std::make_unique<std::byte[]>(shape.bytes);
    const std::byte* const from = shape.captured ? batch.captured.get() : At(kPinnedAt);
    for (std::size_t i = 0; i < shape.entries; ++i) {
      const std::size_t bytes = i == 0 && shape.first_bytes != 0 ? shape.first_bytes : shape.bytes;
      const std::size_t offset = i == 0 ? 0 : shape.first_bytes + 2 * i * shape.bytes;
      batch.segments.Append({At(kDeviceAt) + offset, from + offset, bytes});
      batch.bytes += bytes;
      batch.longest = std::max(batch.longest, bytes);
    }
    batch.direction = Direction::kHostToDevice;
    batch.memory.push_back(Use(kDeviceAt));
    if (!shape.captured) batch.memory.push_back(Use(kPinnedAt));
    Submit(std::move(batch));
  }

  const Driver driver_ = NotingDriver();
  const CopyPaths paths_;
  void* mapping_ = nullptr;
  std::unique_ptr<Gpu> gpu_;
  FaultPlan faults_;
  std::optional<ReservedMemory> pinned_;
  core::MemoryRegistry registry_{false};
  HeapSegmentPool store_;
  NoFailures listener_;
  HoldWatch watch_;
  std::shared_ptr<CudaQueue> queue_;
};

TEST(CudaObserver, TheDriverCopiesAndLaunchesTheSameUnderATrace) {
  if (test::DoneInChild()) return;  // a trace is a process's
  const PathSettings settings[] = {
      {}, {.path = CopyPath::kEngine}, {.path = CopyPath::kBatchCall}, {.path = CopyPath::kKernel}};
  std::vector<std::vector<std::string>> plain;
  for (const PathSettings& each : settings)
    plain.push_back(Program(each).Run());
  const int plain_records = event_records;
  const test::TemporaryFolder folder;
  auto tracer = trace::Start(
      {.file = folder.path() + "/trace.json", .summary = true, .backend = "cuda", .profile = ""});
  ASSERT_TRUE(tracer.ok());
  ASSERT_TRUE(observe::Attach(**tracer));
  ASSERT_TRUE(observe::On());
  for (std::size_t i = 0; i < std::size(settings); ++i) {
    SCOPED_TRACE(i);
    EXPECT_GT(plain[i].size(), 700U);
    const std::vector<std::string> traced = Program(settings[i]).Run();
    ASSERT_EQ(traced.size(), plain[i].size());
    for (std::size_t call = 0; call < traced.size(); ++call)
      ASSERT_EQ(traced[call], plain[i][call]) << "call " << call;
  }
  EXPECT_GT(event_records, 4 * plain_records) << "the trace recorded no event behind each task";
  trace::Finish();
}

/// Keeps what executed tasks tell of kernels.
class KernelWatch final : public observe::Observer {
 public:
  void OnThreadBegan(const observe::ThreadRole&) noexcept override {}
  void OnCallBegan(const char*, const observe::Peer*) noexcept override {}
  void OnCallEnded(const char*, std::int32_t) noexcept override {}
  void OnCallAwaits(const observe::AwaitedWork&) noexcept override {}
  void OnHostWaitBegan(const observe::HostWaitBegin&) noexcept override {}
  void OnHostWait(const observe::HostWaitEvent&) noexcept override {}
  void OnSubmitting(const observe::Submission&, const Task&) noexcept override {}
  void OnSubmitted(const observe::Submission&, std::uint64_t, const observe::Execution*) noexcept override {}
  void OnExecuted(const observe::Execution& execution) noexcept override {
    const std::lock_guard lock(mutex_);
    EXPECT_EQ(execution.multiprocessors != 0, execution.path == observe::Path::kKernel)
        << execution.multiprocessors << ", because " << (execution.reason == nullptr ? "" : execution.reason);
    EXPECT_LE(execution.multiprocessors, 9U) << "the GPU has nine";
    ++executed_[execution.multiprocessors];
  }
  void OnHelped(const observe::TaskKey&, std::int64_t) noexcept override {}
  void OnMemory(const observe::MemoryEvent&) noexcept override {}
  void OnStream(const observe::StreamEvent&) noexcept override {}

  /// How many tasks had so many multiprocessors.
  std::map<std::uint32_t, std::size_t> executed() {
    const std::lock_guard lock(mutex_);
    return executed_;
  }

 private:
  std::mutex mutex_;
  std::map<std::uint32_t, std::size_t> executed_;
};

TEST(CudaObserver, IsToldTheMultiprocessorsOfKernels) {
  if (test::DoneInChild()) return;
  KernelWatch watch;
  ASSERT_TRUE(observe::Attach(watch));
  ASSERT_TRUE(observe::On());
  Program({.path = CopyPath::kKernel}).Run();
  auto executed = watch.executed();
  EXPECT_GT(executed[0], 600U) << "linear copies and fills over the link have no kernel";
  EXPECT_GT(executed[1], 100U) << "short batches";
  EXPECT_GT(executed[3], 0U) << "long ones";
  EXPECT_GT(executed[9], 0U) << "within the device";
  observe::Detach(watch);
}

TEST(CudaCaptured, IsOneCopyOfTheDriver) {
  constexpr std::size_t kLong = BatchTask::kMaxSegmentBytes + 64;
  EXPECT_EQ(Program({}).RunCaptured(kLong),
            std::vector<std::string>{Text("in ", kDeviceAt, " the queue's ", kLong)});
}

}  // namespace
}  // namespace sampan::cuda::cuda_observer_test
