// Assertions: they abort where they are on, and are not evaluated where they are off.
#include "base/error/assert.h"

#include <gtest/gtest.h>

#include "backend/api/task_ring.h"

namespace sampan::assert_test {
namespace {

TEST(AssertTest, IsEvaluatedOnlyWhereItIsOn) {
  int evaluated = 0;
  const auto holds = [&evaluated](bool value) {
    ++evaluated;
    return value;
  };
#if defined(SAMPAN_ASSERTIONS)
  SAMPAN_ASSERT(holds(true));
  EXPECT_EQ(evaluated, 1);
  EXPECT_DEATH(SAMPAN_ASSERT(holds(false)), "assert_test.cc:[0-9]+: assertion failed: holds\\(false\\)");
#else
  SAMPAN_ASSERT(holds(false));
  EXPECT_EQ(evaluated, 0);
#endif
}

#if defined(SAMPAN_ASSERTIONS)
TEST(AssertTest, EndsAQueueThatBreaksItsOwnRules) {
  EXPECT_DEATH(TaskRing ring(0), "assertion failed: depth > 0");
  TaskRing ring(2);
  EXPECT_DEATH(ring.Skip(2), "assertion failed: number == tail");
  EXPECT_DEATH(ring.Destroy(1), "assertion failed: number > 0");
}
#endif

}  // namespace
}  // namespace sampan::assert_test
