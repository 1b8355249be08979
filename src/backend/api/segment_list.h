// The segments of a batch, in memory that the backend chose.
#pragma once

#include <cstddef>
#include <cstring>
#include <span>
#include <utility>

#include "backend/api/copy_segment.h"
#include "base/status.h"

namespace sampan {

/// Where lists of segments lie. Thread-safe; outlives the lists.
class SegmentStore {
 public:
  virtual ~SegmentStore() = default;
  /// Room for at least so many, with any contents.
  virtual Result<std::span<Segment>> Take(std::size_t segments) = 0;
  virtual void GiveBack(std::span<Segment> room) noexcept = 0;
};

/// Grows only where it is told to. Move-only.
class SegmentList {
 public:
  explicit SegmentList(SegmentStore& store) : store_(&store) {}
  SegmentList(SegmentList&& other) noexcept
      : store_(other.store_),
        room_(std::exchange(other.room_, {})),
        size_(std::exchange(other.size_, std::size_t{0})) {}
  SegmentList& operator=(SegmentList&&) = delete;
  ~SegmentList() {
    if (!room_.empty()) store_->GiveBack(room_);
  }

  /// Makes room for so many in all; what is there stays.
  Status Reserve(std::size_t segments) {
    if (segments <= room_.size()) return {};
    auto larger = store_->Take(segments);
    if (!larger.ok()) return larger.TakeStatus();
    if (size_ != 0) std::memcpy(larger->data(), room_.data(), size_ * sizeof(Segment));
    if (!room_.empty()) store_->GiveBack(room_);
    room_ = *larger;
    return {};
  }
  /// Room for it must be there.
  void Append(const Segment& segment) { room_[size_++] = segment; }
  /// Where the next ones go; Append and Added count them.
  Segment* next() { return room_.data() + size_; }
  void Added(std::size_t segments) { size_ += segments; }

  std::span<const Segment> all() const { return room_.first(size_); }
  std::span<Segment> all() { return room_.first(size_); }
  std::size_t room() const { return room_.size(); }
  std::size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  const Segment& front() const { return room_.front(); }

 private:
  SegmentStore* store_;
  std::span<Segment> room_;
  std::size_t size_ = 0;
};

}  // namespace sampan
