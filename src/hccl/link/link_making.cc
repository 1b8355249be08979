// Makes the links of a rank together with the other ranks: for all of them, or for none.
#include "hccl/link/link_making.h"

#include <algorithm>
#include <array>

#include "acl/acl_rt.h"
#include "hccl/dispatcher/dispatcher_call.h"
#include "hccl/dispatcher/route.h"
#include "hccl/group/byte_stream.h"

namespace sampan::hccl {
namespace {

constexpr std::size_t kMaxExchangeInfoBytes = std::size_t{2} << 20;
constexpr u32 kMaxNotifies = 1024;

/// Returns true if the runtime knows [address, address + bytes) as one piece of this process's memory.
bool IsKnownMemory(u64 address, u64 bytes) {
  void* base = nullptr;
  std::size_t known_bytes = 0;
  if (aclrtMemGetAddressRange(reinterpret_cast<void*>(address), &base, &known_bytes) != ACL_SUCCESS)
    return false;
  const u64 offset = address - reinterpret_cast<u64>(base);
  return offset <= known_bytes && bytes <= known_bytes - offset;
}

std::string SignalName(std::size_t index) {
  if (index == ::hccl::Transport::Link::kDone) return "'done'";
  if (index == ::hccl::Transport::Link::kReady) return "'ready'";
  return Text("notify number ", index - ::hccl::Transport::Link::kNumbered);
}

}  // namespace

/// What one rank offers to the others, decoded.
struct LinkMaking::Offer {
  u32 attribute = 0;
  u32 user_rank = INVALID_VALUE_RANKID, world_rank = INVALID_VALUE_RANKID;
  s32 device = -1, physical_device = -1;
  std::array<u64, 2> address{}, bytes{};
  std::vector<u8> info;
  bool to_this_rank = false;
  std::array<std::string, 2> keys;
  std::vector<std::vector<u8>> signals;
  bool ok = false;

