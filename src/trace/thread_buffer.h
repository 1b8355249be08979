// The buffer between a thread that records and the writer of the trace.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "base/threads/thread_stripe.h"
#include "trace/open_calls.h"
#include "trace/record.h"

namespace sampan::trace {

using observe::ThreadRole;

/// One thread writes, the trace's writer reads. If the buffer is full, the thread waits for the writer.
class ThreadBuffer {
 public:
  ThreadBuffer(std::uint64_t thread, std::string name, ThreadRole role,
               std::atomic<std::uint32_t>& writer_bell)
      : thread_(thread), name_(std::move(name)), role_(role), writer_bell_(writer_bell) {}
  ThreadBuffer(const ThreadBuffer&) = delete;
  ThreadBuffer& operator=(const ThreadBuffer&) = delete;

  std::uint64_t thread() const { return thread_; }
  const std::string& name() const { return name_; }
  const ThreadRole& role() const { return role_; }
  OpenCalls& open_calls() { return open_calls_; }
  const OpenCalls& open_calls() const { return open_calls_; }

  /// For the thread: adds a record and the data behind it.
  template <typename Record>
  void Push(RecordKind kind, Record& record, const void* more = nullptr, std::size_t more_bytes = 0) {
    static_assert(sizeof(Record) % sizeof(std::uint64_t) == 0);
    record.head.kind = kind;
    record.head.words = static_cast<std::uint16_t>((sizeof(Record) + more_bytes) / sizeof(std::uint64_t));
    Append(&record, sizeof(Record), more, more_bytes);
  }
  /// For the thread: its last call.
  void Leave() noexcept { left_.store(true, std::memory_order_release); }

  /// For the writer: calls `take(head)` for each record. Returns their number.
  template <typename Take>
  std::size_t Drain(Take take) {
    std::uint64_t tail = tail_.load(std::memory_order_relaxed);
    const std::uint64_t head = head_.load(std::memory_order_acquire);
    std::size_t taken = 0;
    while (tail != head) {
      const auto& record = *reinterpret_cast<const RecordHead*>(&words_[tail % kWords]);
      tail += record.words;
      if (record.kind != RecordKind::kFiller) {
        take(record);
        ++taken;
      }
      if (tail - tail_.load(std::memory_order_relaxed) >= kWords / 4) GiveRoom(tail);
    }
    GiveRoom(tail);
    return taken;
  }
  /// For the writer: true if no record will follow.
  bool left() const { return left_.load(std::memory_order_acquire); }
  /// Called when the trace stops: wakes a thread that waits for space.
  void Release() noexcept;

 private:
  static constexpr std::uint64_t kWords = std::uint64_t{1} << 19;

  void Append(const void* record, std::size_t bytes, const void* more, std::size_t more_bytes);
  /// Waits until `words` consecutive words are free. Returns false if the trace was stopped.
  bool WaitForRoom(std::uint64_t words);
  void RingWriter();
  void GiveRoom(std::uint64_t tail) noexcept;

  const std::uint64_t thread_;
  const std::string name_;
  const ThreadRole role_;
  std::atomic<std::uint32_t>& writer_bell_;
  const std::unique_ptr<std::uint64_t[]> words_ = std::make_unique_for_overwrite<std::uint64_t[]>(kWords);

  // Written by the thread.
  alignas(kCacheLineBytes) std::atomic<std::uint64_t> head_{0};
  std::uint64_t seen_tail_ = 0;
  std::atomic<bool> left_{false};
  OpenCalls open_calls_;

  // Written by the writer.
  alignas(kCacheLineBytes) std::atomic<std::uint64_t> tail_{0};
  std::atomic<std::uint32_t> room_{0};    // changes when there is space for a waiting thread
  std::atomic<bool> waiting_{false};      // the thread sleeps on it
  std::atomic<bool> writer_rung_{false};  // and the writer knows it
  std::atomic<bool> stopped_{false};
};

}  // namespace sampan::trace
