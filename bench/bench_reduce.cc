// Compares the reductions with a loop that takes one element at a time, alternately in one run.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <random>
#include <string>
#include <type_traits>
#include <vector>

#include "base/reduce/reduce_kernels.h"
#include "base/reduce/sixteen_bit_floats.h"
#include "bench/ratio.h"

namespace {

using namespace sampan;

/// What a program without vector instructions does. The compiler must not vectorize it.
template <ReduceOperation kOperation, typename T>
T CombineOne(T left, T right) {
  if constexpr (std::is_same_v<T, Half>) {
    return ToHalf(CombineOne<kOperation>(ToFloat(left), ToFloat(right)));
  } else if constexpr (std::is_same_v<T, BrainFloat>) {
    return ToBrainFloat(CombineOne<kOperation>(ToFloat(left), ToFloat(right)));
  } else {
    if constexpr (std::is_floating_point_v<T> && kOperation == ReduceOperation::kMax) {
      if (std::isnan(left)) return left;
    }
    return kOperation == ReduceOperation::kSum ? static_cast<T>(left + right) : std::max(left, right);
  }
}

template <ReduceOperation kOperation, typename T>
void ReduceOneByOne(std::vector<T>& dst, const std::vector<T>& src) {
#if defined(__clang__)
#pragma clang loop vectorize(disable) interleave(disable)
#endif
  for (std::size_t i = 0; i < dst.size(); ++i) {
    dst[i] = CombineOne<kOperation>(dst[i], src[i]);
#if !defined(__clang__)
    asm volatile("");  // prevents vectorization
#endif
  }
}

template <ReduceOperation kOperation, typename T>
void Measure(benchmark::State& state, ReduceElement element) {
  const std::size_t count = static_cast<std::size_t>(state.range(0)) / sizeof(T);
  std::vector<T> dst(count), src(count);
  std::mt19937 random(1);
  for (std::vector<T>* values : {&dst, &src}) {
    for (T& value : *values) {
      const auto number = static_cast<float>(random() % 1000) / 64;
      if constexpr (std::is_same_v<T, Half>)
        value = ToHalf(number);
      else if constexpr (std::is_same_v<T, BrainFloat>)
        value = ToBrainFloat(number);
      else
        value = static_cast<T>(number);
    }
  }
  auto* const to = reinterpret_cast<std::byte*>(dst.data());
  const auto* const from = reinterpret_cast<const std::byte*>(src.data());
  bench::MeasureRatio(
      state, static_cast<double>(state.range(0)),
      [&] {
        Reduce({to, from, count}, kOperation, element);
      },
      [&] { ReduceOneByOne<kOperation>(dst, src); });
}

template <typename T>
void Register(const char* type, ReduceElement element) {
  constexpr auto kSum = ReduceOperation::kSum;
  constexpr auto kMax = ReduceOperation::kMax;
  const std::string name = std::string("reduce/") + type;
  struct Size {
    int bytes;  // in the caches, and far beyond them
    int iterations;
  };
  for (const Size size : {Size{256 << 10, 300}, Size{64 << 20, 7}}) {
    for (auto* row : {benchmark::RegisterBenchmark((name + "/sum").c_str(), Measure<kSum, T>, element),
                      benchmark::RegisterBenchmark((name + "/max").c_str(), Measure<kMax, T>, element)}) {
      row->Arg(size.bytes)->Iterations(size.iterations)->UseManualTime()->Unit(benchmark::kMicrosecond);
    }
  }
}

}  // namespace

int main(int argc, char** argv) {
  Register<std::int8_t>("int8", ReduceElement::kInt8);
  Register<std::int16_t>("int16", ReduceElement::kInt16);
  Register<std::int32_t>("int32", ReduceElement::kInt32);
  Register<Half>("fp16", ReduceElement::kHalf);
  Register<BrainFloat>("bf16", ReduceElement::kBrainFloat);
  Register<float>("fp32", ReduceElement::kFloat);
  benchmark::Initialize(&argc, argv);
  benchmark::RunSpecifiedBenchmarks();
}
