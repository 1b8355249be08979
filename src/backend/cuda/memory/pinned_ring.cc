// A ring of pinned host memory for the arguments and results of launched tasks.
#include "backend/cuda/memory/pinned_ring.h"

#include "base/containers/round.h"

namespace sampan::cuda {
namespace {

std::size_t Aligned(std::size_t bytes) {
  return RoundUp(bytes, PinnedRing::kAlignment);
}

}  // namespace

PinnedRing::~PinnedRing() {
  if (block_.bytes != 0) pinned_.Free(block_);
}

std::size_t PinnedRing::BeginOf(std::size_t bytes) const {
  const std::size_t offset = tail_ % kBytes;
  return offset + bytes <= kBytes ? tail_ : tail_ + (kBytes - offset);
}

std::uint64_t PinnedRing::BusyUntil(std::size_t bytes) const {
  const std::size_t end = BeginOf(Aligned(bytes)) + Aligned(bytes);
  if (end - head_ <= kBytes) return 0;
  for (const Piece& piece : pieces_) {
    if (end - piece.end <= kBytes) return piece.sequence;
  }
  return pieces_.back().sequence;  // an empty ring starts at its beginning
}

Result<std::byte*> PinnedRing::Take(std::size_t bytes, std::uint64_t sequence) {
  if (block_.bytes == 0) {
    auto block = pinned_.Allocate(kBytes, Pages::kBySize);
    if (!block.ok()) return block.TakeStatus();
    block_ = *block;
  }
  const std::size_t begin = BeginOf(Aligned(bytes));
  tail_ = begin + Aligned(bytes);
  pieces_.push_back({sequence, tail_});
  return reinterpret_cast<std::byte*>(block_.address) + begin % kBytes;
}

void PinnedRing::Retire(std::uint64_t done) {
  while (!pieces_.empty() && pieces_.front().sequence <= done) {
    head_ = pieces_.front().end;
    pieces_.pop_front();
  }
  if (pieces_.empty()) head_ = tail_ = 0;
}

}  // namespace sampan::cuda
