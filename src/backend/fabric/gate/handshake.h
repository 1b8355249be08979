// How an importer proves that it knows a handle's secret, before libfabric sees anything of it.
#pragma once

#include <array>
#include <cstdint>

#include "backend/api/peer_network.h"
#include "base/network/keyed_hash.h"

namespace sampan::fabric {

// Plain data without padding, over a socket of its own (the gate).
//
//   importer   Hello   ->                owner
//              <-  Challenge             which is used for this connection alone
//   importer   Proof   ->
//              <-  Welcome               with a code; 0: the owner proves that it knows the secret too
//
// The importer then connects by libfabric, from the port that it named, with the ticket of the Welcome.

inline constexpr std::uint32_t kHandshakeMark = 0x33464d53;  // "SMF3": the version of frames and handshake

struct Hello {
  std::uint32_t mark = kHandshakeMark;
  std::uint32_t cell = 0;
  std::int32_t process = 0;  ///< of the importer
  std::uint32_t port = 0;    ///< the importer connects from it
  std::uint32_t server = 0;  ///< number of the importer's host
  std::uint32_t reserved = 0;
  Key nonce{};  ///< random, of the importer
};

struct Challenge {
  std::uint32_t mark = kHandshakeMark;
  std::uint32_t reserved = 0;
  Key nonce{};  ///< random, of the owner
};

struct Proof {
  Digest digest{};
};

/// In place of a code: too many others connect at this moment. The importer must try again.
inline constexpr std::int32_t kCrowded = 1;

struct Welcome {
  std::uint32_t mark = kHandshakeMark;
  std::int32_t code = 0;  ///< of the public API, or kCrowded
  Digest proof{};
  Key ticket{};
  PeerMemoryFacts facts;
  std::uint32_t port = 0;  ///< where libfabric listens
  std::uint32_t reserved = 0;
};
static_assert(sizeof(PeerMemoryFacts) == 24 && sizeof(Welcome) == 72);

Digest ProofOfImporter(const Key& secret, const Hello& hello, const Challenge& challenge);
Digest ProofOfOwner(const Key& secret, const Hello& hello, const Challenge& challenge);

}  // namespace sampan::fabric
