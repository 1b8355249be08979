// The kernel of reducing copies. It follows the rules of base/reduce/reduce_kernels.h.
#include "backend/cuda/kernels/device_language.h"
#include "backend/cuda/kernels/kernel_arguments.h"

namespace sampan::cuda {
namespace {

using Size = unsigned long long;

/// The words that a thread combines at a time.
constexpr unsigned kWords = 4;
constexpr Size kVectorBytes = 16;
struct Vector {
  unsigned words[kWords];
};

// ---- memory ----

__device__ inline Vector LoadWhole(DeviceAddress from, Size unit) {
  Vector vector;
  if (unit == kVectorBytes) {
    asm volatile("ld.global.v4.u32 {%0, %1, %2, %3}, [%4];"
                 : "=r"(vector.words[0]), "=r"(vector.words[1]), "=r"(vector.words[2]), "=r"(vector.words[3])
                 : "l"(from));
    return vector;
  }
#pragma unroll
  for (unsigned i = 0; i < kWords; ++i)
    asm volatile("ld.global.u32 %0, [%1];" : "=r"(vector.words[i]) : "l"(from + 4 * i));
  return vector;
}

__device__ inline void StoreWhole(DeviceAddress to, Size unit, const Vector& vector) {
  if (unit == kVectorBytes) {
    asm volatile("st.global.v4.u32 [%0], {%1, %2, %3, %4};" ::"l"(to), "r"(vector.words[0]),
                 "r"(vector.words[1]), "r"(vector.words[2]), "r"(vector.words[3]));
    return;
  }
#pragma unroll
  for (unsigned i = 0; i < kWords; ++i)
    asm volatile("st.global.u32 [%0], %1;" ::"l"(to + 4 * i), "r"(vector.words[i]));
}

/// Loads up to `bytes` of a vector, one byte at a time. The rest is zero.
__device__ inline Vector LoadPart(DeviceAddress from, Size bytes) {
  Vector vector;
#pragma unroll
  for (unsigned i = 0; i < kWords; ++i) {
    vector.words[i] = 0;
#pragma unroll
    for (unsigned k = 0; k < 4; ++k) {
      unsigned byte = 0;
      if (4 * i + k < bytes) asm volatile("ld.global.u8 %0, [%1];" : "=r"(byte) : "l"(from + 4 * i + k));
      vector.words[i] |= byte << (8 * k);
    }
  }
  return vector;
}

__device__ inline void StorePart(DeviceAddress to, Size bytes, const Vector& vector) {
#pragma unroll
  for (unsigned i = 0; i < kWords; ++i) {
#pragma unroll
    for (unsigned k = 0; k < 4; ++k) {
      if (4 * i + k < bytes)
        asm volatile("st.global.u8 [%0], %1;" ::"l"(to + 4 * i + k), "r"(vector.words[i] >> (8 * k)));
    }
  }
}

// ---- arithmetic ----

enum class Operation : unsigned { kSum, kProduct, kMax, kMin };

/// Describes the bits of floats: their type, infinity, and the default NaN.
struct Half {
  using Bits = short;
  static constexpr Bits kInfinity = 0x7C00, kQuiet = 0x0200, kQuietNan = 0x7E00;
  /// Converts to single precision (exact) and back (to nearest, ties to even).
  static __device__ inline float Wide(Bits bits) {
    float wide;
    asm("cvt.f32.f16 %0, %1;" : "=f"(wide) : "h"(bits));
    return wide;
  }
  static __device__ inline Bits Narrow(float wide) {
    Bits bits;
    asm("cvt.rn.f16.f32 %0, %1;" : "=h"(bits) : "f"(wide));
    return bits;
  }
};
struct BrainFloat {
  using Bits = short;
  static constexpr Bits kInfinity = 0x7F80, kQuiet = 0x0040, kQuietNan = 0x7FC0;
  static __device__ inline float Wide(Bits bits) {
    float wide;
    asm("mov.b32 %0, %1;" : "=f"(wide) : "r"(static_cast<unsigned>(static_cast<unsigned short>(bits)) << 16));
    return wide;
  }
  static __device__ inline Bits Narrow(float wide) {
    unsigned bits;
    asm("mov.b32 %0, %1;" : "=r"(bits) : "f"(wide));
    return static_cast<Bits>((bits + 0x7FFF + (bits >> 16 & 1)) >> 16);
  }
};
struct Single {
  using Bits = int;
  static constexpr Bits kInfinity = 0x7F800000, kQuiet = 0x00400000, kQuietNan = 0x7FC00000;
  static __device__ inline float Wide(Bits bits) {
    float wide;
    asm("mov.b32 %0, %1;" : "=f"(wide) : "r"(bits));
    return wide;
  }
  static __device__ inline Bits Narrow(float wide) {
    Bits bits;
    asm("mov.b32 %0, %1;" : "=r"(bits) : "f"(wide));
    return bits;
  }
};
struct Double {
  using Bits = long long;
  static constexpr Bits kInfinity = 0x7FF0000000000000, kQuiet = 0x0008000000000000,
                        kQuietNan = 0x7FF8000000000000;
  static __device__ inline double Wide(Bits bits) {
    double wide;
    asm("mov.b64 %0, %1;" : "=d"(wide) : "l"(bits));
    return wide;
  }
  static __device__ inline Bits Narrow(double wide) {
    Bits bits;
    asm("mov.b64 %0, %1;" : "=l"(bits) : "d"(wide));
    return bits;
  }
};

// Rounds to nearest. Never fused with the next operation.
__device__ inline float Add(float left, float right) {
  float sum;
  asm("add.rn.f32 %0, %1, %2;" : "=f"(sum) : "f"(left), "f"(right));
  return sum;
}
__device__ inline double Add(double left, double right) {
  double sum;
  asm("add.rn.f64 %0, %1, %2;" : "=d"(sum) : "d"(left), "d"(right));
  return sum;
}
__device__ inline float Multiply(float left, float right) {
  float product;
  asm("mul.rn.f32 %0, %1, %2;" : "=f"(product) : "f"(left), "f"(right));
  return product;
}
__device__ inline double Multiply(double left, double right) {
  double product;
  asm("mul.rn.f64 %0, %1, %2;" : "=d"(product) : "d"(left), "d"(right));
  return product;
}

/// All ones for negative numbers. 64 bits use an instruction of the GPU: clang 14 turns the shift and the
/// mask into an unsigned bit extraction.
template <typename Bits>
__device__ inline Bits SignMask(Bits bits) {
  return static_cast<Bits>(bits >> (sizeof(Bits) * 8 - 1));
}
__device__ inline long long SignMask(long long bits) {
  long long mask;
  asm("shr.s64 %0, %1, 63;" : "=l"(mask) : "l"(bits));
  return mask;
}

/// Floats, by their bits.
template <typename Float>
struct FloatElement {
  using Bits = typename Float::Bits;
  static constexpr Bits kSign = static_cast<Bits>(Bits{1} << (sizeof(Bits) * 8 - 1));
  static constexpr Bits kMagnitude = static_cast<Bits>(~kSign);

