// Messages between pairs of ranks: one, or a batch of them.
#include "collectives/operators/exchange.h"

#include <algorithm>
#include <array>
#include <utility>

#include "base/error/text.h"
#include "collectives/operators/data_moves.h"

namespace sampan::collectives {

Exchange::Exchange(std::shared_ptr<Communicator> communicator, const CallFacts& facts,
                   std::vector<Parcel> parcels, std::vector<OwnParcel> own)
    : Operation(std::move(communicator), facts), parcels_(std::move(parcels)), own_(std::move(own)) {
  for (const Parcel& parcel : parcels_)
    moved_bytes_ += parcel.is_send ? 0 : parcel.bytes;
  for (const OwnParcel& parcel : own_)
    moved_bytes_ += parcel.bytes;
}

std::string Exchange::Name() const {
  std::string text = sampan::collectives::Describe(facts());
  if (parcels_.size() == 1) {
    const Parcel& only = parcels_.front();
    text += Text(only.is_send ? " to rank " : " from rank ", only.peer, " (message ", only.number, ")");
  }
  return Text(text, " of ", communicator().Describe());
}

Message& Exchange::MessageOf(const Parcel& parcel) const {
  const u32 from = parcel.is_send ? rank() : parcel.peer;
  const u32 to = parcel.is_send ? parcel.peer : rank();
  return communicator().region().message(from, to, parcel.number);
}

bool Exchange::HasCome(const Parcel& parcel) const noexcept {
  return parcel.is_send || MessageOf(parcel).arrived.load(std::memory_order_seq_cst) >= parcel.number;
}

bool Exchange::IsTaken(const Parcel& parcel) const noexcept {
  return MessageOf(parcel).taken.load(std::memory_order_seq_cst) >= parcel.number;
}

bool Exchange::TurnCame() const noexcept {
  return std::all_of(parcels_.begin(), parcels_.end(), [&](const Parcel& parcel) {
    if (!parcel.is_send || parcel.number <= kChannelSlots) return true;
    return MessageOf(parcel).taken.load(std::memory_order_acquire) + kChannelSlots >= parcel.number;
  });
}

Status Exchange::ShareWithFar() {
  for (Parcel& parcel : parcels_) {
    if (!parcel.is_send || !communicator().IsFar(parcel.peer)) continue;
    if (Status shared = Export(parcel.range, parcel.bytes, parcel.far); !shared.ok()) return shared;
  }
  return {};
}

Status Exchange::Publish() {
  const auto check = [&](const DeviceRange& range) -> Status {
    Status live = range.held == nullptr ? Status() : range.held->CheckLive();
    return live.ok() ? std::move(live)
                     : Status(live.code(), Text(Name(), " on rank ", rank(), ": ", live.error().message));
  };
  for (const Parcel& parcel : parcels_) {
    if (Status live = check(parcel.range); !live.ok()) return live;
  }
  for (const OwnParcel& parcel : own_) {
    for (const DeviceRange* range : {&parcel.from, &parcel.to}) {
      if (Status live = check(*range); !live.ok()) return live;
    }
  }
  for (const Parcel& parcel : parcels_) {
    if (!parcel.is_send) continue;
    Message& message = MessageOf(parcel);
    message.count = parcel.count;
    message.type = parcel.type;
    message.place = facts().place;
    message.send = Shared(parcel.range, parcel.bytes);
    announced_.push_back(communicator().Announce(parcel.range, parcel.bytes));
    message.arrived.store(parcel.number, std::memory_order_seq_cst);
    communicator().Wake(parcel.peer);
    if (!communicator().has_far()) continue;
    communicator().Tell({.kind = NoteKind::kSent,
                         .number = parcel.number,
                         .peer = parcel.peer,
                         .facts = {.type = parcel.type, .count = parcel.count, .place = facts().place},
                         .send = parcel.far});
  }
  return {};
}

bool Exchange::PeersCame() const noexcept {
  bool is_missing = false;
  for (const Parcel& each : parcels_) {
    if (!IsExpected(each)) continue;
    if (HasCome(each)) return true;
    if (!is_missing) NoteMissing(each.peer);
    is_missing = true;
  }
  return !is_missing;
}

bool Exchange::PeersEnded() const noexcept {
  return std::all_of(parcels_.begin(), parcels_.end(),
                     [&](const Parcel& each) { return !each.is_send || IsTaken(each); });
}

Status Exchange::Take(const Parcel& parcel) {
  Message& message = MessageOf(parcel);
  // Read once: the memory is the other process's, too.
  const SharedRange send = message.send;
  const bool is_far = communicator().IsFar(parcel.peer);
  const FarRange far_send = is_far ? message.far_send : FarRange();
  const u64 shared = is_far ? far_send.bytes : send.bytes;
  const u64 count = message.count, type = message.type;
  if (count != parcel.count || type != parcel.type) {
    return {Code::kParamInvalid,
            Text("EI0005: ranks disagree in message ", parcel.number, " of ", communicator().Describe(), ": ",
                 communicator().NameRank(parcel.peer), " sends ", count, " ",
                 TypeName(static_cast<u32>(type)), communicator().DescribePlace(parcel.peer, message.place),
                 ", ", communicator().NameRank(rank()), " receives ", parcel.count, " ",
                 TypeName(parcel.type), communicator().DescribePlace(rank(), facts().place))};
  }
  if (shared != parcel.bytes) {
    return {Code::kTaskTimeout,
            Text(Name(), ": ", communicator().NameRank(parcel.peer), " shares ", shared,
                 " bytes for a message of ", parcel.bytes, ": its part of the board has wrong contents")};
  }
  const PeerAccess access(communicator(), message.taking, parcel.number);
  if (Status may = access.Check(); !may.ok()) return may;
  auto source = is_far ? ResolveFar(parcel.peer, far_send) : communicator().Resolve(parcel.peer, send);
  if (!source.ok()) return source.TakeStatus();
  std::byte* const to = parcel.range.engine;
  Status copied = CopyToAll(*source, Places(&to, 1), parcel.bytes, parcel.bytes >= kPastCachesFromBytes);
  if (!copied.ok()) return copied;
  message.taken.store(parcel.number, std::memory_order_seq_cst);
  communicator().Wake(parcel.peer);
  if (communicator().has_far())
    communicator().Tell({.kind = NoteKind::kTaken, .number = parcel.number, .peer = parcel.peer});
  return {};
}

Status Exchange::MoveData() {
  for (const OwnParcel& parcel : own_) {
    if (has_moved_own_) break;
    std::byte* const to = parcel.to.engine;
    Status copied =
        CopyToAll(parcel.from.engine, Places(&to, 1), parcel.bytes, parcel.bytes >= kPastCachesFromBytes);
    if (!copied.ok()) return copied;
  }
  has_moved_own_ = true;
  for (const Parcel& parcel : parcels_) {
    if (!IsExpected(parcel) || !HasCome(parcel)) continue;
    if (Status taken = Take(parcel); !taken.ok()) return taken;
  }
  return {};
}

std::uint32_t Exchange::rounds() const noexcept {
  const auto received =
      std::count_if(parcels_.begin(), parcels_.end(), [](const Parcel& each) { return !each.is_send; });
  return std::max<std::uint32_t>(1, static_cast<std::uint32_t>(received));
}

bool Exchange::HasMovedAll() const noexcept {
  return std::none_of(parcels_.begin(), parcels_.end(), [&](const Parcel& each) { return IsExpected(each); });
}

KeptMemory Exchange::TakeMemory() {
  struct Sent {
    u32 peer;
    u64 number;
  };
  KeptMemory memory;
  std::vector<Sent> all;
  for (Parcel& parcel : parcels_) {
    memory.held.push_back(std::move(parcel.range.held));
    if (parcel.is_send) all.push_back({parcel.peer, parcel.number});
  }
  own_.clear();
  announced_.clear();
  memory.is_free = [communicator = shared(), all = std::move(all)] {
    return std::all_of(all.begin(), all.end(), [&](const Sent& sent) {
      const Message& message = communicator->region().message(communicator->rank(), sent.peer, sent.number);
      return message.taking.load(std::memory_order_seq_cst) != sent.number || communicator->IsGone(sent.peer);
    });
  };
  return memory;
}

void Exchange::Finish() noexcept {
  for (Parcel& parcel : parcels_)
    parcel.range.held.reset();
  own_.clear();
  announced_.clear();
}

bool Exchange::Awaits(const Parcel& parcel, Hold hold) const noexcept {
  return hold == Hold::kPeers ? !HasCome(parcel) : parcel.is_send && !IsTaken(parcel);
}

bool Exchange::IsMissing(u32 other, Hold hold) const noexcept {
  return std::any_of(parcels_.begin(), parcels_.end(),
                     [&](const Parcel& parcel) { return parcel.peer == other && Awaits(parcel, hold); });
}

std::string Exchange::Missing(Hold hold) const {
  std::string text;
  for (const Parcel& parcel : parcels_) {
    if (!Awaits(parcel, hold)) continue;
    text += Text(text.empty() ? "" : "; ", parcel.is_send ? "message " : "no message ", parcel.number,
                 parcel.is_send ? " was not received by " : " was sent by ",
                 communicator().DescribeRank(parcel.peer));
  }
  return text.empty() ? "the messages came at the last moment" : text;
}

std::vector<StreamWork::Access> Exchange::Accesses() const {
  std::vector<Access> all;
  for (const Parcel& parcel : parcels_)
    all.push_back({parcel.range.held.get(), parcel.range.engine, parcel.bytes, !parcel.is_send});
  for (const OwnParcel& parcel : own_) {
    all.push_back({parcel.from.held.get(), parcel.from.engine, parcel.bytes, false});
    all.push_back({parcel.to.held.get(), parcel.to.engine, parcel.bytes, true});
  }
  return all;
}

}  // namespace sampan::collectives
