// The fixture of dispatcher tests: a device, a dispatcher, a stream, and the records of what was submitted.
#pragma once

#include <gtest/gtest.h>

#include <optional>
#include <vector>

#include "hccl/platform/dispatcher.h"
#include "tests/hccl/hccl_expect.h"
#include "tests/hccl/rank_threads.h"
#include "tests/support/device_fixture.h"
#include "tests/support/guarded_buffer.h"
#include "tests/support/stream.h"

namespace sampan::test {

class DispatcherTest : public DeviceTest {
 protected:
  void SetUp() override {
    DeviceTest::SetUp();
    dispatcher_.emplace();
    stream_ = hccl::Stream(hccl::StreamType::STREAM_TYPE_ONLINE, true);
    ASSERT_TRUE(stream_);
    EXPECT_HCCL(HCCL_SUCCESS, RegisterLoadTaskCallBack(d(), &records_, &DispatcherTest::Keep));
  }
  void TearDown() override {
    stream_ = hccl::Stream();
    dispatcher_.reset();
    DeviceTest::TearDown();
  }

  HcclDispatcher d() const { return *dispatcher_; }
  hccl::Stream& stream() { return stream_; }
  void Synchronize() const { EXPECT_ACL(ACL_SUCCESS, aclrtSynchronizeStream(stream_.ptr())); }
  Random& random() { return random_; }
  std::vector<hccl::TaskPara>& records() { return records_; }

  static hccl::DeviceMem View(const GuardedBuffer& buffer) {
    return hccl::DeviceMem::create(buffer.data(), buffer.bytes());
  }
  HcclResult Copy(hccl::DeviceMem dst, const hccl::DeviceMem& src) {
    return HcclD2DMemcpyAsync(d(), dst, src, stream_);
  }

 private:
  static void Keep(void* user, void* param, u32 length) {
    EXPECT_EQ(length, sizeof(hccl::TaskPara));
    static_cast<std::vector<hccl::TaskPara>*>(user)->push_back(*static_cast<hccl::TaskPara*>(param));
  }

  std::optional<OwnDispatcher> dispatcher_;
  hccl::Stream stream_{};
  std::vector<hccl::TaskPara> records_;
  Random random_;
};

}  // namespace sampan::test
