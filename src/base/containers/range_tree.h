// Ranges in the order of their addresses, with a search for the first one that has room.
#pragma once

#include <cstddef>
#include <cstdint>

namespace sampan {

/// A treap in which each node knows the largest range below it. Every operation takes logarithmic time. The
/// caller owns the nodes and keeps them in place while they are in the tree. Not thread-safe.
class RangeTree {
 public:
  struct Node {
    std::size_t begin = 0, bytes = 0;
    std::size_t end() const { return begin + bytes; }

   private:
    friend class RangeTree;
    std::size_t max_bytes = 0, max_aligned_bytes = 0;  // of the subtree
    Node* left = nullptr;
    Node* right = nullptr;
    std::uint64_t priority = 0;
  };
  /// Where a part of a range has to begin: anywhere, or at a multiple of the tree's alignment.
  enum class Align : bool { kAnywhere, kAligned };

  /// The alignment is a power of two.
  explicit RangeTree(std::size_t alignment) : alignment_(alignment) {}

  /// The node's range must not touch a range of the tree.
  void Insert(Node& node) noexcept;
  void Remove(Node& node) noexcept { root_ = Without(root_, node); }
  /// Gives a node of the tree another range, which must not pass its neighbours.
  void Change(Node& node, std::size_t begin, std::size_t bytes) noexcept;

  /// The last range that begins at or before the address; null if there is none.
  Node* LastUpTo(std::size_t address) const;
  /// The first range that begins at or behind `from` and has room; null if there is none.
  Node* FirstWithRoom(std::size_t from, std::size_t bytes, Align align) const {
    return First(root_, from, bytes, align);
  }
  std::size_t AlignUp(std::size_t address) const { return (address + alignment_ - 1) & ~(alignment_ - 1); }

 private:
  std::size_t RoomIn(const Node& node, Align align) const;
  void Update(Node& node) const;
  Node* First(Node* tree, std::size_t from, std::size_t bytes, Align align) const;
  Node* With(Node* tree, Node& node);
  Node* Without(Node* tree, const Node& node);
  Node* Join(Node* left, Node* right);
  /// Everything that begins before the address goes left.
  void Split(Node* tree, std::size_t address, Node*& left, Node*& right);
  void UpdatePath(Node* tree, std::size_t address);

  const std::size_t alignment_;
  Node* root_ = nullptr;
  std::uint64_t random_ = 0x9e3779b97f4a7c15;
};

}  // namespace sampan
