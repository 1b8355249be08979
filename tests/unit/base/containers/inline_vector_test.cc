// The vector that keeps a few elements inside: order, moves, growth, and that every element is destroyed
// once.
#include "base/containers/inline_vector.h"

#include <gtest/gtest.h>

#include <utility>
#include <vector>

namespace sampan::inline_vector_test {
namespace {

/// Counts those that live. Moved-from ones have no value.
class Counted {
 public:
  Counted(int value, int& living) : value_(value), living_(&living) { ++*living_; }
  Counted(Counted&& other) noexcept : value_(std::exchange(other.value_, -1)), living_(other.living_) {
    ++*living_;
  }
  Counted& operator=(Counted&&) = delete;
  ~Counted() { --*living_; }
  int value() const { return value_; }

 private:
  int value_;
  int* living_;
};

constexpr std::size_t kInside = 3;
using Vector = InlineVector<Counted, kInside>;

class InlineVectorTest : public ::testing::TestWithParam<std::size_t> {
 protected:
  ~InlineVectorTest() override { EXPECT_EQ(living_, 0); }

  void Fill(Vector& vector, std::size_t elements, int first = 100) {
    for (std::size_t i = 0; i < elements; ++i)
      vector.push_back(Counted(first + static_cast<int>(i), living_));
  }
  static std::vector<int> ValuesOf(const Vector& vector) {
    std::vector<int> values;
    for (const Counted& each : vector)
      values.push_back(each.value());
    return values;
  }
  static std::vector<int> Numbers(std::size_t elements, int first = 100) {
    std::vector<int> numbers;
    for (std::size_t i = 0; i < elements; ++i)
      numbers.push_back(first + static_cast<int>(i));
    return numbers;
  }
  static bool LiesInside(const Vector& vector) {
    const auto* const data = reinterpret_cast<const std::byte*>(vector.data());
    const auto* const begin = reinterpret_cast<const std::byte*>(&vector);
    return data >= begin && data < begin + sizeof(vector);
  }

  int living_ = 0;
};

TEST_P(InlineVectorTest, KeepsWhatWasPutIn) {
  Vector vector;
  EXPECT_TRUE(vector.empty());
  Fill(vector, GetParam());
  EXPECT_EQ(vector.size(), GetParam());
  EXPECT_EQ(vector.empty(), GetParam() == 0);
  EXPECT_EQ(ValuesOf(vector), Numbers(GetParam()));
  EXPECT_EQ(living_, static_cast<int>(GetParam()));
  EXPECT_EQ(LiesInside(vector), GetParam() <= kInside);
  for (std::size_t i = 0; i < GetParam(); ++i)
    EXPECT_EQ(std::as_const(vector)[i].value(), 100 + static_cast<int>(i));
}

TEST_P(InlineVectorTest, MovesLeaveNothingBehind) {
  Vector from;
  Fill(from, GetParam());
  Vector to(std::move(from));
  EXPECT_EQ(ValuesOf(to), Numbers(GetParam()));
  EXPECT_TRUE(from.empty());  // NOLINT(bugprone-use-after-move): what a move leaves is the subject
  EXPECT_EQ(LiesInside(to), GetParam() <= kInside);
  EXPECT_EQ(living_, static_cast<int>(GetParam()));
  Fill(from, kInside + 1, 500);
  EXPECT_EQ(ValuesOf(from), Numbers(kInside + 1, 500)) << "it can be used again";
  EXPECT_EQ(ValuesOf(to), Numbers(GetParam()));
}

TEST_P(InlineVectorTest, AssignmentsDestroyWhatWasThere) {
  for (const std::size_t before : {0, 2, 3, 4, 9}) {
    Vector from, to;
    Fill(from, GetParam());
    Fill(to, before, 500);
    to = std::move(from);
    EXPECT_EQ(ValuesOf(to), Numbers(GetParam()));
    EXPECT_TRUE(from.empty());  // NOLINT(bugprone-use-after-move): what a move leaves is the subject
    EXPECT_EQ(living_, static_cast<int>(GetParam()));
    Vector& same = to;
    to = std::move(same);
    EXPECT_EQ(ValuesOf(to), Numbers(GetParam())) << "assigned to itself";
  }
}

INSTANTIATE_TEST_SUITE_P(Sizes, InlineVectorTest, testing::Values(0, 1, 2, 3, 4, 6, 7, 100));

}  // namespace
}  // namespace sampan::inline_vector_test
