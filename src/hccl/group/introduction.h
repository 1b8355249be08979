// How a rank and its hub prove to each other that they know the token, which never travels.
#pragma once

#include <chrono>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error/status.h"
#include "base/network/keyed_hash.h"
#include "base/system/host_identity.h"
#include "base/time/clock.h"
#include "hccl/group/frame_socket.h"

namespace sampan::hccl {

//   rank   connects              ->   hub
//          <-  kChallenge                 for this connection alone
//   rank   kHello                ->       what the rank says of itself, and its proof
//          <-  kAdmitted                  the hub's proof
//
// Frames behind that are neither encrypted nor proven.

/// What a rank says of itself. Plain data.
struct Introduction {
  u32 rank = 0, rank_size = 0;
  ProcessIdentity process;
  Key nonce{};  ///< random, of the rank
};

/// The content of a kHello frame.
struct Hello {
  Introduction introduction;
  Digest proof{};
};

/// Where a rank is, as its hub sees it.
struct RankPlace {
  ProcessIdentity process;
  std::string host;  ///< its address in digits; empty in a group of one host
};
/// "rank 1 (process 71 on 10.0.0.2)"
std::string NameOf(u32 rank, const RankPlace& place);

/// How long a connection may take to introduce itself, on both sides.
inline constexpr std::chrono::seconds kIntroductionLimit{2};

/// The secret of a group. Groups with other names are other groups.
Key SecretOf(std::string_view name, std::string_view token);

Digest ProofOfRank(const Key& secret, const Introduction& introduction, const Key& challenge);
Digest ProofOfHub(const Key& secret, const Introduction& introduction, const Key& challenge);

/// The rank's side: succeeds if the hub has admitted it and knows the token too. Blocks, at most until then.
Status Introduce(FrameSocket& socket, const Key& secret, Introduction introduction, Deadline until);

/// Plain data as the content of a frame, and back; nothing if the length differs.
template <typename Data>
std::vector<u8> ContentOf(const Data& data) {
  const auto* const first = reinterpret_cast<const u8*>(&data);
  return {first, first + sizeof(data)};
}
template <typename Data>
std::optional<Data> DataIn(const std::vector<u8>& content) {
  Data data;
  if (content.size() != sizeof(data)) return std::nullopt;
  std::memcpy(&data, content.data(), sizeof(data));
  return data;
}

}  // namespace sampan::hccl
