// What a peer does by itself for many rounds: takes what another process writes, or writes until it is
// killed.
#pragma once

#include <cstdint>
#include <vector>

#include "acl/acl.h"
#include "tests/process/rounds.h"

namespace sampan::test {

/// For each round waits for `full`, compares the memory, and records `empty`. Returns -5 if bytes are wrong,
/// with the round in `first`.
inline int TakeRounds(void* memory, aclrtNotify full, aclrtNotify empty, std::uint64_t& first,
                      std::uint64_t count, aclrtStream stream) {
  constexpr std::uint32_t kTimeout_s = 30;
  std::vector<std::byte> seen(std::size_t{2} << 20);
  for (const std::uint64_t end = first + count; first < end; ++first) {
    const Round round(first);
    int code = aclrtWaitAndResetNotify(full, stream, kTimeout_s);
    if (code == ACL_SUCCESS) {
      code =
          aclrtMemcpyAsync(seen.data(), seen.size(), memory, round.extent, ACL_MEMCPY_DEVICE_TO_HOST, stream);
    }
    if (code == ACL_SUCCESS) code = aclrtSynchronizeStream(stream);
    if (code != ACL_SUCCESS) return code;
    if (!round.IsIn(seen.data())) return -5;
    code = aclrtRecordNotify(empty, stream);
    if (code != ACL_SUCCESS) return code;
  }
  return aclrtSynchronizeStream(stream);
}

/// Writes the byte over all of the memory, again and again, until a copy fails.
inline int WriteForever(void* memory, std::size_t bytes, int byte, aclrtStream stream) {
  const std::vector<std::byte> source(bytes, static_cast<std::byte>(byte));
  for (;;) {
    int code = aclrtMemcpyAsync(memory, bytes, source.data(), bytes, ACL_MEMCPY_HOST_TO_DEVICE, stream);
    if (code == ACL_SUCCESS) code = aclrtSynchronizeStream(stream);
    if (code != ACL_SUCCESS) return code;
  }
}

}  // namespace sampan::test
