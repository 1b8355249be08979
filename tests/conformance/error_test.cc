// What a thread can ask about its errors: the messages and the last error.
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdint>
#include <string>

#include "acl/acl.h"
#include "tests/support/acl_expect.h"
#include "tests/support/device_fixture.h"
#include "tests/support/memory_buffer.h"
#include "tests/support/stream.h"
#include "tests/support/text_match.h"

namespace sampan::test::error_test {
namespace {

constexpr aclrtLastErrLevel kThread = ACL_RT_THREAD_LEVEL;

std::string AllMessages() {
  const char* text = aclGetRecentErrMsg();
  return text == nullptr ? std::string() : text;
}

std::size_t Count(const std::string& text, const std::string& part) {
  std::size_t found = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1))
    ++found;
  return found;
}

// ---- messages ----

TEST(ErrorMessage, IsMissingUntilTheThreadHasAnError) {
  OnNewThread([] {
    EXPECT_EQ(aclGetRecentErrMsg(), nullptr);
    std::uint32_t count = 0;
    EXPECT_ACL(ACL_SUCCESS, aclrtGetDeviceCount(&count));
    EXPECT_EQ(aclGetRecentErrMsg(), nullptr) << "a call that succeeds says nothing";
    EXPECT_ACL(ACL_ERROR_INVALID_PARAM, aclrtGetDeviceCount(nullptr));
    EXPECT_NE(aclGetRecentErrMsg(), nullptr);
  });
}

TEST(ErrorMessage, HasTheDocumentedShape) {
  OnNewThread([] {
    EXPECT_ACL(ACL_ERROR_INVALID_PARAM, aclrtGetDeviceCount(nullptr));
    const std::string shape = "^\\[PID: " + std::to_string(getpid()) + "\\] [^(]+\\(E[A-Z][0-9]{4}\\): .+$";
    EXPECT_EQ(AllMessages().find(FindMatch(AllMessages(), shape)), 0u) << AllMessages();
    EXPECT_TRUE(Matches(AllMessages(), shape)) << AllMessages();
  });
}

TEST(ErrorMessage, NamesANullArgument) {
  OnNewThread([] {
    EXPECT_ACL(ACL_ERROR_INVALID_PARAM, aclrtGetDeviceCount(nullptr));
    EXPECT_TRUE(MessageHas("EH0002"));
    EXPECT_TRUE(MessageHas("count"));
  });
}

TEST(ErrorMessage, ShowsTheRefusedValue) {
  OnNewThread([] {
    EXPECT_ACL(ACL_ERROR_RT_INVALID_DEVICEID, aclrtSetDevice(4711));
    EXPECT_TRUE(MessageHas("4711"));
    EXPECT_TRUE(MessageHas("EE1"));
  });
}

TEST(ErrorMessage, NewestComesFirstAndOldOnesStay) {
  OnNewThread([] {
    EXPECT_ACL(ACL_ERROR_RT_INVALID_DEVICEID, aclrtSetDevice(4711));
    EXPECT_ACL(ACL_ERROR_RT_INVALID_DEVICEID, aclrtSetDevice(4712));
    const std::string all = AllMessages();
    EXPECT_EQ(Count(all, "[PID: "), 2u) << all;
    EXPECT_LT(all.find("4712"), all.find("4711")) << all;
  });
}

TEST(ErrorMessage, StaysAfterItWasReadAndAfterSuccess) {
  OnNewThread([] {
    EXPECT_ACL(ACL_ERROR_RT_INVALID_DEVICEID, aclrtSetDevice(4711));
    const std::string first = AllMessages();
    EXPECT_EQ(AllMessages(), first);
    std::uint32_t count = 0;
    EXPECT_ACL(ACL_SUCCESS, aclrtGetDeviceCount(&count));
    EXPECT_EQ(AllMessages(), first);
  });
}

TEST(ErrorMessage, BelongsToOneThread) {
  OnNewThread([] {
    OnNewThread([] { EXPECT_ACL(ACL_ERROR_RT_INVALID_DEVICEID, aclrtSetDevice(4711)); });
    EXPECT_EQ(aclGetRecentErrMsg(), nullptr);
  });
}

using ErrorMessageOfMemory = DeviceTest;

