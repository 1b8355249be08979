// A keyed hash: proves that one knows a secret without sending it.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "base/error/status.h"

namespace sampan {

using Key = std::array<std::uint64_t, 2>;
using Digest = std::array<std::uint64_t, 2>;

/// SipHash-2-4 with a result of 128 bits.
Digest KeyedHash(const Key& key, std::span<const std::byte> message);

/// The same for plain data without padding.
template <typename Data>
Digest KeyedHashOf(const Key& key, const Data& data) {
  static_assert(std::has_unique_object_representations_v<Data>);
  return KeyedHash(key, std::as_bytes(std::span(&data, 1)));
}

/// Takes the same time wherever the two differ.
bool SameDigest(const Digest& one, const Digest& other);

/// 128 bits of the system's random source.
Result<Key> RandomKey();

}  // namespace sampan
