// One copy that can be repeated and verified: its form, its memory, and the expected bytes.
#pragma once

#include <acl/acl.h>

#include <memory>
#include <optional>
#include <string>

#include "bench/copies/memory.h"

namespace bench {

/// The call that copies. The queued ones return before the copy is complete.
enum class Form {
  kBlocking,
  kQueued,
  kRows,
  kRowsQueued,
  kBatch,
  kBatchQueued,
  kDescriptor,
  kOffset,
  kFill,
  kFillQueued,
};

std::string_view CallOf(Form form);

/// `count` pieces of `bytes` each. Rows are `pitch` apart in the source and `dst_pitch` apart in the
/// destination, or dense if that is 0. Pieces of a batch are scattered on both sides.
struct Shape {
  std::size_t bytes = 0;
  std::size_t count = 1;
  std::size_t pitch = 0;
  std::size_t dst_pitch = 0;

  std::size_t payload() const { return bytes * count; }
  /// From one row to the next in the destination.
  std::size_t dst_step() const { return dst_pitch != 0 ? dst_pitch : bytes; }
};

/// What a copy consists of.
struct Piece {
  std::size_t dst, src, bytes;
};

struct CopyPlan {
  Form form;
  Place src;
  Place dst;
  Shape shape;
};

/// Source and destination as text.
std::string PathName(const CopyPlan& plan);

/// Owns the memory of both sides. Device 0 must be current. Not thread-safe.
class CopyCase {
 public:
  explicit CopyCase(const CopyPlan& plan);
  ~CopyCase();

  /// Overwrites the destination, so that nothing of an earlier copy is left.
  void Clear();

  /// Makes the call. Queued copies are complete when the stream is synchronized.
  aclError Issue(aclrtStream stream);

  /// Checks each byte of the destination and around it. Returns what is wrong, or nothing.
  std::optional<std::string> FindFault() const;

  /// The pieces of the copy, for a loop of memcpy that does the same.
  const std::vector<Piece>& pieces() const { return pieces_; }
  std::size_t src_bytes() const { return src_.bytes(); }
  std::size_t dst_bytes() const { return dst_.bytes(); }

 private:
  struct Operands;  // what some calls need in memory

  aclError IssueBatch(aclrtStream stream);
  aclError IssueIndirect(aclrtStream stream);

  CopyPlan plan_;
  std::vector<Piece> pieces_;
  Memory src_;
  Memory dst_;
  Bytes cleared_;
  Bytes expected_;
  std::unique_ptr<Operands> operands_;
};

}  // namespace bench
