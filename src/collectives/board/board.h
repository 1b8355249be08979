// The memory file that the ranks of a communicator share, with rooms for its sub-communicators.
#pragma once

#include <atomic>
#include <memory>
#include <utility>

#include "base/error/status.h"
#include "collectives/board/mapped_file.h"
#include "collectives/board/region.h"

namespace sampan::collectives {

/// Thread-safe. Rank 0 creates the file; the others open it by the name that rank 0 gives them. The file has
/// no path: it is gone with the last process that has it mapped. The ranks of a process share one mapping,
/// so that ThreadSanitizer sees their signals.
class Board {
 public:
  /// What the creator tells the others.
  struct Address {
    s64 process = 0;
    s64 file = -1;
    u64 inode = 0;
  };

  static Result<std::shared_ptr<Board>> Create(u32 ranks);
  static Result<std::shared_ptr<Board>> Open(const Address& address, u32 ranks);

  Address address() const;
  /// No other rank can open the file afterwards.
  void CloseFile() { file_.Close(); }

  /// The part of the whole communicator.
  Region whole() const { return {base(), ranks_}; }
  /// The part of a sub-communicator of so many ranks. All members give the same key, which is not 0. Fails
  /// when there are too many.
  Result<Region> SubRegion(u64 key, u32 ranks);

 private:
  static constexpr u32 kMaxSubs = 256;
  struct Directory {
    std::atomic<u64> keys[kMaxSubs];
  };

  Board(u32 ranks, std::shared_ptr<const MappedFile> mapped) : ranks_(ranks), mapped_(std::move(mapped)) {}
  static u64 FileBytes(u32 ranks) { return sizeof(Directory) + (kMaxSubs + 1) * Region::Bytes(ranks); }
  std::byte* base() const { return mapped_->base() + sizeof(Directory); }

  const u32 ranks_;
  const std::shared_ptr<const MappedFile> mapped_;
  Descriptor file_;
};

}  // namespace sampan::collectives
