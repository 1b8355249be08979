// The memory file that the ranks of a communicator share, with rooms for its sub-communicators.
#include "collectives/board/board.h"

#include <unistd.h>

#include <map>
#include <mutex>
#include <utility>

#include "base/error/text.h"
#include "base/system/memory_file.h"

namespace sampan::collectives {

namespace {

/// The boards that this process has mapped, by their files. Thread-safe.
class MappedBoards {
 public:
  void Add(u64 inode, const std::shared_ptr<const MappedFile>& mapped) {
    const std::lock_guard lock(mutex_);
    std::erase_if(mapped_, [](const auto& known) { return known.second.expired(); });
    mapped_[inode] = mapped;
  }
  /// Null if it is not mapped.
  std::shared_ptr<const MappedFile> Find(u64 inode) {
    const std::lock_guard lock(mutex_);
    const auto found = mapped_.find(inode);
    return found != mapped_.end() ? found->second.lock() : nullptr;
  }

 private:
  std::mutex mutex_;
  std::map<u64, std::weak_ptr<const MappedFile>> mapped_;
};

MappedBoards& TheMappedBoards() {
  static auto* const mapped_boards = new MappedBoards;  // communicators may be left at the end of the process
  return *mapped_boards;
}

}  // namespace

Result<std::shared_ptr<Board>> Board::Create(u32 ranks) {
  auto file = CreateMemoryFile("sampan-communicator", FileBytes(ranks), Code::kMemoryAllocation);
  if (!file.ok()) return file.TakeStatus();
  auto mapped = MappedFile::Map(file->get());
  if (!mapped.ok()) return mapped.TakeStatus();
  std::shared_ptr<Board> board(new Board(ranks, std::make_shared<const MappedFile>(std::move(*mapped))));
  board->file_ = std::move(*file);
  TheMappedBoards().Add(board->address().inode, board->mapped_);
  return board;
}

Result<std::shared_ptr<Board>> Board::Open(const Address& address, u32 ranks) {
  auto mapped = TheMappedBoards().Find(address.inode);
  if (mapped == nullptr) {
    auto opened = MappedFile::Open(address.process, address.file, address.inode);
    if (!opened.ok()) return opened.TakeStatus();
    mapped = std::make_shared<const MappedFile>(std::move(*opened));
    TheMappedBoards().Add(address.inode, mapped);
  }
  if (mapped->bytes() < FileBytes(ranks))
    return Error{Code::kInternalError, Text("the communicator's memory has ", mapped->bytes(), " bytes")};
  return std::shared_ptr<Board>(new Board(ranks, std::move(mapped)));
}

Board::Address Board::address() const {
  return {::getpid(), file_.get(), InodeOf(file_.get())};
}

Result<Region> Board::SubRegion(u64 key, u32 ranks) {
  auto& directory = *reinterpret_cast<Directory*>(mapped_->base());
  for (u32 index = 0; index < kMaxSubs; ++index) {
    u64 found = 0;
    directory.keys[index].compare_exchange_strong(found, key);
    if (found == 0 || found == key) return Region(base() + (index + 1) * Region::Bytes(ranks_), ranks);
  }
  return Error{Code::kResourceAllocFail,
               Text("the communicator has had ", kMaxSubs, " sub-communicators already")};
}

}  // namespace sampan::collectives
