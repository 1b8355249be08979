// The history of an allocation against a plain list of all accesses.
#include "check/order/access_history.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <memory>
#include <random>
#include <vector>

namespace sampan::check {
namespace {

struct Made {
  TaskAccess access;
  SharedSite site;
};

TaskAccess RandomAccess(std::mt19937_64& random, std::uint64_t bytes, bool may_be_rows) {
  const std::uint64_t begin = random() % bytes;
  const Use use = random() % 2 == 0 ? Use::kRead : Use::kWrite;
  if (!may_be_rows || random() % 3 != 0) return {1, {{begin, begin + 1 + random() % 16}}, use};
  return {1, {{begin, begin + 26}, 8, 2}, use};
}

/// Random accesses of three queues, each compared with a list of all that were made before.
void CompareWithAList(std::mt19937_64& random, int accesses, std::uint64_t bytes, bool may_be_rows) {
  AccessHistory history;
  std::vector<Made> all;
  std::array<std::uint64_t, 3> last{};
  for (int i = 0; i < accesses; ++i) {
    const TaskAccess access = RandomAccess(random, bytes, may_be_rows);
    const std::uint64_t queue = 1 + random() % 3;
    OrderClock before;
    for (std::uint64_t other = 1; other <= 3; ++other)
      before.Raise(other, random() % (last[other - 1] + 1));
    const bool expected = std::any_of(all.begin(), all.end(), [&](const Made& made) {
      const bool writes = made.access.use == Use::kWrite || access.use == Use::kWrite;
      const std::uint64_t other = made.site->queue.number;
      return writes && other != queue && made.site->number > before.At(other) &&
             made.access.shape.Common(access.shape).has_value();
    });
    const std::uint64_t number = ++last[queue - 1];
    ASSERT_EQ(history.FindConflict(access, queue, number, before).site != nullptr, expected);
    auto site = std::make_shared<const TaskSite>(TaskSite{{queue, 0, 1}, number});
    history.Add(access, site);
    all.push_back({access, site});
  }
}

TEST(AccessHistory, FindsAConflictWhereAListOfAllAccessesHasOne) {
  const std::uint64_t seed = std::random_device{}();
  SCOPED_TRACE(testing::Message() << "seed " << seed);
  std::mt19937_64 random(seed);
  for (int round = 0; round < 300 && !HasFatalFailure(); ++round)
    CompareWithAList(random, 60, 64, true);
}

TEST(AccessHistory, FindsAConflictAmongManyPieces) {
  const std::uint64_t seed = std::random_device{}();
  SCOPED_TRACE(testing::Message() << "seed " << seed);
  std::mt19937_64 random(seed);
  for (int round = 0; round < 10 && !HasFatalFailure(); ++round)
    CompareWithAList(random, 1500, 8192, false);
}

TEST(AccessHistory, ComparesTheEntriesOfOneBatchWithOneAnother) {
  AccessHistory history;
  auto site = std::make_shared<const TaskSite>(TaskSite{{1, 0, 1}, 5});
  history.Add({1, {{0, 64}}, Use::kWrite, 0}, site);
  EXPECT_EQ(history.FindConflict({1, {{64, 128}}, Use::kWrite, 1}, 1, 5, {}).site, nullptr);
  const Conflict conflict = history.FindConflict({1, {{63, 128}}, Use::kRead, 2}, 1, 5, {});
  ASSERT_NE(conflict.site, nullptr);
  EXPECT_EQ(conflict.entry, 0);
  EXPECT_EQ(conflict.common.begin, 63U);
  EXPECT_EQ(conflict.common.end, 64U);
}

TEST(AccessHistory, ForgetsWhatTheHostKnows) {
  AccessHistory history;
  history.Add({1, {{0, 8}}, Use::kWrite}, std::make_shared<const TaskSite>(TaskSite{{1, 0, 1}, 5}));
  history.Add({1, {{8, 16}}, Use::kWrite}, std::make_shared<const TaskSite>(TaskSite{{1, 0, 1}, 6}));
  OrderClock host;
  host.Raise(1, 5);
  history.Forget(host);
  EXPECT_EQ(history.FindOpen(host).all.begin, 8U);
  host.Raise(1, 6);
  history.Forget(host);
  EXPECT_TRUE(history.empty());
}

}  // namespace
}  // namespace sampan::check
