// Pools: memory in stream order, reuse, thresholds, bounds.
// Rules of docs/BEHAVIOUR.md: pool-1, pool-2, pool-3, pool-4.
#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <vector>

#include "acl/acl.h"
#include "acl/acl_rt_memory_soma.h"
#include "tests/support/acl_expect.h"
#include "tests/support/child_process.h"
#include "tests/support/device_fixture.h"
#include "tests/support/memory_buffer.h"
#include "tests/support/stream.h"

namespace sampan::test::memory_pool_test {
namespace {

constexpr std::size_t kChunk = std::size_t{2} << 20;

aclrtMemPoolProps Properties(std::size_t max_bytes = 0) {
  aclrtMemPoolProps props = {};
  props.allocType = ACL_MEM_ALLOCATION_TYPE_PINNED;
  props.location.type = ACL_MEM_LOCATION_TYPE_DEVICE;
  props.maxSize = max_bytes;
  return props;
}

class Pool {
 public:
  explicit Pool(std::size_t max_bytes = 0) {
    const aclrtMemPoolProps props = Properties(max_bytes);
    EXPECT_ACL(ACL_SUCCESS, aclrtMemPoolCreate(&pool_, &props));
  }
  ~Pool() {
    if (pool_ == nullptr) return;
    EXPECT_ACL(ACL_SUCCESS, aclrtMemPoolDestroy(pool_));
  }
  Pool(const Pool&) = delete;
  Pool& operator=(const Pool&) = delete;
  operator aclrtMemPool() const { return pool_; }
  aclrtMemPool Release() { return std::exchange(pool_, nullptr); }

  void* Take(std::size_t bytes, aclrtStream stream) const {
    void* memory = nullptr;
    EXPECT_ACL(ACL_SUCCESS, aclrtMemPoolMallocAsync(&memory, bytes, pool_, stream));
    return memory;
  }
  std::uint64_t Get(aclrtMemPoolAttr attribute) const {
    std::uint64_t value = 0;
    EXPECT_ACL(ACL_SUCCESS, aclrtMemPoolGetAttr(pool_, attribute, &value));
    return value;
  }
  void Set(aclrtMemPoolAttr attribute, std::uint64_t value) const {
    EXPECT_ACL(ACL_SUCCESS, aclrtMemPoolSetAttr(pool_, attribute, &value));
  }

