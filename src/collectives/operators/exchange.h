// Messages between pairs of ranks: one, or a batch of them.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "collectives/operators/operation.h"

namespace sampan::collectives {

/// One message of this rank. The k-th message to a rank pairs with the k-th that this rank receives.
struct Parcel {
  bool is_send = false;
  u32 peer = 0;
  u64 number = 0;  ///< from 1, for each pair and direction
  u64 count = 0;
  u32 type = 0;
  u64 bytes = 0;
  DeviceRange range;
  FarRange far{};  ///< of the range, if the peer is on another host
};

/// A message of this rank to itself.
struct OwnParcel {
  DeviceRange from, to;
  u64 bytes = 0;
};

class Exchange final : public Operation {
 public:
  Exchange(std::shared_ptr<Communicator> communicator, const CallFacts& facts, std::vector<Parcel> parcels,
           std::vector<OwnParcel> own);
  ~Exchange() override { Drop(); }

  Status ShareWithFar() override;
  /// A message is taken when it has come: the sender may wait for that before it sends the next one.
  std::uint32_t rounds() const noexcept override;
  std::uint64_t bytes() const noexcept override { return moved_bytes_; }
  std::vector<Access> Accesses() const override;
  std::string Missing(Hold hold) const override;

 private:
  std::string Name() const override;
  bool TurnCame() const noexcept override;
  Status Publish() override;
  bool PeersCame() const noexcept override;
  Status MoveData() override;
  bool HasMovedAll() const noexcept override;
  bool PeersEnded() const noexcept override;
  void Finish() noexcept override;
  KeptMemory TakeMemory() override;
  bool IsMissing(u32 other, Hold hold) const noexcept override;

  Message& MessageOf(const Parcel& parcel) const;
  bool HasCome(const Parcel& parcel) const noexcept;
  bool IsTaken(const Parcel& parcel) const noexcept;
  /// Received ones that this rank has not taken.
  bool IsExpected(const Parcel& parcel) const noexcept { return !parcel.is_send && !IsTaken(parcel); }
  bool Awaits(const Parcel& parcel, Hold hold) const noexcept;
  Status Take(const Parcel& parcel);

  std::vector<Parcel> parcels_;
  std::vector<OwnParcel> own_;
  bool has_moved_own_ = false;
  std::vector<OwnRange> announced_;
  u64 moved_bytes_ = 0;
};

}  // namespace sampan::collectives