TEST_F(ErrorMessageOfMemory, NamesTheAllocation) {
  DeviceBuffer buffer(1024);
  EXPECT_ACL(ACL_ERROR_RT_PARAM_INVALID, aclrtMemset(buffer.data(), 5000, 0, 5000));
  EXPECT_TRUE(MessageHas(Hex(buffer.data())));
  EXPECT_TRUE(MessageHas("1024"));
  EXPECT_TRUE(MessageHas("5000"));
  EXPECT_TRUE(MessageHas("aclrtMalloc"));
}

// ---- the last error ----

class LastError : public DeviceTest {};

TEST_F(LastError, LevelMustBeTheThread) {
  EXPECT_ACL(ACL_ERROR_INVALID_PARAM, aclrtGetLastError(static_cast<aclrtLastErrLevel>(1)));
  EXPECT_ACL(ACL_ERROR_INVALID_PARAM, aclrtPeekAtLastError(static_cast<aclrtLastErrLevel>(1)));
}

TEST_F(LastError, PeekKeepsGetClears) {
  EXPECT_ACL(ACL_ERROR_RT_INVALID_DEVICEID, aclrtSetDevice(-1));
  EXPECT_EQ(aclrtPeekAtLastError(kThread), ACL_ERROR_RT_INVALID_DEVICEID);
  EXPECT_EQ(aclrtPeekAtLastError(kThread), ACL_ERROR_RT_INVALID_DEVICEID);
  EXPECT_EQ(aclrtGetLastError(kThread), ACL_ERROR_RT_INVALID_DEVICEID);
  EXPECT_EQ(aclrtGetLastError(kThread), ACL_SUCCESS);
  EXPECT_EQ(aclrtPeekAtLastError(kThread), ACL_SUCCESS);
}

TEST_F(LastError, SuccessKeepsIt) {
  EXPECT_ACL(ACL_ERROR_RT_INVALID_DEVICEID, aclrtSetDevice(-1));
  EXPECT_ACL(ACL_SUCCESS, aclrtSynchronizeStream(nullptr));
  EXPECT_EQ(aclrtGetLastError(kThread), ACL_ERROR_RT_INVALID_DEVICEID);
}

TEST_F(LastError, TheLatestCounts) {
  EXPECT_ACL(ACL_ERROR_RT_INVALID_DEVICEID, aclrtSetDevice(-1));
  EXPECT_ACL(ACL_ERROR_RT_INVALID_HANDLE, aclrtSynchronizeStream(DeadStream()));
  EXPECT_EQ(aclrtGetLastError(kThread), ACL_ERROR_RT_INVALID_HANDLE);
}

TEST_F(LastError, BelongsToOneThread) {
  OnNewThread([] {
    EXPECT_ACL(ACL_ERROR_RT_INVALID_DEVICEID, aclrtSetDevice(-1));
    EXPECT_EQ(aclrtPeekAtLastError(kThread), ACL_ERROR_RT_INVALID_DEVICEID);
  });
  EXPECT_EQ(aclrtPeekAtLastError(kThread), ACL_SUCCESS);
}

TEST_F(LastError, ArgumentChecksOfTheOuterLayerDoNotSetIt) {
  EXPECT_ACL(ACL_ERROR_INVALID_PARAM, aclrtMalloc(nullptr, 64, ACL_MEM_MALLOC_HUGE_FIRST));
  EXPECT_ACL(ACL_ERROR_INVALID_PARAM, aclrtFree(nullptr));
  EXPECT_ACL(ACL_ERROR_INVALID_PARAM, aclrtCreateStream(nullptr));
  EXPECT_ACL(ACL_ERROR_FEATURE_UNSUPPORTED, aclrtDeviceEnablePeerAccess(1, 1));
  EXPECT_EQ(aclrtPeekAtLastError(kThread), ACL_SUCCESS);
}

TEST_F(LastError, TimeoutThatIsNegativeDoesNotSetIt) {
  Event event;
  EXPECT_ACL(ACL_ERROR_RT_PARAM_INVALID, aclrtSynchronizeStreamWithTimeout(nullptr, -2));
  EXPECT_ACL(ACL_ERROR_RT_PARAM_INVALID, aclrtSynchronizeDeviceWithTimeout(-2));
  EXPECT_ACL(ACL_ERROR_RT_PARAM_INVALID, aclrtSynchronizeEventWithTimeout(event, -2));
  EXPECT_EQ(aclrtPeekAtLastError(kThread), ACL_SUCCESS);
  EXPECT_ACL(ACL_ERROR_RT_PARAM_INVALID, aclrtSynchronizeDeviceWithTimeout(0));
  EXPECT_EQ(aclrtGetLastError(kThread), ACL_ERROR_RT_PARAM_INVALID) << "0 is refused further inside";
}