 private:
  aclrtMemPool pool_ = nullptr;
};

class MemoryPoolTest : public DeviceTest {
 protected:
  static std::size_t FreeBytes() {
    std::size_t free = 0, total = 0;
    EXPECT_ACL(ACL_SUCCESS, aclrtGetMemInfo(ACL_HBM_MEM, &free, &total));
    return free;
  }
};

TEST_F(MemoryPoolTest, ArgumentsAreChecked) {
  aclrtMemPool pool = nullptr;
  aclrtMemPoolProps props = Properties();
  EXPECT_ACL(ACL_ERROR_INVALID_PARAM, aclrtMemPoolCreate(nullptr, &props));
  EXPECT_ACL(ACL_ERROR_INVALID_PARAM, aclrtMemPoolCreate(&pool, nullptr));
  props.location.type = ACL_MEM_LOCATION_TYPE_HOST;
  EXPECT_ACL(ACL_ERROR_INVALID_PARAM, aclrtMemPoolCreate(&pool, &props));
  props = Properties();
  props.reserved[31] = 1;
  EXPECT_ACL(ACL_ERROR_INVALID_PARAM, aclrtMemPoolCreate(&pool, &props));
  props = Properties();
  props.location.id = 63;
  EXPECT_ACL(ACL_ERROR_RT_INVALID_DEVICEID, aclrtMemPoolCreate(&pool, &props));
  EXPECT_ACL(ACL_ERROR_INVALID_PARAM, aclrtMemPoolDestroy(nullptr));

  Pool own;
  Stream stream;
  void* memory = reinterpret_cast<void*>(0x77);
  EXPECT_ACL(ACL_ERROR_INVALID_PARAM, aclrtMemPoolMallocAsync(nullptr, 64, own, stream));
  EXPECT_ACL(ACL_ERROR_INVALID_PARAM, aclrtMemPoolMallocAsync(&memory, 64, nullptr, stream));
  EXPECT_ACL(ACL_ERROR_INVALID_PARAM, aclrtMemPoolMallocAsync(&memory, 64, own, nullptr));
  EXPECT_ACL(ACL_SUCCESS, aclrtMemPoolMallocAsync(&memory, 0, own, stream));
  EXPECT_EQ(memory, reinterpret_cast<void*>(0x77)) << "size 0 leaves it alone";
  EXPECT_ACL(ACL_ERROR_INVALID_PARAM, aclrtMemPoolFreeAsync(nullptr, stream));
  memory = own.Take(64, stream);
  EXPECT_ACL(ACL_ERROR_RT_INTERNAL_ERROR, aclrtMemPoolFreeAsync(memory, nullptr));
  const ForeignStream foreign;
  EXPECT_ACL(ACL_ERROR_RT_STREAM_CONTEXT, aclrtMemPoolFreeAsync(memory, foreign));
  EXPECT_ACL(ACL_ERROR_RT_PARAM_INVALID, aclrtMemPoolFreeAsync(static_cast<char*>(memory) + 32, stream));
  EXPECT_ACL(ACL_SUCCESS, aclrtMemPoolFreeAsync(memory, stream));
  EXPECT_ACL(ACL_ERROR_RT_PARAM_INVALID, aclrtMemPoolFreeAsync(memory, stream));
  std::uint64_t value = 5;
  EXPECT_ACL(ACL_ERROR_RT_PARAM_INVALID,
             aclrtMemPoolSetAttr(own, ACL_RT_MEM_POOL_ATTR_USED_MEM_CURRENT, &value));
  EXPECT_ACL(ACL_ERROR_RT_PARAM_INVALID,
             aclrtMemPoolSetAttr(own, ACL_RT_MEM_POOL_ATTR_USED_MEM_HIGH, &value));
  EXPECT_ACL(ACL_ERROR_RT_PARAM_INVALID,
             aclrtMemPoolSetAttr(own, ACL_RT_MEM_POOL_REUSE_ALLOW_OPPORTUNISTIC, &value));
  EXPECT_ACL(ACL_ERROR_RT_PARAM_INVALID, aclrtMemPoolGetAttr(own, static_cast<aclrtMemPoolAttr>(9), &value));
  const aclrtMemPool dead = own.Release();
  EXPECT_ACL(ACL_SUCCESS, aclrtMemPoolDestroy(dead));
  EXPECT_ACL(ACL_ERROR_RT_INVALID_HANDLE, aclrtMemPoolDestroy(dead));
  EXPECT_ACL(ACL_ERROR_RT_INVALID_HANDLE, aclrtMemPoolMallocAsync(&memory, 64, dead, stream));
}

TEST_F(MemoryPoolTest, AttributesAreKeptAndHighMarksResetOnly) {
  const Pool pool;
  const Stream stream;
  for (const aclrtMemPoolAttr each :
       {ACL_RT_MEM_POOL_REUSE_FOLLOW_EVENT_DEPENDENCIES, ACL_RT_MEM_POOL_REUSE_ALLOW_OPPORTUNISTIC,
        ACL_RT_MEM_POOL_REUSE_ALLOW_INTERNAL_DEPENDENCIES}) {
    for (std::uint32_t wanted : {2U, 1U}) {
      std::uint32_t value = 0;
      EXPECT_ACL(ACL_SUCCESS, aclrtMemPoolSetAttr(pool, each, &wanted));
      EXPECT_ACL(ACL_SUCCESS, aclrtMemPoolGetAttr(pool, each, &value));
      EXPECT_EQ(value, wanted);
    }
  }
  pool.Set(ACL_RT_MEM_POOL_ATTR_RELEASE_THRESHOLD, kChunk);
  EXPECT_EQ(pool.Get(ACL_RT_MEM_POOL_ATTR_RELEASE_THRESHOLD), kChunk);
  void* const memory = pool.Take(4096, stream);
  EXPECT_EQ(pool.Get(ACL_RT_MEM_POOL_ATTR_USED_MEM_CURRENT), 4096U);
  EXPECT_ACL(ACL_SUCCESS, aclrtMemPoolFreeAsync(memory, stream));
  EXPECT_EQ(pool.Get(ACL_RT_MEM_POOL_ATTR_USED_MEM_HIGH), 4096U);
  pool.Set(ACL_RT_MEM_POOL_ATTR_USED_MEM_HIGH, 0);
  EXPECT_EQ(pool.Get(ACL_RT_MEM_POOL_ATTR_USED_MEM_HIGH), 0U);
  pool.Set(ACL_RT_MEM_POOL_ATTR_RESERVED_MEM_HIGH, 0);
  EXPECT_EQ(pool.Get(ACL_RT_MEM_POOL_ATTR_RESERVED_MEM_HIGH),
            pool.Get(ACL_RT_MEM_POOL_ATTR_RESERVED_MEM_CURRENT));
  std::uint64_t value = 0;
  EXPECT_ACL(ACL_ERROR_RT_PARAM_INVALID, aclrtMemPoolSetAttr(pool, static_cast<aclrtMemPoolAttr>(9), &value));
}

TEST_F(MemoryPoolTest, MemoryOfAPoolIsMemory) {
  const Pool pool;
  Stream stream;
  Random random;
  constexpr std::size_t kBytes = 100'000;
  void* const memory = pool.Take(kBytes, stream);
  const Bytes contents = random.Fill(kBytes);
  PinnedBuffer pinned(kBytes);
  pinned.Write(0, contents);
  EXPECT_ACL(ACL_SUCCESS,
             aclrtMemcpyAsync(memory, kBytes, pinned.data(), kBytes, ACL_MEMCPY_HOST_TO_DEVICE, stream));
  EXPECT_ACL(ACL_SUCCESS, aclrtSynchronizeStream(stream));
  EXPECT_EQ(ReadDevice(memory, kBytes), contents);
  aclrtPtrAttributes attributes = {};
  EXPECT_ACL(ACL_SUCCESS, aclrtPointerGetAttributes(memory, &attributes));
  EXPECT_EQ(attributes.location.type, ACL_MEM_LOCATION_TYPE_DEVICE);
  const Bytes longer(kBytes + 64);
  EXPECT_ACL(ACL_ERROR_RT_PARAM_INVALID,
             aclrtMemcpy(memory, longer.size(), longer.data(), longer.size(), ACL_MEMCPY_HOST_TO_DEVICE))
      << "a copy past the end";
  EXPECT_ACL(ACL_SUCCESS, aclrtMemPoolFreeAsync(memory, stream));
  EXPECT_ACL(ACL_ERROR_RT_PARAM_INVALID, aclrtMemset(memory, 64, 0, 64)) << "given back";
  EXPECT_ACL(ACL_SUCCESS, aclrtSynchronizeDevice());
}

TEST_F(MemoryPoolTest, TheSameStreamReusesAtOnce) {
  const Pool pool;
  Stream stream;
  Random random;
  constexpr std::size_t kBytes = 8192;
  PinnedBuffer first(kBytes), second(kBytes), out_first(kBytes), out_second(kBytes);
  const Bytes one = random.Fill(kBytes), two = random.Fill(kBytes);
  first.Write(0, one);
  second.Write(0, two);
  void *memory = nullptr, *again = nullptr;
  {
    const Gate gate(stream);  // nothing has run when the block is taken again
    memory = pool.Take(kBytes, stream);
    EXPECT_ACL(ACL_SUCCESS,
               aclrtMemcpyAsync(memory, kBytes, first.data(), kBytes, ACL_MEMCPY_HOST_TO_DEVICE, stream));
    EXPECT_ACL(ACL_SUCCESS,
               aclrtMemcpyAsync(out_first.data(), kBytes, memory, kBytes, ACL_MEMCPY_DEVICE_TO_HOST, stream));
    EXPECT_ACL(ACL_SUCCESS, aclrtMemPoolFreeAsync(memory, stream));
    again = pool.Take(kBytes, stream);
    EXPECT_ACL(ACL_SUCCESS,
               aclrtMemcpyAsync(again, kBytes, second.data(), kBytes, ACL_MEMCPY_HOST_TO_DEVICE, stream));
    EXPECT_ACL(ACL_SUCCESS,
               aclrtMemcpyAsync(out_second.data(), kBytes, again, kBytes, ACL_MEMCPY_DEVICE_TO_HOST, stream));
  }
  EXPECT_EQ(again, memory);
  EXPECT_ACL(ACL_SUCCESS, aclrtSynchronizeStream(stream));
  EXPECT_EQ(out_first.Read(0, kBytes), one);
  EXPECT_EQ(out_second.Read(0, kBytes), two);
  EXPECT_ACL(ACL_SUCCESS, aclrtMemPoolFreeAsync(again, stream));
}

TEST_F(MemoryPoolTest, ABlockTakenAgainIsItsNewOwners) {
  const Pool pool;
  Stream stream;
  Random random;
  PinnedBuffer pinned(128), out(128);
  const Bytes contents = random.Fill(100);
  pinned.Write(0, contents);
  void *memory = nullptr, *again = nullptr;
  {
    const Gate gate(stream);  // the first owner's work is still queued on it
    memory = pool.Take(100, stream);
    EXPECT_ACL(ACL_SUCCESS,
               aclrtMemcpyAsync(memory, 100, pinned.data(), 100, ACL_MEMCPY_HOST_TO_DEVICE, stream));
    EXPECT_ACL(ACL_SUCCESS,
               aclrtMemcpyAsync(out.data(), 128, memory, 100, ACL_MEMCPY_DEVICE_TO_HOST, stream));
    EXPECT_ACL(ACL_SUCCESS, aclrtMemPoolFreeAsync(memory, stream));
    again = pool.Take(128, stream);
    EXPECT_ACL(ACL_SUCCESS, aclrtMemsetAsync(again, 128, 7, 128, stream));
  }
  EXPECT_EQ(again, memory) << "both are rounded to 128";
  std::size_t bytes = 0;
  EXPECT_ACL(ACL_SUCCESS, aclrtMemGetAddressRange(again, nullptr, &bytes));
  EXPECT_EQ(bytes, 128u);
  EXPECT_ACL(ACL_ERROR_RT_PARAM_INVALID, aclrtMemset(again, 129, 0, 129));
  EXPECT_TRUE(MessageHas("+128 bytes,"));
  EXPECT_ACL(ACL_SUCCESS, aclrtSynchronizeStream(stream));
  EXPECT_EQ(out.Read(0, 100), contents);
  EXPECT_EQ(ReadDevice(again, 128), Bytes(128, std::byte{7}));
  EXPECT_EQ(pool.Get(ACL_RT_MEM_POOL_ATTR_USED_MEM_CURRENT), 128u);
  EXPECT_ACL(ACL_SUCCESS, aclrtFree(again));
  EXPECT_EQ(pool.Get(ACL_RT_MEM_POOL_ATTR_USED_MEM_CURRENT), 0u);
  EXPECT_ACL(ACL_SUCCESS, aclrtSynchronizeStream(stream));
  EXPECT_EQ(pool.Get(ACL_RT_MEM_POOL_ATTR_RESERVED_MEM_CURRENT), 0u) << "all of it went back";
}

TEST_F(MemoryPoolTest, AnotherStreamGetsABlockOnlyWhenItsWorkIsOver) {
  const Pool pool;
  Stream owner, other;
  pool.Set(ACL_RT_MEM_POOL_REUSE_ALLOW_INTERNAL_DEPENDENCIES, 2);
  void* const memory = pool.Take(4096, owner);
  {
    const Gate gate(owner);
    EXPECT_ACL(ACL_SUCCESS, aclrtMemsetAsync(memory, 4096, 1, 4096, owner));
    EXPECT_ACL(ACL_SUCCESS, aclrtMemPoolFreeAsync(memory, owner));
    void* const elsewhere = pool.Take(4096, other);
    EXPECT_NE(elsewhere, memory);
    EXPECT_ACL(ACL_SUCCESS, aclrtMemPoolFreeAsync(elsewhere, owner));
  }
  pool.Set(ACL_RT_MEM_POOL_ATTR_RELEASE_THRESHOLD, 16 * kChunk);
  EXPECT_ACL(ACL_SUCCESS, aclrtSynchronizeStream(owner));
  void* const now = pool.Take(4096, other);
  EXPECT_EQ(pool.Get(ACL_RT_MEM_POOL_ATTR_RESERVED_MEM_CURRENT), kChunk);
  EXPECT_ACL(ACL_SUCCESS, aclrtMemPoolFreeAsync(now, other));
}

TEST_F(MemoryPoolTest, AnInternalDependencyOrdersTheStreams) {
  const Pool pool;
  Stream owner, other;
  PinnedBuffer out(4096);
  void* const memory = pool.Take(4096, owner);
  void* taken = nullptr;
  {
    const Gate gate(owner);
    EXPECT_ACL(ACL_SUCCESS, aclrtMemsetAsync(memory, 4096, 1, 4096, owner));
    EXPECT_ACL(ACL_SUCCESS,
               aclrtMemcpyAsync(out.data(), 4096, memory, 4096, ACL_MEMCPY_DEVICE_TO_HOST, owner));
    EXPECT_ACL(ACL_SUCCESS, aclrtMemPoolFreeAsync(memory, owner));
    taken = pool.Take(4096, other);
    EXPECT_EQ(taken, memory);
    EXPECT_ACL(ACL_SUCCESS, aclrtMemsetAsync(taken, 4096, 2, 4096, other));
  }
  EXPECT_ACL(ACL_SUCCESS, aclrtSynchronizeStream(other));
  EXPECT_EQ(out.Read(0, 4096), Bytes(4096, std::byte{1})) << "the other stream did not wait";
  EXPECT_EQ(ReadDevice(taken, 4096), Bytes(4096, std::byte{2}));
  EXPECT_ACL(ACL_SUCCESS, aclrtMemPoolFreeAsync(taken, other));
}

TEST_F(MemoryPoolTest, SynchronisingGivesBackWhatIsAboveTheThreshold) {
  const std::size_t before = FreeBytes();
  const Pool pool;
  Stream stream;
  void* const memory = pool.Take(3 * kChunk, stream);
  EXPECT_EQ(FreeBytes(), before - 3 * kChunk);
  EXPECT_ACL(ACL_SUCCESS, aclrtMemPoolFreeAsync(memory, stream));
  EXPECT_EQ(FreeBytes(), before - 3 * kChunk) << "kept until a synchronization";
  EXPECT_ACL(ACL_SUCCESS, aclrtSynchronizeStream(stream));
  EXPECT_EQ(FreeBytes(), before);
  pool.Set(ACL_RT_MEM_POOL_ATTR_RELEASE_THRESHOLD, 4 * kChunk);
  void* const kept = pool.Take(3 * kChunk, stream);
  EXPECT_ACL(ACL_SUCCESS, aclrtMemPoolFreeAsync(kept, stream));
  EXPECT_ACL(ACL_SUCCESS, aclrtSynchronizeDevice());
  EXPECT_EQ(FreeBytes(), before - 3 * kChunk);
  EXPECT_ACL(ACL_SUCCESS, aclrtMemPoolTrimTo(pool, 3 * kChunk));
  EXPECT_EQ(FreeBytes(), before - 3 * kChunk);
  EXPECT_ACL(ACL_SUCCESS, aclrtMemPoolTrimTo(pool, 0));
  EXPECT_EQ(FreeBytes(), before);
}

TEST_F(MemoryPoolTest, CountsWhatItHolds) {
  const Pool pool;
  Stream stream;
  void* const first = pool.Take(1000, stream);
  void* const second = pool.Take(5000, stream);
  const std::uint64_t used = 1024 + 5024;  // rounded up to 32
  EXPECT_EQ(pool.Get(ACL_RT_MEM_POOL_ATTR_USED_MEM_CURRENT), used);
  EXPECT_EQ(pool.Get(ACL_RT_MEM_POOL_ATTR_RESERVED_MEM_CURRENT), kChunk);
  EXPECT_ACL(ACL_SUCCESS, aclrtMemPoolFreeAsync(first, stream));
  EXPECT_EQ(pool.Get(ACL_RT_MEM_POOL_ATTR_USED_MEM_CURRENT), 5024u);
  EXPECT_EQ(pool.Get(ACL_RT_MEM_POOL_ATTR_USED_MEM_HIGH), used);
  pool.Set(ACL_RT_MEM_POOL_ATTR_USED_MEM_HIGH, 0);
  EXPECT_EQ(pool.Get(ACL_RT_MEM_POOL_ATTR_USED_MEM_HIGH), 5024u);
  EXPECT_ACL(ACL_SUCCESS, aclrtMemPoolFreeAsync(second, stream));
}

TEST_F(MemoryPoolTest, ABoundIsKept) {
  const Pool pool(2 * kChunk);
  Stream stream;
  void* const memory = pool.Take(2 * kChunk, stream);
  void* more = nullptr;
  EXPECT_ACL(ACL_ERROR_RT_MEMORY_ALLOCATION, aclrtMemPoolMallocAsync(&more, 64, pool, stream));
  EXPECT_ACL(ACL_SUCCESS, aclrtMemPoolFreeAsync(memory, stream));
  EXPECT_ACL(ACL_SUCCESS, aclrtSynchronizeStream(stream));
  more = pool.Take(64, stream);
  EXPECT_ACL(ACL_SUCCESS, aclrtMemPoolFreeAsync(more, stream));
}

TEST_F(MemoryPoolTest, EveryPageWithinABoundCanBeHad) {
  constexpr std::size_t kPage = 4096;
  for (const std::size_t max_bytes :
       {kPage, kChunk / 2, kChunk - 1, kChunk + 3 * kPage, 2 * kChunk - kPage}) {
    const std::size_t before = FreeBytes();
    const Pool pool(max_bytes);
    Stream stream;
    std::vector<void*> pieces;
    for (std::size_t taken = 0; taken + kPage <= max_bytes; taken += kPage)
      pieces.push_back(pool.Take(kPage, stream));
    void* more = nullptr;
    EXPECT_ACL(ACL_ERROR_RT_MEMORY_ALLOCATION, aclrtMemPoolMallocAsync(&more, 1, pool, stream)) << max_bytes;
    EXPECT_TRUE(MessageHas("may hold " + std::to_string(max_bytes)));
    EXPECT_LE(pool.Get(ACL_RT_MEM_POOL_ATTR_RESERVED_MEM_CURRENT), max_bytes);
    EXPECT_ACL(ACL_SUCCESS, aclrtMemset(pieces.back(), kPage, 1, kPage));
    for (void* piece : pieces)
      EXPECT_ACL(ACL_SUCCESS, aclrtMemPoolFreeAsync(piece, stream));
    EXPECT_ACL(ACL_SUCCESS, aclrtSynchronizeStream(stream));
    void* const whole = pool.Take(max_bytes / kPage * kPage, stream);
    EXPECT_ACL(ACL_SUCCESS, aclrtMemset(whole, max_bytes / kPage * kPage, 2, max_bytes / kPage * kPage));
    EXPECT_ACL(ACL_SUCCESS, aclrtMemPoolFreeAsync(whole, stream));
    EXPECT_ACL(ACL_SUCCESS, aclrtSynchronizeStream(stream));
    EXPECT_EQ(FreeBytes(), before);
  }
}

TEST_F(MemoryPoolTest, SizesNearTheLargestNumberAreRefused) {
  const Pool pool;
  Stream stream;
  for (int kept = 0; kept < 2; ++kept) {
    for (const std::size_t below : {std::size_t{0}, std::size_t{31}, std::size_t{100}, std::size_t{5000},
                                    kChunk - 1, kChunk, 2 * kChunk}) {
      void* memory = nullptr;
      EXPECT_ACL(ACL_ERROR_RT_MEMORY_ALLOCATION,
                 aclrtMemPoolMallocAsync(&memory, SIZE_MAX - below, pool, stream));
      EXPECT_TRUE(MessageHas("size " + std::to_string(SIZE_MAX - below)) || below >= kChunk);
    }
    EXPECT_ACL(ACL_SUCCESS, aclrtMemPoolFreeAsync(pool.Take(64, stream), stream));  // now it has a chunk
  }
}

TEST_F(MemoryPoolTest, AnAllocationTakesBackWhatPoolsKeep) {
  if (DoneInChild({{"SAMPAN_DEVICE_MEMORY", "256M"}})) return;  // a device that the host can hold
  const Pool pool;
  Stream stream;
  const std::size_t max_bytes = FreeBytes() / kChunk * kChunk;
  void* const memory = pool.Take(max_bytes, stream);
  EXPECT_ACL(ACL_SUCCESS, aclrtMemPoolFreeAsync(memory, stream));
  void* plain = nullptr;
  EXPECT_ACL(ACL_SUCCESS, aclrtMalloc(&plain, max_bytes / 2, ACL_MEM_MALLOC_HUGE_FIRST));
  EXPECT_ACL(ACL_SUCCESS, aclrtFree(plain));
}

TEST_F(MemoryPoolTest, PlainFreesFitBothKinds) {
  const std::size_t before = FreeBytes();
  Pool pool;
  Stream stream;
  void* const memory = pool.Take(kChunk, stream);
  EXPECT_ACL(ACL_SUCCESS, aclrtFree(memory));
  EXPECT_ACL(ACL_ERROR_RT_PARAM_INVALID, aclrtFree(memory));
  EXPECT_EQ(pool.Get(ACL_RT_MEM_POOL_ATTR_USED_MEM_CURRENT), 0u);
  void* plain = nullptr;
  EXPECT_ACL(ACL_SUCCESS, aclrtMalloc(&plain, kChunk, ACL_MEM_MALLOC_HUGE_FIRST));
  {
    const Gate gate(stream);
    EXPECT_ACL(ACL_SUCCESS, aclrtMemsetAsync(plain, kChunk, 3, kChunk, stream));
    EXPECT_ACL(ACL_SUCCESS, aclrtMemPoolFreeAsync(plain, stream));
  }
  EXPECT_ACL(ACL_SUCCESS, aclrtSynchronizeStream(stream)) << "freed after the work before it, not under it";
  EXPECT_ACL(ACL_ERROR_RT_PARAM_INVALID, aclrtFree(plain));
  EXPECT_EQ(FreeBytes(), before);
}

TEST_F(MemoryPoolTest, DestroyedPoolsKeepWhatIsInUse) {
  const std::size_t before = FreeBytes();
  Pool pool;
  Stream stream;
  void* const memory = pool.Take(4096, stream);
  EXPECT_ACL(ACL_SUCCESS, aclrtMemPoolDestroy(pool.Release()));
  EXPECT_ACL(ACL_SUCCESS, aclrtMemset(memory, 4096, 7, 4096));
  EXPECT_EQ(ReadDevice(memory, 4096), Bytes(4096, std::byte{7}));
  EXPECT_ACL(ACL_SUCCESS, aclrtMemPoolFreeAsync(memory, stream));
  EXPECT_ACL(ACL_SUCCESS, aclrtSynchronizeStream(stream));
  EXPECT_EQ(FreeBytes(), before);
}

TEST_F(MemoryPoolTest, RandomSizesNeverOverlap) {
  const Pool pool;
  Stream streams[3];
  Random random;
  struct Piece {
    void* memory;
    std::size_t bytes;
    int value;
  };
  std::vector<Piece> live;
  int next = 1;
  for (int step = 0; step < 2000; ++step) {
    Stream& stream = streams[random.Between(0, 2)];
    if (live.size() < 40 && random.Between(0, 1) == 0) {
      const std::size_t bytes =
          random.Between(1, 4) == 1 ? random.Between(1, 300'000) : 64 * random.Between(1, 8);
      const Piece piece{pool.Take(bytes, stream), bytes, next++ % 251 + 1};
      EXPECT_ACL(ACL_SUCCESS, aclrtMemsetAsync(piece.memory, bytes, piece.value, bytes, stream));
      EXPECT_ACL(ACL_SUCCESS, aclrtSynchronizeStream(stream));
      live.push_back(piece);
    } else if (!live.empty()) {
      const std::size_t chosen = random.Between(0, live.size() - 1);
      const Piece piece = live[chosen];
      live.erase(live.begin() + static_cast<std::ptrdiff_t>(chosen));
      ASSERT_EQ(ReadDevice(piece.memory, piece.bytes),
                Bytes(piece.bytes, static_cast<std::byte>(piece.value)));
      EXPECT_ACL(ACL_SUCCESS, aclrtMemPoolFreeAsync(piece.memory, stream));
    }
  }
  for (const Piece& piece : live)
    EXPECT_ACL(ACL_SUCCESS, aclrtMemPoolFreeAsync(piece.memory, streams[0]));
}

}  // namespace
}  // namespace sampan::test::memory_pool_test
