// Two networks side by side: long transfers use both.
#include "backend/fabric/wide_network.h"

#include <algorithm>
#include <atomic>
#include <mutex>
#include <utility>

namespace sampan::fabric {
namespace {

/// From this size on a transfer is cut in two: a half takes longer than waking another thread (bench_hosts).
constexpr std::uint64_t kMinCutBytes = std::uint64_t{512} << 10;

/// Tells of both halves of a transfer when the later one has ended.
class Halves {
 public:
  explicit Halves(std::function<void(Status)> done) : done_(std::move(done)) {}
  void End(Status status) {
    {
      const std::lock_guard lock(mutex_);
      if (failure_.ok()) failure_ = std::move(status);
      if (--left_ != 0) return;
    }
    std::exchange(done_, nullptr)(std::move(failure_));
  }

 private:
  std::mutex mutex_;
  std::function<void(Status)> done_;
  int left_ = 2;
  Status failure_;
};

/// Moves the second half of the bytes to another transfer. The pattern of a fill begins at a multiple of its
/// length.
PeerTransfer CutInHalf(PeerTransfer& transfer, std::uint64_t bytes) {
  PeerTransfer second{transfer.kind, {}, transfer.pattern, transfer.wire_bytes};
  std::uint64_t left = bytes / 2 / 4096 * 4096;
  std::size_t at = 0;
  while (left >= transfer.pieces[at].bytes)
    left -= transfer.pieces[at++].bytes;
  PeerPiece& cut = transfer.pieces[at];
  left = left / 4 * 4;
  PeerPiece rest = cut;
  if (rest.local != nullptr) rest.local += left;
  rest.offset += left;
  rest.bytes -= left;
  second.pieces.reserve(transfer.pieces.size() - at);
  second.pieces.push_back(rest);
  second.pieces.insert(second.pieces.end(), transfer.pieces.begin() + static_cast<std::ptrdiff_t>(at) + 1,
                       transfer.pieces.end());
  cut.bytes = left;
  transfer.pieces.resize(left == 0 ? at : at + 1);
  return second;
}

/// An import with two connections.
class WideMemory final : public PeerMemory {
 public:
  WideMemory(std::shared_ptr<PeerMemory> first, std::shared_ptr<PeerMemory> second)
      : first_(std::move(first)), second_(std::move(second)) {}

  const PeerMemoryFacts& facts() const override { return first_->facts(); }
  void Start(PeerTransfer transfer, std::function<void(Status)> done) noexcept override {
    std::uint64_t bytes = 0;
    for (const PeerPiece& piece : transfer.pieces)
      bytes += piece.bytes;
    if (bytes < kMinCutBytes) return first_->Start(std::move(transfer), std::move(done));
    PeerTransfer rest = CutInHalf(transfer, bytes);
    const auto halves = std::make_shared<Halves>(std::move(done));
    second_->Start(std::move(rest), [halves](Status status) { halves->End(std::move(status)); });
    first_->Start(std::move(transfer), [halves](Status status) { halves->End(std::move(status)); });
  }
  void Help(const std::function<bool()>& enough) noexcept override { first_->Help(enough); }
  std::string Describe() const override { return first_->Describe(); }

 private:
  const std::shared_ptr<PeerMemory> first_, second_;
};

}  // namespace

Result<PeerAddress> WideNetwork::Listen() {
  auto first = first_.Listen();
  if (!first.ok()) return first;
  auto second = second_.Listen();
  if (!second.ok()) return second;
  first->second_port = second->port;
  return first;
}

void WideNetwork::Lend(std::uint32_t cell, const std::array<std::uint64_t, 2>& secret,
                       std::shared_ptr<LentMemory> memory) {
  first_.Lend(cell, secret, memory);
  second_.Lend(cell, secret, std::move(memory));
}

void WideNetwork::TakeBack(std::uint32_t cell) noexcept {
  // A thread of one network must not wait for the other's turn, whose owner may wait for this one's.
  const bool may_wait = !first_.HasTurn() && !second_.HasTurn();
  const Deadline until = may_wait ? first_.TakeBackDeadline() : Deadline{};
  first_.TakeBack(cell, until);
  second_.TakeBack(cell, until);
}

Result<std::shared_ptr<PeerMemory>> WideNetwork::Import(const PeerName& name) {
  auto first = first_.Import(name);
  if (!first.ok() || name.address.second_port == 0) return first;
  PeerName second_name = name;
  second_name.address.port = name.address.second_port;
  auto second = second_.Import(second_name);
  if (!second.ok()) return second;
  return std::shared_ptr<PeerMemory>(std::make_shared<WideMemory>(std::move(*first), std::move(*second)));
}

}  // namespace sampan::fabric
