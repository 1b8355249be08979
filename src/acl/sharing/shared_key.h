// What the calls that share something with other processes have in common.
#pragma once

#include <cstdint>
#include <cstring>
#include <string>

#include "acl/guard.h"
#include "core/objects/profile.h"
#include "core/objects/runtime.h"

namespace sampan::acl {

/// What a program must have room for: 64 characters and the end.
inline constexpr std::size_t kKeyBytes = 65;

inline Status CheckKeyBuffer(std::size_t bytes) {
  if (bytes >= kKeyBytes) return {};
  return {Code::kParamInvalid, Text("len is ", bytes, ", a key needs ", kKeyBytes)};
}

/// Flags are 0 or the one that the call knows.
inline Status CheckShareFlags(std::uint64_t flags, std::uint64_t known) {
  if (flags == 0 || flags == known) return {};
  return {Code::kParamInvalid, Text("flags is ", flags, ", it must be 0 or ", known)};
}

inline void WriteKey(const std::string& key, char* buffer) {
  std::memcpy(buffer, key.c_str(), key.size() + 1);
}
/// Reads no further than a key can reach.
inline std::string ReadKey(const char* key) {
  return {key, ::strnlen(key, kKeyBytes)};
}

/// What the imitated chip has.
inline Status RequireSharing(const Profile& profile) {
  if (profile.sharing) return {};
  return {Code::kFeatureNotSupport,
          Text(profile.chip, " has no notifies, shared or mapped memory, pools or values")};
}

/// The same for what queues must be able to do as well.
inline Status RequireSignals(Runtime& runtime) {
  if (Status has = RequireSharing(runtime.profile()); !has.ok()) return has;
  if (runtime.backend().has_signals()) return {};
  return {Code::kFeatureNotSupport, "streams of this backend have no notifies or shared events"};
}

}  // namespace sampan::acl
