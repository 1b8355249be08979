// How a rank and its hub prove to each other that they know the token, which never travels.
#include "hccl/group/introduction.h"

#include <poll.h>

#include <cerrno>
#include <cstring>
#include <span>

#include "base/error/system_error.h"
#include "base/error/text.h"
#include "base/network/connecting.h"

namespace sampan::hccl {
namespace {

enum class Role : u64 { kRank = 1, kHub = 2 };

struct Proven {
  Role role;
  Introduction introduction;
  Key challenge;
};

Error Failure(const std::string& text) {
  return {Code::kLostHeartbeat, text};
}

/// The next frame, which must be of this kind.
Result<Frame> Await(FrameSocket& socket, FrameKind kind, Deadline until) {
  for (bool is_alive = true;;) {
    if (auto frame = socket.Next()) {
      if (frame->kind == kind) return std::move(*frame);
      return Failure(frame->kind == FrameKind::kRefused ? "it refuses the token of this rank"
                                                        : "it is no rank 0 of a group");
    }
    if (!is_alive || !socket.Send()) {
      return Failure(socket.error() == 0 ? "it closed the connection"
                                         : std::string(SystemError(socket.error())));
    }
    const short events = static_cast<short>(POLLIN | (socket.has_output() ? POLLOUT : 0));
    if (!AwaitSocket(socket.descriptor(), events, until)) return Failure("it does not answer");
    is_alive = socket.Receive();
  }
}

}  // namespace

Key SecretOf(std::string_view name, std::string_view token) {
  // The inner hash has a fixed length, so no other name and token run together into the same bytes.
  const auto bytes = [](std::string_view text) { return std::as_bytes(std::span(text)); };
  return KeyedHash(KeyedHash({}, bytes(name)), bytes(token));
}

std::string NameOf(u32 rank, const RankPlace& place) {
  return Text("rank ", rank, " (process ", place.process.process, place.host.empty() ? "" : " on ",
              place.host, ")");
}

Digest ProofOfRank(const Key& secret, const Introduction& introduction, const Key& challenge) {
  return KeyedHashOf(secret, Proven{Role::kRank, introduction, challenge});
}

Digest ProofOfHub(const Key& secret, const Introduction& introduction, const Key& challenge) {
  return KeyedHashOf(secret, Proven{Role::kHub, introduction, challenge});
}

Status Introduce(FrameSocket& socket, const Key& secret, Introduction introduction, Deadline until) {
  auto nonce = RandomKey();
  if (!nonce.ok()) return nonce.TakeStatus();
  introduction.nonce = *nonce;
  auto asked = Await(socket, FrameKind::kChallenge, until);
  if (!asked.ok()) return asked.TakeStatus();
  const auto challenge = DataIn<Key>(asked->content);
  if (!challenge) return Failure("it is no rank 0 of a group");
  const Hello hello{introduction, ProofOfRank(secret, introduction, *challenge)};
  socket.Queue({FrameKind::kHello, 0, 0, 0, ContentOf(hello)});
  auto admitted = Await(socket, FrameKind::kAdmitted, until);
  if (!admitted.ok()) return admitted.TakeStatus();
  const auto proof = DataIn<Digest>(admitted->content);
  if (!proof || !SameDigest(*proof, ProofOfHub(secret, introduction, *challenge)))
    return Failure("it does not know the token of this rank");
  return {};
}

}  // namespace sampan::hccl
