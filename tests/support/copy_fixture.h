// The fixture of copy tests: a device, a stream, random contents.
#pragma once

#include <gtest/gtest.h>

#include <optional>
#include <string>

#include "acl/acl.h"
#include "tests/support/acl_expect.h"
#include "tests/support/device_fixture.h"
#include "tests/support/guarded_buffer.h"
#include "tests/support/memory_buffer.h"
#include "tests/support/random_bytes.h"
#include "tests/support/stream.h"

namespace sampan::test {

/// Kinds that no enumerator names, as a C program would pass them.
inline constexpr aclrtMemcpyKind Kind(int value) {
  return static_cast<aclrtMemcpyKind>(value);
}

/// Ends with a check that no test left an error behind in the default stream.
class CopyTest : public DeviceTest {
 protected:
  void SetUp() override {
    DeviceTest::SetUp();
    if (HasFatalFailure()) return;
    stream_.emplace();
  }
  void TearDown() override {
    stream_.reset();
    EXPECT_ACL(ACL_SUCCESS, aclrtSynchronizeStream(nullptr));
    DeviceTest::TearDown();
  }

  aclrtStream stream() const { return stream_->get(); }
  void Synchronize() const { EXPECT_ACL(ACL_SUCCESS, aclrtSynchronizeStream(stream())); }
  Random& random() { return random_; }

  static aclError LastError() { return aclrtPeekAtLastError(ACL_RT_THREAD_LEVEL); }
  static aclError TakeLastError() { return aclrtGetLastError(ACL_RT_THREAD_LEVEL); }

  /// Queues a copy that will fail with 507013: its memory is gone before it may start.
  static void QueueFailure(aclrtStream on) {
    DeviceBuffer dst(64), src(64);
    Gate gate(on);
    EXPECT_ACL(ACL_SUCCESS,
               aclrtMemcpyAsync(dst.data(), 64, src.data(), 64, ACL_MEMCPY_DEVICE_TO_DEVICE, on));
    dst.Free();
    src.Free();
  }

 private:
  std::optional<Stream> stream_;
  Random random_;
};

}  // namespace sampan::test
