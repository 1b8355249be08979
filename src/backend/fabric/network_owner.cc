// The owner's side of the network: what is lent, and which importers are let in.
#include <algorithm>
#include <cstring>
#include <utility>

#include "backend/fabric/network.h"
#include "backend/fabric/network_turn.h"
#include "base/log/log.h"

namespace sampan::fabric {

Status Network::OpenGate(PeerAddress& address) {
  PeerAddress behind = address;
  if (Status listening = port_->Listen(behind, options_.limit); !listening.ok()) return listening;
  auto gate = Gate::Open(address);
  if (!gate.ok()) return gate.TakeStatus();
  if (Status woken = port_->WakeBy(gate->descriptor(), Port::kCallers); !woken.ok()) return woken;
  gate_.emplace(std::move(*gate));
  fabric_port_ = behind.port;
  return {};
}

void Network::Lend(std::uint32_t cell, const std::array<std::uint64_t, 2>& secret,
                   std::shared_ptr<LentMemory> memory) {
  auto offer = std::make_shared<Offer>(secret, std::move(memory));
  const std::lock_guard lock(offers_mutex_);
  offers_[cell] = std::move(offer);
}

void Network::TakeBack(std::uint32_t cell, Deadline until) noexcept {
  std::shared_ptr<Offer> offer;
  {
    const std::lock_guard lock(offers_mutex_);
    const auto found = offers_.find(cell);
    if (found == offers_.end()) return;
    offer = std::move(found->second);
    offers_.erase(found);
  }
  std::shared_ptr<LentMemory> ended;  // destroyed after the lock is released
  std::unique_lock lock(offer->mutex);
  ended = std::move(offer->memory);
  const auto unpinned = [&] { return offer->pins == 0; };
  if (unpinned()) return;
  // The thread that moves the bytes cannot wait for itself, nor hold up one network for another.
  const bool may_wait = until != Deadline{};
  if (may_wait && offer->unpinned.wait_until(lock, until, unpinned)) return;
  lock.unlock();
  if (HasTurn()) return BreakPinned(*offer);
  // The memory stays mapped until its connections are closed.
  if (!may_wait) return Post([this, offer, ended] { BreakPinned(*offer); });
  const Turn turn(*this);
  BreakPinned(*offer);
}

void Network::BreakPinned(const Offer& offer) {
  for (auto& [key, link] : served_) {
    if (link->offer() == &offer) link->Close();
  }
}

std::int32_t Network::Check(const Hello& hello, const Challenge& challenge, const Proof& proof,
                            std::shared_ptr<Offer>& offer, PeerMemoryFacts& facts) {
  const auto refusal = [](Code code) { return static_cast<std::int32_t>(code); };
  {
    const std::lock_guard lock(offers_mutex_);
    const auto found = offers_.find(hello.cell);
    if (found == offers_.end()) return refusal(Code::kParamInvalid);
    offer = found->second;
  }
  if (!SameDigest(proof.digest, ProofOfImporter(offer->secret, hello, challenge)))
    return refusal(Code::kParamInvalid);
  const std::lock_guard lock(offer->mutex);
  if (offer->memory == nullptr) return refusal(Code::kParamInvalid);
  if (!offer->memory->Admits({hello.server, hello.process})) return refusal(Code::kNoPermission);
  if (served_.size() >= kMaxServed) return refusal(Code::kResourceAllocFail);
  if (expected_.size() >= std::min(kMaxExpected, kMaxServed - served_.size())) return kCrowded;
  if (offer->begin == nullptr) {
    auto mapped = offer->memory->Map();
    if (!mapped.ok()) return refusal(mapped.code());
    offer->begin = *mapped;
  }
  facts = offer->memory->facts();
  return refusal(Code::kOk);
}

Welcome Network::Judge(const Hello& hello, const Challenge& challenge, const Proof& proof,
                       const PeerAddress& from) {
  std::shared_ptr<Offer> offer;
  Welcome welcome;
  welcome.code = Check(hello, challenge, proof, offer, welcome.facts);
  if (welcome.code != 0) return welcome;
  const auto refuse = [] {
    Welcome refusal;
    refusal.code = static_cast<std::int32_t>(Code::kResourceAllocFail);
    return refusal;
  };
  auto ticket = RandomKey();
  if (!ticket.ok()) return refuse();
  welcome.proof = ProofOfOwner(offer->secret, hello, challenge);
  welcome.ticket = *ticket;
  welcome.port = fabric_port_;
  expected_.push_back({*ticket, from, std::move(offer), Clock::now() + options_.limit});
  if (AdmitExpected()) return welcome;
  expected_.pop_back();
  return refuse();
}

bool Network::AdmitExpected() {
  std::vector<PeerAddress> importers;
  for (const Expected& each : expected_)
    importers.push_back(each.from);
  return port_->Admit(importers).ok();
}

void Network::ServeCallers() {
  callers_at_ = gate_->Serve([this](const auto&... told) { return Judge(told...); });
  ForgetLate();
  for (const Expected& each : expected_)
    callers_at_ = std::min(callers_at_, each.until);
}

void Network::BuryBroken() {
  for (const ServeLink* const each : std::exchange(broken_, {})) {
    const auto found = served_.find(each);
    found->second->Close();
    served_.erase(found);
  }
}

void Network::ForgetLate() {
  const Deadline now = Clock::now();
  if (std::erase_if(expected_, [&](const Expected& each) { return each.until <= now; }) != 0) AdmitExpected();
}

void Network::OnRequest(fi_info& info, std::span<const std::byte> data) {
  port_->PrepareAccepted();
  Key ticket{};
  if (data.size() >= sizeof(ticket)) std::memcpy(&ticket, data.data(), sizeof(ticket));
  const auto expected = std::find_if(expected_.begin(), expected_.end(), [&](const Expected& each) {
    return data.size() >= sizeof(ticket) && SameDigest(each.ticket, ticket);
  });
  if (expected == expected_.end()) return port_->Refuse(info);
  auto link = std::make_unique<ServeLink>(std::move(expected->offer), broken_, closed_);
  expected_.erase(expected);
  AdmitExpected();
  Status accepted = link->Accept(*port_, info);
  if (!accepted.ok()) Log(LogLevel::kWarning, "RUNTIME", accepted.error().message);
  if (!accepted.ok()) link->Break();
  const ServeLink* const key = link.get();
  served_.emplace(key, std::move(link));
}

}  // namespace sampan::fabric
