// Allocating must not cost more the more is alive: lists were copied as a whole for each new allocation.
#include <gtest/gtest.h>

#include <array>
#include <cstdlib>
#include <new>
#include <vector>

#include "acl/acl.h"
#include "acl/acl_rt_memory_soma.h"

namespace {

thread_local bool counting = false;
thread_local std::size_t counted_bytes = 0;

void* CountedNew(std::size_t bytes) {
  if (counting) counted_bytes += bytes;
  if (void* const memory = std::malloc(bytes)) return memory;
  throw std::bad_alloc();
}

}  // namespace

[[gnu::noinline]] void* operator new(std::size_t bytes) {
  return CountedNew(bytes);
}
[[gnu::noinline]] void* operator new[](std::size_t bytes) {
  return CountedNew(bytes);
}
[[gnu::noinline]] void operator delete(void* memory) noexcept {
  std::free(memory);
}
[[gnu::noinline]] void operator delete[](void* memory) noexcept {
  std::free(memory);
}
[[gnu::noinline]] void operator delete(void* memory, std::size_t) noexcept {
  std::free(memory);
}
[[gnu::noinline]] void operator delete[](void* memory, std::size_t) noexcept {
  std::free(memory);
}

namespace sampan::test::growth_test {
namespace {

constexpr std::size_t kBytes = 4096, kStart = 1000, kMany = 16'000, kMeasured = 1000;

class Growth : public testing::Test {
 protected:
  void SetUp() override { ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS); }
  void TearDown() override { EXPECT_EQ(aclrtResetDevice(0), ACL_SUCCESS); }

  /// The runtime's own memory for the last thousand objects, at the start and with many alive. A list that
  /// doubles may do so once while it is watched.
  template <typename Make>
  static void ExpectFlat(const Make& make) {
    std::size_t made = 0;
    const auto bytes_up_to = [&](std::size_t end) {
      for (; made < end - kMeasured; ++made)
        make(made);
      counted_bytes = 0;
      counting = true;
      for (; made < end; ++made)
        make(made);
      counting = false;
      return counted_bytes;
    };
    const std::size_t with_start = bytes_up_to(2 * kStart);
    const std::size_t with_many = bytes_up_to(kMany);
    EXPECT_GT(with_start, 0U) << "nothing was counted";
    EXPECT_LT(with_many, 2 * with_start + 64 * kMany) << "at the start: " << with_start;
  }

  /// The same among many gaps, none of which is large enough: every second one of those alive was freed.
  template <typename Make, typename End>
  static void ExpectFlatAmongGaps(const Make& make, const End& end) {
    const auto bytes_with = [&](std::size_t alive_count) {
      std::vector<void*> alive(alive_count), gaps(alive_count), measured(kMeasured);
      for (std::size_t i = 0; i < alive_count; ++i) {
        alive[i] = make(kBytes);
        gaps[i] = make(kBytes);
      }
      for (void* const gap : gaps)
        end(gap);
      counted_bytes = 0;
      counting = true;
      for (void*& each : measured)
        each = make(2 * kBytes);
      counting = false;
      const std::size_t bytes = counted_bytes;
      for (void* const each : measured)
        end(each);
      for (void* const each : alive)
        end(each);
      return bytes;
    };
    const std::size_t with_start = bytes_with(kStart), with_many = bytes_with(kMany);
    EXPECT_GT(with_start, 0U) << "nothing was counted";
    EXPECT_LT(with_many, 2 * with_start + 64 * kMany) << "at the start: " << with_start;
  }

