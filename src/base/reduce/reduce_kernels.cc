// Reductions as plain loops, compiled for the baseline processor and for AVX2. Wider vectors are not faster:
// memory is the limit.
#include "base/reduce/reduce_kernels.h"

#include <array>
#include <bit>
#include <cstring>
#include <limits>
#include <type_traits>

#include "base/reduce/sixteen_bit_floats.h"

#if defined(__x86_64__)
#include <cpuid.h>
#include <immintrin.h>
#endif

namespace sampan {
namespace {

using Operation = ReduceOperation;

/// What maximum and minimum need for a type: its bits as an integer, infinity and quiet NaN.
template <typename T>
struct FloatFormat;
template <>
struct FloatFormat<Half> {
  using Bits = std::int16_t;
  static constexpr Bits kInfinity = 0x7C00, kQuietNan = 0x7E00;
};
template <>
struct FloatFormat<BrainFloat> {
  using Bits = std::int16_t;
  static constexpr Bits kInfinity = 0x7F80, kQuietNan = 0x7FC0;
};
template <>
struct FloatFormat<float> {
  using Bits = std::int32_t;
  static constexpr Bits kInfinity = 0x7F800000, kQuietNan = 0x7FC00000;
};
template <>
struct FloatFormat<double> {
  using Bits = std::int64_t;
  static constexpr Bits kInfinity = 0x7FF0000000000000, kQuietNan = 0x7FF8000000000000;
};

/// Compares the bits of floats as integers. Inverting the bits of negative floats gives the order of floats.
template <Operation kOperation, typename T>
SAMPAN_INLINE T Extreme(T left, T right) noexcept {
  using Format = FloatFormat<T>;
  using Bits = typename Format::Bits;
  constexpr Bits kMagnitude = std::numeric_limits<Bits>::max();
  const auto key = [](Bits bits) {
    return static_cast<Bits>(bits ^ ((bits >> (sizeof(Bits) * 8 - 1)) & kMagnitude));
  };
  const auto a = std::bit_cast<Bits>(left);
  const auto b = std::bit_cast<Bits>(right);
  const bool nan = (static_cast<Bits>(a & kMagnitude) > Format::kInfinity) |
                   (static_cast<Bits>(b & kMagnitude) > Format::kInfinity);
  const bool take_left = kOperation == Operation::kMax ? key(a) > key(b) : key(a) < key(b);
  const Bits extreme = take_left ? a : b;
  return std::bit_cast<T>(nan ? Format::kQuietNan : extreme);
}

template <Operation kOperation, typename T>
SAMPAN_INLINE T Combine(T left, T right) noexcept {
  if constexpr (std::is_integral_v<T>) {
    // At least as wide as int: narrower types are promoted to int, which may overflow.
    using Wide = std::common_type_t<std::make_unsigned_t<T>, unsigned>;
    if constexpr (kOperation == Operation::kSum)
      return static_cast<T>(static_cast<Wide>(left) + static_cast<Wide>(right));
    if constexpr (kOperation == Operation::kProduct)
      return static_cast<T>(static_cast<Wide>(left) * static_cast<Wide>(right));
    if constexpr (kOperation == Operation::kMax) return left > right ? left : right;
    return left < right ? left : right;
  } else if constexpr (kOperation == Operation::kMax || kOperation == Operation::kMin) {
    return Extreme<kOperation>(left, right);
  } else if constexpr (std::is_same_v<T, Half>) {
    return ToHalf(Combine<kOperation>(ToFloat(left), ToFloat(right)));
  } else if constexpr (std::is_same_v<T, BrainFloat>) {
    return ToBrainFloat(Combine<kOperation>(ToFloat(left), ToFloat(right)));
  } else {
    return kOperation == Operation::kSum ? left + right : left * right;
  }
}

template <Operation kOperation, typename T>
SAMPAN_INLINE void ReduceFrom(std::size_t first, const ReduceOperands& operands) noexcept {
  for (std::size_t i = first; i < operands.count; ++i) {
    T left;
    T right;
    std::memcpy(&left, operands.dst + i * sizeof(T), sizeof(T));
    std::memcpy(&right, operands.src + i * sizeof(T), sizeof(T));
    const T result = Combine<kOperation>(left, right);
    std::memcpy(operands.dst + i * sizeof(T), &result, sizeof(T));
  }
}

using Kernel = void (*)(ReduceOperands operands) noexcept;
using KernelTable = std::array<std::array<Kernel, kReduceOperations>, kReduceElements>;

template <typename Level, typename T>
constexpr std::array<Kernel, kReduceOperations> KernelsOf() {
  return {Level::template Run<Operation::kSum, T>, Level::template Run<Operation::kProduct, T>,
          Level::template Run<Operation::kMax, T>, Level::template Run<Operation::kMin, T>};
}

/// In the order of ReduceElement.
template <typename Level>
inline constexpr KernelTable kTableOf = {
    KernelsOf<Level, std::int8_t>(),   KernelsOf<Level, std::int16_t>(),  KernelsOf<Level, std::int32_t>(),
    KernelsOf<Level, std::int64_t>(),  KernelsOf<Level, std::uint8_t>(),  KernelsOf<Level, std::uint16_t>(),
    KernelsOf<Level, std::uint32_t>(), KernelsOf<Level, std::uint64_t>(), KernelsOf<Level, Half>(),
    KernelsOf<Level, BrainFloat>(),    KernelsOf<Level, float>(),         KernelsOf<Level, double>()};

struct Plain {
  template <Operation kOperation, typename T>
  static void Run(ReduceOperands operands) noexcept {
    ReduceFrom<kOperation, T>(0, operands);
  }
};

#if defined(__x86_64__)

#define SAMPAN_AVX2 __attribute__((target("avx2,f16c")))

struct Avx2 {
  template <Operation kOperation, typename T>
  SAMPAN_AVX2 static void Run(ReduceOperands operands) noexcept {
    constexpr bool kExtreme = kOperation == Operation::kMax || kOperation == Operation::kMin;
    if constexpr ((std::is_same_v<T, Half> || std::is_same_v<T, BrainFloat>)&&!kExtreme) {
      // Sixteen elements at a time; the plain loop does the rest.
      std::size_t i = 0;
      for (; i + 16 <= operands.count; i += 16) {
        std::byte* const dst = operands.dst + i * sizeof(T);
        const Floats left = Load(T{}, dst);
        const Floats right = Load(T{}, operands.src + i * sizeof(T));
        Store(
            T{}, dst,
            {Combined<kOperation>(left.first, right.first), Combined<kOperation>(left.second, right.second)});
      }
      ReduceFrom<kOperation, T>(i, operands);
    } else {
      ReduceFrom<kOperation, T>(0, operands);
    }
  }

