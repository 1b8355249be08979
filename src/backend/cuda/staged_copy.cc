// Copies between pageable host memory and a GPU, through pinned memory and by several threads.
#include "backend/cuda/staged_copy.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/text.h"

namespace sampan::cuda {
namespace {

constexpr std::size_t kBufferBytes = std::size_t{1} << 20;
constexpr std::size_t kLeastPartBytes = std::size_t{512} << 10;
constexpr unsigned kMostWorkers = 16;
/// Measured on an H200.
constexpr std::size_t kInFromBytes = std::size_t{16} << 20;
constexpr std::size_t kOutFromBytes = std::size_t{8} << 20;

std::byte* BytesOf(const MemoryBlock& block) {
  return reinterpret_cast<std::byte*>(block.address);
}

}  // namespace

StagedCopy::StagedCopy(Gpu& gpu, ReservedMemory& pinned, Direction direction)
    : gpu_(gpu), pinned_(pinned), direction_(direction) {}

StagedCopy::~StagedCopy() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  changed_.notify_all();
  for (std::thread& thread : threads_)
    thread.join();
}

bool StagedCopy::Pays(std::size_t bytes) const {
  return bytes >= (direction_ == Direction::kHostToDevice ? kInFromBytes : kOutFromBytes);
}

Status StagedCopy::Prepare() {
  if (!workers_.empty()) return {};
  const unsigned cores = std::max(std::thread::hardware_concurrency(), 2U);
  std::vector<Worker> workers(std::min(cores, kMostWorkers));
  const Driver& driver = gpu_.driver();
  if (Status made = gpu_.Check(driver.StreamCreate(&stream_, cu::kStreamNonBlocking, 0), "cuStreamCreate");
      !made.ok())
    return made;
  for (Worker& worker : workers) {
    CuResult made = cu::kSuccess;
    for (std::size_t i = 0; i < kBuffers && made == cu::kSuccess; ++i) {
      made = driver.EventCreate(&worker.events[i], 0);
      auto block = pinned_.Allocate(kBufferBytes, Pages::kHuge);
      if (!block.ok()) {
        GiveBack(workers);
        return block.TakeStatus();
      }
      worker.buffers[i] = *block;
    }
    if (made != cu::kSuccess) {
      GiveBack(workers);
      return gpu_.Check(made, "setting up staged copies");
    }
  }
  workers_ = std::move(workers);
  while (threads_.size() + 1 < workers_.size())
    threads_.emplace_back([this, number = threads_.size() + 1] { Loop(number); });
  return {};
}

void StagedCopy::GiveBack(std::vector<Worker>& workers) {
  const Driver& driver = gpu_.driver();
  for (const Worker& worker : workers) {
    for (std::size_t i = 0; i < kBuffers; ++i) {
      if (worker.events[i] != nullptr) driver.EventDestroy(worker.events[i]);
      if (worker.buffers[i].bytes != 0) pinned_.Free(worker.buffers[i]);
    }
  }
  workers.clear();
  if (stream_ != nullptr) driver.StreamDestroy(std::exchange(stream_, nullptr));
}

void StagedCopy::Abandon() {
  const std::lock_guard one(one_at_a_time_);
  const ContextScope scope(gpu_);
  GiveBack(workers_);
}

Status StagedCopy::Run(const Segment& segment) {
  const std::lock_guard one(one_at_a_time_);
  const ContextScope scope(gpu_);
  if (Status prepared = Prepare(); !prepared.ok()) return prepared;
  {
    const std::lock_guard lock(mutex_);
    segment_ = segment;
    const std::size_t share = segment.bytes / (workers_.size() * 2 * kBuffers);
    part_bytes_ = std::clamp(share / ReservedMemory::kPageBytes * ReservedMemory::kPageBytes, kLeastPartBytes,
                             kBufferBytes);
    next_part_.store(0);
    failure_.store(cu::kSuccess);
    working_ = threads_.size();
    ++round_;
  }
  changed_.notify_all();
  Work(workers_.front());
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return working_ == 0; });
  return gpu_.Check(failure_.load(), "a staged copy of pageable memory");
}

void StagedCopy::Loop(std::size_t number) {
  std::uint64_t seen_round = 0;
  std::unique_lock lock(mutex_);
  for (;;) {
    changed_.wait(lock, [&] { return stopping_ || round_ != seen_round; });
    if (stopping_) return;
    seen_round = round_;
    lock.unlock();
    {
      const ContextScope scope(gpu_);
      Work(workers_[number]);
    }
    lock.lock();
    if (--working_ == 0) changed_.notify_all();
  }
}

void StagedCopy::Work(Worker& worker) {
  CuResult result = direction_ == Direction::kHostToDevice ? CopyIn(worker) : CopyOut(worker);
  // Also after a failure: nothing may be under way in the buffers when they are used again.
  const CuResult waited = gpu_.driver().StreamSynchronize(stream_);
  if (result == cu::kSuccess) result = waited;
  if (result != cu::kSuccess) failure_.store(result);
}

Segment StagedCopy::PartOf(std::size_t index) const {
  const std::size_t begin = index * part_bytes_;
  if (begin >= segment_.bytes) return {};
  return {segment_.dst + begin, segment_.src + begin, std::min(part_bytes_, segment_.bytes - begin)};
}

CuResult StagedCopy::CopyIn(Worker& worker) {
  const Driver& driver = gpu_.driver();
  CuResult result = cu::kSuccess;
  for (std::size_t turn = 0; result == cu::kSuccess; ++turn) {
    const Segment part = PartOf(next_part_.fetch_add(1));
    if (part.bytes == 0) break;
    const std::size_t at = turn % kBuffers;
    if (turn >= kBuffers) result = driver.EventSynchronize(worker.events[at]);
    if (result != cu::kSuccess) break;
    std::memcpy(BytesOf(worker.buffers[at]), part.src, part.bytes);
    result = driver.CopyHostToDevice(reinterpret_cast<CuAddress>(part.dst), BytesOf(worker.buffers[at]),
                                     part.bytes, stream_);
    if (result == cu::kSuccess) result = driver.EventRecord(worker.events[at], stream_);
  }
  return result;
}

CuResult StagedCopy::CopyOut(Worker& worker) {
  const Driver& driver = gpu_.driver();
  Segment under_way[kBuffers] = {};
  CuResult result = cu::kSuccess;
  const auto fetch = [&](std::size_t at) {
    under_way[at] = PartOf(next_part_.fetch_add(1));
    if (under_way[at].bytes == 0) return;
    result =
        driver.CopyDeviceToHost(BytesOf(worker.buffers[at]), reinterpret_cast<CuAddress>(under_way[at].src),
                                under_way[at].bytes, stream_);
    if (result == cu::kSuccess) result = driver.EventRecord(worker.events[at], stream_);
  };
  for (std::size_t at = 0; at + 1 < kBuffers && result == cu::kSuccess; ++at)
    fetch(at);
  for (std::size_t turn = 0; result == cu::kSuccess && under_way[turn % kBuffers].bytes != 0; ++turn) {
    const std::size_t at = turn % kBuffers;
    fetch((turn + kBuffers - 1) % kBuffers);
    if (result == cu::kSuccess) result = driver.EventSynchronize(worker.events[at]);
    if (result == cu::kSuccess)
      std::memcpy(under_way[at].dst, BytesOf(worker.buffers[at]), under_way[at].bytes);
  }
  return result;
}

}  // namespace sampan::cuda
