// HcclReduceAsync: rules, records, and that dst becomes dst op src.
// Rules of docs/BEHAVIOUR.md: hccl-2.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <type_traits>

#include "hccl/dtype_common.h"
#include "tests/hccl/dispatcher_fixture.h"

namespace sampan::test::reduce_test {
namespace {

using hccl::LinkType;

class HcclReduceTest : public DispatcherTest {
 protected:
  HcclResult Reduce(void* dst, void* src, u64 count, HcclDataType type, HcclReduceOp op, u64 attribute,
                    hccl::Stream& in) {
    return HcclReduceAsync(d(), src, count, type, op, in, dst, 3, LinkType::LINK_HCCS, attribute);
  }
  HcclResult Reduce(void* dst, void* src, u64 count, HcclDataType type = HCCL_DATA_TYPE_INT32,
                    HcclReduceOp op = HCCL_REDUCE_SUM, u64 attribute = INLINE_REDUCE_BITMASK) {
    return Reduce(dst, src, count, type, op, attribute, stream());
  }
};

TEST_F(HcclReduceTest, ChecksInOrder) {
  GuardedBuffer dst(Place::kDevice, 64), src(Place::kDevice, 64);
  hccl::Stream no_stream{};
  const HcclDataType bad = HCCL_DATA_TYPE_INT64;
  for (const u64 attribute : {u64{0}, INLINE_REDUCE_BITMASK, INLINE_REDUCE_BITMASK | RDMA_REDUCE_BITMASK}) {
    const bool inlined = (attribute & 1) != 0;
    const auto call = [&](void* to, void* from, u64 count, HcclDataType type, HcclReduceOp op,
                          hccl::Stream& in) { return Reduce(to, from, count, type, op, attribute, in); };
    EXPECT_HCCL(HCCL_E_PTR, call(nullptr, nullptr, 0, bad, HCCL_REDUCE_PROD, no_stream));
    EXPECT_HCCL(HCCL_E_PTR, call(dst.data(), nullptr, 0, bad, HCCL_REDUCE_PROD, no_stream));
    EXPECT_HCCL(HCCL_SUCCESS, call(dst.data(), src.data(), 0, bad, HCCL_REDUCE_PROD, no_stream));
    EXPECT_HCCL(HCCL_E_PTR, call(dst.data(), src.data(), 1, bad, HCCL_REDUCE_PROD, no_stream));
    EXPECT_HCCL(HCCL_E_PARA,
                call(dst.data(), src.data(), ~u64{0} / 2, HCCL_DATA_TYPE_INT32, HCCL_REDUCE_SUM, stream()));
    const HcclResult refused = inlined ? HCCL_E_PARA : HCCL_E_NOT_SUPPORT;
    EXPECT_HCCL(refused, call(dst.data(), src.data(), 1, inlined ? bad : HCCL_DATA_TYPE_INT128,
                              HCCL_REDUCE_SUM, stream()));
    EXPECT_HCCL(refused, call(dst.data(), src.data(), 1, HCCL_DATA_TYPE_INT32,
                              inlined ? HCCL_REDUCE_PROD : HCCL_REDUCE_RESERVED, stream()));
    EXPECT_HCCL(refused, call(dst.data(), src.data(), 1, HCCL_DATA_TYPE_RESERVED, HCCL_REDUCE_SUM, stream()));
  }
  EXPECT_HCCL(HCCL_E_RUNTIME, Reduce(dst.data(), src.data(), 1 << 20)) << "beyond the allocation";
  EXPECT_TRUE(records().empty());
  EXPECT_TRUE(dst.Untouched());
  aclrtGetLastError(ACL_RT_THREAD_LEVEL);
}

TEST_F(HcclReduceTest, TheDestinationTakesPart) {
  constexpr std::size_t kCount = 1000;
  std::vector<std::int32_t> left(kCount), right(kCount);
  for (std::size_t i = 0; i < kCount; ++i) {
    left[i] = static_cast<std::int32_t>(random().Next());
    right[i] = static_cast<std::int32_t>(random().Next());
  }
  const auto bytes = [](const std::vector<std::int32_t>& values) {
    const auto span = std::as_bytes(std::span(values));
    return Bytes(span.begin(), span.end());
  };
  for (const HcclReduceOp op : {HCCL_REDUCE_SUM, HCCL_REDUCE_MAX, HCCL_REDUCE_MIN}) {
    for (const u64 attribute : {u64{0}, INLINE_REDUCE_BITMASK}) {
      GuardedBuffer dst(Place::kDevice, kCount * 4), src(Place::kDevice, kCount * 4);
      dst.Write(bytes(left));
      src.Write(bytes(right));
      EXPECT_HCCL(HCCL_SUCCESS, Reduce(dst.data(), src.data(), kCount, HCCL_DATA_TYPE_INT32, op, attribute));
      Synchronize();
      std::vector<std::int32_t> expected(kCount);
      for (std::size_t i = 0; i < kCount; ++i) {
        const auto sum = static_cast<std::uint32_t>(left[i]) + static_cast<std::uint32_t>(right[i]);
        expected[i] = op == HCCL_REDUCE_SUM   ? static_cast<std::int32_t>(sum)
                      : op == HCCL_REDUCE_MAX ? std::max(left[i], right[i])
                                              : std::min(left[i], right[i]);
      }
      EXPECT_TRUE(dst.Holds(bytes(expected))) << "operation " << op << ", attribute " << attribute;
      EXPECT_TRUE(src.Holds(bytes(right)));
    }
  }
}

TEST_F(HcclReduceTest, AllTypesAreTaken) {
  for (const HcclDataType type : {HCCL_DATA_TYPE_INT8, HCCL_DATA_TYPE_INT16, HCCL_DATA_TYPE_INT32,
                                  HCCL_DATA_TYPE_FP16, HCCL_DATA_TYPE_FP32, HCCL_DATA_TYPE_BFP16}) {
    const u64 bytes = 7 * HcclDataTypeBytes(type);
    GuardedBuffer dst(Place::kDevice, bytes), src(Place::kDevice, bytes);
    src.Write(Bytes(bytes, std::byte{0}));
    EXPECT_HCCL(HCCL_SUCCESS, Reduce(dst.data(), src.data(), 7, type)) << type;
    Synchronize();
    EXPECT_TRUE(dst.Untouched()) << "nothing was added to type " << type;
  }
}

/// More than copy engines can: every type and PROD.
template <typename T>
T CombineByVector(T left, T right, HcclReduceOp op) {
  using Wide = std::conditional_t<std::is_floating_point_v<T>, T, std::uint64_t>;
  if (op == HCCL_REDUCE_SUM) return static_cast<T>(static_cast<Wide>(left) + static_cast<Wide>(right));
  if (op == HCCL_REDUCE_PROD) return static_cast<T>(static_cast<Wide>(left) * static_cast<Wide>(right));
  return op == HCCL_REDUCE_MAX ? std::max(left, right) : std::min(left, right);
}

TEST_F(HcclReduceTest, TheVectorUnitTakesMoreTypesAndProducts) {
  const auto expect = [&]<typename T>(HcclDataType type, T) {
    constexpr std::size_t kCount = 77;
    std::vector<T> left(kCount), right(kCount);
    for (std::size_t i = 0; i < kCount; ++i) {
      left[i] = static_cast<T>(static_cast<std::int64_t>(random().Next()) >> 12);
      right[i] = static_cast<T>(static_cast<std::int64_t>(random().Next()) >> 12);
    }
    const auto bytes = [](const std::vector<T>& values) {
      const auto span = std::as_bytes(std::span(values));
      return Bytes(span.begin(), span.end());
    };
    for (const HcclReduceOp op : {HCCL_REDUCE_SUM, HCCL_REDUCE_PROD, HCCL_REDUCE_MAX, HCCL_REDUCE_MIN}) {
      GuardedBuffer dst(Place::kDevice, kCount * sizeof(T)), src(Place::kDevice, kCount * sizeof(T));
      dst.Write(bytes(left));
      src.Write(bytes(right));
      EXPECT_HCCL(HCCL_SUCCESS, Reduce(dst.data(), src.data(), kCount, type, op, 0)) << type;
      Synchronize();
      std::vector<T> expected(kCount);
      for (std::size_t i = 0; i < kCount; ++i)
        expected[i] = CombineByVector(left[i], right[i], op);
      EXPECT_TRUE(dst.Holds(bytes(expected))) << "type " << type << ", operation " << op;
    }
  };
  expect(HCCL_DATA_TYPE_INT8, std::int8_t{});
  expect(HCCL_DATA_TYPE_INT16, std::int16_t{});
  expect(HCCL_DATA_TYPE_INT32, std::int32_t{});
  expect(HCCL_DATA_TYPE_INT64, std::int64_t{});
  expect(HCCL_DATA_TYPE_UINT8, std::uint8_t{});
  expect(HCCL_DATA_TYPE_UINT16, std::uint16_t{});
  expect(HCCL_DATA_TYPE_UINT32, std::uint32_t{});
  expect(HCCL_DATA_TYPE_UINT64, std::uint64_t{});
  expect(HCCL_DATA_TYPE_FP32, float{});
  expect(HCCL_DATA_TYPE_FP64, double{});
}

TEST_F(HcclReduceTest, RecordsDifferByTheUnitThatReduces) {
  GuardedBuffer dst(Place::kDevice, 64), src(Place::kDevice, 64);
  EXPECT_HCCL(HCCL_SUCCESS, Reduce(dst.data(), src.data(), 16));
  EXPECT_HCCL(HCCL_SUCCESS, Reduce(dst.data(), src.data(), 16, HCCL_DATA_TYPE_INT32, HCCL_REDUCE_MAX, 0));
  Synchronize();
  ASSERT_EQ(records().size(), 2u);
  const hccl::TaskPara& inlined = records()[0];
  EXPECT_EQ(inlined.type, hccl::TaskType::TASK_REDUCE_INLINE);
  EXPECT_EQ(inlined.reduce.size, 64u) << "bytes";
  EXPECT_EQ(inlined.reduce.linkType, LinkType::LINK_HCCS);
  EXPECT_EQ(inlined.reduce.remoteUserRank, 3u);
  EXPECT_EQ(inlined.reduce.op, HCCL_REDUCE_SUM);
  EXPECT_EQ(inlined.reduce.dataType, HCCL_DATA_TYPE_INT32);
  EXPECT_EQ(inlined.reduce.src, src.data());
  EXPECT_EQ(inlined.reduce.dst, dst.data());
  const hccl::TaskPara& vector = records()[1];
  EXPECT_EQ(vector.type, hccl::TaskType::TASK_REDUCE_TBE);
  EXPECT_EQ(vector.reduce.size, 16u) << "elements";
  EXPECT_EQ(vector.reduce.linkType, LinkType::LINK_ONCHIP) << "whatever the caller said";
}

}  // namespace
}  // namespace sampan::test::reduce_test