 private:
  /// Sixteen singles, in the order of the conversion instructions.
  struct Floats {
    __m256 first, second;
  };

  template <Operation kOperation>
  SAMPAN_AVX2 static __m256 Combined(__m256 left, __m256 right) noexcept {
    return kOperation == Operation::kSum ? _mm256_add_ps(left, right) : _mm256_mul_ps(left, right);
  }

  SAMPAN_AVX2 static Floats Load(Half, const std::byte* from) noexcept {
    const auto* const halves = reinterpret_cast<const __m128i_u*>(from);
    return {_mm256_cvtph_ps(_mm_loadu_si128(halves)), _mm256_cvtph_ps(_mm_loadu_si128(halves + 1))};
  }
  SAMPAN_AVX2 static void Store(Half, std::byte* to, Floats floats) noexcept {
    constexpr int kNearest = _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC;
    auto* const halves = reinterpret_cast<__m128i_u*>(to);
    _mm_storeu_si128(halves, _mm256_cvtps_ph(floats.first, kNearest));
    _mm_storeu_si128(halves + 1, _mm256_cvtps_ph(floats.second, kNearest));
  }

  SAMPAN_AVX2 static Floats Load(BrainFloat, const std::byte* from) noexcept {
    const __m256i brains = _mm256_loadu_si256(reinterpret_cast<const __m256i_u*>(from));
    const __m256i zero = _mm256_setzero_si256();
    return {_mm256_castsi256_ps(_mm256_unpacklo_epi16(zero, brains)),
            _mm256_castsi256_ps(_mm256_unpackhi_epi16(zero, brains))};
  }
  SAMPAN_AVX2 static void Store(BrainFloat, std::byte* to, Floats floats) noexcept {
    _mm256_storeu_si256(reinterpret_cast<__m256i_u*>(to),
                        _mm256_packus_epi32(NearestBrains(floats.first), NearestBrains(floats.second)));
  }
  /// Brain floats in the lower halves of 32-bit lanes. A NaN needs no special case: its lower half is zero,
  /// so rounding does not change it.
  SAMPAN_AVX2 static __m256i NearestBrains(__m256 floats) noexcept {
    const __m256i bits = _mm256_castps_si256(floats);
    const __m256i odd = _mm256_and_si256(_mm256_srli_epi32(bits, 16), _mm256_set1_epi32(1));
    const __m256i rounded = _mm256_add_epi32(_mm256_add_epi32(bits, _mm256_set1_epi32(0x7FFF)), odd);
    return _mm256_srli_epi32(rounded, 16);
  }
};

#undef SAMPAN_AVX2

#endif  // __x86_64__

#if defined(__x86_64__)
bool HasAvx2AndHalves() noexcept {
  // Clang has no name for F16C in __builtin_cpu_supports.
  unsigned eax = 0, ebx = 0, ecx = 0, edx = 0;
  const bool f16c = __get_cpuid(1, &eax, &ebx, &ecx, &edx) != 0 && (ecx & bit_F16C) != 0;
  return f16c && __builtin_cpu_supports("avx2");
}
#endif

const KernelTable* TableOf(ReduceLevel level) noexcept {
#if defined(__x86_64__)
  if (level == ReduceLevel::kAvx2) return HasAvx2AndHalves() ? &kTableOf<Avx2> : nullptr;
#endif
  return level == ReduceLevel::kPlain ? &kTableOf<Plain> : nullptr;
}

Kernel KernelOf(const KernelTable& table, Operation operation, ReduceElement element) noexcept {
  return table[static_cast<std::size_t>(element)][static_cast<std::size_t>(operation)];
}

}  // namespace

void Reduce(const ReduceOperands& operands, Operation operation, ReduceElement element) noexcept {
  static const KernelTable* const avx2 = TableOf(ReduceLevel::kAvx2);
  KernelOf(avx2 != nullptr ? *avx2 : kTableOf<Plain>, operation, element)(operands);
}

bool ReduceAt(ReduceLevel level, const ReduceOperands& operands, Operation operation,
              ReduceElement element) noexcept {
  const KernelTable* const table = TableOf(level);
  if (table == nullptr) return false;
  KernelOf(*table, operation, element)(operands);
  return true;
}

}  // namespace sampan