  /// A pool that keeps what it has.
  class Pool {
   public:
    Pool() {
      aclrtMemPoolProps props = {};
      props.allocType = ACL_MEM_ALLOCATION_TYPE_PINNED;
      props.location.type = ACL_MEM_LOCATION_TYPE_DEVICE;
      EXPECT_EQ(aclrtMemPoolCreate(&pool_, &props), ACL_SUCCESS);
      EXPECT_EQ(aclrtCreateStream(&stream_), ACL_SUCCESS);
    }
    ~Pool() {
      EXPECT_EQ(aclrtDestroyStream(stream_), ACL_SUCCESS);
      EXPECT_EQ(aclrtMemPoolDestroy(pool_), ACL_SUCCESS);
    }
    Pool(const Pool&) = delete;
    Pool& operator=(const Pool&) = delete;
    void* Take(std::size_t bytes) const {
      void* memory = nullptr;
      EXPECT_EQ(aclrtMemPoolMallocAsync(&memory, bytes, pool_, stream_), ACL_SUCCESS);
      return memory;
    }

   private:
    aclrtMemPool pool_ = nullptr;
    aclrtStream stream_ = nullptr;
  };
};

TEST_F(Growth, DeviceMemory) {
  std::vector<void*> memory(kMany);
  ExpectFlat([&](std::size_t i) {
    ASSERT_EQ(aclrtMalloc(&memory[i], kBytes, ACL_MEM_MALLOC_NORMAL_ONLY), ACL_SUCCESS);
  });
  for (void* const each : memory)
    EXPECT_EQ(aclrtFree(each), ACL_SUCCESS);
}

TEST_F(Growth, PinnedMemory) {
  std::vector<void*> memory(kMany);
  ExpectFlat([&](std::size_t i) { ASSERT_EQ(aclrtMallocHost(&memory[i], kBytes), ACL_SUCCESS); });
  for (void* const each : memory)
    EXPECT_EQ(aclrtFreeHost(each), ACL_SUCCESS);
}

TEST_F(Growth, DeviceMemoryAmongGaps) {
  ExpectFlatAmongGaps(
      [](std::size_t bytes) {
        void* memory = nullptr;
        EXPECT_EQ(aclrtMalloc(&memory, bytes, ACL_MEM_MALLOC_NORMAL_ONLY), ACL_SUCCESS);
        return memory;
      },
      [](void* memory) { EXPECT_EQ(aclrtFree(memory), ACL_SUCCESS); });
}

TEST_F(Growth, PinnedMemoryAmongGaps) {
  ExpectFlatAmongGaps(
      [](std::size_t bytes) {
        void* memory = nullptr;
        EXPECT_EQ(aclrtMallocHost(&memory, bytes), ACL_SUCCESS);
        return memory;
      },
      [](void* memory) { EXPECT_EQ(aclrtFreeHost(memory), ACL_SUCCESS); });
}

TEST_F(Growth, PoolMemory) {
  const Pool pool;
  std::vector<void*> memory(kMany);
  ExpectFlat([&](std::size_t i) { memory[i] = pool.Take(kBytes); });
  for (void* const each : memory)
    EXPECT_EQ(aclrtFree(each), ACL_SUCCESS);
}

TEST_F(Growth, PoolMemoryAmongGaps) {
  const Pool pool;
  ExpectFlatAmongGaps([&](std::size_t bytes) { return pool.Take(bytes); },
                      [](void* memory) { EXPECT_EQ(aclrtFree(memory), ACL_SUCCESS); });
}

TEST_F(Growth, ExportedKeys) {
  void* memory = nullptr;
  ASSERT_EQ(aclrtMalloc(&memory, kBytes, ACL_MEM_MALLOC_NORMAL_ONLY), ACL_SUCCESS);
  std::array<char, 65> key{};
  ExpectFlat([&](std::size_t) {
    ASSERT_EQ(aclrtIpcMemGetExportKey(memory, kBytes, key.data(), key.size(), 0), ACL_SUCCESS);
  });
  EXPECT_EQ(aclrtFree(memory), ACL_SUCCESS);
  EXPECT_EQ(aclrtIpcMemClose(key.data()), ACL_ERROR_RT_PARAM_INVALID)
      << "the memory has taken its keys along";
}

}  // namespace
}  // namespace sampan::test::growth_test
