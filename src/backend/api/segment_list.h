// The segments of a batch, in memory of the backend.
#pragma once

#include <cstddef>
#include <cstring>
#include <span>
#include <utility>

#include "backend/api/copy_segment.h"
#include "base/error/assert.h"
#include "base/error/status.h"

namespace sampan {

/// The memory of segment lists. Thread-safe. Must outlive the lists.
class SegmentStore {
 public:
  virtual ~SegmentStore() = default;
  /// Takes uninitialized memory for at least this many segments.
  virtual Result<std::span<Segment>> Take(std::size_t segments) = 0;
  virtual void GiveBack(std::span<Segment> room) noexcept = 0;
};

/// Stores up to kInside segments inside itself, more in memory of the store. Grows only in Reserve.
/// Move-only.
class SegmentList {
 public:
  /// The capacity without memory of the store.
  static constexpr std::size_t kInside = 8;

  explicit SegmentList(SegmentStore& store) : store_(&store) {}
  SegmentList(SegmentList&& other) noexcept
      : store_(other.store_),
        outside_(std::exchange(other.outside_, {})),
        size_(std::exchange(other.size_, std::size_t{0})) {
    if (outside_.empty()) std::memcpy(inside_, other.inside_, size_ * sizeof(Segment));
  }
  SegmentList& operator=(SegmentList&&) = delete;
  ~SegmentList() {
    if (!outside_.empty()) store_->GiveBack(outside_);
  }

  /// Reserves memory for this many segments in all, and keeps the existing ones.
  Status Reserve(std::size_t segments) { return segments <= room() ? Status() : Grow(segments); }
  /// Call Reserve before.
  void Append(const Segment& segment) {
    SAMPAN_ASSERT(size_ < room());
    data()[size_++] = segment;
  }
  /// The place for the next segments. Call Added after writing them.
  Segment* next() { return data() + size_; }
  void Added(std::size_t segments) {
    SAMPAN_ASSERT(segments <= room() - size_);
    size_ += segments;
  }

  std::span<const Segment> all() const { return {data(), size_}; }
  std::span<Segment> all() { return {data(), size_}; }
  /// False while the segments are inside the list, where no device can read them.
  bool in_store() const { return !outside_.empty(); }
  std::size_t room() const { return in_store() ? outside_.size() : kInside; }
  std::size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  const Segment& front() const {
    SAMPAN_ASSERT(!empty());
    return *data();
  }

 private:
  Segment* data() { return in_store() ? outside_.data() : inside_; }
  const Segment* data() const { return in_store() ? outside_.data() : inside_; }
  [[gnu::noinline]] Status Grow(std::size_t segments) {
    auto larger = store_->Take(segments);
    if (!larger.ok()) return larger.TakeStatus();
    SAMPAN_ASSERT(larger->size() >= segments && segments > size_);
    std::memcpy(larger->data(), data(), size_ * sizeof(Segment));
    if (in_store()) store_->GiveBack(outside_);
    outside_ = *larger;
    return {};
  }

  SegmentStore* store_;
  std::span<Segment> outside_;  // empty: the segments are inside
  std::size_t size_ = 0;
  Segment inside_[kInside];
};

}  // namespace sampan
