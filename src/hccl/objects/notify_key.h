// The bytes by which another rank can open a notify.
#pragma once

#include <array>
#include <cstring>
#include <optional>
#include <string>
#include <type_traits>
#include <vector>

#include "base/system/host_identity.h"
#include "hccl/platform/hccl_common.h"

namespace sampan::hccl {

inline constexpr std::size_t kKeyBytes = 65;  // of the runtime's keys, with the terminating zero

/// Ranks of the same process use the handle, ranks of other processes the runtime's key.
struct NotifyKey {
  ProcessIdentity process;
  u64 handle = 0;
  std::array<char, kKeyBytes> key{};
  std::array<char, 7> unused{};  // no bytes of this process's memory go to others

  bool here() const {
    auto own = ThisProcess();
    return own.ok() && process == *own;
  }
  HcclRtNotify notify() const { return reinterpret_cast<HcclRtNotify>(handle); }

  std::vector<u8> Bytes() const {
    static_assert(std::has_unique_object_representations_v<NotifyKey>);
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
