// Notifies within one process: binary, taken by the wait, in stream order.
// Rules of docs/BEHAVIOUR.md: notify-1, notify-2.
#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <cstdint>
#include <string>
#include <thread>
#include <vector>

#include "acl/acl.h"
#include "tests/support/acl_expect.h"
#include "tests/support/device_fixture.h"
#include "tests/support/memory_buffer.h"
#include "tests/support/stream.h"

namespace sampan::test::notify_test {
namespace {

class OwnedNotify {
 public:
  OwnedNotify() { EXPECT_ACL(ACL_SUCCESS, aclrtCreateNotify(&notify_, ACL_NOTIFY_DEFAULT)); }
  ~OwnedNotify() { EXPECT_ACL(ACL_SUCCESS, aclrtDestroyNotify(notify_)); }
  OwnedNotify(const OwnedNotify&) = delete;
  OwnedNotify& operator=(const OwnedNotify&) = delete;
  operator aclrtNotify() const { return notify_; }

 private:
  aclrtNotify notify_ = nullptr;
};

bool IsDone(aclrtStream stream) {
  aclrtStreamStatus status = ACL_STREAM_STATUS_RESERVED;
  EXPECT_ACL(ACL_SUCCESS, aclrtStreamQuery(stream, &status));
  return status == ACL_STREAM_STATUS_COMPLETE;
}

class NotifyTest : public DeviceTest {};

TEST_F(NotifyTest, ArgumentsAreChecked) {
  aclrtNotify notify = nullptr;
  EXPECT_ACL(ACL_ERROR_INVALID_PARAM, aclrtCreateNotify(nullptr, 0));
  EXPECT_ACL(ACL_ERROR_RT_PARAM_INVALID, aclrtCreateNotify(&notify, 2));
  EXPECT_ACL(ACL_ERROR_INVALID_PARAM, aclrtDestroyNotify(nullptr));
  EXPECT_ACL(ACL_ERROR_INVALID_PARAM, aclrtRecordNotify(nullptr, nullptr));
  EXPECT_ACL(ACL_ERROR_INVALID_PARAM, aclrtWaitAndResetNotify(nullptr, nullptr, 0));
  const OwnedNotify own;
  std::uint32_t id = 0;
  EXPECT_ACL(ACL_ERROR_INVALID_PARAM, aclrtGetNotifyId(own, nullptr));
  EXPECT_ACL(ACL_SUCCESS, aclrtGetNotifyId(own, &id));
  aclrtNotify list[] = {own};
  EXPECT_ACL(ACL_ERROR_INVALID_PARAM, aclrtNotifyBatchReset(nullptr, 1));
  EXPECT_ACL(ACL_ERROR_RT_PARAM_INVALID, aclrtNotifyBatchReset(list, 0));
  aclrtNotify gap[] = {own, own, nullptr};
  EXPECT_ACL(ACL_ERROR_INVALID_PARAM, aclrtNotifyBatchReset(gap, 3));
  EXPECT_TRUE(MessageHas("notifies[2] is NULL"));
  std::array<char, 65> key{};
  EXPECT_ACL(ACL_ERROR_INVALID_PARAM, aclrtNotifyGetExportKey(own, nullptr, 65, 0));
  EXPECT_ACL(ACL_ERROR_RT_PARAM_INVALID, aclrtNotifyGetExportKey(own, key.data(), 64, 0));
  EXPECT_ACL(ACL_ERROR_RT_PARAM_INVALID, aclrtNotifyGetExportKey(own, key.data(), 65, 1));
  EXPECT_ACL(ACL_ERROR_INVALID_PARAM, aclrtNotifyImportByKey(&notify, nullptr, 0));
  EXPECT_ACL(ACL_ERROR_RT_PARAM_INVALID, aclrtNotifyImportByKey(&notify, "nonsense", 0));
  EXPECT_EQ(notify, nullptr);
}

TEST_F(NotifyTest, ADeadHandleIsRefused) {
  aclrtNotify notify = nullptr;
  EXPECT_ACL(ACL_SUCCESS, aclrtCreateNotify(&notify, ACL_NOTIFY_DEVICE_USE_ONLY));
  EXPECT_ACL(ACL_SUCCESS, aclrtDestroyNotify(notify));
  EXPECT_ACL(ACL_ERROR_RT_INVALID_HANDLE, aclrtDestroyNotify(notify));
  EXPECT_ACL(ACL_ERROR_RT_INVALID_HANDLE, aclrtRecordNotify(notify, nullptr));
  Stream stream;
  EXPECT_ACL(ACL_ERROR_RT_INVALID_HANDLE, aclrtRecordNotify(stream.get(), nullptr));
}

TEST_F(NotifyTest, AStreamOfAnotherContextIsRefused) {
  const OwnedNotify notify;
  const ForeignStream foreign;
  EXPECT_ACL(ACL_ERROR_RT_STREAM_CONTEXT, aclrtRecordNotify(notify, foreign));
  EXPECT_ACL(ACL_ERROR_RT_STREAM_CONTEXT, aclrtWaitAndResetNotify(notify, foreign, 0));
}

TEST_F(NotifyTest, AWaitHoldsItsStreamUntilTheRecord) {
  const OwnedNotify notify;
  Stream waiting, recording;
  Random random;
  const Bytes contents = random.Fill(4096);
  DeviceBuffer src(4096), dst(4096);
  src.Write(0, contents);
  EXPECT_ACL(ACL_SUCCESS, aclrtMemset(dst.data(), 4096, 0, 4096));
  EXPECT_ACL(ACL_SUCCESS, aclrtWaitAndResetNotify(notify, waiting, 0));
  EXPECT_ACL(ACL_SUCCESS,
             aclrtMemcpyAsync(dst.data(), 4096, src.data(), 4096, ACL_MEMCPY_DEVICE_TO_DEVICE, waiting));
  std::this_thread::sleep_for(std::chrono::milliseconds(5));
  EXPECT_FALSE(IsDone(waiting));
  EXPECT_EQ(dst.Read(0, 4096), Bytes(4096));
  EXPECT_ACL(ACL_SUCCESS, aclrtRecordNotify(notify, recording));
  EXPECT_ACL(ACL_SUCCESS, aclrtSynchronizeStream(waiting));
  EXPECT_EQ(dst.Read(0, 4096), contents);
}

TEST_F(NotifyTest, TheRecordWaitsForTheWorkBeforeIt) {
  const OwnedNotify notify;
  Stream waiting, recording;
  Gate gate(recording);
  EXPECT_ACL(ACL_SUCCESS, aclrtRecordNotify(notify, recording));
  EXPECT_ACL(ACL_SUCCESS, aclrtWaitAndResetNotify(notify, waiting, 0));
  std::this_thread::sleep_for(std::chrono::milliseconds(5));
  EXPECT_FALSE(IsDone(waiting));
  gate.Open();
  EXPECT_ACL(ACL_SUCCESS, aclrtSynchronizeStream(waiting));
}

TEST_F(NotifyTest, IsBinary) {
  const OwnedNotify notify;
  Stream recording, waiting;
  EXPECT_ACL(ACL_SUCCESS, aclrtRecordNotify(notify, recording));
  EXPECT_ACL(ACL_SUCCESS, aclrtRecordNotify(notify, recording));
  EXPECT_ACL(ACL_SUCCESS, aclrtSynchronizeStream(recording));
  EXPECT_ACL(ACL_SUCCESS, aclrtWaitAndResetNotify(notify, waiting, 1));
  EXPECT_ACL(ACL_SUCCESS, aclrtSynchronizeStream(waiting));
  EXPECT_ACL(ACL_SUCCESS, aclrtWaitAndResetNotify(notify, waiting, 1));
  EXPECT_ACL(ACL_ERROR_RT_TASK_TIMEOUT, aclrtSynchronizeStream(waiting)) << "one signal was taken twice";
}

TEST_F(NotifyTest, AWaitThatTimesOutFailsItsStreamAndNamesTheNotify) {
  const OwnedNotify notify;
  Stream stream;
  std::uint32_t id = 0;
  EXPECT_ACL(ACL_SUCCESS, aclrtGetNotifyId(notify, &id));
  const auto start = std::chrono::steady_clock::now();
  EXPECT_ACL(ACL_SUCCESS, aclrtWaitAndResetNotify(notify, stream, 1));
  EXPECT_ACL(ACL_ERROR_RT_TASK_TIMEOUT, aclrtSynchronizeStream(stream));
  EXPECT_TRUE(MessageHas("notify " + std::to_string(id)));
  EXPECT_TRUE(MessageHas("time limit of 1 s"));
  const auto took = std::chrono::steady_clock::now() - start;
  EXPECT_GE(took, std::chrono::milliseconds(990));
  EXPECT_LE(took, std::chrono::seconds(5));
  EXPECT_ACL(ACL_SUCCESS, aclrtSynchronizeStream(stream)) << "reported once";
}

TEST_F(NotifyTest, BatchResetTakesSignalsBack) {
  const OwnedNotify first, second;
  Stream stream;
  EXPECT_ACL(ACL_SUCCESS, aclrtRecordNotify(first, stream));
  EXPECT_ACL(ACL_SUCCESS, aclrtRecordNotify(second, stream));
  EXPECT_ACL(ACL_SUCCESS, aclrtSynchronizeStream(stream));
  aclrtNotify both[] = {first, second};
  EXPECT_ACL(ACL_SUCCESS, aclrtNotifyBatchReset(both, 2));
  EXPECT_ACL(ACL_SUCCESS, aclrtWaitAndResetNotify(first, stream, 1));
  EXPECT_ACL(ACL_ERROR_RT_TASK_TIMEOUT, aclrtSynchronizeStream(stream));
}

TEST_F(NotifyTest, AbortingAStreamEndsItsWait) {
  const OwnedNotify notify;
  Stream stream;
  EXPECT_ACL(ACL_SUCCESS, aclrtWaitAndResetNotify(notify, stream, 0));
  EXPECT_ACL(ACL_SUCCESS, aclrtStreamAbort(stream));
  EXPECT_ACL(ACL_SUCCESS, aclrtSynchronizeStream(stream));
  EXPECT_ACL(ACL_SUCCESS, aclrtRecordNotify(notify, stream));
  EXPECT_ACL(ACL_SUCCESS, aclrtWaitAndResetNotify(notify, stream, 5));
  EXPECT_ACL(ACL_SUCCESS, aclrtSynchronizeStream(stream)) << "the dropped wait took nothing";
}

TEST_F(NotifyTest, ManyStreamsWaitAtOnce) {
  constexpr int kStreams = 200;
  std::vector<std::unique_ptr<OwnedNotify>> notifies;
  std::vector<std::unique_ptr<Stream>> streams;
  for (int i = 0; i < kStreams; ++i) {
    notifies.push_back(std::make_unique<OwnedNotify>());
    streams.push_back(std::make_unique<Stream>());
    EXPECT_ACL(ACL_SUCCESS, aclrtWaitAndResetNotify(*notifies.back(), *streams.back(), 0));
  }
  Stream recording;
  for (int i = kStreams; i > 0; --i)
    EXPECT_ACL(ACL_SUCCESS, aclrtRecordNotify(*notifies[static_cast<std::size_t>(i) - 1], recording));
  for (const auto& stream : streams)
    EXPECT_ACL(ACL_SUCCESS, aclrtSynchronizeStreamWithTimeout(*stream, 10000));
}

TEST_F(NotifyTest, PingPongBetweenTwoStreams) {
  const OwnedNotify ping, pong;
  Stream left, right;
  constexpr int kRounds = 500;
  for (int i = 0; i < kRounds; ++i) {
    EXPECT_ACL(ACL_SUCCESS, aclrtRecordNotify(ping, left));
    EXPECT_ACL(ACL_SUCCESS, aclrtWaitAndResetNotify(ping, right, 0));
    EXPECT_ACL(ACL_SUCCESS, aclrtRecordNotify(pong, right));
    EXPECT_ACL(ACL_SUCCESS, aclrtWaitAndResetNotify(pong, left, 0));
  }
  EXPECT_ACL(ACL_SUCCESS, aclrtSynchronizeStreamWithTimeout(left, 30000));
  EXPECT_ACL(ACL_SUCCESS, aclrtSynchronizeStreamWithTimeout(right, 30000));
}

TEST_F(NotifyTest, ImportsItsOwnKey) {
  const OwnedNotify notify;
  std::array<char, 65> key{};
  EXPECT_ACL(ACL_SUCCESS, aclrtNotifyGetExportKey(notify, key.data(), key.size(), 0));
  aclrtNotify imported = nullptr;
  ASSERT_ACL(ACL_SUCCESS, aclrtNotifyImportByKey(&imported, key.data(), 0));
  Stream stream;
  EXPECT_ACL(ACL_SUCCESS, aclrtRecordNotify(imported, stream));
  EXPECT_ACL(ACL_SUCCESS, aclrtWaitAndResetNotify(notify, stream, 5));
  EXPECT_ACL(ACL_SUCCESS, aclrtSynchronizeStream(stream));
  EXPECT_ACL(ACL_ERROR_RT_PARAM_INVALID, aclrtNotifyGetExportKey(imported, key.data(), key.size(), 0));
  EXPECT_ACL(ACL_SUCCESS, aclrtDestroyNotify(imported));
}

}  // namespace
}  // namespace sampan::test::notify_test
