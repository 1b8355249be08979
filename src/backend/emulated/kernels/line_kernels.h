// Moves whole cache lines past the caches, with the widest vectors of the processor.
#pragma once

#include <cstddef>
#include <cstdint>

namespace sampan::emulated {

inline constexpr std::size_t kLineBytes = 64;

enum class KernelLevel { kPlain, kAvx2, kAvx512 };

// One row of the dispatch table. `dst` must be aligned to kLineBytes; `src` has any alignment. Stores may be
// pending when a kernel returns. `publish` makes every earlier store of this thread visible before any later
// release-store.
struct LineKernels {
  // For long runs: prefetches from `src` itself.
  void (*copy)(std::byte* dst, const std::byte* src, std::size_t lines) noexcept;
  // For pieces: while it copies `lines` lines, prefetches as many from `upcoming`, which is copied next.
  void (*copy_piece)(std::byte* dst, const std::byte* src, std::size_t lines,
                     const std::byte* upcoming) noexcept;
  // For rows `src_pitch` apart into one run: prefetches later rows.
  void (*copy_rows)(std::byte* dst, const std::byte* src, std::size_t lines, std::size_t src_pitch,
                    std::size_t height) noexcept;
  // Repeats the four bytes of `pattern32`.
  void (*fill)(std::byte* dst, std::uint32_t pattern32, std::size_t lines) noexcept;
  void (*publish)() noexcept;
};

// The fastest row for this processor, chosen at the first call. Thread-safe.
const LineKernels& ActiveLineKernels() noexcept;

// For tests and benchmarks: makes `level` active from now on. Returns false if this machine lacks it.
bool UseKernelLevel(KernelLevel level) noexcept;

}  // namespace sampan::emulated
