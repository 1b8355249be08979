// The bytes by which another rank can open a notify.
#pragma once

#include <unistd.h>

#include <array>
#include <cstring>
#include <optional>
#include <string>
#include <vector>

#include "hccl/platform/hccl_common.h"

namespace sampan::hccl {

inline constexpr std::size_t kKeyBytes = 65;  // of the runtime's keys, with the terminating zero

/// Ranks of the same process use the handle, ranks of other processes the runtime's key.
struct NotifyKey {
  s64 process = 0;
  u64 handle = 0;
  std::array<char, kKeyBytes> key{};

  bool here() const { return process == ::getpid(); }
  HcclRtNotify notify() const { return reinterpret_cast<HcclRtNotify>(handle); }

  std::vector<u8> Bytes() const {
    std::vector<u8> bytes(sizeof(*this));
    std::memcpy(bytes.data(), this, sizeof(*this));
    return bytes;
  }
  static std::optional<NotifyKey> From(const std::vector<u8>& bytes) {
    NotifyKey key;
    if (bytes.size() != sizeof(key)) return std::nullopt;
    std::memcpy(&key, bytes.data(), sizeof(key));
    key.key.back() = 0;
    return key;
  }
};

}  // namespace sampan::hccl
