// Ranges ordered by address, with a search for the first one that is large enough.
#pragma once

#include <cstddef>
#include <cstdint>

namespace sampan {

/// A treap. Each node stores the size of the largest range in its subtree. Every operation takes logarithmic
/// time. The caller owns the nodes and must not move them while they are in the tree. Not thread-safe.
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
  /// Where a part may begin: anywhere, or at a multiple of the tree's alignment.
  enum class Align : bool { kAnywhere, kAligned };

  /// The alignment is a power of two.
  explicit RangeTree(std::size_t alignment) : alignment_(alignment) {}

  /// The node's range must not touch a range of the tree.
  void Insert(Node& node) noexcept;
  void Remove(Node& node) noexcept { root_ = Without(root_, node); }
  /// Changes the range of a node. The order of the nodes must stay the same.
  void Change(Node& node, std::size_t begin, std::size_t bytes) noexcept;

  /// Returns the last range that begins at or before the address, or null.
  Node* LastUpTo(std::size_t address) const;
  /// Returns the first range that begins at or behind `from` and is large enough, or null.
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
  /// Ranges that begin before the address go to `left`.
  void Split(Node* tree, std::size_t address, Node*& left, Node*& right);
  void UpdatePath(Node* tree, std::size_t address);

  const std::size_t alignment_;
  Node* root_ = nullptr;
  std::uint64_t random_ = 0x9e3779b97f4a7c15;
};

}  // namespace sampan