  static __device__ inline bool IsNan(Bits bits) {
    return static_cast<Bits>(bits & kMagnitude) > Float::kInfinity;
  }
  /// In the order of the floats, with -0 below +0.
  static __device__ inline Bits Key(Bits bits) {
    return static_cast<Bits>(bits ^ (SignMask(bits) & kMagnitude));
  }
  template <Operation kOperation>
  static __device__ inline Bits Combine(Bits left, Bits right) {
    if (kOperation == Operation::kMax || kOperation == Operation::kMin) {
      if (IsNan(left) || IsNan(right)) return Float::kQuietNan;
      const bool take_left = kOperation == Operation::kMax ? Key(left) > Key(right) : Key(left) < Key(right);
      return take_left ? left : right;
    }
    // As processors do: the left NaN wins over the right one, and a new NaN is negative.
    if (IsNan(left)) return static_cast<Bits>(left | Float::kQuiet);
    if (IsNan(right)) return static_cast<Bits>(right | Float::kQuiet);
    const auto a = Float::Wide(left);
    const auto b = Float::Wide(right);
    const auto exact = kOperation == Operation::kSum ? Add(a, b) : Multiply(a, b);
    if (exact != exact) return static_cast<Bits>(Float::kQuietNan | kSign);
    return Float::Narrow(exact);
  }
};

template <typename Integer>
struct IntegerElement {
  using Bits = Integer;
  template <Operation kOperation>
  static __device__ inline Bits Combine(Bits left, Bits right) {
    if (kOperation == Operation::kMax) return left > right ? left : right;
    if (kOperation == Operation::kMin) return left < right ? left : right;
    // Wide and unsigned, to avoid overflow.
    const auto a = static_cast<Size>(left);
    const auto b = static_cast<Size>(right);
    return static_cast<Bits>(kOperation == Operation::kSum ? a + b : a * b);
  }
};

template <typename Element, Operation kOperation>
__device__ inline Vector CombineAs(Vector left, Vector right) {
  using Bits = typename Element::Bits;
  Vector result;
  if (sizeof(Bits) == 8) {
#pragma unroll
    for (unsigned i = 0; i < kWords; i += 2) {
      const auto a = static_cast<Bits>(Size{left.words[i]} | Size{left.words[i + 1]} << 32);
      const auto b = static_cast<Bits>(Size{right.words[i]} | Size{right.words[i + 1]} << 32);
      const auto combined = static_cast<Size>(Element::template Combine<kOperation>(a, b));
      result.words[i] = static_cast<unsigned>(combined);
      result.words[i + 1] = static_cast<unsigned>(combined >> 32);
    }
    return result;
  }
  constexpr unsigned kBits = sizeof(Bits) * 8;
  constexpr unsigned kMask = sizeof(Bits) >= 4 ? ~0U : (1U << (kBits & 31)) - 1;
#pragma unroll
  for (unsigned i = 0; i < kWords; ++i) {
    result.words[i] = 0;
#pragma unroll
    for (unsigned at = 0; at < 32; at += kBits) {
      const auto a = static_cast<Bits>(left.words[i] >> at);
      const auto b = static_cast<Bits>(right.words[i] >> at);
      result.words[i] |= (static_cast<unsigned>(Element::template Combine<kOperation>(a, b)) & kMask) << at;
    }
  }
  return result;
}

template <typename Element>
__device__ inline Vector CombineBy(Operation operation, Vector left, Vector right) {
  switch (operation) {
    case Operation::kSum:
      return CombineAs<Element, Operation::kSum>(left, right);
    case Operation::kProduct:
      return CombineAs<Element, Operation::kProduct>(left, right);
    case Operation::kMax:
      return CombineAs<Element, Operation::kMax>(left, right);
    case Operation::kMin:
      break;
  }
  return CombineAs<Element, Operation::kMin>(left, right);
}

/// `element` is the number of a sampan::ReduceElement. All threads take the same branch.
__device__ inline Vector Combine(unsigned element, Operation operation, Vector left, Vector right) {
  switch (element) {
    case 0:
      return CombineBy<IntegerElement<signed char>>(operation, left, right);
    case 1:
      return CombineBy<IntegerElement<short>>(operation, left, right);
    case 2:
      return CombineBy<IntegerElement<int>>(operation, left, right);
    case 3:
      return CombineBy<IntegerElement<long long>>(operation, left, right);
    case 4:
      return CombineBy<IntegerElement<unsigned char>>(operation, left, right);
    case 5:
      return CombineBy<IntegerElement<unsigned short>>(operation, left, right);
    case 6:
      return CombineBy<IntegerElement<unsigned>>(operation, left, right);
    case 7:
      return CombineBy<IntegerElement<unsigned long long>>(operation, left, right);
    case 8:
      return CombineBy<FloatElement<Half>>(operation, left, right);
    case 9:
      return CombineBy<FloatElement<BrainFloat>>(operation, left, right);
    case 10:
      return CombineBy<FloatElement<Single>>(operation, left, right);
    default:
      return CombineBy<FloatElement<Double>>(operation, left, right);
  }
}

}  // namespace

/// Memory of any alignment. Uses the widest access that both ends permit.
extern "C" __global__ void SAMPAN_LAUNCH_BOUNDS(kThreadsPerBlock, 2) sampan_reduce(ReduceArgument argument) {
  const Size all = argument.dst | argument.src;
  const Size unit = all % kVectorBytes == 0 ? kVectorBytes : all % 4 == 0 ? 4 : 1;
  const auto operation = static_cast<Operation>(argument.operation);
  const Size step = static_cast<Size>(Blocks()) * ThreadsPerBlock() * kVectorBytes;
  const Size thread = static_cast<Size>(BlockInGrid()) * ThreadsPerBlock() + ThreadInBlock();
  for (Size at = thread * kVectorBytes; at < argument.bytes; at += step) {
    const DeviceAddress dst = argument.dst + at;
    const DeviceAddress src = argument.src + at;
    const Size left = argument.bytes - at;
    const bool whole = unit != 1 && left >= kVectorBytes;
    const Vector a = whole ? LoadWhole(dst, unit) : LoadPart(dst, left);
    const Vector b = whole ? LoadWhole(src, unit) : LoadPart(src, left);
    const Vector combined = Combine(argument.element, operation, a, b);
    if (whole) {
      StoreWhole(dst, unit, combined);
    } else {
      StorePart(dst, left, combined);
    }
  }
}

}  // namespace sampan::cuda