TEST_F(LastError, RuntimeChecksSetIt) {
  int on_stack = 0;
  EXPECT_ACL(ACL_ERROR_RT_PARAM_INVALID, aclrtFree(&on_stack));
  EXPECT_EQ(aclrtGetLastError(kThread), ACL_ERROR_RT_PARAM_INVALID);

  EXPECT_ACL(ACL_ERROR_RT_INVALID_HANDLE, aclrtDestroyStream(&on_stack));
  EXPECT_EQ(aclrtGetLastError(kThread), ACL_ERROR_RT_INVALID_HANDLE);

  EXPECT_ACL(ACL_ERROR_HOST_MEMORY_NOT_REGISTERED, aclrtHostUnregister(&on_stack));
  EXPECT_EQ(aclrtGetLastError(kThread), ACL_ERROR_HOST_MEMORY_NOT_REGISTERED);

  OnNewThread([] {
    void* memory = nullptr;
    EXPECT_ACL(ACL_ERROR_RT_CONTEXT_NULL, aclrtMalloc(&memory, 64, ACL_MEM_MALLOC_HUGE_FIRST));
    EXPECT_EQ(aclrtGetLastError(kThread), ACL_ERROR_RT_CONTEXT_NULL);
  });
}

TEST_F(LastError, AsynchronousFailureSetsItWhereItIsReported) {
  Stream stream;
  DeviceBuffer dst(64), src(64);
  {
    const Gate gate(stream);
    EXPECT_ACL(ACL_SUCCESS,
               aclrtMemcpyAsync(dst.data(), 64, src.data(), 64, ACL_MEMCPY_DEVICE_TO_DEVICE, stream));
    dst.Free();
  }
  EXPECT_ACL(ACL_ERROR_RT_SYS_DMA, aclrtSynchronizeStream(stream));
  EXPECT_EQ(aclrtGetLastError(kThread), ACL_ERROR_RT_SYS_DMA);
}

TEST_F(LastError, StatesThatAreNoErrorsDoNotSetIt) {
  Stream stream;
  Event event;
  const Gate gate(stream);
  EXPECT_ACL(ACL_SUCCESS, aclrtRecordEvent(event, stream));
  aclrtStreamStatus stream_status = ACL_STREAM_STATUS_RESERVED;
  EXPECT_ACL(ACL_SUCCESS, aclrtStreamQuery(stream, &stream_status));
  EXPECT_EQ(stream_status, ACL_STREAM_STATUS_NOT_READY);
  aclrtEventRecordedStatus event_status = ACL_EVENT_RECORDED_STATUS_COMPLETE;
  EXPECT_ACL(ACL_SUCCESS, aclrtQueryEventStatus(event, &event_status));
  EXPECT_EQ(event_status, ACL_EVENT_RECORDED_STATUS_NOT_READY);
  EXPECT_EQ(aclrtPeekAtLastError(kThread), ACL_SUCCESS);
}

TEST_F(LastError, AskingForAMissingContextDoesNotSetIt) {
  OnNewThread([] {
    aclrtContext context = nullptr;
    EXPECT_ACL(ACL_ERROR_RT_CONTEXT_NULL, aclrtGetCurrentContext(&context));
    EXPECT_EQ(aclrtPeekAtLastError(kThread), ACL_SUCCESS);
  });
}

TEST_F(LastError, UnsupportedCopyDoesNotSetIt) {
  PinnedBuffer dst(64), src(64);
  EXPECT_ACL(ACL_ERROR_RT_FEATURE_NOT_SUPPORT,
             aclrtMemcpyAsync(dst.data(), 64, src.data(), 64, ACL_MEMCPY_HOST_TO_HOST, nullptr));
  EXPECT_EQ(aclrtPeekAtLastError(kThread), ACL_SUCCESS);
}

}  // namespace
}  // namespace sampan::test::error_test
