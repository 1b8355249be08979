// Memory that the GPU benchmarks share: a host and two device arrays of each side, with random contents.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <random>
#include <string_view>

#include "acl/acl.h"
#include "bench/gpu/driver_side.h"

namespace bench {

inline void CheckAcl(aclError code, const char* call) {
  if (code == ACL_SUCCESS) return;
  const char* const message = aclGetRecentErrMsg();
  std::fprintf(stderr, "%s failed with %d\n%s\n", call, code, message != nullptr ? message : "");
  std::exit(1);
}
#define BENCH_ACL(call) ::bench::CheckAcl((call), #call)

constexpr std::size_t kKiB = 1024, kMiB = 1024 * kKiB, kGiB = 1024 * kMiB;
/// Enough for every case.
constexpr std::size_t kArrayBytes = 2 * kGiB;

/// One side's memory.
struct Arrays {
  std::byte* host = nullptr;
  std::byte* device = nullptr;
  std::byte* second_device = nullptr;
};

inline Arrays MakeOurs() {
  void* memory[3] = {};
  BENCH_ACL(aclrtMallocHost(&memory[0], kArrayBytes));
  BENCH_ACL(aclrtMalloc(&memory[1], kArrayBytes, ACL_MEM_MALLOC_HUGE_FIRST));
  BENCH_ACL(aclrtMalloc(&memory[2], kArrayBytes, ACL_MEM_MALLOC_HUGE_FIRST));
  return {static_cast<std::byte*>(memory[0]), static_cast<std::byte*>(memory[1]),
          static_cast<std::byte*>(memory[2])};
}

inline Arrays MakeTheirs(const DriverSide& driver) {
  return {driver.AllocateHost(kArrayBytes), driver.Allocate(kArrayBytes), driver.Allocate(kArrayBytes)};
}

inline void FillRandom(std::byte* memory, std::size_t bytes, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  for (std::size_t done = 0; done + 8 <= bytes; done += 8) {
    const std::uint64_t value = random();
    std::memcpy(memory + done, &value, 8);
  }
}

enum class Way { kIn, kOut, kWithin };
inline const char* Name(Way way) {
  return way == Way::kIn ? "H2D" : way == Way::kOut ? "D2H" : "D2D";
}
inline std::byte* DstOf(const Arrays& arrays, Way way) {
  return way == Way::kOut ? arrays.host : way == Way::kIn ? arrays.device : arrays.second_device;
}
inline std::byte* SrcOf(const Arrays& arrays, Way way) {
  return way == Way::kIn ? arrays.host : arrays.device;
}

/// Ends the program when the bytes differ.
inline void MustEqual(const std::byte* expected, const std::byte* got, std::size_t bytes,
                      std::string_view what) {
  if (std::memcmp(expected, got, bytes) == 0) return;
  std::size_t at = 0;
  while (expected[at] == got[at])
    ++at;
  std::fprintf(stderr, "wrong bytes: %.*s, byte %zu of %zu\n", static_cast<int>(what.size()), what.data(), at,
               bytes);
  std::exit(1);
}

}  // namespace bench
