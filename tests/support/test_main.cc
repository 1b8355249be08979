// The main function of test programs that have none of their own.
#include <gtest/gtest.h>

#include "tests/support/applicability.h"

int main(int argc, char** argv) {
  ::testing::InitGoogleTest(&argc, argv);
  return sampan::test::RunTestsThatApply();
}
