// How an importer proves that it knows a handle's secret, before the owner accepts its connection.
#pragma once

#include <array>
#include <cstdint>
#include <cstring>
#include <map>
#include <span>

#include "backend/api/peer_network.h"
#include "backend/fabric/keyed_hash.h"

namespace sampan::fabric {

// Private data of a connection: plain data without padding, at most 200 bytes.
//
//   importer   Hello without proof   ->
//              <-  refused, with a Challenge     owner, which remembers nothing
//   importer   Hello with proof      ->
//              <-  accepted, with a Welcome      owner, which proves that it knows the secret too

inline constexpr std::uint32_t kHandshakeMark = 0x32464d53;  // "SMF2": the version of frames and handshake

/// What the owner gives to an importer that has none yet. It verifies its own hash later.
struct Cookie {
  std::uint64_t time_ns = 0;
  Digest hash{};
};

struct Hello {
  std::uint32_t mark = kHandshakeMark;
  std::uint32_t with_proof = 0;
  std::uint32_t cell = 0;
  std::int32_t process = 0;  ///< of the importer
  std::uint32_t server = 0;  ///< number of the importer's host
  std::uint32_t reserved = 0;
  Key nonce{};  ///< random, of the importer
  Cookie cookie;
  Digest proof{};
};

/// The owner's refusal: a challenge, or a code of the public API.
struct Refusal {
  std::uint32_t mark = kHandshakeMark;
  std::int32_t code = 0;  ///< 0: a challenge
  Cookie cookie;
};

struct Welcome {
  std::uint32_t mark = kHandshakeMark;
  std::uint32_t reserved = 0;
  Digest proof{};
  PeerMemoryFacts facts;
};
static_assert(sizeof(PeerMemoryFacts) == 24);

/// Reads plain data of exactly this size. Returns false for another size or mark.
template <typename Data>
bool ReadPlain(std::span<const std::byte> bytes, Data& data) {
  if (bytes.size() < sizeof(data)) return false;
  std::memcpy(static_cast<void*>(&data), bytes.data(), sizeof(data));
  return data.mark == kHandshakeMark;
}

/// The importer's and the owner's proofs.
Digest ProofOfImporter(const Key& secret, const Hello& hello);
Digest ProofOfOwner(const Key& secret, const Hello& hello);

/// Makes cookies and takes each once, within ten seconds. Its memory is bounded. Not thread-safe.
class CookieJar {
 public:
  static Result<CookieJar> Make();

  Cookie Bake(const Hello& hello) const;
  /// Returns true if this owner made the cookie for this importer, it is fresh, and it was not taken before.
  bool Take(const Hello& hello);

 private:
  explicit CookieJar(const Key& key) : key_(key) {}
  Digest HashOf(const Hello& hello, std::uint64_t time_ns) const;

  Key key_;
  std::map<Digest, std::uint64_t> taken_;  // with their times
};

}  // namespace sampan::fabric
