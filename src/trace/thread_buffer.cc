// The buffer between a thread that records and the writer of the trace.
#include "trace/thread_buffer.h"

#include <array>
#include <cstring>

#include "base/threads/futex.h"

namespace sampan::trace {
namespace {

/// The longest sleep of a thread before it checks again.
constexpr std::chrono::milliseconds kLookAgain{20};

}  // namespace

void ThreadBuffer::Append(const void* record, std::size_t bytes, const void* more, std::size_t more_bytes) {
  const std::uint64_t words = (bytes + more_bytes) / sizeof(std::uint64_t);
  std::uint64_t head = head_.load(std::memory_order_relaxed);
  const std::uint64_t to_end = kWords - head % kWords;
  const std::uint64_t skipped = to_end < words ? to_end : 0;  // records are never cut
  if (kWords - (head - seen_tail_) < words + skipped && !WaitForRoom(words + skipped)) return;
  if (skipped != 0) {
    *reinterpret_cast<RecordHead*>(&words_[head % kWords]) = {RecordKind::kFiller, 0,
                                                              static_cast<std::uint16_t>(skipped), 0};
    head += skipped;
  }
  auto* const place = reinterpret_cast<std::byte*>(&words_[head % kWords]);
  std::memcpy(place, record, bytes);
  if (more_bytes != 0) std::memcpy(place + bytes, more, more_bytes);
  head_.store(head + words, std::memory_order_release);
  if (head + words - seen_tail_ > kWords / 2) RingWriter();
}

void ThreadBuffer::RingWriter() {
  seen_tail_ = tail_.load(std::memory_order_acquire);
  if (head_.load(std::memory_order_relaxed) - seen_tail_ <= kWords / 2) return;
  if (writer_rung_.exchange(true)) return;
  writer_bell_.fetch_add(1);
  FutexWake(writer_bell_);
}

bool ThreadBuffer::WaitForRoom(std::uint64_t words) {
  const std::uint64_t head = head_.load(std::memory_order_relaxed);
  for (;;) {
    const std::uint32_t seen = room_.load();
    waiting_.store(true, std::memory_order_seq_cst);
    seen_tail_ = tail_.load(std::memory_order_seq_cst);
    if (kWords - (head - seen_tail_) >= words) break;
    if (stopped_.load()) return false;
    RingWriter();
    const std::array wait = {FutexWait{&room_, seen}};
    FutexSleep(wait, Clock::now() + kLookAgain);
  }
  waiting_.store(false, std::memory_order_relaxed);
  return true;
}

void ThreadBuffer::GiveRoom(std::uint64_t tail) noexcept {
  writer_rung_.store(false, std::memory_order_relaxed);
  tail_.store(tail, std::memory_order_seq_cst);
  if (!waiting_.load(std::memory_order_seq_cst)) return;
  room_.fetch_add(1);
  FutexWake(room_);
}

void ThreadBuffer::Release() noexcept {
  stopped_.store(true);
  room_.fetch_add(1);
  FutexWake(room_);
}

}  // namespace sampan::trace
