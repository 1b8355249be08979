// How a batch goes to the driver's batch call, with a driver of the test's own: every entry once, in order.
#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <numeric>
#include <vector>

#include "backend/api/segment_pool.h"
#include "backend/cuda/paths/batch_copies.h"
#include "backend/cuda/paths/batch_parts.h"
#include "backend/cuda/paths/copy_ends.h"
#include "tests/unit/backend/cuda/driver_of_tests.h"

namespace sampan::cuda::cuda_batch_call_test {
namespace {

constexpr std::size_t kUnit = ReservedMemory::kUnitBytes;

/// What the driver was given.
struct Calls {
  std::vector<std::size_t> counts;
  std::vector<CuAddress> dsts, srcs;
  std::vector<std::size_t> sizes;
  std::size_t failing = SIZE_MAX;  ///< the call that fails
};
Calls* calls = nullptr;

Driver CollectingDriver() {
  Driver driver = DriverOfTests();
  driver.CopyBatch = [](CuAddress* dsts, CuAddress* srcs, std::size_t* sizes, std::size_t count,
                        CuBatchAttributes*, std::size_t*, std::size_t, std::size_t*, CuStream) -> CuResult {
    calls->counts.push_back(count);
    calls->dsts.insert(calls->dsts.end(), dsts, dsts + count);
    calls->srcs.insert(calls->srcs.end(), srcs, srcs + count);
    calls->sizes.insert(calls->sizes.end(), sizes, sizes + count);
    return calls->counts.size() - 1 == calls->failing ? 1 : cu::kSuccess;
  };
  return driver;
}

/// Gives nothing: these tests need no memory.
class NoBacking final : public Backing {
 public:
  Status Commit(std::uintptr_t, std::size_t) override { return {Code::kMemoryAllocation, "there is none"}; }
  void Decommit(std::uintptr_t, std::size_t) noexcept override {}
};

class CudaBatchCallTest : public ::testing::Test {
 protected:
  CudaBatchCallTest() {
    calls = &calls_;
    auto opened = Gpu::Open(driver_, 0);
    EXPECT_TRUE(opened.ok());
    gpu_ = std::move(*opened);
    auto made = CudaStream::Create({*gpu_, memory_, memory_, paths_});
    EXPECT_TRUE(made.ok());
    stream_ = std::move(*made);
  }

  /// Entries of that length at addresses of their own; none continues another.
  Status Launch(std::size_t entries, std::size_t entry_bytes) {
    BatchTask batch(store_);
    EXPECT_TRUE(batch.segments.Reserve(entries).ok());
    for (std::size_t i = 0; i < entries; ++i)
      batch.segments.Append({At(2 * i, entry_bytes), At(3 * i + 1, entry_bytes), entry_bytes});
    batch.bytes = entries * entry_bytes;
    batch.longest = entry_bytes;
    batch.direction = Direction::kHostToDevice;
    return BatchCopies(*stream_).Launch(batch, 1);
  }
  static std::byte* At(std::size_t entry, std::size_t entry_bytes) {
    return reinterpret_cast<std::byte*>(0x10000 + entry * entry_bytes);
  }

  Calls calls_;
  const Driver driver_ = CollectingDriver();
  FaultPlan faults_;
  ReservedMemory memory_{{.name = "no memory",
                          .base = std::uintptr_t{1} << 40,
                          .reserved_bytes = kUnit,
                          .capacity_bytes = kUnit,
                          .host_visible = true,
                          .faults = &faults_},
                         std::make_unique<NoBacking>()};
  const CopyPaths paths_{"", 1, {.path = CopyPath::kBatchCall}};
  HeapSegmentPool store_;
  std::unique_ptr<Gpu> gpu_;
  std::unique_ptr<CudaStream> stream_;
};

TEST_F(CudaBatchCallTest, TakesEveryEntryOnceAndInOrder) {
  for (const std::size_t entry_bytes : {std::size_t{64}, std::size_t{128} << 10}) {
    for (const std::size_t entries : {2, 8, 100, 512, 513, 5000}) {
      SCOPED_TRACE(testing::Message() << entries << " of " << entry_bytes);
      calls_ = {};
      ASSERT_TRUE(Launch(entries, entry_bytes).ok());
      ASSERT_EQ(calls_.dsts.size(), entries);
      for (std::size_t i = 0; i < entries; ++i) {
        ASSERT_EQ(calls_.dsts[i], AddressOf(At(2 * i, entry_bytes)));
        ASSERT_EQ(calls_.srcs[i], AddressOf(At(3 * i + 1, entry_bytes)));
        ASSERT_EQ(calls_.sizes[i], entry_bytes);
      }
      for (const std::size_t count : calls_.counts)
        EXPECT_LE(count, BatchParts::kMaxEntries);
    }
  }
}

TEST_F(CudaBatchCallTest, IsMadeInPartsWhereThatIsWorthIt) {
  ASSERT_TRUE(Launch(64, std::size_t{256} << 10).ok());
  EXPECT_EQ(calls_.counts, (std::vector<std::size_t>{1, 8, 55}));
  calls_ = {};
  ASSERT_TRUE(Launch(64, 64).ok());
  EXPECT_EQ(calls_.counts, (std::vector<std::size_t>{64}));
  calls_ = {};
  ASSERT_TRUE(Launch(7, std::size_t{256} << 10).ok());
  EXPECT_EQ(calls_.counts, (std::vector<std::size_t>{7}));
}

TEST_F(CudaBatchCallTest, EndsWithTheCallThatFails) {
  calls_.failing = 1;
  const Status launched = Launch(64, std::size_t{256} << 10);
  ASSERT_FALSE(launched.ok());
  EXPECT_NE(launched.error().message.find("cuMemcpyBatchAsync"), std::string::npos);
  EXPECT_EQ(calls_.counts.size(), 2U);
}

}  // namespace
}  // namespace sampan::cuda::cuda_batch_call_test
