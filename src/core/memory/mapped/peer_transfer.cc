// Transfers with memory of other hosts, as observers see them.
#include "core/memory/mapped/peer_transfer.h"

#include <atomic>
#include <memory>
#include <string>
#include <utility>

#include "observe/hooks.h"

namespace sampan::core {
namespace {

observe::TransferKind KindOf(PeerTransfer::Kind kind) {
  switch (kind) {
    case PeerTransfer::Kind::kWrite:
      return observe::TransferKind::kWrite;
    case PeerTransfer::Kind::kRead:
      return observe::TransferKind::kRead;
    case PeerTransfer::Kind::kFill:
      return observe::TransferKind::kFill;
    case PeerTransfer::Kind::kSignal:
      break;
  }
  return observe::TransferKind::kSignal;
}

struct ObservedTransfer {
  ObservedTransfer(std::string peer_name, observe::TransferKind transfer_kind,
                   std::function<void(Status)> tell)
      : peer(std::move(peer_name)), kind(transfer_kind), begin_ns(observe::NowNs()), done(std::move(tell)) {}
  const std::string peer;
  const observe::TransferKind kind;
  const std::int64_t begin_ns;
  const std::function<void(Status)> done;
  std::uint64_t bytes = 0;
  std::atomic<std::uint64_t> wire_bytes{0};

  void End(Status status) const {
    observe::TellTransfer({kind, peer, bytes, wire_bytes.load(), begin_ns, observe::NowNs(),
                           static_cast<std::int32_t>(status.code())});
    done(std::move(status));
  }
};

}  // namespace

void StartObserved(const std::shared_ptr<PeerMemory>& peer, PeerTransfer transfer,
                   std::function<void(Status)> done) noexcept {
  if (!observe::On()) return peer->Start(std::move(transfer), std::move(done));
  const auto observed =
      std::make_shared<ObservedTransfer>(peer->Describe(), KindOf(transfer.kind), std::move(done));
  for (const PeerPiece& piece : transfer.pieces)
    observed->bytes += piece.bytes;
  transfer.wire_bytes = &observed->wire_bytes;
  peer->Start(std::move(transfer), [observed](Status status) { observed->End(std::move(status)); });
}

}  // namespace sampan::core
