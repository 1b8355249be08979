// Sums of floats: the bits are those of the sum from rank 0 to the last rank, on all ranks, each time.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <random>

#include "tests/libhccl/case_list.h"

namespace sampan::test::determinism_test {
namespace {

/// From 1e-8 to 1e8, of both signs: every order of summation has other bits.
float RandomValue(std::mt19937_64& random) {
  std::uniform_real_distribution<float> exponent(-8, 8);
  return std::pow(10.0F, exponent(random)) * (random() % 2 == 0 ? 1.0F : -1.0F);
}

/// To the nearest, ties to the even one.
u16 ToBfloat(float value) {
  u32 bits;
  std::memcpy(&bits, &value, sizeof(bits));
  return static_cast<u16>((bits + 0x7FFF + (bits >> 16 & 1)) >> 16);
}
float FromBfloat(u16 bits) {
  const u32 wide = u32{bits} << 16;
  float value;
  std::memcpy(&value, &wide, sizeof(value));
  return value;
}

struct Single {
  static constexpr HcclDataType kType = HCCL_DATA_TYPE_FP32;
  using Stored = float;
  static float From(float stored) { return stored; }
  static float To(float value) { return value; }
};
struct Brain {
  static constexpr HcclDataType kType = HCCL_DATA_TYPE_BFP16;
  using Stored = u16;
  static float From(u16 stored) { return FromBfloat(stored); }
  static u16 To(float value) { return ToBfloat(value); }
};

template <typename Format>
void ExpectSumsByRankOrder(u32 ranks, u64 count) {
  SCOPED_TRACE(testing::Message() << ranks << " ranks, " << count << " elements");
  using Stored = typename Format::Stored;
  std::mt19937_64 random(FreshSeed());
  std::vector<std::vector<Stored>> inputs(ranks, std::vector<Stored>(count));
  for (std::vector<Stored>& input : inputs) {
    for (Stored& each : input)
      each = Format::To(RandomValue(random));
  }
  std::vector<Stored> sums = inputs[0], backwards = inputs[ranks - 1];
  for (u32 rank = 1; rank < ranks; ++rank) {
    for (u64 i = 0; i < count; ++i) {
      sums[i] = Format::To(Format::From(sums[i]) + Format::From(inputs[rank][i]));
      backwards[i] = Format::To(Format::From(backwards[i]) + Format::From(inputs[ranks - 1 - rank][i]));
    }
  }
  const std::size_t bytes = count * sizeof(Stored);
  ASSERT_NE(std::memcmp(sums.data(), backwards.data(), bytes), 0) << "the order makes no difference";
  ExpectNone(RunWorlds(ranks, Form::kThreads, [&](World& world) {
    const auto* const own = reinterpret_cast<const u8*>(inputs[world.rank].data());
    const DeviceBlock input(std::vector<u8>(own, own + bytes)), output(bytes);
    for (int run = 0; run < 2; ++run) {
      Check(HcclAllReduce(input.at(), output.at(), count, Format::kType, HCCL_REDUCE_SUM, world.comm,
                          world.stream));
      world.Synchronize();
      const std::vector<u8> result = output.Read();
      if (std::memcmp(result.data(), sums.data(), bytes) != 0)
        throw Failure("run " + std::to_string(run) + " has other bits than the sum by rank order");
    }
  }));
}

class Determinism : public testing::TestWithParam<u32> {};

/// collective-3: short ones are posted on the board, long ones summed in one pass.
TEST_P(Determinism, SumsGoByRankOrder) {
  for (const u64 count : {u64{700}, u64{100'003}}) {
    ExpectSumsByRankOrder<Single>(GetParam(), count);
    ExpectSumsByRankOrder<Brain>(GetParam(), count);
  }
}
INSTANTIATE_TEST_SUITE_P(Ranks, Determinism, testing::Values(3U, 5U), testing::PrintToStringParamName());

}  // namespace
}  // namespace sampan::test::determinism_test
