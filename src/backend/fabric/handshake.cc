// How an importer proves that it knows a handle's secret, before the owner accepts its connection.
#include "backend/fabric/handshake.h"

#include "base/time/clock.h"

namespace sampan::fabric {
namespace {

constexpr std::uint64_t kFreshNs = 10'000'000'000;
/// More importers than this within ten seconds are refused.
constexpr std::size_t kMaxTaken = 4096;

enum class Role : std::uint64_t { kImporter = 1, kOwner = 2 };

/// The importer and what it asks for.
struct Asked {
  std::uint64_t cell_and_process, server;

  explicit Asked(const Hello& hello)
      : cell_and_process(static_cast<std::uint64_t>(hello.cell) << 32 |
                         static_cast<std::uint32_t>(hello.process)),
        server(hello.server) {}
};

struct Proven {
  Role role;
  Asked asked;
  Key nonce;
  Cookie cookie;
};

Digest Proof(const Key& secret, Role role, const Hello& hello) {
  return KeyedHashOf(secret, Proven{role, Asked(hello), hello.nonce, hello.cookie});
}

}  // namespace

Digest ProofOfImporter(const Key& secret, const Hello& hello) {
  return Proof(secret, Role::kImporter, hello);
}

Digest ProofOfOwner(const Key& secret, const Hello& hello) {
  return Proof(secret, Role::kOwner, hello);
}

Result<CookieJar> CookieJar::Make() {
  auto key = RandomKey();
  if (!key.ok()) return key.TakeStatus();
  return CookieJar(*key);
}

Digest CookieJar::HashOf(const Hello& hello, std::uint64_t time_ns) const {
  struct Baked {
    std::uint64_t time_ns;
    Asked asked;
    Key nonce;
  };
  return KeyedHashOf(key_, Baked{time_ns, Asked(hello), hello.nonce});
}

Cookie CookieJar::Bake(const Hello& hello) const {
  const auto now = static_cast<std::uint64_t>(NowNs());
  return {now, HashOf(hello, now)};
}

bool CookieJar::Take(const Hello& hello) {
  const auto now = static_cast<std::uint64_t>(NowNs());
  std::erase_if(taken_, [&](const auto& entry) { return now - entry.second > kFreshNs; });
  const Cookie& cookie = hello.cookie;
  if (cookie.time_ns > now || now - cookie.time_ns > kFreshNs) return false;
  if (!SameDigest(cookie.hash, HashOf(hello, cookie.time_ns))) return false;
  return taken_.size() < kMaxTaken && taken_.emplace(cookie.hash, cookie.time_ns).second;
}

}  // namespace sampan::fabric
