// What all calls that share objects with other processes need.
#pragma once

#include <cstdint>
#include <cstring>
#include <string>

#include "acl/guard.h"
#include "core/objects/profile.h"
#include "core/objects/runtime.h"

namespace sampan::acl {

/// The size of a program's buffer for a key: 64 characters and a terminating zero.
inline constexpr std::size_t kKeyBytes = 65;

inline Status CheckKeyBuffer(std::size_t bytes) {
  if (bytes >= kKeyBytes) return {};
  return {Code::kParamInvalid, Text("len is ", bytes, ", a key needs ", kKeyBytes)};
}

/// Refuses flags other than 0 and `known`.
inline Status CheckShareFlags(std::uint64_t flags, std::uint64_t known) {
  if (flags == 0 || flags == known) return {};
  return {Code::kParamInvalid, Text("flags is ", flags, ", it must be 0 or ", known)};
}

inline void WriteKey(const std::string& key, char* buffer) {
  std::memcpy(buffer, key.c_str(), key.size() + 1);
}
/// Reads at most kKeyBytes characters.
inline std::string ReadKey(const char* key) {
  return {key, ::strnlen(key, kKeyBytes)};
}

/// Refuses chips without sharing.
inline Status RequireSharing(const Profile& profile) {
  if (profile.sharing) return {};
  return {Code::kFeatureNotSupport,
          Text(profile.chip, " has no notifies, shared or mapped memory, pools or values")};
}

/// The same, and refuses backends without shared signals.
inline Status RequireSignals(Runtime& runtime) {
  if (Status has = RequireSharing(runtime.profile()); !has.ok()) return has;
  if (runtime.backend().has_signals()) return {};
  return {Code::kFeatureNotSupport, "streams of this backend have no notifies or shared events"};
}

}  // namespace sampan::acl
