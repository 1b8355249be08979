// What all calls that share objects with other processes need.
#pragma once

#include <cstdint>
#include <cstring>
#include <span>
#include <string>

#include "acl/acl_rt.h"
#include "acl/caller.h"
#include "acl/guard.h"
#include "core/objects/profile.h"
#include "core/objects/runtime.h"

namespace sampan::acl {

/// The size of a program's buffer for a key: 64 characters and a terminating zero.
inline constexpr std::size_t kKeyBytes = 65;

/// The number of a device in a super pod: that of its server, then that of the device.
inline constexpr unsigned kDeviceBits = 10;

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
inline Status RequireSharing(const core::Profile& profile) {
  if (profile.sharing) return {};
  return {Code::kFeatureNotSupport,
          Text(profile.chip, " has no notifies, shared or mapped memory, pools or values")};
}

/// The same, and refuses backends without shared signals.
inline Status RequireSignals(core::Runtime& runtime) {
  if (Status has = RequireSharing(runtime.profile()); !has.ok()) return has;
  if (runtime.backend().has_signals()) return {};
  return {Code::kFeatureNotSupport, "streams of this backend have no notifies or shared events"};
}

/// Calls `admit` with each server and its processes, after all of them were checked.
template <typename AdmitServer>
Status AdmitServers(const aclrtServerPid* servers, std::size_t count, AdmitServer admit) {
  auto caller = ThisCaller();
  if (!caller.ok()) return caller.TakeStatus();
  if (Status has = caller->runtime.RequireServers(); !has.ok()) return has;
  if (count == 0) return {Code::kParamInvalid, "num is 0"};
  for (std::size_t i = 0; i < count; ++i) {
    if (servers[i].pid == nullptr || servers[i].num == 0) {
      return {Code::kParamInvalid, Text("serverPids[", i, "] names no process: pid is ", Hex(servers[i].pid),
                                        ", num is ", servers[i].num)};
    }
  }
  for (std::size_t i = 0; i < count; ++i) {
    const aclrtServerPid& each = servers[i];
    const std::span<const std::int32_t> processes(each.pid, each.num);
    if (Status admitted = admit(caller->runtime, each.sdid >> kDeviceBits, processes); !admitted.ok())
      return admitted;
  }
  return {};
}

}  // namespace sampan::acl