  Offer(const std::vector<u8>& content, u32 rank) {
    ByteReader in(content);
    if (in.Get<u8>() == 0) return;  // that rank failed before
    attribute = in.Get<u32>();
    user_rank = in.Get<u32>();
    world_rank = in.Get<u32>();
    device = in.Get<s32>();
    physical_device = in.Get<s32>();
    for (std::size_t i = 0; i < address.size(); ++i) {
      address[i] = in.Get<u64>();
      bytes[i] = in.Get<u64>();
    }
    info = in.GetBytes();
    for (u32 left = in.Get<u32>(); left > 0 && in.ok(); --left) {
      const bool mine = in.Get<u32>() == rank;
      std::array<std::string, 2> part_keys = {in.GetText(), in.GetText()};
      std::vector<std::vector<u8>> part_signals(std::min(in.Get<u32>(), kMaxNotifies + 2));
      for (auto& signal : part_signals)
        signal = in.GetBytes();
      if (!mine) continue;
      to_this_rank = true;
      keys = std::move(part_keys);
      signals = std::move(part_signals);
    }
    ok = in.ok();
  }
};

HcclResult LinkMaking::CheckArguments(const std::vector<u32>& peers) const {
  if (dispatcher_ == nullptr) return Fail(function_, HCCL_E_PTR, "dispatcher is NULL");
  if (ThePlatform().dispatchers().Find(dispatcher_) == nullptr)
    return Fail(function_, HCCL_E_PTR, Text("dispatcher ", Hex(dispatcher_), " is not a living dispatcher"));
  if (!para_.inputMem) return Fail(function_, HCCL_E_PTR, "inputMem is empty");
  if (!para_.outputMem) return Fail(function_, HCCL_E_PTR, "outputMem is empty");
  if ((para_.linkAttribute & (::hccl::LINK_ATTRIBUTE_READ | ::hccl::LINK_ATTRIBUTE_WRITE)) == 0) {
    return Fail(
        function_, HCCL_E_PARA,
        Text("linkAttribute is ", para_.linkAttribute, ": it allows neither writing (1) nor reading (2)"));
  }
  if (para_.notifyNum > kMaxNotifies)
    return Fail(function_, HCCL_E_PARA, Text("notifyNum is ", para_.notifyNum, ", at most ", kMaxNotifies));
  if (para_.exchangeInfo.size() > kMaxExchangeInfoBytes) {
    return Fail(
        function_, HCCL_E_PARA,
        Text("exchangeInfo has ", para_.exchangeInfo.size(), " bytes, at most ", kMaxExchangeInfoBytes));
  }
  std::vector<bool> named(membership_->rank_size(), false);
  for (const u32 peer : peers) {
    if (peer >= named.size() || peer == membership_->rank() || named[peer]) {
      return Fail(function_, HCCL_E_PARA,
                  Text("peer ", peer, " of rank ", membership_->rank(), " in a group of ", named.size(),
                       ": itself, twice, or not there"));
    }
    named[peer] = true;
  }
  return HCCL_SUCCESS;
}

HcclResult LinkMaking::PrepareLink(u32 peer) {
  auto link = std::make_shared<Link>();
  link->membership = membership_;
  link->dispatcher = dispatcher_;
  link->local_rank = membership_->rank();
  link->remote_rank = peer;
  link->local_user = para_.localUserrank != INVALID_VALUE_RANKID ? para_.localUserrank : membership_->rank();
  link->reads = (para_.linkAttribute & ::hccl::LINK_ATTRIBUTE_READ) != 0;
  for (std::size_t i = 0; i < Link::kNumbered + para_.notifyNum; ++i) {
    auto signal = std::make_unique<LinkSignal>();
    if (const HcclResult result = signal->local.Init(); result != HCCL_SUCCESS) return result;
    const auto& health = membership_->health();
    signal->waited =
        std::make_shared<GroupSignal>(health, link->local_rank,
                                      Text(SignalName(i), " from rank ", peer, " to rank ", link->local_rank,
                                           " of group '", membership_->group(), "'"));
    signal->posted =
        std::make_shared<GroupSignal>(health, link->local_rank,
                                      Text(SignalName(i), " from rank ", link->local_rank, " to rank ", peer,
                                           " of group '", membership_->group(), "'"));
    link->signals.push_back(std::move(signal));
  }
  const HcclResult result = membership_->IsInThisProcess(peer) ? HCCL_SUCCESS : Export(*link);
  links_[peer] = std::move(link);
  if (result != HCCL_E_NOT_SUPPORT) return result;
  return Fail(
      function_, result,
      Text(
          membership_->Describe(membership_->rank()), " and ", membership_->Describe(peer),
          " are on different hosts: links between hosts need emulated devices of SAMPAN_PROFILE=ascend910c"));
}

Importer LinkMaking::ImporterOf(u32 peer) const {
  const auto process = static_cast<s32>(membership_->process_of(peer));
  if (membership_->IsOnThisHost(peer)) return {process, std::nullopt};
  // The number of the server is that of its first device, divided by 1024.
  return {process, ServerNumber(membership_->host_of(peer)) << 10};
}

HcclResult LinkMaking::Export(Link& link) const {
  const Importer importer = ImporterOf(link.remote_rank);
  const std::array<const ::hccl::DeviceMem*, 2> memory = {&para_.inputMem, &para_.outputMem};
  for (std::size_t i = 0; i < memory.size(); ++i) {
    if (const HcclResult result = link.exported[i].Export(*memory[i], importer); result != HCCL_SUCCESS)
      return result;
  }
  for (const auto& signal : link.signals) {
    if (const HcclResult result = signal->local.SetIpc(); result != HCCL_SUCCESS) return result;
    if (const HcclResult result = AdmitToNotify(signal->local.ptr(), importer); result != HCCL_SUCCESS)
      return result;
  }
  return HCCL_SUCCESS;
}

HcclResult LinkMaking::Prepare(const std::vector<u32>& peers) {
  if (const HcclResult result = CheckArguments(peers); result != HCCL_SUCCESS) return result;
  if (aclrtGetDevice(&device_) != ACL_SUCCESS ||
      aclrtGetPhyDevIdByLogicDevId(device_, &physical_device_) != ACL_SUCCESS)
    return HCCL_E_RUNTIME;
  for (const u32 peer : peers) {
    if (const HcclResult result = PrepareLink(peer); result != HCCL_SUCCESS) return result;
  }
  return HCCL_SUCCESS;
}

std::vector<u8> LinkMaking::WriteOffer() const {
  ByteWriter out;
  out.Put(u8{1});
  out.Put(para_.linkAttribute);
  out.Put(para_.localUserrank);
  out.Put(para_.localWorldRank);
  out.Put(device_);
  out.Put(physical_device_);
  for (const ::hccl::DeviceMem* memory : {&para_.inputMem, &para_.outputMem}) {
    out.Put(reinterpret_cast<u64>(memory->ptr()));
    out.Put(memory->size());
  }
  out.PutBytes(para_.exchangeInfo);
  out.Put(static_cast<u32>(
      std::count_if(links_.begin(), links_.end(), [](const auto& l) { return l != nullptr; })));
  for (const auto& link : links_) {
    if (link == nullptr) continue;
    out.Put(link->remote_rank);
    out.PutBytes(link->exported[0].key());
    out.PutBytes(link->exported[1].key());
    out.Put(static_cast<u32>(link->signals.size()));
    for (const auto& signal : link->signals) {
      std::vector<u8> bytes;
      if (signal->local.Serialize(bytes) != HCCL_SUCCESS) return {0};
      out.PutBytes(bytes);
    }
  }
  return out.Take();
}

HcclResult LinkMaking::TakeMemory(Link& link, const Offer& offer) const {
  const bool same_process = membership_->IsInThisProcess(link.remote_rank);
  for (std::size_t i = 0; i < link.memory.size(); ++i) {
    if (same_process) {
      if (!IsKnownMemory(offer.address[i], offer.bytes[i])) {
        return Fail(function_, HCCL_E_PARA,
                    Text("rank ", link.remote_rank, " offers ", offer.bytes[i], " bytes at ",
                         Hex(static_cast<std::uintptr_t>(offer.address[i])),
                         ", which are no memory of this process"));
      }
      link.memory[i].PointTo(reinterpret_cast<void*>(offer.address[i]), offer.bytes[i]);
    } else if (const HcclResult result = link.memory[i].Import(offer.keys[i], offer.bytes[i]);
               result != HCCL_SUCCESS) {
      return result;
    }
  }
  // An import enables peer access. Inside one process there is no import, so this does it.
  if (same_process && offer.device != device_ && aclrtDeviceEnablePeerAccess(offer.device, 0) != ACL_SUCCESS)
    return HCCL_E_RUNTIME;
  link.type = offer.physical_device == physical_device_ && membership_->IsOnThisHost(link.remote_rank)
                  ? ::hccl::LinkType::LINK_ONCHIP
                  : LinkBetween(para_.inputMem.ptr(), link.memory[0].address())
                        .value_or(::hccl::LinkType::LINK_RESERVED);
  return HCCL_SUCCESS;
}

HcclResult LinkMaking::TakeOffer(Link& link, const std::vector<u8>& content) {
  const Offer offer(content, membership_->rank());
  const auto refuse = [&](const std::string& why) {
    return Fail(
        function_, HCCL_E_PARA,
        Text("rank ", link.local_rank, " and rank ", link.remote_rank, " do not fit together: ", why));
  };
  if (!offer.ok) {
    return Fail(function_, HCCL_E_REMOTE,
                Text("rank ", link.remote_rank, " has nothing to offer: its own call failed"));
  }
  if (!offer.to_this_rank) return refuse("only the first names the other as its peer");
  if (offer.attribute != para_.linkAttribute)
    return refuse(Text("linkAttribute is ", para_.linkAttribute, " and ", offer.attribute));
  if (offer.signals.size() != link.signals.size()) {
    return refuse(Text("notifyNum is ", para_.notifyNum, " and ", offer.signals.size() - Link::kNumbered));
  }
  if (const HcclResult result = TakeMemory(link, offer); result != HCCL_SUCCESS) return result;
  for (std::size_t i = 0; i < link.signals.size(); ++i) {
    ::hccl::RemoteNotify& remote = link.signals[i]->remote;
    if (const HcclResult result = remote.Init(offer.signals[i]); result != HCCL_SUCCESS) return result;
    if (const HcclResult result = remote.Open(); result != HCCL_SUCCESS) return result;
  }
  link.remote_world = offer.world_rank != INVALID_VALUE_RANKID ? offer.world_rank : link.remote_rank;
  link.exchange_info = offer.info;
  return HCCL_SUCCESS;
}

HcclResult LinkMaking::TakeOffers(const std::vector<std::vector<u8>>& offers) {
  for (const auto& link : links_) {
    if (link == nullptr) continue;
    if (const HcclResult result = TakeOffer(*link, offers[link->remote_rank]); result != HCCL_SUCCESS)
      return result;
  }
  return HCCL_SUCCESS;
}

HcclResult LinkMaking::Agree(HcclResult mine) const {
  ByteWriter out;
  out.Put(static_cast<u32>(mine));
  std::vector<std::vector<u8>> all;
  const HcclResult exchanged = membership_->Exchange(function_, out.Take(), all);
  if (mine != HCCL_SUCCESS) return mine;
  if (exchanged != HCCL_SUCCESS) return exchanged;
  for (std::size_t rank = 0; rank < all.size(); ++rank) {
    ByteReader in(all[rank]);
    if (const u32 code = in.Get<u32>(); code != HCCL_SUCCESS || !in.ok())
      return Fail(function_, HCCL_E_REMOTE, Text("rank ", rank, " could not make its links: code ", code));
  }
  return HCCL_SUCCESS;
}

HcclResult LinkMaking::Make(const std::vector<u32>& peers, std::vector<std::shared_ptr<Link>>& links) {
  links_.assign(membership_->rank_size(), nullptr);
  HcclResult result = Prepare(peers);
  // A rank that failed still takes part: the other ranks wait for its part.
  std::vector<std::vector<u8>> offers;
  const std::vector<u8> mine = result == HCCL_SUCCESS ? WriteOffer() : std::vector<u8>{0};
  if (const HcclResult exchanged = membership_->Exchange(function_, mine, offers); exchanged != HCCL_SUCCESS)
    return result != HCCL_SUCCESS ? result : exchanged;
  if (result == HCCL_SUCCESS) result = TakeOffers(offers);
  if (result = Agree(result); result != HCCL_SUCCESS) return result;
  links = std::move(links_);
  return HCCL_SUCCESS;
}

}  // namespace sampan::hccl
