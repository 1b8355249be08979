// A list whose links are members of its elements: adding and removing need no memory.
#pragma once

namespace sampan {

template <typename T>
struct ListLinks {
  T* before = nullptr;
  T* behind = nullptr;
};

/// Does not own its elements. An element can be in as many lists as it has links. Not thread-safe.
template <typename T, ListLinks<T> T::*kLinks>
class LinkedList {
 public:
  bool empty() const { return first_ == nullptr; }
  T* first() const { return first_; }
  static T* Behind(const T& element) { return (element.*kLinks).behind; }

  void PushFront(T& element) noexcept {
    element.*kLinks = {nullptr, first_};
    (first_ != nullptr ? (first_->*kLinks).before : last_) = &element;
    first_ = &element;
  }
  void PushBack(T& element) noexcept {
    element.*kLinks = {last_, nullptr};
    (last_ != nullptr ? (last_->*kLinks).behind : first_) = &element;
    last_ = &element;
  }
  void Remove(T& element) noexcept {
    const ListLinks<T> links = element.*kLinks;
    (links.before != nullptr ? (links.before->*kLinks).behind : first_) = links.behind;
    (links.behind != nullptr ? (links.behind->*kLinks).before : last_) = links.before;
  }

 private:
  T* first_ = nullptr;
  T* last_ = nullptr;
};

}  // namespace sampan
