// Many small asynchronous copies: against a worker with a mutex and a condition variable, and over streams
// and threads.
#include <condition_variable>
#include <cstring>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "bench/ratio.h"

namespace {

using bench::MeasureRatio;

constexpr std::size_t kCopies = 20000;
constexpr std::size_t kBytes = 64;

/// What people write by hand: a queue of functions, one thread, a mutex, a condition variable.
class HandMadeWorker {
 public:
  HandMadeWorker() : thread_([this] { Loop(); }) {}
  ~HandMadeWorker() {
    Push(nullptr);
    thread_.join();
  }
  void CopyAsync(void* dst, const void* src, std::size_t bytes) {
    Push([dst, src, bytes] { std::memcpy(dst, src, bytes); });
  }
  void Push(std::function<void()> work) {
    {
      const std::lock_guard lock(mutex_);
      work_.push_back(std::move(work));
      ++pushed_;
    }
    wake_.notify_one();
  }
  void Sync() {
    std::unique_lock lock(mutex_);
    const std::size_t target = pushed_;
    done_changed_.wait(lock, [&] { return done_ >= target; });
  }

 private:
  void Loop() {
    for (;;) {
      std::function<void()> work;
      {
        std::unique_lock lock(mutex_);
        wake_.wait(lock, [&] { return !work_.empty(); });
        work = std::move(work_.front());
        work_.pop_front();
      }
      if (work == nullptr) return;
      work();
      const std::lock_guard lock(mutex_);
      ++done_;
      done_changed_.notify_all();
    }
  }

  std::mutex mutex_;
  std::condition_variable wake_, done_changed_;
  std::deque<std::function<void()>> work_;
  std::size_t pushed_ = 0, done_ = 0;
  std::thread thread_;
};

class SmallCopies {
 public:
  explicit SmallCopies(std::size_t streams) : streams_(streams) {
    BENCH_CHECK(aclrtSetDevice(0));
    for (auto& stream : streams_)
      BENCH_CHECK(aclrtCreateStreamWithConfig(&stream, 0, ACL_STREAM_FAST_LAUNCH));
    BENCH_CHECK(aclrtMalloc(&device_, kBytes * kCopies, ACL_MEM_MALLOC_HUGE_FIRST));
    BENCH_CHECK(aclrtMallocHost(&pinned_, kBytes * kCopies));
    std::memset(pinned_, 5, kBytes * kCopies);
    BENCH_CHECK(aclrtMemcpy(device_, kBytes * kCopies, pinned_, kBytes * kCopies, ACL_MEMCPY_HOST_TO_DEVICE));
  }
  ~SmallCopies() {
    for (aclrtStream stream : streams_)
      BENCH_CHECK(aclrtDestroyStream(stream));
    BENCH_CHECK(aclrtFree(device_));
    BENCH_CHECK(aclrtFreeHost(pinned_));
    BENCH_CHECK(aclrtResetDevice(0));
  }
  SmallCopies(const SmallCopies&) = delete;
  SmallCopies& operator=(const SmallCopies&) = delete;

  void SubmitTo(std::size_t i, std::size_t stream) const {
    BENCH_CHECK(aclrtMemcpyAsync(static_cast<char*>(device_) + i * kBytes, kBytes,
                                 static_cast<char*>(pinned_) + i * kBytes, kBytes, ACL_MEMCPY_HOST_TO_DEVICE,
                                 streams_[stream]));
  }
  /// One stream after the other.
  void RunOver(std::size_t streams) const {
    for (std::size_t i = 0, stream = 0; i < kCopies; ++i) {
      SubmitTo(i, stream);
      if (++stream == streams) stream = 0;
    }
    for (std::size_t s = 0; s < streams; ++s)
      BENCH_CHECK(aclrtSynchronizeStream(streams_[s]));
  }
  void RunAwaited() const {
    for (std::size_t i = 0; i < kCopies; ++i) {
      SubmitTo(i, 0);
      BENCH_CHECK(aclrtSynchronizeStream(streams_[0]));
    }
  }
  /// Each thread submits its share, a part of the memory to itself, to a stream of its own.
  void RunThreads(std::size_t threads) const {
    std::vector<std::thread> workers;
    for (std::size_t t = 0; t < threads; ++t) {
      workers.emplace_back([this, t, threads] {
        BENCH_CHECK(aclrtSetDevice(0));
        const std::size_t share = kCopies / threads;
        for (std::size_t i = t * share; i < (t + 1) * share; ++i)
          SubmitTo(i, t);
        BENCH_CHECK(aclrtSynchronizeStream(streams_[t]));
        BENCH_CHECK(aclrtResetDevice(0));
      });
    }
    for (std::thread& worker : workers)
      worker.join();
  }

 private:
  std::vector<aclrtStream> streams_;
  void* device_ = nullptr;
  void* pinned_ = nullptr;
};

void OneStreamAgainstWorker(benchmark::State& state) {
  const SmallCopies copies(1);
  HandMadeWorker worker;
  std::vector<char> src(kBytes * kCopies, 5);
  std::vector<char> dst(kBytes * kCopies);
  MeasureRatio(
      state, kCopies, [&] { copies.RunOver(1); },
      [&] {
        for (std::size_t i = 0; i < kCopies; ++i) {
          worker.CopyAsync(dst.data() + i * kBytes, src.data() + i * kBytes, kBytes);
        }
        worker.Sync();
      });
}
BENCHMARK(OneStreamAgainstWorker)->UseManualTime()->Unit(benchmark::kMillisecond);

/// The program waits for each copy before it continues: two hand-overs per copy.
void EachAwaitedAgainstWorker(benchmark::State& state) {
  const SmallCopies copies(1);
  HandMadeWorker worker;
  std::vector<char> src(kBytes * kCopies, 5);
  std::vector<char> dst(kBytes * kCopies);
  MeasureRatio(
      state, kCopies, [&] { copies.RunAwaited(); },
      [&] {
        for (std::size_t i = 0; i < kCopies; ++i) {
          worker.CopyAsync(dst.data() + i * kBytes, src.data() + i * kBytes, kBytes);
          worker.Sync();
        }
      });
}
// Few turns, because the worker needs almost a second for each.
BENCHMARK(EachAwaitedAgainstWorker)->UseManualTime()->Unit(benchmark::kMillisecond)->Iterations(5);

void SixteenStreamsAgainstOne(benchmark::State& state) {
  const SmallCopies copies(16);
  MeasureRatio(
      state, kCopies, [&] { copies.RunOver(16); }, [&] { copies.RunOver(1); });
}
BENCHMARK(SixteenStreamsAgainstOne)->UseManualTime()->Unit(benchmark::kMillisecond);

void TwoSubmittersAgainstOne(benchmark::State& state) {
  const SmallCopies copies(2);
  MeasureRatio(
      state, kCopies, [&] { copies.RunThreads(2); }, [&] { copies.RunThreads(1); });
}
BENCHMARK(TwoSubmittersAgainstOne)->UseManualTime()->Unit(benchmark::kMillisecond);

}  // namespace

BENCHMARK_MAIN();
