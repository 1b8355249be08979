// Ranges ordered by address, with a search for the first one that is large enough.
#include "base/containers/range_tree.h"

#include <algorithm>

namespace sampan {

std::size_t RangeTree::RoomIn(const Node& node, Align align) const {
  if (align == Align::kAnywhere) return node.bytes;
  const std::size_t skipped = AlignUp(node.begin) - node.begin;
  return node.bytes - std::min(node.bytes, skipped);
}

void RangeTree::Update(Node& node) const {
  node.max_bytes = node.bytes;
  node.max_aligned_bytes = RoomIn(node, Align::kAligned);
  for (const Node* const child : {node.left, node.right}) {
    if (child == nullptr) continue;
    node.max_bytes = std::max(node.max_bytes, child->max_bytes);
    node.max_aligned_bytes = std::max(node.max_aligned_bytes, child->max_aligned_bytes);
  }
}

RangeTree::Node* RangeTree::First(Node* tree, std::size_t from, std::size_t bytes, Align align) const {
  while (tree != nullptr) {
    if ((align == Align::kAnywhere ? tree->max_bytes : tree->max_aligned_bytes) < bytes) return nullptr;
    if (tree->begin >= from) {
      if (Node* const found = First(tree->left, from, bytes, align)) return found;
      if (RoomIn(*tree, align) >= bytes) return tree;
    }
    tree = tree->right;
  }
  return nullptr;
}

RangeTree::Node* RangeTree::LastUpTo(std::size_t address) const {
  Node* last = nullptr;
  for (Node* tree = root_; tree != nullptr;) {
    if (tree->begin <= address) last = tree;
    tree = tree->begin <= address ? tree->right : tree->left;
  }
  return last;
}

void RangeTree::Insert(Node& node) noexcept {
  // Xorshift: the tree stays balanced if priorities do not depend on addresses.
  random_ ^= random_ << 13;
  random_ ^= random_ >> 7;
  random_ ^= random_ << 17;
  node.priority = random_;
  root_ = With(root_, node);
}

RangeTree::Node* RangeTree::With(Node* tree, Node& node) {
  if (tree == nullptr || tree->priority < node.priority) {
    Split(tree, node.begin, node.left, node.right);
    tree = &node;
  } else if (node.begin < tree->begin) {
    tree->left = With(tree->left, node);
  } else {
    tree->right = With(tree->right, node);
  }
  Update(*tree);
  return tree;
}

RangeTree::Node* RangeTree::Without(Node* tree, const Node& node) {
  if (tree == &node) return Join(tree->left, tree->right);
  Node*& child = node.begin < tree->begin ? tree->left : tree->right;
  child = Without(child, node);
  Update(*tree);
  return tree;
}

RangeTree::Node* RangeTree::Join(Node* left, Node* right) {
  if (left == nullptr) return right;
  if (right == nullptr) return left;
  Node* const top = left->priority < right->priority ? right : left;
  if (top == left) {
    left->right = Join(left->right, right);
  } else {
    right->left = Join(left, right->left);
  }
  Update(*top);
  return top;
}

void RangeTree::Split(Node* tree, std::size_t address, Node*& left, Node*& right) {
  if (tree == nullptr) {
    left = right = nullptr;
    return;
  }
  if (tree->begin < address) {
    left = tree;
    Split(tree->right, address, tree->right, right);
  } else {
    right = tree;
    Split(tree->left, address, left, tree->left);
  }
  Update(*tree);
}

void RangeTree::Change(Node& node, std::size_t begin, std::size_t bytes) noexcept {
  node.begin = begin;
  node.bytes = bytes;
  UpdatePath(root_, begin);
}

void RangeTree::UpdatePath(Node* tree, std::size_t address) {
  if (tree->begin != address) UpdatePath(address < tree->begin ? tree->left : tree->right, address);
  Update(*tree);
}

}  // namespace sampan
