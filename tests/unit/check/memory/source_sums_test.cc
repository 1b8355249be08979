// Checksums of what copies read: which changes they tell, and which not.
#include "check/memory/source_sums.h"

#include <gtest/gtest.h>
#include <sys/mman.h>

#include <memory>
#include <vector>

#include "base/system/page_size.h"

namespace sampan::check {
namespace {

constexpr std::uint64_t kQueue = 3;

/// Memory, and copies of one queue that read it.
class Sources {
 public:
  explicit Sources(std::size_t bytes) : memory_(bytes) {}

  std::uint8_t& operator[](std::size_t offset) { return memory_[offset]; }
  SourceSums& sums() { return sums_; }
  void Add(const Shape& shape) {
    auto site = std::make_shared<const TaskSite>(TaskSite{{kQueue, 0, 1}, ++last_});
    sums_.Add(address(), {1, shape, Use::kRead}, {0, memory_.size()}, site);
  }
  /// What is told of the copies up to this one.
  std::vector<Range> Know(std::uint64_t task) {
    OrderClock host;
    host.Raise(kQueue, task);
    std::vector<Range> changes;
    sums_.TakeKnown(address(), host,
                    [&](const SourceSums::Change& change) { changes.push_back(change.changed); });
    return changes;
  }

 private:
  std::uintptr_t address() const { return reinterpret_cast<std::uintptr_t>(memory_.data()); }

  std::vector<std::uint8_t> memory_;
  SourceSums sums_;
  std::uint64_t last_ = 0;
};

TEST(SourceSums, TellWhichBlocksWereChanged) {
  Sources sources(1000);
  sources.Add({{100, 500}});
  sources[99] = sources[500] = 1;
  EXPECT_TRUE(sources.Know(0).empty());
  sources[499] = 1;
  const auto changes = sources.Know(1);
  ASSERT_EQ(changes.size(), 1U);
  EXPECT_TRUE(changes[0].Holds({499, 500}));
  EXPECT_EQ(changes[0].end, 500U);
  EXPECT_LE(changes[0].bytes(), 64U);
  EXPECT_TRUE(sources.sums().empty());
}

TEST(SourceSums, LeaveOutWhatLiesBesideTheBytes) {
  Sources sources(1000);
  sources.Add({{100, 500}});
  sources[99] = sources[500] = 1;
  EXPECT_TRUE(sources.Know(1).empty());
}

TEST(SourceSums, SeeTheRowsAndNotTheGaps) {
  for (const std::size_t row : {0, 4, 9}) {
    Sources sources(1000);
    const Shape rows{{10, 930}, 100, 20};  // ten rows
    sources.Add(rows);
    sources.Add(rows);
    sources[row * 100 + 9] = sources[row * 100 + 30] = 1;
    EXPECT_TRUE(sources.Know(1).empty()) << row;
    sources[row * 100 + 29] = 1;
    EXPECT_EQ(sources.Know(2).size(), 1U) << row;
  }
}

TEST(SourceSums, JudgeEachCopyAtItsEnd) {
  Sources sources(256);
  sources.Add({{0, 256}});
  sources[0] = 1;
  sources.Add({{0, 256}});
  EXPECT_EQ(sources.Know(1).size(), 1U);
  EXPECT_TRUE(sources.Know(2).empty());
}

TEST(SourceSums, AreDroppedByOtherWrites) {
  Sources sources(256);
  sources.Add({{0, 128}});
  sources.Add({{128, 256}});
  sources.sums().Drop({{127, 128}});
  sources[5] = sources[130] = 1;
  const auto changes = sources.Know(2);
  ASSERT_EQ(changes.size(), 1U);
  EXPECT_EQ(changes[0].begin, 128U);
}

TEST(SourceSums, SeeEveryBlockOfMuchMemory) {
  constexpr std::size_t kBytes = 9'000'001;
  for (const std::size_t at : {std::size_t{3}, kBytes / 2, kBytes - 1}) {
    Sources sources(kBytes);
    sources.Add({{3, kBytes}});
    sources[at] = 1;
    EXPECT_EQ(sources.Know(1).size(), 1U) << at;
  }
}

TEST(SourceSums, AreSilentAboutMemoryThatIsGone) {
  const std::size_t bytes = 2 * HostPageBytes();
  void* const memory = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(memory, MAP_FAILED);
  const auto address = reinterpret_cast<std::uintptr_t>(memory);
  SourceSums sums;
  auto site = std::make_shared<const TaskSite>(TaskSite{{kQueue, 0, 1}, 1});
  sums.Add(address, {1, {{3, bytes}}, Use::kRead}, {0, bytes}, site);
  ASSERT_FALSE(sums.empty());
  ::munmap(static_cast<char*>(memory) + HostPageBytes(), HostPageBytes());
  OrderClock host;
  host.Raise(kQueue, 1);
  bool told = false;
  sums.TakeKnown(address, host, [&](const SourceSums::Change&) { told = true; });
  EXPECT_FALSE(told);
  ::munmap(memory, HostPageBytes());
}

TEST(SourceSums, AreLimited) {
  Sources sources(64);
  for (int i = 0; i < 100'000; ++i)
    sources.Add({{0, 64}});
  sources[0] = 1;
  EXPECT_LE(sources.Know(100'000).size(), 256U);
}

}  // namespace
}  // namespace sampan::check
