// An operator in which all ranks of a communicator take part.
#pragma once

#include <array>
#include <memory>
#include <string>
#include <vector>

#include "collectives/operators/data_moves.h"
#include "collectives/operators/operation.h"

namespace sampan::collectives {

/// What a call of a collective operator says.
struct CollectiveCall {
  CallFacts facts;
  u64 element_bytes = 1;
  Combination how{};  ///< of operators that reduce
  DeviceRange send, receive;
  u64 send_bytes = 0, receive_bytes = 0;
  /// Where the elements for each rank, or of each rank, lie in this rank's buffer: what the others need to
  /// know, and what this rank expects. Empty: equal blocks.
  std::vector<Piece> published, expected;
};

class Collective final : public Operation {
 public:
  Collective(std::shared_ptr<Communicator> communicator, CollectiveCall&& call, u64 number);
  ~Collective() override { Drop(); }

  Status ShareWithFar() override;
  std::uint64_t bytes() const noexcept override { return moved_bytes_; }
  std::vector<Access> Accesses() const override;
  std::string Missing(Hold hold) const override;

 private:
  /// The ranks' buffers, in this process's addresses, and the elements there that are for this rank. Of the
  /// others, what this rank needs: it was read once, and lies in the memory that they share.
  struct Buffers {
    std::vector<std::byte*> send, receive;
    std::vector<Piece> pieces;
  };
  /// How many bytes of a rank's buffers this rank accesses, from their beginning.
  struct Needs {
    u64 send = 0, receive = 0;
  };

  std::string Name() const override;
  const char* Algorithm() const noexcept override;
  bool TurnCame() const noexcept override;
  Status Publish() override;
  bool PeersCame() const noexcept override;
  Status MoveData() override;
  bool PeersEnded() const noexcept override;
  void Finish() noexcept override;
  KeptMemory TakeMemory() override;
  bool IsMissing(u32 other, Hold hold) const noexcept override;

  Entry& EntryOf(u32 rank) const { return communicator().region().entry(number_, rank); }
  u64 BytesToMove() const;
  Status CheckAgreement() const;
  Status Disagreement(u32 other, const char* parameter) const;
  CallFacts FactsOf(u32 rank) const;
  Status CheckPiece(u32 other, const Piece& piece) const;
  Needs NeedsOf(u32 other, const Piece& piece) const;
  Status Find(u32 other, Buffers& buffers);
  /// The address here of the first bytes of another rank's buffer.
  Result<std::byte*> Resolve(u32 other, const SharedRange& range, const FarRange& far, u64 needed);
  Result<Buffers> FindBuffers();
  /// To ranks of other hosts.
  void TellArrival() const;
  /// Tells where this rank's buffers are.
  Status PublishBuffers(Entry& entry);
  /// The elements of a rank's buffer that are for this rank.
  Piece PieceOf(u32 rank) const;
  /// The bytes that each rank posts on the board, 0 if the ranks access each other's memory instead. The same
  /// on all ranks.
  u64 BytesToPost() const;
  void Post();
  void RunPosted();
  /// Whether this rank's buffers overlap in a way that direct access would disturb.
  bool NeedsStaging() const;

  Status Run(const Buffers& buffers);
  Status ReduceShare(const Buffers& buffers, Places outputs);
  Status ReduceOwnBlock(const Buffers& buffers);
  Status PushOwnBlock(const Buffers& buffers);
  Status PushSlice(const Buffers& buffers);
  Status FetchBlocks(const Buffers& buffers);
  Status FetchOwnBlock(const Buffers& buffers);
  /// This rank's output, or the copy of it that Finish puts into place.
  std::byte* Output(const Buffers& buffers) const;

  CollectiveCall call_;
  const u64 number_;
  const u64 moved_bytes_;
  const u64 posted_bytes_;
  std::array<OwnRange, 2> announced_;
  FarRange far_send_, far_receive_;
  std::vector<std::byte> staging_;
  std::byte* staged_output_ = nullptr;  // where the staging goes at the end
};

}  // namespace sampan::collectives
