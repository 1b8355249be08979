// The memory file that the ranks of a communicator share, with rooms for its sub-communicators.
#include "collectives/board/board.h"

#include <unistd.h>

#include <utility>

#include "base/error/text.h"
#include "base/system/memory_file.h"

namespace sampan::collectives {

Result<std::shared_ptr<Board>> Board::Create(u32 ranks) {
  auto file = CreateMemoryFile("sampan-communicator", FileBytes(ranks), Code::kMemoryAllocation);
  if (!file.ok()) return file.TakeStatus();
  auto mapped = MappedFile::Map(file->get());
  if (!mapped.ok()) return mapped.TakeStatus();
  std::shared_ptr<Board> board(new Board(ranks));
  board->file_ = std::move(*file);
  board->mapped_ = std::move(*mapped);
  return board;
}

Result<std::shared_ptr<Board>> Board::Open(const Address& address, u32 ranks) {
  auto mapped = MappedFile::Open(address.process, address.file, address.inode);
  if (!mapped.ok()) return mapped.TakeStatus();
  if (mapped->bytes() < FileBytes(ranks))
    return Error{Code::kInternalError, Text("the communicator's memory has ", mapped->bytes(), " bytes")};
  std::shared_ptr<Board> board(new Board(ranks));
  board->mapped_ = std::move(*mapped);
  return board;
}

Board::Address Board::address() const {
  return {::getpid(), file_.get(), InodeOf(file_.get())};
}

Result<Region> Board::SubRegion(u64 key, u32 ranks) {
  auto& directory = *reinterpret_cast<Directory*>(mapped_.base());
  for (u32 index = 0; index < kMaxSubs; ++index) {
    u64 found = 0;
    directory.keys[index].compare_exchange_strong(found, key);
    if (found == 0 || found == key) return Region(base() + (index + 1) * Region::Bytes(ranks_), ranks);
  }
  return Error{Code::kResourceAllocFail,
               Text("the communicator has had ", kMaxSubs, " sub-communicators already")};
}

}  // namespace sampan::collectives
