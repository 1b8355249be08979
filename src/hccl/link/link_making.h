// Makes the links of a rank together with the other ranks: for all of them, or for none.
#pragma once

#include <memory>
#include <vector>

#include "hccl/link/link.h"

namespace sampan::hccl {

/// Used by one call; not thread-safe.
class LinkMaking {
 public:
  LinkMaking(const char* function, std::shared_ptr<Membership> membership, HcclDispatcher dispatcher,
             const ::hccl::MachinePara& para)
      : function_(function), membership_(std::move(membership)), dispatcher_(dispatcher), para_(para) {}

  /// Returns links by rank. If one rank fails, all ranks fail.
  HcclResult Make(const std::vector<u32>& peers,
                  std::vector<std::shared_ptr<::hccl::Transport::Link>>& links);

 private:
  using Link = ::hccl::Transport::Link;
  struct Offer;

  HcclResult CheckArguments(const std::vector<u32>& peers) const;
  HcclResult Prepare(const std::vector<u32>& peers);
  HcclResult PrepareLink(u32 peer);
  std::vector<u8> WriteOffer() const;
  HcclResult TakeOffers(const std::vector<std::vector<u8>>& offers);
  HcclResult TakeOffer(Link& link, const std::vector<u8>& offer);
  HcclResult TakeMemory(Link& link, const Offer& offer) const;
  HcclResult Agree(HcclResult mine) const;
  Importer ImporterOf(u32 peer) const;
  /// Offers memory and notifies to a rank of another process.
  HcclResult Export(Link& link) const;

  const char* const function_;
  const std::shared_ptr<Membership> membership_;
  const HcclDispatcher dispatcher_;
  const ::hccl::MachinePara& para_;
  s32 device_ = -1;           // the current device, by its number in this process
  s32 physical_device_ = -1;  // the same, by its number on the machine
  std::vector<std::shared_ptr<Link>> links_;
};

}  // namespace sampan::hccl
