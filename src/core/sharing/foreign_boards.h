// The boards of other processes, found through /proc and kept as long as they are used.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>

#include "base/error/status.h"
#include "core/sharing/share_board.h"

namespace sampan {

/// The board of one other process, mapped; stays readable when that process is gone. Thread-safe.
class ForeignBoard {
 public:
  /// Fails if there is no such process, if it is another user's (also for root), or if it shares nothing.
  static Result<std::shared_ptr<ForeignBoard>> Open(std::int32_t process);
  ~ForeignBoard();
  ForeignBoard(const ForeignBoard&) = delete;
  ForeignBoard& operator=(const ForeignBoard&) = delete;

  std::int32_t process() const { return process_; }
  /// Whether the process still runs.
  bool Alive() const noexcept;
  SharedCell& At(std::uint32_t index) const;
  /// While held, the owner does not use the cell, or the memory it stands for, for anything else. The system
  /// lets go when this process ends, however it ends.
  Status Hold(std::uint32_t index);
  void LetGo(std::uint32_t index) noexcept;
  /// A descriptor of this process's for a memory file of that process's; lives as long as this object.
  Result<int> OpenFile(std::int32_t descriptor);

 private:
  explicit ForeignBoard(std::int32_t process) : process_(process) {}
  Status Map();
  Status Lock(std::uint32_t index, short type) noexcept;

  const std::int32_t process_;
  int watch_ = -1;  // readable when the process has ended
  int file_ = -1;
  std::byte* cells_ = nullptr;
  std::mutex mutex_;
  std::map<std::uint32_t, std::uint32_t> holds_;  // by cell
  std::map<std::int32_t, int> files_;             // by the owner's descriptor
};

/// An import of a cell. The destructor releases it.
class ForeignCell {
 public:
  ForeignCell(std::shared_ptr<ForeignBoard> board, std::uint32_t index)
      : board_(std::move(board)), index_(index) {}
  ~ForeignCell() { board_->LetGo(index_); }
  ForeignCell(const ForeignCell&) = delete;
  ForeignCell& operator=(const ForeignCell&) = delete;

  SharedCell& operator*() const { return board_->At(index_); }
  SharedCell* operator->() const { return &**this; }
  ForeignBoard& board() const { return *board_; }
  /// Where the memory is, as the owner says now; fails if that cannot be. To be read once: the owner may
  /// change it at any time.
  Result<SharedExtent> Extent() const;
  /// The memory, to be mapped here as memory of the device (-1: the host's).
  Result<MemoryFile> OpenMemory(VirtualMemory& views, const SharedExtent& extent, std::int32_t device) const;

 private:
  const std::shared_ptr<ForeignBoard> board_;
  const std::uint32_t index_;
};

/// Thread-safe.
class ForeignBoards {
 public:
  /// Refuses what is closed, gone or never was (107000), and what this process is not admitted to (207006).
  Result<std::shared_ptr<ForeignCell>> Import(const CellAddress& address, SharedKind kind);

 private:
  Result<std::shared_ptr<ForeignBoard>> BoardOf(std::int32_t process);

  std::mutex mutex_;
  std::map<std::int32_t, std::shared_ptr<ForeignBoard>> boards_;
};

}  // namespace sampan
