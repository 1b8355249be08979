// Lists of segments and the pool of their memory.
#include "backend/api/segment_pool.h"

#include <gtest/gtest.h>

#include <map>
#include <utility>

namespace sampan::segment_pool_test {
namespace {

/// Counts what it gives away.
class CountedPool final : public SegmentPool {
 public:
  ~CountedPool() override {
    Clear();
    EXPECT_TRUE(given_.empty()) << "memory that never came back";
  }
  std::size_t given() const { return given_.size(); }
  bool empty = false;

 private:
  Result<std::byte*> Allocate(std::size_t bytes) override {
    if (empty) return Error{Code::kMemoryAllocation, "none left"};
    auto* const memory = static_cast<std::byte*>(::operator new(bytes));
    given_[memory] = bytes;
    return memory;
  }
  void Free(std::byte* memory, std::size_t bytes) noexcept override {
    EXPECT_EQ(given_[memory], bytes);
    given_.erase(memory);
    ::operator delete(memory);
  }
  std::map<std::byte*, std::size_t> given_;
};

Segment SegmentOf(std::size_t number) {
  return {reinterpret_cast<std::byte*>(number), reinterpret_cast<const std::byte*>(2 * number), number};
}

TEST(SegmentPool, GivesTheSameMemoryAgain) {
  CountedPool pool;
  const Segment* first = nullptr;
  {
    SegmentList list(pool);
    ASSERT_TRUE(list.Reserve(1000).ok());
    EXPECT_GE(list.room(), 1000U);
    first = list.next();
  }
  SegmentList again(pool);
  ASSERT_TRUE(again.Reserve(990).ok());
  EXPECT_EQ(again.next(), first);
  EXPECT_EQ(pool.given(), 1U);
}

TEST(SegmentPool, KeepsOnlySoMuch) {
  CountedPool pool;
  constexpr std::size_t kLong = std::size_t{1} << 20;  // 24 MiB
  {
    SegmentList list(pool);
    ASSERT_TRUE(list.Reserve(kLong).ok());
  }
  EXPECT_EQ(pool.given(), 0U);
}

TEST(SegmentList, GrowsWithWhatItHolds) {
  CountedPool pool;
  SegmentList list(pool);
  for (std::size_t i = 0; i < 5000; ++i) {
    ASSERT_TRUE(list.Reserve(i + 1).ok());
    list.Append(SegmentOf(i));
  }
  SegmentList moved(std::move(list));
  ASSERT_EQ(moved.size(), 5000U);
  for (std::size_t i = 0; i < 5000; ++i) {
    EXPECT_EQ(moved.all()[i].dst, SegmentOf(i).dst);
    EXPECT_EQ(moved.all()[i].src, SegmentOf(i).src);
    EXPECT_EQ(moved.all()[i].bytes, i);
  }
}

TEST(SegmentList, StaysUnchangedWithoutMemory) {
  CountedPool pool;
  SegmentList list(pool);
  ASSERT_TRUE(list.Reserve(10).ok());
  list.Append(SegmentOf(7));
  pool.empty = true;
  EXPECT_EQ(list.Reserve(100'000).code(), Code::kMemoryAllocation);
  ASSERT_EQ(list.size(), 1U);
  EXPECT_EQ(list.front().bytes, 7U);
}

}  // namespace
}  // namespace sampan::segment_pool_test
