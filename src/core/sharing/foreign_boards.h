// The boards of other processes, found through /proc and mapped while they are used.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>

#include "base/error/status.h"
#include "core/sharing/share_board.h"

namespace sampan::core {

/// The mapped board of another process. Stays readable after that process has exited. Thread-safe.
class ForeignBoard {
 public:
  /// Fails if there is no such process, if another user owns it (also for root), or if it shares nothing.
  static Result<std::shared_ptr<ForeignBoard>> Open(std::int32_t process);
  ~ForeignBoard();
  ForeignBoard(const ForeignBoard&) = delete;
  ForeignBoard& operator=(const ForeignBoard&) = delete;

  std::int32_t process() const { return process_; }
  /// Returns true if the process still runs.
  bool Alive() const noexcept;
  SharedCell& At(std::uint32_t index) const;
  /// While held, the owner does not reuse the cell or its memory. The system releases the hold when this
  /// process exits in any way.
  Status Hold(std::uint32_t index);
  void LetGo(std::uint32_t index) noexcept;
  /// Opens a memory file of that process. The descriptor belongs to this object.
  Result<int> OpenFile(std::int32_t descriptor);

 private:
  explicit ForeignBoard(std::int32_t process) : process_(process) {}
  Status Map();
  Status Lock(std::uint32_t index, short type) noexcept;

  const std::int32_t process_;
  int watch_ = -1;  // readable when the process has exited
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
  /// Where the memory is, as the owner says now. Fails if that is impossible. Read it once: the owner may
  /// change it at any time.
  Result<SharedExtent> Extent() const;
  /// Opens the memory, to be mapped as memory of the device (-1: host memory).
  Result<MemoryFile> OpenMemory(VirtualMemory& views, const SharedExtent& extent, std::int32_t device) const;

 private:
  const std::shared_ptr<ForeignBoard> board_;
  const std::uint32_t index_;
};

/// Thread-safe.
class ForeignBoards {
 public:
  /// Refuses a closed or invalid address (107000), and a cell that does not admit this process (207006).
  Result<std::shared_ptr<ForeignCell>> Import(const CellAddress& address, SharedKind kind);

 private:
  Result<std::shared_ptr<ForeignBoard>> BoardOf(std::int32_t process);

  std::mutex mutex_;
  std::map<std::int32_t, std::shared_ptr<ForeignBoard>> boards_;
};

}  // namespace sampan::core
