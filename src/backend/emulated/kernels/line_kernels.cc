// Line kernels for AVX-512 and AVX2, plain C++ for all other processors, and the choice between them.
#include "backend/emulated/kernels/line_kernels.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace sampan::emulated {
namespace {

void CopyPlain(std::byte* dst, const std::byte* src, std::size_t lines) noexcept {
  std::memmove(dst, src, lines * kLineBytes);
}

void CopyPiecePlain(std::byte* dst, const std::byte* src, std::size_t lines,
                    const std::byte* upcoming) noexcept {
  for (std::size_t at = 0; at < lines * kLineBytes; at += kLineBytes) {
    __builtin_prefetch(upcoming + at);
    std::memmove(dst + at, src + at, kLineBytes);
  }
}

void CopyRowsPlain(std::byte* dst, const std::byte* src, std::size_t lines, std::size_t src_pitch,
                   std::size_t height) noexcept {
  for (; height > 0; --height, src += src_pitch, dst += lines * kLineBytes)
    std::memmove(dst, src, lines * kLineBytes);
}

void FillPlain(std::byte* dst, std::uint32_t pattern32, std::size_t lines) noexcept {
  std::array<std::uint32_t, kLineBytes / sizeof(pattern32)> line;
  line.fill(pattern32);
  for (std::size_t at = 0; at < lines * kLineBytes; at += kLineBytes) {
    std::memcpy(dst + at, line.data(), kLineBytes);
  }
}

void PublishPlain() noexcept {}  // ordinary stores need nothing

constexpr LineKernels kPlainKernels{CopyPlain, CopyPiecePlain, CopyRowsPlain, FillPlain, PublishPlain};

#if defined(__x86_64__)

// How far a long run prefetches. All distances from 1 to 4 KiB are equally good.
constexpr std::size_t kReadAheadBytes = 2048;

// How many rows ahead lines are prefetched. 16 are nearly as good, 8 are not.
constexpr std::size_t kRowsAhead = 32;

// The cache that a prefetch fills. A run prefetches its own next lines to L1. A piece prefetches lines of a
// later piece to L2: L1 holds only eight lines at multiples of 4 KiB, which pieces often have.
constexpr int kToL1 = 3;
constexpr int kToL2 = 2;

// Non-temporal stores of whole lines do not read the overwritten lines first.
#define SAMPAN_AVX512 __attribute__((target("avx512f")))

template <int kNearness>
SAMPAN_AVX512 void CopyLinesAvx512(std::byte* dst, const std::byte* src, std::size_t lines,
                                   const std::byte* upcoming) noexcept {
  for (std::size_t at = 0; at < lines * kLineBytes; at += kLineBytes) {
    __builtin_prefetch(upcoming + at, 0, kNearness);
    _mm512_stream_si512(reinterpret_cast<__m512i*>(dst + at), _mm512_loadu_si512(src + at));
  }
}

SAMPAN_AVX512 void CopyRowsAvx512(std::byte* dst, const std::byte* src, std::size_t lines,
                                  std::size_t src_pitch, std::size_t height) noexcept {
  for (; height > 0; --height, src += src_pitch, dst += lines * kLineBytes) {
    const std::byte* const upcoming = src + std::min(kRowsAhead, height - 1) * src_pitch;
    __builtin_prefetch(upcoming + lines * kLineBytes - 1, 0, kToL2);  // one line more if it is not aligned
    CopyLinesAvx512<kToL2>(dst, src, lines, upcoming);
  }
}

SAMPAN_AVX512 void CopyAvx512(std::byte* dst, const std::byte* src, std::size_t lines) noexcept {
  CopyLinesAvx512<kToL1>(dst, src, lines, src + kReadAheadBytes);
}

SAMPAN_AVX512 void FillAvx512(std::byte* dst, std::uint32_t pattern32, std::size_t lines) noexcept {
  const __m512i line = _mm512_set1_epi32(static_cast<int>(pattern32));
  for (std::size_t at = 0; at < lines * kLineBytes; at += kLineBytes) {
    _mm512_stream_si512(reinterpret_cast<__m512i*>(dst + at), line);
  }
}

#undef SAMPAN_AVX512
#define SAMPAN_AVX2 __attribute__((target("avx2")))

template <int kNearness>
SAMPAN_AVX2 void CopyLinesAvx2(std::byte* dst, const std::byte* src, std::size_t lines,
                               const std::byte* upcoming) noexcept {
  for (std::size_t at = 0; at < lines * kLineBytes; at += kLineBytes) {
    __builtin_prefetch(upcoming + at, 0, kNearness);
    const __m256i low = _mm256_loadu_si256(reinterpret_cast<const __m256i_u*>(src + at));
    const __m256i high = _mm256_loadu_si256(reinterpret_cast<const __m256i_u*>(src + at + 32));
    _mm256_stream_si256(reinterpret_cast<__m256i*>(dst + at), low);
    _mm256_stream_si256(reinterpret_cast<__m256i*>(dst + at + 32), high);
  }
}

SAMPAN_AVX2 void CopyRowsAvx2(std::byte* dst, const std::byte* src, std::size_t lines, std::size_t src_pitch,
                              std::size_t height) noexcept {
  for (; height > 0; --height, src += src_pitch, dst += lines * kLineBytes) {
    const std::byte* const upcoming = src + std::min(kRowsAhead, height - 1) * src_pitch;
    __builtin_prefetch(upcoming + lines * kLineBytes - 1, 0, kToL2);  // one line more if it is not aligned
    CopyLinesAvx2<kToL2>(dst, src, lines, upcoming);
  }
}

SAMPAN_AVX2 void CopyAvx2(std::byte* dst, const std::byte* src, std::size_t lines) noexcept {
  CopyLinesAvx2<kToL1>(dst, src, lines, src + kReadAheadBytes);
}

SAMPAN_AVX2 void FillAvx2(std::byte* dst, std::uint32_t pattern32, std::size_t lines) noexcept {
  const __m256i half = _mm256_set1_epi32(static_cast<int>(pattern32));
  for (std::size_t at = 0; at < lines * kLineBytes; at += 32) {
    _mm256_stream_si256(reinterpret_cast<__m256i*>(dst + at), half);
  }
}

#undef SAMPAN_AVX2

void PublishStreamed() noexcept {
  _mm_sfence();
}

constexpr LineKernels kAvx512Kernels{CopyAvx512, CopyLinesAvx512<kToL2>, CopyRowsAvx512, FillAvx512,
                                     PublishStreamed};
constexpr LineKernels kAvx2Kernels{CopyAvx2, CopyLinesAvx2<kToL2>, CopyRowsAvx2, FillAvx2, PublishStreamed};

#endif  // __x86_64__

const LineKernels* KernelsOf(KernelLevel level) noexcept {
  switch (level) {
#if defined(__x86_64__)
    case KernelLevel::kAvx512:
      return __builtin_cpu_supports("avx512f") ? &kAvx512Kernels : nullptr;
    case KernelLevel::kAvx2:
      return __builtin_cpu_supports("avx2") ? &kAvx2Kernels : nullptr;
#endif
    case KernelLevel::kPlain:
      return &kPlainKernels;
    default:
      return nullptr;
  }
}

constinit std::atomic<const LineKernels*> g_active_kernels{nullptr};

}  // namespace

const LineKernels& ActiveLineKernels() noexcept {
  const LineKernels* kernels = g_active_kernels.load(std::memory_order_relaxed);
  if (kernels == nullptr) [[unlikely]] {
    kernels = KernelsOf(KernelLevel::kAvx512);
    if (kernels == nullptr) kernels = KernelsOf(KernelLevel::kAvx2);
    if (kernels == nullptr) kernels = KernelsOf(KernelLevel::kPlain);
    g_active_kernels.store(kernels, std::memory_order_relaxed);
  }
  return *kernels;
}

bool UseKernelLevel(KernelLevel level) noexcept {
  const LineKernels* const kernels = KernelsOf(level);
  if (kernels != nullptr) g_active_kernels.store(kernels, std::memory_order_relaxed);
  return kernels != nullptr;
}

}  // namespace sampan::emulated
