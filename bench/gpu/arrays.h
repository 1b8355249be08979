// Memory that the GPU benchmarks share: a host and two device arrays of each side, with random contents.
#pragma once

#include <cstddef>
#include <cstring>
#include <string>
#include <string_view>

#include "acl/acl.h"
#include "bench/gpu/driver_side.h"
#include "bench/measure/acl_call.h"
#include "bench/measure/contents.h"
#include "bench/measure/failure.h"
#include "bench/measure/sizes.h"

namespace bench {

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

enum class Way { kIn, kOut, kOnDevice };
inline const char* Name(Way way) {
  return way == Way::kIn ? "H2D" : way == Way::kOut ? "D2H" : "D2D";
}
inline std::byte* DstOf(const Arrays& arrays, Way way) {
  return way == Way::kOut ? arrays.host : way == Way::kIn ? arrays.device : arrays.second_device;
}
inline std::byte* SrcOf(const Arrays& arrays, Way way) {
  return way == Way::kIn ? arrays.host : arrays.device;
}

/// Throws a Failure when the bytes differ.
inline void MustEqual(const std::byte* expected, const std::byte* got, std::size_t bytes,
                      std::string_view what) {
  if (const auto at = FirstDifference({got, bytes}, {expected, bytes}))
    throw Failure("wrong bytes: " + std::string(what) + ", byte " + std::to_string(*at) + " of " +
                  std::to_string(bytes) + " " + DifferenceText(got[*at], expected[*at]));
}

}  // namespace bench
