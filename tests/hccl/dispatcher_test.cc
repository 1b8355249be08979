// Making, ending and setting up dispatchers, and what the device side refuses.
// Rules of docs/BEHAVIOUR.md: hccl-3.
#include <gtest/gtest.h>

#include "tests/hccl/dispatcher_fixture.h"

namespace sampan::test::dispatcher_test {
namespace {

TEST_F(DispatcherTest, InitChecksInOrder) {
  HcclDispatcher made = nullptr;
  EXPECT_HCCL(HCCL_E_PTR, HcclDispatcherInit(DispatcherType::DISPATCHER_AICPU, 1000, nullptr));
  EXPECT_HCCL(HCCL_E_RUNTIME, HcclDispatcherInit(DispatcherType::DISPATCHER_AICPU, 1000, &made));
  EXPECT_HCCL(HCCL_E_NOT_SUPPORT, HcclDispatcherInit(DispatcherType::DISPATCHER_AICPU, 0, &made));
  EXPECT_HCCL(HCCL_E_NOT_SUPPORT, HcclDispatcherInit(static_cast<DispatcherType>(7), -1, &made));
  EXPECT_EQ(made, nullptr) << "a failure writes nothing";
  EXPECT_HCCL(HCCL_SUCCESS, HcclDispatcherInit(DispatcherType::DISPATCHER_NORMAL, 0, &made));
  EXPECT_HCCL(HCCL_SUCCESS, HcclDispatcherDestroy(made));
  aclrtGetLastError(ACL_RT_THREAD_LEVEL);
}

TEST_F(DispatcherTest, DestroyTakesEverything) {
  EXPECT_HCCL(HCCL_SUCCESS, HcclDispatcherDestroy(nullptr));
  HcclDispatcher made = nullptr;
  ASSERT_HCCL(HCCL_SUCCESS, HcclDispatcherInit(DispatcherType::DISPATCHER_VIRTURAL, -1, &made));
  EXPECT_HCCL(HCCL_SUCCESS, HcclDispatcherDestroy(made));
  EXPECT_HCCL(HCCL_SUCCESS, HcclDispatcherDestroy(made)) << "once more: nothing happens";
  EXPECT_HCCL(HCCL_E_PTR, StreamSync(made, stream())) << "a dead handle is like none";
  int local = 0;
  EXPECT_HCCL(HCCL_E_PTR, StreamSync(&local, stream())) << "so is a forged one";
}

TEST_F(DispatcherTest, AReusedDispatcherHasANewHandleAndDefaultSettings) {
  HcclDispatcher first = nullptr, second = nullptr;
  ASSERT_HCCL(HCCL_SUCCESS, HcclDispatcherInit(DispatcherType::DISPATCHER_NORMAL, -1, &first));
  EXPECT_HCCL(HCCL_SUCCESS, HcclSetNotifyWaitMode(first, SyncMode::UNLIMITED_TIMEWAITSYNCMODE));
  EXPECT_HCCL(HCCL_SUCCESS, RegisterLoadTaskCallBack(first, nullptr, [](void*, void*, u32) {
                ADD_FAILURE() << "the observer of a dispatcher that was destroyed";
              }));
  EXPECT_HCCL(HCCL_SUCCESS, InitTask(first, stream(), false, ""));
  EXPECT_HCCL(HCCL_SUCCESS, HcclDispatcherDestroy(first));
  ASSERT_HCCL(HCCL_SUCCESS, HcclDispatcherInit(DispatcherType::DISPATCHER_NORMAL, -1, &second));
  EXPECT_NE(first, second);
  EXPECT_HCCL(HCCL_E_PTR, StreamSync(first, stream()));
  SyncMode mode{};
  EXPECT_HCCL(HCCL_SUCCESS, HcclGetNotifyWaitMode(second, &mode));
  EXPECT_EQ(mode, SyncMode::DEFAULT_TIMEWAITSYNCMODE);
  GuardedBuffer dst(Place::kDevice, 64), src(Place::kDevice, 64);
  const Bytes contents = random().Fill(64);
  src.Write(contents);
  hccl::DeviceMem to = View(dst);
  EXPECT_HCCL(HCCL_SUCCESS, HcclD2DMemcpyAsync(second, to, View(src), stream()));
  Synchronize();
  EXPECT_TRUE(dst.Holds(contents)) << "it is not held";
  EXPECT_HCCL(HCCL_SUCCESS, HcclDispatcherDestroy(second));
}

TEST_F(DispatcherTest, ManyDispatchersAreApart) {
  std::vector<HcclDispatcher> all(200, nullptr);
  for (HcclDispatcher& each : all)
    ASSERT_HCCL(HCCL_SUCCESS, HcclDispatcherInit(DispatcherType::DISPATCHER_NORMAL, -1, &each));
  EXPECT_HCCL(HCCL_SUCCESS, HcclSetNotifyWaitMode(all[100], SyncMode::UNLIMITED_TIMEWAITSYNCMODE));
  for (const HcclDispatcher& each : all) {
    SyncMode mode{};
    EXPECT_HCCL(HCCL_SUCCESS, HcclGetNotifyWaitMode(each, &mode));
    EXPECT_EQ(mode == SyncMode::UNLIMITED_TIMEWAITSYNCMODE, each == all[100]);
    EXPECT_HCCL(HCCL_SUCCESS, HcclDispatcherDestroy(each));
    EXPECT_HCCL(HCCL_E_PTR, StreamSync(each, stream()));
  }
}

TEST_F(DispatcherTest, WithoutADispatcherEverythingIsEPtr) {
  hccl::DeviceMem memory = hccl::DeviceMem::alloc(64);
  HcclDispatcher none = nullptr;
  SyncMode mode{};
  std::vector<void*> space;
  std::vector<hccl::Stream> streams;
  char byte = 0;
  EXPECT_HCCL(HCCL_E_PTR, HcclSetGlobalWorkSpace(none, space));
  EXPECT_HCCL(HCCL_E_PTR, HcclSetNotifyWaitMode(none, mode));
  EXPECT_HCCL(HCCL_E_PTR, HcclGetNotifyWaitMode(none, &mode));
  EXPECT_HCCL(HCCL_E_PTR, HcclD2DMemcpyAsync(none, memory, memory, stream()));
  EXPECT_HCCL(HCCL_E_PTR,
              HcclMemcpyAsync(none, &byte, 1, &byte, 1, HcclRtMemcpyKind::HCCL_RT_MEMCPY_KIND_HOST_TO_HOST,
                              stream(), 0, hccl::LinkType::LINK_ONCHIP));
  EXPECT_HCCL(HCCL_E_PTR, HcclReduceAsync(none, &byte, 1, HCCL_DATA_TYPE_INT8, HCCL_REDUCE_SUM, stream(),
                                          &byte, 0, hccl::LinkType::LINK_ONCHIP, 1));
  EXPECT_HCCL(HCCL_E_PTR, HcclDispatcherWaitValue(none, stream(), 0, 0, false));
  EXPECT_HCCL(HCCL_E_PTR, HcclDispatcherWriteValue(none, stream(), 0, 0));
  EXPECT_HCCL(HCCL_E_PTR, HcclSignalRecord(none, &byte, stream(), 0, 0, 0, true, 0));
  EXPECT_HCCL(HCCL_E_PTR, HcclSignalWait(none, &byte, stream(), 0, 0, 0, true));
  EXPECT_HCCL(HCCL_E_PTR, InitTask(none, stream(), false, ""));
  EXPECT_HCCL(HCCL_E_PTR, LaunchTask(none, stream()));
  EXPECT_HCCL(HCCL_E_PTR, LaunchTaskExtend(none, stream(), streams));
  EXPECT_HCCL(HCCL_E_PTR, SetNormalMode(none));
  EXPECT_HCCL(HCCL_E_PTR, HcclGetCallbackResult(none));
  EXPECT_HCCL(HCCL_E_PTR, RegisterLoadTaskCallBack(none, nullptr, nullptr));
  EXPECT_HCCL(HCCL_E_PTR, AddRetryPreamble(none, stream()));
  EXPECT_HCCL(HCCL_E_PTR, StreamSync(none, stream()));
  EXPECT_HCCL(HCCL_E_PTR, ForceProfOn(none, true));
  EXPECT_HCCL(HCCL_E_PTR, HcclSetExecTimeOut(none, 1));
  EXPECT_HCCL(HCCL_E_PTR, SetMultiQpMode(none, true));
}

TEST_F(DispatcherTest, TheDeviceSideIsRefusedBeforeAnythingElse) {
  HcclDispatcher made = nullptr;
  EXPECT_HCCL(HCCL_E_NOT_SUPPORT, HcclDispatcherAicpuInit(&made, 0, 0));
  for (const HcclDispatcher each : {HcclDispatcher(nullptr), d()}) {
    EXPECT_HCCL(HCCL_E_NOT_SUPPORT, HcclSetOpExecStatusCallback(each, [] { return HCCL_SUCCESS; }));
    EXPECT_HCCL(HCCL_E_NOT_SUPPORT, HcclSetSqeTimeOut(each, 1));
    EXPECT_HCCL(HCCL_E_NOT_SUPPORT, HcclSetSqFullWaitTimeOut(each, 1));
    EXPECT_HCCL(HCCL_E_NOT_SUPPORT, HcclSetOpRingBufferIdx(each, 1));
  }
}

TEST_F(DispatcherTest, SettingsAreKept) {
  SyncMode mode{};
  EXPECT_HCCL(HCCL_SUCCESS, HcclGetNotifyWaitMode(d(), &mode));
  EXPECT_EQ(mode, SyncMode::DEFAULT_TIMEWAITSYNCMODE);
  for (const SyncMode each :
       {SyncMode::UNLIMITED_TIMEWAITSYNCMODE, SyncMode::CONFIGURABLE_TIMEWAITSYNCMODE}) {
    EXPECT_HCCL(HCCL_SUCCESS, HcclSetNotifyWaitMode(d(), each));
    EXPECT_HCCL(HCCL_SUCCESS, HcclGetNotifyWaitMode(d(), &mode));
    EXPECT_EQ(mode, each);
  }
  EXPECT_HCCL(HCCL_E_PTR, HcclGetNotifyWaitMode(d(), nullptr));
  EXPECT_HCCL(HCCL_SUCCESS, HcclSetExecTimeOut(d()));
  EXPECT_HCCL(HCCL_E_PARA, HcclSetExecTimeOut(d(), -1));
  std::vector<void*> space;
  EXPECT_HCCL(HCCL_SUCCESS, HcclSetGlobalWorkSpace(d(), space));
  EXPECT_TRUE(space.empty()) << "the imitated chips have no overflow address";
  EXPECT_HCCL(HCCL_SUCCESS, SetMultiQpMode(d(), true));
  EXPECT_HCCL(HCCL_SUCCESS, AddRetryPreamble(d(), stream()));
  EXPECT_HCCL(HCCL_SUCCESS, HcclDispatcherWaitValue(d(), stream(), 0, 0, true));
  EXPECT_HCCL(HCCL_SUCCESS, HcclDispatcherWriteValue(d(), stream(), 0, 0));
}

TEST_F(DispatcherTest, StreamSyncDoesNotWait) {
  Gate gate(stream().ptr());
  EXPECT_HCCL(HCCL_SUCCESS, StreamSync(d(), stream()));
  EXPECT_FALSE(gate.passed());
}

TEST_F(DispatcherTest, AVirtualOneOnlyLeavesRecords) {
  const OwnDispatcher imagined(DispatcherType::DISPATCHER_VIRTURAL);
  GuardedBuffer dst(Place::kDevice, 64), src(Place::kDevice, 64);
  hccl::DeviceMem to = View(dst);
  const hccl::DeviceMem from = View(src);
  hccl::DeviceMem small = to.range(0, 63);
  EXPECT_HCCL(HCCL_E_PTR, HcclD2DMemcpyAsync(imagined, small, from, stream()));
  EXPECT_HCCL(HCCL_SUCCESS, HcclD2DMemcpyAsync(imagined, to, from, stream(), 5, hccl::LinkType::LINK_HCCS));
  EXPECT_HCCL(HCCL_SUCCESS, HcclReduceAsync(imagined, from.ptr(), 16, HCCL_DATA_TYPE_FP32, HCCL_REDUCE_MAX,
                                            stream(), to.ptr(), 6, hccl::LinkType::LINK_SIO, 1));
  int signal = 0;
  EXPECT_HCCL(HCCL_SUCCESS, HcclSignalRecord(imagined, &signal, stream(), 1, 2, 3, true, 0));
  EXPECT_HCCL(HCCL_SUCCESS, HcclSignalWait(imagined, &signal, stream(), 1, 2, 3, false));
  EXPECT_HCCL(HCCL_E_PTR, HcclSignalRecord(imagined, nullptr, stream(), 1, 2, 3, true, 0));
  Synchronize();
  EXPECT_TRUE(dst.Untouched());
  using Kind = hccl::TaskLogicFuncType;
  hccl::TaskLogicInfo info;
  ASSERT_HCCL(HCCL_SUCCESS, stream().PopTaskLogicInfo(info));
  EXPECT_EQ(info.taskFuncType, Kind::DISPATCHER_MEMCPYASYNC_TYPE);
  EXPECT_EQ(info.src, from.ptr());
  EXPECT_EQ(info.dst, to.ptr());
  EXPECT_EQ(info.size, 64u);
  EXPECT_EQ(info.remoteUserRank, 5u);
  EXPECT_EQ(info.linkType, hccl::LinkType::LINK_HCCS);
  ASSERT_HCCL(HCCL_SUCCESS, stream().PopTaskLogicInfo(info));
  EXPECT_EQ(info.taskFuncType, Kind::DISPATCHER_REDUCEASYNC_TYPE);
  EXPECT_EQ(info.size, 16u);
  EXPECT_EQ(info.reduceOp, HCCL_REDUCE_MAX);
  ASSERT_HCCL(HCCL_SUCCESS, stream().PopTaskLogicInfo(info));
  EXPECT_EQ(info.taskFuncType, Kind::DISPATCHER_SIGNALRECORD_TYPE);
  EXPECT_EQ(info.signal, &signal);
  ASSERT_HCCL(HCCL_SUCCESS, stream().PopTaskLogicInfo(info));
  EXPECT_EQ(info.taskFuncType, Kind::DISPATCHER_SIGNALWAIT_TYPE);
  EXPECT_EQ(info.remoteUserRank, 2u);
  EXPECT_HCCL(HCCL_E_NOT_FOUND, stream().PopTaskLogicInfo(info));
}

}  // namespace
}  // namespace sampan::test::dispatcher_test
