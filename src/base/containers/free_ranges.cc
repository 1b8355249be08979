// Keeps track of which parts of a set of address ranges are free.
#include "base/containers/free_ranges.h"

#include "base/containers/reserve.h"

namespace sampan {

void FreeRanges::Reserve() {
  if (needed_ < nodes_.size()) return;
  ReserveDoubling(spare_, nodes_.size() + 1);
  spare_.push_back(&nodes_.emplace_back());
}

void FreeRanges::InsertFree(const Range& range) noexcept {
  Node& node = *spare_.back();
  spare_.pop_back();
  node.begin = range.begin;
  node.bytes = range.bytes;
  tree_.Insert(node);
}

void FreeRanges::Drop(Node& node) noexcept {
  tree_.Remove(node);
  spare_.push_back(&node);
}

void FreeRanges::Add(const Range& range) {
  Reserve();
  ++needed_;
  InsertFree(range);
}

void FreeRanges::Remove(const Range& range) noexcept {
  Drop(*tree_.LastUpTo(range.begin));
  --needed_;
}

std::optional<std::size_t> FreeRanges::TakeNext(std::size_t bytes, Align align) {
  const auto begin_in = [&](std::size_t from) {
    return align == Align::kAligned ? tree_.AlignUp(from) : from;
  };
  // Usually the last part ends inside a free range, or where one begins.
  if (Node* const here = tree_.LastUpTo(next_)) {
    const std::size_t begin = begin_in(next_);
    if (begin < here->end() && here->end() - begin >= bytes) {
      Reserve();
      Cut(*here, {begin, bytes});
      next_ = begin + bytes;
      return begin;
    }
  }
  Node* found = tree_.FirstWithRoom(next_, bytes, align);
  if (found == nullptr) found = tree_.FirstWithRoom(0, bytes, align);
  if (found == nullptr) return std::nullopt;
  const std::size_t begin = begin_in(found->begin);
  Reserve();
  Cut(*found, {begin, bytes});
  next_ = begin + bytes;
  return begin;
}

std::optional<std::size_t> FreeRanges::TakeLowest(std::size_t bytes) {
  Node* const found = tree_.FirstWithRoom(0, bytes, Align::kAnywhere);
  if (found == nullptr) return std::nullopt;
  const std::size_t begin = found->begin;
  Reserve();
  Cut(*found, {begin, bytes});
  return begin;
}

void FreeRanges::Cut(Node& node, const Range& part) noexcept {
  ++needed_;
  const std::size_t begin = node.begin;
  const std::size_t end = node.end();
  if (part.begin > begin) {
    tree_.Change(node, begin, part.begin - begin);
    if (part.end() < end) InsertFree({part.end(), end - part.end()});
  } else if (part.end() < end) {
    tree_.Change(node, part.end(), end - part.end());
  } else {
    Drop(node);
  }
}

FreeRanges::Range FreeRanges::Return(const Range& part, const Range& within) noexcept {
  --needed_;
  Node* before = part.begin > within.begin ? tree_.LastUpTo(part.begin) : nullptr;
  if (before != nullptr && before->end() != part.begin) before = nullptr;
  Node* behind = part.end() < within.end() ? tree_.LastUpTo(part.end()) : nullptr;
  if (behind != nullptr && behind->begin != part.end()) behind = nullptr;
  const Range whole{
      before != nullptr ? before->begin : part.begin,
      (before != nullptr ? before->bytes : 0) + part.bytes + (behind != nullptr ? behind->bytes : 0)};
  if (before != nullptr) {
    if (behind != nullptr) Drop(*behind);
    tree_.Change(*before, whole.begin, whole.bytes);
  } else if (behind != nullptr) {
    tree_.Change(*behind, whole.begin, whole.bytes);
  } else {
    InsertFree(whole);
  }
  return whole;
}

}  // namespace sampan
