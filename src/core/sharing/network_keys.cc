// Lets processes of other hosts import by key what a cell shares.
#include "core/sharing/network_keys.h"

#include "base/error/text.h"
#include "base/log/log.h"
#include "core/sharing/network_key.h"

namespace sampan::core {

std::string NetworkKeys::KeyOf(const OwnCell& cell, SharedKind kind) const {
  if (network_ == nullptr) return cell.Key();
  auto host = HostMark();
  auto address = network_->Listen();
  if (host.ok() && address.ok()) return NetworkKey{*host, cell.Address(), *address}.Encode(kind);
  Log(LogLevel::kInfo, "RUNTIME",
      Text("a key is for this host alone: ", (address.ok() ? host.error() : address.error()).message));
  return cell.Key();
}

Result<std::unique_ptr<Loan>> NetworkKeys::Lend(const OwnCell& cell, std::shared_ptr<LentMemory> lent) const {
  if (Status has = RequireServers(); !has.ok()) return has;
  if (network_ == nullptr) return Error{Code::kFeatureNotSupport, kNoPeerNetwork};
  if (auto listening = network_->Listen(); !listening.ok()) return listening.TakeStatus();
  const CellAddress own = cell.Address();
  auto loan = std::make_unique<Loan>(*network_, own.index);
  network_->Lend(own.index, own.secret, std::move(lent));
  return loan;
}

Status NetworkKeys::RequireServers() const {
  if (chip_has_fabric_) return {};
  return {Code::kFeatureNotSupport,
          "this chip shares with processes of one host only, set SAMPAN_PROFILE=ascend910c"};
}

Result<NetworkKeys::Target> NetworkKeys::Find(const std::string& key, SharedKind kind) const {
  if (!NetworkKey::IsOne(key)) {
    auto cell = CellAddress::FromKey(key, kind);
    if (!cell.ok()) return cell.TakeStatus();
    return Target{*cell, std::nullopt};
  }
  auto decoded = NetworkKey::Decode(key, kind);
  if (!decoded.ok()) return decoded.TakeStatus();
  auto host = HostMark();
  if (!host.ok()) return host.TakeStatus();
  if (decoded->host == *host) return Target{decoded->cell, std::nullopt};
  const CellAddress& cell = decoded->cell;
  return Target{cell, PeerName{decoded->address, cell.process, cell.index, cell.secret}};
}

Result<std::shared_ptr<PeerMemory>> NetworkKeys::Import(const PeerName& name, SharedKind kind) const {
  if (Status has = RequireServers(); !has.ok()) return has;
  if (network_ == nullptr) {
    return Error{Code::kFeatureNotSupport,
                 Text("the key was made by process ", name.process, " on another host: ", kNoPeerNetwork)};
  }
  auto peer = network_->Import(name);
  if (!peer.ok()) return peer;
  const bool is_signal = (*peer)->facts().bytes == 0;
  if (is_signal == (kind == SharedKind::kNotify)) return peer;
  return Error{Code::kParamInvalid,
               Text("the key says ", Describe(kind), ", ", (*peer)->Describe(), " shares ",
                    Describe(is_signal ? SharedKind::kNotify : SharedKind::kMemory), " under it")};
}

}  // namespace sampan::core
