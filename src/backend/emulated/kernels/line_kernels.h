// Whole cache lines moved past the caches, with the widest vectors that the processor has.
#pragma once

#include <cstddef>
#include <cstdint>

namespace sampan::emulated {

inline constexpr std::size_t kLineBytes = 64;

enum class KernelLevel { kPlain, kAvx2, kAvx512 };

// One row of the dispatch table. `dst` is aligned to kLineBytes everywhere, `src` to nothing. Stores may be
// pending when a kernel returns. `publish` makes every earlier store of this thread visible before any later
// release-store.
struct LineKernels {
  // For long runs: reads ahead within `src` itself.
  void (*copy)(std::byte* dst, const std::byte* src, std::size_t lines) noexcept;
  // For pieces: while `lines` lines are copied, as many are brought near from `upcoming`, which is read next.
  void (*copy_piece)(std::byte* dst, const std::byte* src, std::size_t lines,
                     const std::byte* upcoming) noexcept;
  // For rows `src_pitch` apart into one run: brings those near that come later.
  void (*copy_rows)(std::byte* dst, const std::byte* src, std::size_t lines, std::size_t src_pitch,
                    std::size_t height) noexcept;
  // Repeats the four bytes of `pattern32`.
  void (*fill)(std::byte* dst, std::uint32_t pattern32, std::size_t lines) noexcept;
  void (*publish)() noexcept;
};

// The fastest row that this processor runs, chosen at the first call. Safe from any thread.
const LineKernels& ActiveLineKernels() noexcept;

// For tests and benchmarks: makes `level` the active one from now on; false where this machine cannot run it.
bool UseKernelLevel(KernelLevel level) noexcept;

}  // namespace sampan::emulated
