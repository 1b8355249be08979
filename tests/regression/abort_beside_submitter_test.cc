// aclrtStreamAbort never returned while another thread submitted: it dropped what was queued so far and
// waited for what came after.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <future>
#include <span>
#include <thread>

#include "acl/acl.h"
#include "tests/support/acl_expect.h"
#include "tests/support/device_fixture.h"
#include "tests/support/memory_buffer.h"
#include "tests/support/stream.h"

namespace sampan::test::abort_beside_submitter_test {
namespace {

/// Either thread goes on until both have done so much.
constexpr std::uint64_t kSubmissions = 10'000, kAborts = 1'000;
constexpr std::chrono::seconds kLongestRun{30};
constexpr std::uint64_t kNever = 0x5EED, kClosed = 0xC105ED;

class AbortBesideSubmitter : public DeviceTest {
 protected:
  static void SetWord(const DeviceBuffer& word, std::uint64_t value) {
    WriteDevice(word.data(), std::as_bytes(std::span(&value, 1)));
  }
};

TEST_F(AbortBesideSubmitter, Returns) {
  DeviceBuffer word(sizeof(std::uint64_t));
  SetWord(word, kClosed);
  Stream stream;
  std::atomic<bool> stopping = false;
  std::atomic<std::uint64_t> submitted = 0;
  std::thread submitter([&] {
    EXPECT_ACL(ACL_SUCCESS, aclrtSetDevice(0));
    while (!stopping) {
      // Nothing but an abort gets the stream past this.
      EXPECT_ACL(ACL_SUCCESS, aclrtValueWait(word.data(), kNever, ACL_STREAM_WAIT_VALUE_EQ, stream));
      ++submitted;
    }
    EXPECT_ACL(ACL_SUCCESS, aclrtResetDevice(0));
  });
  std::future<void> aborts = std::async(std::launch::async, [&] {
    EXPECT_ACL(ACL_SUCCESS, aclrtSetDevice(0));
    for (std::uint64_t i = 0; (i < kAborts || submitted < kSubmissions) && !stopping; ++i)
      EXPECT_ACL(ACL_SUCCESS, aclrtStreamAbort(stream));
    EXPECT_ACL(ACL_SUCCESS, aclrtResetDevice(0));
  });
  EXPECT_EQ(aborts.wait_for(kLongestRun), std::future_status::ready) << "an abort waits for later work";
  stopping = true;
  SetWord(word, kNever);  // lets everything go on
  submitter.join();
  aborts.wait();
  EXPECT_ACL(ACL_SUCCESS, aclrtSynchronizeStream(stream));
}

}  // namespace
}  // namespace sampan::test::abort_beside_submitter_test
