// Ordinary memory of the program, as a rank of an MPI program has it.
#pragma once

#include <cstddef>
#include <cstdlib>
#include <cstring>

#include "bench/measure/failure.h"
#include "hccl/base.h"

namespace bench {

/// All of its pages are there from the beginning.
class OrdinaryMemory {
 public:
  explicit OrdinaryMemory(u64 bytes) {
    constexpr u64 kPageBytes = 4096;
    memory_ = static_cast<std::byte*>(
        std::aligned_alloc(kPageBytes, (bytes + kPageBytes - 1) / kPageBytes * kPageBytes));
    if (memory_ == nullptr) throw Failure("out of memory");
    std::memset(memory_, 1, bytes);
  }
  ~OrdinaryMemory() { std::free(memory_); }
  OrdinaryMemory(const OrdinaryMemory&) = delete;
  OrdinaryMemory& operator=(const OrdinaryMemory&) = delete;
  std::byte* get() const { return memory_; }

 private:
  std::byte* memory_ = nullptr;
};

}  // namespace bench
