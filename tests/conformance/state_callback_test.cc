// Functions that are told of devices, streams and aborts; what exception information says.
// Rules of docs/BEHAVIOUR.md: callback-2, callback-3, stream-5.
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdint>
#include <mutex>
#include <string>
#include <vector>

#include "acl/acl.h"
#include "tests/support/acl_expect.h"
#include "tests/support/device_fixture.h"
#include "tests/support/memory_buffer.h"
#include "tests/support/stream.h"

namespace sampan::test::state_callback_test {
namespace {

using Calls = std::vector<std::string>;

void NoteDevice(std::int32_t device, aclrtDeviceState state, void* calls) {
  static_cast<Calls*>(calls)->push_back(std::to_string(device) + ":" + std::to_string(state));
}
void NoteStream(aclrtStream stream, aclrtStreamState state, void* calls) {
  std::int32_t id = -1;
  EXPECT_ACL(ACL_SUCCESS, aclrtStreamGetId(stream, &id)) << "alive at both moments";
  static_cast<Calls*>(calls)->push_back(std::to_string(state));
}
std::int32_t NoteAbort(std::int32_t device, aclrtDeviceTaskAbortStage stage, std::uint32_t timeout,
                       void* calls) {
  static_cast<Calls*>(calls)->push_back(std::to_string(device) + ":" + std::to_string(stage) + ":" +
                                        std::to_string(timeout));
  return 0;
}
std::int32_t RefuseAbort(std::int32_t, aclrtDeviceTaskAbortStage, std::uint32_t, void*) {
  return 5;
}

class StateCallbackTest : public DeviceTest {};

TEST_F(StateCallbackTest, DevicesSetAndReset) {
  Calls calls;
  EXPECT_ACL(ACL_ERROR_INVALID_PARAM, aclrtRegDeviceStateCallback(nullptr, &NoteDevice, &calls));
  EXPECT_ACL(ACL_SUCCESS, aclrtRegDeviceStateCallback("test", &NoteDevice, &calls));
  EXPECT_ACL(ACL_SUCCESS, aclrtSetDevice(1));
  EXPECT_ACL(ACL_SUCCESS, aclrtResetDevice(1));
  EXPECT_ACL(ACL_SUCCESS, aclrtRegDeviceStateCallback("test", nullptr, nullptr));
  EXPECT_ACL(ACL_SUCCESS, aclrtSetDevice(0));
  EXPECT_ACL(ACL_SUCCESS, aclrtResetDevice(0));
  EXPECT_EQ(calls, (Calls{"1:0", "1:1", "1:2", "1:3"}));
  EXPECT_ACL(ACL_SUCCESS, aclrtSetDevice(0));
  EXPECT_ACL(ACL_SUCCESS, aclrtResetDevice(0));
}

TEST_F(StateCallbackTest, StreamsMadeAndEnded) {
  Calls calls;
  EXPECT_ACL(ACL_SUCCESS, aclrtRegStreamStateCallback("test", &NoteStream, &calls));
  { Stream stream; }
  EXPECT_ACL(ACL_SUCCESS, aclrtRegStreamStateCallback("test", nullptr, nullptr));
  EXPECT_EQ(calls, (Calls{"1", "2"}));
}

TEST_F(StateCallbackTest, WhatIsRefusedIsNotTold) {
  Calls calls;
  Stream stream;
  aclrtStream default_stream = nullptr, dead = nullptr;
  EXPECT_ACL(ACL_SUCCESS, aclrtCtxGetCurrentDefaultStream(&default_stream));
  EXPECT_ACL(ACL_SUCCESS, aclrtCreateStream(&dead));
  EXPECT_ACL(ACL_SUCCESS, aclrtDestroyStream(dead));
  EXPECT_ACL(ACL_SUCCESS, aclrtRegDeviceStateCallback("test", &NoteDevice, &calls));
  EXPECT_ACL(ACL_SUCCESS, aclrtRegStreamStateCallback("test", &NoteStream, &calls));
  for (const auto destroy : {&aclrtDestroyStream, &aclrtDestroyStreamForce}) {
    EXPECT_ACL(ACL_ERROR_RT_PARAM_INVALID, destroy(default_stream));
    EXPECT_ACL(ACL_ERROR_RT_INVALID_HANDLE, destroy(dead));
    OnNewThread([&] { EXPECT_ACL(ACL_ERROR_RT_CONTEXT_NULL, destroy(stream)); });
    OnNewThread([&] {
      aclrtContext other = nullptr;
      EXPECT_ACL(ACL_SUCCESS, aclrtCreateContext(&other, 0));
      EXPECT_ACL(ACL_ERROR_RT_STREAM_CONTEXT, destroy(stream));
      EXPECT_ACL(ACL_SUCCESS, aclrtDestroyContext(other));
    });
  }
  EXPECT_ACL(ACL_ERROR_RT_INVALID_DEVICEID, aclrtSetDevice(99));
  for (const auto reset : {&aclrtResetDevice, &aclrtResetDeviceForce}) {
    EXPECT_ACL(ACL_ERROR_RT_INVALID_DEVICEID, reset(99));
    EXPECT_ACL(ACL_ERROR_RT_CONTEXT_RELEASE_ERROR, reset(1));
  }
  EXPECT_ACL(ACL_SUCCESS, aclrtRegDeviceStateCallback("test", nullptr, nullptr));
  EXPECT_ACL(ACL_SUCCESS, aclrtRegStreamStateCallback("test", nullptr, nullptr));
  EXPECT_EQ(calls, Calls{});
}

TEST_F(StateCallbackTest, AnAbortDropsTheWorkOfTheDevice) {
  Calls calls;
  EXPECT_ACL(ACL_SUCCESS, aclrtSetDeviceTaskAbortCallback("test", &NoteAbort, &calls));
  Stream stream;
  aclrtNotify notify = nullptr;
  EXPECT_ACL(ACL_SUCCESS, aclrtCreateNotify(&notify, 0));
  EXPECT_ACL(ACL_SUCCESS, aclrtWaitAndResetNotify(notify, stream, 0));
  EXPECT_ACL(ACL_ERROR_RT_INVALID_DEVICEID, aclrtDeviceTaskAbort(99, 0));
  EXPECT_ACL(ACL_SUCCESS, aclrtDeviceTaskAbort(0, 1234));
  EXPECT_ACL(ACL_SUCCESS, aclrtSynchronizeStreamWithTimeout(stream, 5000)) << "nothing holds it any more";
  EXPECT_EQ(calls, (Calls{"0:0:1234", "0:1:1234"}));
  EXPECT_ACL(ACL_SUCCESS, aclrtSetDeviceTaskAbortCallback("test", &RefuseAbort, nullptr));
  EXPECT_ACL(ACL_ERROR_RT_INTERNAL_ERROR, aclrtDeviceTaskAbort(0, 0));
  EXPECT_ACL(ACL_SUCCESS, aclrtSetDeviceTaskAbortCallback("test", nullptr, nullptr));
  EXPECT_ACL(ACL_SUCCESS, aclrtDestroyNotify(notify));
}

/// Blocking calls of another thread at each stage of an abort.
struct CallsMeanwhile {
  std::int32_t device;  ///< whose context the other thread has
  void* memory;
  std::vector<aclError> copies, fills;
};
std::int32_t CallMeanwhile(std::int32_t, aclrtDeviceTaskAbortStage, std::uint32_t, void* argument) {
  auto& calls = *static_cast<CallsMeanwhile*>(argument);
  OnNewThread([&] {
    EXPECT_ACL(ACL_SUCCESS, aclrtSetDevice(calls.device));
    const char source[64] = {};
    calls.copies.push_back(aclrtMemcpy(calls.memory, 64, source, 64, ACL_MEMCPY_HOST_TO_DEVICE));
    calls.fills.push_back(aclrtMemset(calls.memory, 64, 1, 64));
    EXPECT_ACL(ACL_SUCCESS, aclrtResetDevice(calls.device));
  });
  return 0;
}

TEST_F(StateCallbackTest, BlockingCallsAreRefusedWhileADeviceIsAborted) {
  using Codes = std::vector<aclError>;
  const DeviceBuffer memory(64);
  const Bytes before(64, std::byte{0x6B});
  memory.Write(0, before);
  for (const auto& [device, code] : {std::pair{0, ACL_ERROR_RT_DEVICE_TASK_ABORT}, {1, int{ACL_SUCCESS}}}) {
    SCOPED_TRACE(device);
    CallsMeanwhile calls{device, memory.data(), {}, {}};
    EXPECT_ACL(ACL_SUCCESS, aclrtSetDeviceTaskAbortCallback("test", &CallMeanwhile, &calls));
    EXPECT_ACL(ACL_SUCCESS, aclrtDeviceTaskAbort(0, 0));
    EXPECT_EQ(calls.copies, (Codes{code, code}));
    EXPECT_EQ(calls.fills, (Codes{code, code}));
    if (device == 0) {
      EXPECT_EQ(memory.Read(0, 64), before) << "refused, so nothing moved; and copies work again afterwards";
    }
  }
  EXPECT_ACL(ACL_SUCCESS, aclrtSetDeviceTaskAbortCallback("test", &RefuseAbort, nullptr));
  EXPECT_ACL(ACL_ERROR_RT_INTERNAL_ERROR, aclrtDeviceTaskAbort(0, 0));
  EXPECT_ACL(ACL_SUCCESS, aclrtSetDeviceTaskAbortCallback("test", nullptr, nullptr));
  EXPECT_ACL(ACL_SUCCESS, aclrtMemset(memory.data(), 64, 0, 64)) << "an abort that was refused is over too";
}

/// What the functions were told; they have no argument for it.
struct Told {
  int count = 0;
  std::uint32_t task = 0, thread = 0, code = 0;
};
std::mutex told_mutex;
Told told;

void Note(aclrtExceptionInfo* info) {
  const std::lock_guard lock(told_mutex);
  ++told.count;
  told.task = aclrtGetTaskIdFromExceptionInfo(info);
  told.thread = aclrtGetThreadIdFromExceptionInfo(info);
  told.code = aclrtGetErrorCodeFromExceptionInfo(info);
}

TEST_F(StateCallbackTest, AFailureIsToldBeforeASynchronisationReportsIt) {
  told = {};
  EXPECT_ACL(ACL_SUCCESS, aclrtExceptionInfoCallbackRegister(&Note));
  Stream stream;
  for (int round = 1; round <= 20; ++round) {
    DeviceBuffer memory(64);
    {
      const Gate gate(stream);
      EXPECT_ACL(ACL_SUCCESS, aclrtMemsetAsync(memory.data(), 64, 0, 64, stream));
      memory.Free();
    }
    EXPECT_ACL(ACL_ERROR_RT_SYS_DMA, aclrtSynchronizeStream(stream));
    const std::lock_guard lock(told_mutex);
    ASSERT_EQ(told.count, round);
    EXPECT_EQ(told.code, static_cast<std::uint32_t>(ACL_ERROR_RT_SYS_DMA));
    EXPECT_EQ(told.task, static_cast<std::uint32_t>(2 * round)) << "the second task of each round";
    EXPECT_EQ(told.thread, static_cast<std::uint32_t>(gettid()));
  }
  EXPECT_ACL(ACL_SUCCESS, aclrtExceptionInfoCallbackUnregister(&Note));
  EXPECT_ACL(ACL_ERROR_RT_PARAM_INVALID, aclrtExceptionInfoCallbackUnregister(&Note));
}

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
TEST_F(StateCallbackTest, TheOlderCallHasOneFunction) {
  told = {};
  EXPECT_ACL(ACL_SUCCESS, aclrtSetExceptionInfoCallback(&Note));
  EXPECT_ACL(ACL_SUCCESS, aclrtSetExceptionInfoCallback(&Note));
  Stream stream;
  aclrtNotify notify = nullptr;
  EXPECT_ACL(ACL_SUCCESS, aclrtCreateNotify(&notify, 0));
  EXPECT_ACL(ACL_SUCCESS, aclrtWaitAndResetNotify(notify, stream, 1));
  EXPECT_ACL(ACL_ERROR_RT_TASK_TIMEOUT, aclrtSynchronizeStream(stream));
  EXPECT_EQ(told.count, 1) << "set again, it replaces itself";
  EXPECT_ACL(ACL_SUCCESS, aclrtSetExceptionInfoCallback(nullptr));
  EXPECT_ACL(ACL_SUCCESS, aclrtDestroyNotify(notify));
}
#pragma GCC diagnostic pop

}  // namespace
}  // namespace sampan::test::state_callback_test
