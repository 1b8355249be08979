// Signals: HcclSignalRecord and HcclSignalWait, LocalNotify, RemoteNotify, limits and records.
// Rules of docs/BEHAVIOUR.md: hccl-3.
#include <gtest/gtest.h>

#include <chrono>

#include "hccl/platform/local_notify.h"
#include "hccl/platform/remote_notify.h"
#include "tests/hccl/dispatcher_fixture.h"

namespace sampan::test::signal_test {
namespace {

using hccl::LocalNotify;
using hccl::RemoteNotify;

class SignalTest : public DispatcherTest {
 protected:
  void SetUp() override {
    DispatcherTest::SetUp();
    other_ = hccl::Stream(hccl::StreamType::STREAM_TYPE_ONLINE);
    notify_ = std::make_shared<LocalNotify>();
    ASSERT_HCCL(HCCL_SUCCESS, notify_->Init());
  }
  void TearDown() override {
    notify_.reset();
    other_ = hccl::Stream();
    DispatcherTest::TearDown();
  }
  hccl::Stream& other() { return other_; }
  std::shared_ptr<LocalNotify>& notify() { return notify_; }

 private:
  hccl::Stream other_{};
  std::shared_ptr<LocalNotify> notify_;
};

TEST_F(SignalTest, AWaitBeforeItsPostFromOneThreadEnds) {
  GuardedBuffer a(Place::kDevice, 64), b(Place::kDevice, 64), c(Place::kDevice, 64);
  const Bytes contents = random().Fill(64);
  a.Write(contents);
  EXPECT_HCCL(HCCL_SUCCESS, LocalNotify::Wait(other(), d(), notify()));
  hccl::DeviceMem to = View(c);
  EXPECT_HCCL(HCCL_SUCCESS, HcclD2DMemcpyAsync(d(), to, View(b), other()));
  EXPECT_HCCL(HCCL_SUCCESS, Copy(View(b), View(a)));
  EXPECT_HCCL(HCCL_SUCCESS, LocalNotify::Post(stream(), d(), notify()));
  EXPECT_ACL(ACL_SUCCESS, aclrtSynchronizeStream(other().ptr()));
  EXPECT_TRUE(c.Holds(contents));
}

TEST_F(SignalTest, NotifiesAreBinary) {
  EXPECT_HCCL(HCCL_SUCCESS, notify()->Post(stream(), d()));
  EXPECT_HCCL(HCCL_SUCCESS, notify()->Post(stream()));
  Synchronize();
  EXPECT_HCCL(HCCL_SUCCESS, notify()->Wait(other(), d(), -1, 1));
  EXPECT_ACL(ACL_SUCCESS, aclrtSynchronizeStream(other().ptr()));
  EXPECT_HCCL(HCCL_SUCCESS, notify()->Wait(other(), 1)) << "two posts were one";
  EXPECT_ACL(ACL_ERROR_RT_TASK_TIMEOUT, aclrtSynchronizeStream(other().ptr()));
  aclrtGetLastError(ACL_RT_THREAD_LEVEL);
}

TEST_F(SignalTest, ATimeoutIsTheStreamsFailureLater) {
  EXPECT_HCCL(HCCL_SUCCESS, HcclSetExecTimeOut(d(), 1));
  EXPECT_HCCL(HCCL_SUCCESS, HcclSetNotifyWaitMode(d(), SyncMode::CONFIGURABLE_TIMEWAITSYNCMODE));
  const auto begin = std::chrono::steady_clock::now();
  EXPECT_HCCL(HCCL_SUCCESS, HcclSignalWait(d(), notify()->ptr(), stream(), 0, 1, 0, true));
  EXPECT_ACL(ACL_ERROR_RT_TASK_TIMEOUT, aclrtSynchronizeStream(stream().ptr()));
  EXPECT_GE(std::chrono::steady_clock::now() - begin, std::chrono::milliseconds(990));
  EXPECT_TRUE(MessageHas("notify"));
  aclrtGetLastError(ACL_RT_THREAD_LEVEL);
}

/// Whether a wait with these settings is over after a little more than a second.
class LimitTest : public SignalTest {
 protected:
  bool EndsSoon(u32 given) {
    EXPECT_HCCL(HCCL_SUCCESS, notify()->Wait(other(), d(), -1, given));
    const aclError code = aclrtSynchronizeStreamWithTimeout(other().ptr(), 1300);
    if (code != ACL_SUCCESS) aclrtGetLastError(ACL_RT_THREAD_LEVEL);
    if (code == ACL_ERROR_RT_TASK_TIMEOUT) return true;
    EXPECT_HCCL(HCCL_SUCCESS, notify()->Post(stream(), d()));
    EXPECT_ACL(ACL_SUCCESS, aclrtSynchronizeStream(other().ptr()));
    return false;
  }
};

TEST_F(LimitTest, AnExplicitLimitWinsThenTheMode) {
  EXPECT_HCCL(HCCL_SUCCESS, HcclSetExecTimeOut(d(), 1));
  EXPECT_FALSE(EndsSoon(NOTIFY_INVALID_WAIT_TIME)) << "by default 1836 seconds";
  EXPECT_TRUE(EndsSoon(1));
  EXPECT_HCCL(HCCL_SUCCESS, HcclSetNotifyWaitMode(d(), SyncMode::CONFIGURABLE_TIMEWAITSYNCMODE));
  EXPECT_TRUE(EndsSoon(NOTIFY_INVALID_WAIT_TIME));
  EXPECT_TRUE(EndsSoon(0)) << "0 is not a limit";
  EXPECT_FALSE(EndsSoon(600));
  EXPECT_HCCL(HCCL_SUCCESS, HcclSetNotifyWaitMode(d(), SyncMode::UNLIMITED_TIMEWAITSYNCMODE));
  EXPECT_FALSE(EndsSoon(NOTIFY_INVALID_WAIT_TIME));
}

TEST_F(SignalTest, NothingToSignalIsEPtr) {
  hccl::Stream no_stream{};
  EXPECT_HCCL(HCCL_E_PTR, HcclSignalRecord(d(), nullptr, stream(), 0, 0, 0, true, 0));
  EXPECT_HCCL(HCCL_E_PTR, HcclSignalWait(d(), nullptr, stream(), 0, 0, 0, true));
  EXPECT_HCCL(HCCL_E_PTR, HcclSignalRecord(d(), notify()->ptr(), no_stream, 0, 0, 0, true, 0));
  EXPECT_HCCL(HCCL_E_PTR, HcclSignalWait(d(), notify()->ptr(), no_stream, 0, 0, 0, true));
  EXPECT_HCCL(HCCL_E_PTR, LocalNotify::Wait(stream(), d(), nullptr));
  EXPECT_HCCL(HCCL_E_PTR, LocalNotify::Post(stream(), d(), nullptr));
  EXPECT_HCCL(HCCL_E_PTR, notify()->Post(stream(), nullptr));
  EXPECT_HCCL(HCCL_E_PTR, notify()->Post(no_stream));
  EXPECT_HCCL(HCCL_E_PTR, notify()->Wait(no_stream, 1));
  LocalNotify unmade;
  u64 offset = 0;
  HcclSignalInfo info;
  std::vector<u8> bytes;
  EXPECT_HCCL(HCCL_E_PTR, unmade.Post(stream(), d()));
  EXPECT_HCCL(HCCL_E_PTR, unmade.Wait(stream(), d()));
  EXPECT_HCCL(HCCL_E_PTR, unmade.GetNotifyOffset(offset));
  EXPECT_HCCL(HCCL_E_PTR, unmade.GetNotifyData(info));
  EXPECT_HCCL(HCCL_E_PTR, unmade.Serialize(bytes));
  EXPECT_HCCL(HCCL_E_PTR, unmade.SetIpc());
  EXPECT_HCCL(HCCL_E_NOT_SUPPORT, unmade.InitNotifyLite(info));
  EXPECT_HCCL(HCCL_SUCCESS, unmade.Destroy());
  int forged = 0;
  EXPECT_HCCL(HCCL_E_RUNTIME, HcclSignalRecord(d(), &forged, stream(), 0, 0, 0, true, 0));
  EXPECT_TRUE(records().empty());
  aclrtGetLastError(ACL_RT_THREAD_LEVEL);
}

TEST_F(SignalTest, RecordsNameRankAndNotify) {
  u64 offset = 0;
  ASSERT_HCCL(HCCL_SUCCESS, notify()->GetNotifyOffset(offset));
  EXPECT_EQ(offset, notify()->notifyId_);
  EXPECT_HCCL(HCCL_SUCCESS,
              HcclSignalRecord(d(), notify()->ptr(), stream(), 5, 0x1122334455667788, 2, false, 0));
  EXPECT_HCCL(HCCL_SUCCESS, HcclSignalWait(d(), notify()->ptr(), stream(), 6, 9, 4, false));
  EXPECT_HCCL(HCCL_SUCCESS, HcclSignalRecord(d(), notify()->ptr(), stream(), 5, INVALID_U64, 2, true, 0));
  Synchronize();
  ASSERT_EQ(records().size(), 3u);
  EXPECT_EQ(records()[0].type, hccl::TaskType::TASK_NOTIFY_RECORD);
  EXPECT_EQ(records()[0].notify.notifyID, (u64{5} << 32) | 0x55667788);
  EXPECT_EQ(records()[0].notify.stage, 2);
  EXPECT_EQ(records()[1].type, hccl::TaskType::TASK_NOTIFY_WAIT);
  EXPECT_EQ(records()[1].notify.notifyID, (u64{6} << 32) | offset);
  EXPECT_EQ(records()[1].notify.remoteUserRank, 9u);
  EXPECT_EQ(records()[2].notify.notifyID, (u64{5} << 32) | offset) << "all ones: the runtime is asked";
}

TEST_F(SignalTest, ARemoteNotifyOfTheSameProcessPosts) {
  std::vector<u8> bytes;
  ASSERT_HCCL(HCCL_SUCCESS, notify()->Serialize(bytes));
  RemoteNotify remote;
  EXPECT_HCCL(HCCL_E_PTR, remote.Open());
  EXPECT_HCCL(HCCL_E_PARA, remote.Init(std::vector<u8>(3)));
  EXPECT_HCCL(HCCL_SUCCESS, remote.Init(bytes));
  EXPECT_HCCL(HCCL_E_PTR, remote.Post(stream(), d())) << "not open yet";
  EXPECT_HCCL(HCCL_SUCCESS, remote.Open());
  EXPECT_EQ(remote.ptr(), notify()->ptr());
  EXPECT_HCCL(HCCL_SUCCESS, notify()->Wait(other(), d(), -1, 60));
  EXPECT_HCCL(HCCL_SUCCESS, remote.Post(stream(), d()));
  EXPECT_ACL(ACL_SUCCESS, aclrtSynchronizeStream(other().ptr()));
  EXPECT_HCCL(HCCL_SUCCESS, remote.Close());
  HcclSignalInfo info;
  ASSERT_HCCL(HCCL_SUCCESS, notify()->GetNotifyData(info));
  RemoteNotify by_info;
  EXPECT_HCCL(HCCL_SUCCESS, by_info.Init(info));
  EXPECT_HCCL(HCCL_SUCCESS, by_info.Post(stream()));
  LocalNotify view;
  EXPECT_HCCL(HCCL_SUCCESS, view.Init(info));
  EXPECT_HCCL(HCCL_SUCCESS, view.Wait(other(), d(), -1, 60));
  EXPECT_ACL(ACL_SUCCESS, aclrtSynchronizeStream(other().ptr()));
  EXPECT_HCCL(HCCL_SUCCESS, view.Destroy());
  EXPECT_HCCL(HCCL_SUCCESS, notify()->GetNotifyData(info)) << "a view does not destroy";
  notify()->Destroy();
  EXPECT_HCCL(HCCL_E_PARA, view.Init(info));
  RemoteNotify late;
  EXPECT_HCCL(HCCL_SUCCESS, late.Init(bytes));
  EXPECT_HCCL(HCCL_E_NOT_FOUND, late.Open());
  aclrtGetLastError(ACL_RT_THREAD_LEVEL);
}

}  // namespace
}  // namespace sampan::test::signal_test
