// A keyed hash: proves that one knows a secret without sending it.
#include "base/network/keyed_hash.h"

#include <sys/random.h>

#include <bit>
#include <cerrno>
#include <cstring>

#include "base/error/system_error.h"
#include "base/error/text.h"

namespace sampan {
namespace {

struct State {
  std::uint64_t v0, v1, v2, v3;

  void Rounds(int count) {
    for (; count > 0; --count) {
      v0 += v1;
      v2 += v3;
      v1 = std::rotl(v1, 13) ^ v0;
      v3 = std::rotl(v3, 16) ^ v2;
      v0 = std::rotl(v0, 32);
      v2 += v1;
      v0 += v3;
      v1 = std::rotl(v1, 17) ^ v2;
      v3 = std::rotl(v3, 21) ^ v0;
      v2 = std::rotl(v2, 32);
    }
  }
  void Absorb(std::uint64_t word) {
    v3 ^= word;
    Rounds(2);
    v0 ^= word;
  }
  std::uint64_t Sum() const { return v0 ^ v1 ^ v2 ^ v3; }
};

}  // namespace

Digest KeyedHash(const Key& key, std::span<const std::byte> message) {
  State state{key[0] ^ 0x736f6d6570736575, key[1] ^ 0x646f72616e646f6d ^ 0xee, key[0] ^ 0x6c7967656e657261,
              key[1] ^ 0x7465646279746573};
  const std::uint64_t length = message.size();
  for (; message.size() >= 8; message = message.subspan(8)) {
    std::uint64_t word = 0;
    std::memcpy(&word, message.data(), 8);
    state.Absorb(word);
  }
  std::uint64_t last = 0;
  if (!message.empty()) std::memcpy(&last, message.data(), message.size());
  state.Absorb(last | length << 56);
  state.v2 ^= 0xee;
  state.Rounds(4);
  const std::uint64_t first = state.Sum();
  state.v1 ^= 0xdd;
  state.Rounds(4);
  return {first, state.Sum()};
}

bool SameDigest(const Digest& one, const Digest& other) {
  return ((one[0] ^ other[0]) | (one[1] ^ other[1])) == 0;
}

Result<Key> RandomKey() {
  Key key{};
  if (::getrandom(key.data(), sizeof(key), 0) == sizeof(key)) return key;
  return Error{Code::kInternalError, Text("the system gives no random bits: ", SystemError(errno))};
}

}  // namespace sampan
