// What the examples share: error checks, random bytes, and the closing line.
#pragma once

#include <acl/acl.h>

#include <algorithm>
#include <cinttypes>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <random>

/// Ends the program with the runtime's own explanation when a call does not succeed.
#define CHECK_ACL(call)                                                                     \
  do {                                                                                      \
    const aclError code_ = (call);                                                          \
    if (code_ != ACL_SUCCESS) {                                                             \
      const char* text_ = aclGetRecentErrMsg();                                             \
      std::fprintf(stderr, "%s:%d: %s returned %d\n%s\n", __FILE__, __LINE__, #call, code_, \
                   text_ != nullptr ? text_ : "(no message)");                              \
      std::exit(1);                                                                         \
    }                                                                                       \
  } while (false)

/// Ends the program when something that must be true is not.
#define CHECK_TRUE(condition)                                                                 \
  do {                                                                                        \
    if (!(condition)) {                                                                       \
      std::fprintf(stderr, "%s:%d: this must be true: %s\n", __FILE__, __LINE__, #condition); \
      std::exit(1);                                                                           \
    }                                                                                         \
  } while (false)

namespace example {

/// Bytes that have been compared so far; printed at the end.
inline std::size_t verified_bytes = 0;

/// Ends the program at the first byte that differs.
inline void ExpectSameBytes(const void* actual, const void* expected, std::size_t bytes, const char* what) {
  if (std::memcmp(actual, expected, bytes) != 0) {
    const auto* a = static_cast<const unsigned char*>(actual);
    const auto* e = static_cast<const unsigned char*>(expected);
    std::size_t at = 0;
    while (a[at] == e[at])
      ++at;
    std::fprintf(stderr, "WRONG BYTES in %s: offset %zu of %zu holds 0x%02x, expected 0x%02x\n", what, at,
                 bytes, static_cast<unsigned>(a[at]), static_cast<unsigned>(e[at]));
    std::exit(1);
  }
  verified_bytes += bytes;
}

/// The seed of this run: the first argument, or a fresh one. Printed, so that a run can be repeated.
inline std::uint64_t Seed(int argc, char** argv) {
  std::setvbuf(stdout, nullptr, _IOLBF, BUFSIZ);  // so that output and errors keep their order in a pipe
  const std::uint64_t seed = argc > 1 ? std::strtoull(argv[1], nullptr, 0) : std::random_device{}();
  std::printf("seed %" PRIu64 " (repeat with: %s %" PRIu64 ")\n", seed, argv[0], seed);
  return seed;
}

/// How often a measurement is repeated: the second argument, or 5 times.
inline int Runs(int argc, char** argv) {
  return argc > 2 ? std::max(std::atoi(argv[2]), 1) : 5;
}

inline void FillRandom(void* memory, std::size_t bytes, std::mt19937_64& random) {
  auto* next = static_cast<unsigned char*>(memory);
  while (bytes > 0) {
    const std::uint64_t word = random();
    const std::size_t part = bytes < sizeof word ? bytes : sizeof word;
    std::memcpy(next, &word, part);
    next += part;
    bytes -= part;
  }
}

inline void* DeviceMemory(std::size_t bytes) {
  void* memory = nullptr;
  CHECK_ACL(aclrtMalloc(&memory, bytes, ACL_MEM_MALLOC_HUGE_FIRST));
  return memory;
}

inline void* PinnedMemory(std::size_t bytes) {
  void* memory = nullptr;
  CHECK_ACL(aclrtMallocHost(&memory, bytes));
  return memory;
}

/// The address `bytes` further on.
inline void* At(void* base, std::size_t bytes) {
  return static_cast<char*>(base) + bytes;
}
inline const void* At(const void* base, std::size_t bytes) {
  return static_cast<const char*>(base) + bytes;
}

/// Last line of every example; scripts/demo.sh collects these lines.
inline int Done(const char* shown) {
  std::printf("OK, %zu bytes verified: %s\n", verified_bytes, shown);
  return 0;
}

}  // namespace example
