// One copy that can be made again and again, and proved: its form, its memory, and what must arrive.
#pragma once

#include <acl/acl.h>

#include <memory>
#include <optional>
#include <string>

#include "bench/copies/memory.h"

namespace bench {

/// Which call makes the copy. The queued ones return before the bytes have arrived.
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

/// `count` pieces of `bytes` each. Rows lie `pitch` apart in the source, and `dst_pitch` apart in the
/// destination or, where that is 0, close together; pieces of a batch lie scattered on both sides.
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

/// From where to where.
std::string PathName(const CopyPlan& plan);

/// Owns the memory of both sides. Needs device 0 to be current; used by one thread.
class CopyCase {
 public:
  explicit CopyCase(const CopyPlan& plan);
  ~CopyCase();

  /// Overwrites the destination, so that nothing of an earlier copy is left.
  void Clear();

  /// Makes the call. Queued copies are over when the stream is synchronised.
  aclError Issue(aclrtStream stream);

  /// What is wrong with the destination, beyond its edges too; nothing when each byte is as it must be.
  std::optional<std::string> FindFault() const;

  /// The pieces of the copy, with which a loop of memcpy would do the same over ordinary memory.
  const std::vector<Piece>& pieces() const { return pieces_; }
  std::size_t src_bytes() const { return src_.bytes(); }
  std::size_t dst_bytes() const { return dst_.bytes(); }

 private:
  struct Operands;  // what some calls want in memory

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
