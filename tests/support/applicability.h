// Which tests of a program apply under the settings of its process: the profile, the backend, the schedule, a
// trace.
#pragma once

namespace sampan::test {

/// Runs the tests that apply and prints which are left out and why. Returns the result of RUN_ALL_TESTS, or 1
/// if a row of the table fits none of the tests. Call it after InitGoogleTest. With a --gtest_filter, the
/// filter alone decides.
int RunTestsThatApply();

}  // namespace sampan::test
