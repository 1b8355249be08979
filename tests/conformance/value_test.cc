// Words of device memory that streams write and wait for; cache operations; reducing copies.
// Rules of docs/BEHAVIOUR.md: memory-7, reduce-1, reduce-3.
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <memory>
#include <span>
#include <thread>
#include <utility>
#include <vector>

#include "acl/acl.h"
#include "tests/support/acl_expect.h"
#include "tests/support/device_fixture.h"
#include "tests/support/guarded_buffer.h"
#include "tests/support/mapped_memory.h"
#include "tests/support/memory_buffer.h"
#include "tests/support/stream.h"

namespace sampan::test::value_test {
namespace {

class ValueTest : public DeviceTest {
 protected:
  static std::uint64_t Word(const DeviceBuffer& memory) {
    const Bytes bytes = memory.Read(0, 8);
    std::uint64_t value = 0;
    std::memcpy(&value, bytes.data(), 8);
    return value;
  }
  static void SetWord(const DeviceBuffer& memory, std::uint64_t value) {
    Bytes bytes(8);
    std::memcpy(bytes.data(), &value, 8);
    memory.Write(0, bytes);
  }
  static bool IsDone(aclrtStream stream) {
    aclrtStreamStatus status = ACL_STREAM_STATUS_RESERVED;
    EXPECT_ACL(ACL_SUCCESS, aclrtStreamQuery(stream, &status));
    return status == ACL_STREAM_STATUS_COMPLETE;
  }
};

TEST_F(ValueTest, ArgumentsAreChecked) {
  DeviceBuffer memory(64);
  PinnedBuffer pinned(64);
  Stream stream;
  EXPECT_ACL(ACL_ERROR_INVALID_PARAM, aclrtValueWrite(nullptr, 1, 0, stream));
  EXPECT_ACL(ACL_ERROR_RT_PARAM_INVALID, aclrtValueWrite(memory.data(), 1, 1, stream));
  EXPECT_ACL(ACL_ERROR_RT_PARAM_INVALID, aclrtValueWrite(memory.at(4), 1, 0, stream));
  EXPECT_ACL(ACL_ERROR_RT_PARAM_INVALID, aclrtValueWrite(memory.at(64), 1, 0, stream));
  EXPECT_ACL(ACL_ERROR_RT_PARAM_INVALID, aclrtValueWrite(pinned.data(), 1, 0, stream));
  EXPECT_ACL(ACL_ERROR_RT_PARAM_INVALID, aclrtValueWait(memory.data(), 1, 4, stream));
  EXPECT_ACL(ACL_ERROR_RT_INVALID_HANDLE, aclrtValueWait(memory.data(), 1, 0, DeadStream()));
}

TEST_F(ValueTest, WritesInStreamOrder) {
  DeviceBuffer memory(64);
  SetWord(memory, 0);
  Stream stream;
  Gate gate(stream);
  EXPECT_ACL(ACL_SUCCESS, aclrtValueWrite(memory.data(), 0x1122334455667788, 0, stream));
  EXPECT_EQ(Word(memory), 0u);
  gate.Open();
  EXPECT_ACL(ACL_SUCCESS, aclrtSynchronizeStream(stream));
  EXPECT_EQ(Word(memory), 0x1122334455667788u);
}

struct Comparison {
  std::uint32_t flag;
  std::uint64_t awaited, closed, open;
};

class ValueWait : public ValueTest, public ::testing::WithParamInterface<Comparison> {};

TEST_P(ValueWait, HoldsUntilTheWordFits) {
  const Comparison& each = GetParam();
  DeviceBuffer memory(64);
  SetWord(memory, each.closed);
  Stream waiting, writing;
  EXPECT_ACL(ACL_SUCCESS, aclrtValueWait(memory.data(), each.awaited, each.flag, waiting));
  std::this_thread::sleep_for(std::chrono::milliseconds(3));
  EXPECT_FALSE(IsDone(waiting));
  EXPECT_ACL(ACL_SUCCESS, aclrtValueWrite(memory.data(), each.open, 0, writing));
  EXPECT_ACL(ACL_SUCCESS, aclrtSynchronizeStreamWithTimeout(waiting, 10000));
  EXPECT_EQ(Word(memory), each.open) << "a wait takes nothing";
}

INSTANTIATE_TEST_SUITE_P(All, ValueWait,
                         ::testing::Values(Comparison{ACL_STREAM_WAIT_VALUE_GEQ, 10, 9, 11},
                                           Comparison{ACL_STREAM_WAIT_VALUE_GEQ, 1,
                                                      std::numeric_limits<std::uint64_t>::max(), 1},
                                           Comparison{ACL_STREAM_WAIT_VALUE_EQ, 5, 6, 5},
                                           Comparison{ACL_STREAM_WAIT_VALUE_AND, 0x10, 0x0F, 0x30},
                                           Comparison{ACL_STREAM_WAIT_VALUE_NOR, 1, ~std::uint64_t{1}, 2}));

TEST_F(ValueTest, ACopyCanBeWaitedFor) {
  DeviceBuffer memory(64);
  SetWord(memory, 0);
  Stream waiting;
  EXPECT_ACL(ACL_SUCCESS, aclrtValueWait(memory.data(), 77, ACL_STREAM_WAIT_VALUE_EQ, waiting));
  SetWord(memory, 77);
  EXPECT_ACL(ACL_SUCCESS, aclrtSynchronizeStreamWithTimeout(waiting, 10000));
}

TEST_F(ValueTest, MemoryFreedUnderAWaitFailsIt) {
  DeviceBuffer memory(64);
  SetWord(memory, 0);
  Stream waiting;
  EXPECT_ACL(ACL_SUCCESS, aclrtValueWait(memory.data(), 1, ACL_STREAM_WAIT_VALUE_EQ, waiting));
  memory.Free();
  EXPECT_ACL(ACL_ERROR_RT_SYS_DMA, aclrtSynchronizeStreamWithTimeout(waiting, 10000));
}

TEST_F(ValueTest, AbortingAStreamEndsItsWait) {
  DeviceBuffer memory(64);
  SetWord(memory, 0);
  Stream stream;
  EXPECT_ACL(ACL_SUCCESS, aclrtValueWait(memory.data(), 1, ACL_STREAM_WAIT_VALUE_EQ, stream));
  EXPECT_ACL(ACL_SUCCESS, aclrtValueWrite(memory.at(8), 5, 0, stream));
  EXPECT_ACL(ACL_SUCCESS, aclrtStreamAbort(stream));
  EXPECT_ACL(ACL_SUCCESS, aclrtSynchronizeStreamWithTimeout(stream, 10000));
  EXPECT_EQ(Word(memory), 0u);
}

TEST_F(ValueTest, ManyStreamsWaitAtOnce) {
  constexpr std::size_t kStreams = 64;
  DeviceBuffer words(kStreams * 8);
  words.Write(0, Bytes(kStreams * 8));
  std::vector<std::unique_ptr<Stream>> streams;
  for (std::size_t i = 0; i < kStreams; ++i) {
    streams.push_back(std::make_unique<Stream>());
    // Each waits for its word and then writes the next one's: the last to wait has to be heard first.
    EXPECT_ACL(ACL_SUCCESS, aclrtValueWait(words.at(i * 8), i + 1, ACL_STREAM_WAIT_VALUE_EQ, *streams[i]));
    if (i + 1 == kStreams) break;
    EXPECT_ACL(ACL_SUCCESS, aclrtValueWrite(words.at(i * 8 + 8), i + 2, 0, *streams[i]));
  }
  Stream first;
  EXPECT_ACL(ACL_SUCCESS, aclrtValueWrite(words.data(), 1, 0, first));
  for (const auto& stream : streams)
    EXPECT_ACL(ACL_SUCCESS, aclrtSynchronizeStreamWithTimeout(*stream, 10000));
}

TEST_F(ValueTest, MappedMemoryHasWordsToo) {
  const Reserved range(kPiece);
  const Physical physical;
  const Mapped mapped(range.data(), kPiece, physical);
  WriteDevice(range.data(), Bytes(8));
  Stream waiting, writing;
  EXPECT_ACL(ACL_SUCCESS, aclrtValueWait(range.data(), 3, ACL_STREAM_WAIT_VALUE_GEQ, waiting));
  EXPECT_ACL(ACL_SUCCESS, aclrtValueWrite(range.data(), 4, 0, writing));
  EXPECT_ACL(ACL_SUCCESS, aclrtSynchronizeStreamWithTimeout(waiting, 10000));
}

TEST_F(ValueTest, CacheOperationsCheckTheirRange) {
  DeviceBuffer memory(4096);
  PinnedBuffer pinned(64);
  for (const auto& operation : {&aclrtMemFlush, &aclrtMemInvalidate}) {
    EXPECT_ACL(ACL_ERROR_INVALID_PARAM, operation(nullptr, 64));
    EXPECT_ACL(ACL_ERROR_INVALID_PARAM, operation(memory.data(), 0));
    EXPECT_ACL(ACL_ERROR_RT_PARAM_INVALID, operation(memory.data(), 8192));
    EXPECT_ACL(ACL_ERROR_RT_PARAM_INVALID, operation(pinned.data(), 64));
    EXPECT_ACL(ACL_SUCCESS, operation(memory.at(64), 4000));
  }
}

class ReduceTest : public DeviceTest {
 protected:
  template <typename T>
  static std::vector<T> Reduce(const std::vector<T>& dst, const std::vector<T>& src, aclrtReduceKind kind,
                               aclDataType type) {
    const std::size_t bytes = dst.size() * sizeof(T);
    DeviceBuffer to(bytes), from(bytes);
    to.Write(0, std::as_bytes(std::span(dst)));
    from.Write(0, std::as_bytes(std::span(src)));
    Stream stream;
    EXPECT_ACL(ACL_SUCCESS, aclrtReduceAsync(to.data(), from.data(), bytes, kind, type, stream, nullptr));
    EXPECT_ACL(ACL_SUCCESS, aclrtSynchronizeStream(stream));
    EXPECT_TRUE(SameBytes(std::as_bytes(std::span(src)), from.Read(0, bytes)));
    const Bytes result = to.Read(0, bytes);
    std::vector<T> values(dst.size());
    std::memcpy(values.data(), result.data(), bytes);
    return values;
  }
  /// Every operation on random elements, many enough that several engines share them.
  template <typename T>
  static void CheckIntegers(aclDataType type) {
    Random random;
    constexpr std::size_t kCount = (std::size_t{1} << 20) + 3;
    std::vector<T> dst(kCount), src(kCount);
    for (std::size_t i = 0; i < kCount; ++i) {
      dst[i] = static_cast<T>(random.Next());
      src[i] = static_cast<T>(random.Next());
    }
    std::vector<T> sum(kCount), maxima(kCount), minima(kCount);
    for (std::size_t i = 0; i < kCount; ++i) {
      sum[i] = static_cast<T>(static_cast<std::uint64_t>(dst[i]) + static_cast<std::uint64_t>(src[i]));
      maxima[i] = std::max(dst[i], src[i]);
      minima[i] = std::min(dst[i], src[i]);
    }
    for (const auto& [kind, expected] : {std::pair{ACL_RT_MEMCPY_SDMA_AUTOMATIC_SUM, &sum},
                                         std::pair{ACL_RT_MEMCPY_SDMA_AUTOMATIC_MAX, &maxima},
                                         std::pair{ACL_RT_MEMCPY_SDMA_AUTOMATIC_MIN, &minima}}) {
      const std::vector<T> got = Reduce(dst, src, kind, type);
      EXPECT_TRUE(SameBytes(std::as_bytes(std::span(*expected)), std::as_bytes(std::span(got))))
          << "kind " << kind << ", " << sizeof(T) << " bytes an element";
    }
  }
};

TEST_F(ReduceTest, Integers) {
  CheckIntegers<std::int8_t>(ACL_INT8);
  CheckIntegers<std::int16_t>(ACL_INT16);
  CheckIntegers<std::int32_t>(ACL_INT32);
}

TEST_F(ReduceTest, Floats) {
  const std::vector<float> dst = {1.5F, -2.0F, 1e30F, -0.5F}, src = {0.25F, -3.0F, 1.0F, 0.5F};
  EXPECT_EQ(Reduce(dst, src, ACL_RT_MEMCPY_SDMA_AUTOMATIC_SUM, ACL_FLOAT),
            (std::vector<float>{1.75F, -5.0F, 1e30F, 0.0F}));
  EXPECT_EQ(Reduce(dst, src, ACL_RT_MEMCPY_SDMA_AUTOMATIC_MAX, ACL_FLOAT),
            (std::vector<float>{1.5F, -2.0F, 1e30F, 0.5F}));
  EXPECT_EQ(Reduce(dst, src, ACL_RT_MEMCPY_SDMA_AUTOMATIC_MIN, ACL_FLOAT),
            (std::vector<float>{0.25F, -3.0F, 1.0F, -0.5F}));
}

TEST_F(ReduceTest, HalvesRoundToNearestEven) {
  // 1, 2048, the largest, the smallest subnormal; added: 1, 1, the largest, the smallest subnormal.
  const std::vector<std::uint16_t> dst = {0x3C00, 0x6800, 0x7BFF, 0x0001},
                                   src = {0x3C00, 0x3C00, 0x7BFF, 0x0001};
  EXPECT_EQ(Reduce(dst, src, ACL_RT_MEMCPY_SDMA_AUTOMATIC_SUM, ACL_FLOAT16),
            (std::vector<std::uint16_t>{0x4000, 0x6800, 0x7C00, 0x0002}));
  EXPECT_EQ(Reduce<std::uint16_t>({0xC000, 0x0001}, {0x3C00, 0x8001}, ACL_RT_MEMCPY_SDMA_AUTOMATIC_MAX,
                                  ACL_FLOAT16),
            (std::vector<std::uint16_t>{0x3C00, 0x0001}));
}

TEST_F(ReduceTest, BrainFloatsRoundToNearestEven) {
  // 1 + 1, 256 + 1 (a tie, to even), -2 and 1.
  EXPECT_EQ(Reduce<std::uint16_t>({0x3F80, 0x4380, 0xC000}, {0x3F80, 0x3F80, 0x3F80},
                                  ACL_RT_MEMCPY_SDMA_AUTOMATIC_SUM, ACL_BF16),
            (std::vector<std::uint16_t>{0x4000, 0x4380, 0xBF80}));
  EXPECT_EQ(Reduce<std::uint16_t>({0xC000}, {0x3F80}, ACL_RT_MEMCPY_SDMA_AUTOMATIC_MIN, ACL_BF16),
            (std::vector<std::uint16_t>{0xC000}));
}

TEST_F(ReduceTest, ArgumentsAreChecked) {
  DeviceBuffer dst(64), src(64);
  PinnedBuffer pinned(64);
  Stream stream;
  const auto reduce = [&](void* to, const void* from, std::uint64_t bytes, int kind, aclDataType type) {
    return aclrtReduceAsync(to, from, bytes, static_cast<aclrtReduceKind>(kind), type, stream, nullptr);
  };
  EXPECT_ACL(ACL_ERROR_INVALID_PARAM, reduce(nullptr, src.data(), 64, 10, ACL_FLOAT));
  EXPECT_ACL(ACL_ERROR_INVALID_PARAM, reduce(dst.data(), nullptr, 64, 10, ACL_FLOAT));
  EXPECT_ACL(ACL_ERROR_INVALID_PARAM, reduce(dst.data(), src.data(), 64, 9, ACL_FLOAT));
  EXPECT_ACL(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, reduce(dst.data(), src.data(), 64, 13, ACL_FLOAT));
  EXPECT_ACL(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, reduce(dst.data(), src.data(), 64, 10, ACL_DOUBLE));
  EXPECT_ACL(ACL_ERROR_RT_PARAM_INVALID, reduce(dst.data(), src.data(), 0, 10, ACL_FLOAT));
  EXPECT_ACL(ACL_ERROR_RT_PARAM_INVALID, reduce(dst.data(), src.data(), 63, 10, ACL_FLOAT));
  EXPECT_ACL(ACL_ERROR_RT_PARAM_INVALID, reduce(dst.data(), src.data(), 128, 10, ACL_FLOAT));
  EXPECT_TRUE(MessageHas("dst"));
  EXPECT_ACL(ACL_ERROR_RT_PARAM_INVALID, reduce(dst.data(), pinned.data(), 64, 10, ACL_FLOAT));
  EXPECT_ACL(ACL_ERROR_INVALID_PARAM,
             aclrtReduceAsync(dst.data(), src.data(), 64, ACL_RT_MEMCPY_SDMA_AUTOMATIC_SUM, ACL_FLOAT, stream,
                              dst.data()));
}

}  // namespace
}  // namespace sampan::test::value_test
