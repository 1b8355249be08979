// Host functions: aclrtLaunchHostFunc runs them in stream order on threads of the runtime.
#include <gtest/gtest.h>

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <thread>
#include <vector>

#include "acl/acl.h"
#include "tests/support/acl_expect.h"
#include "tests/support/device_fixture.h"
#include "tests/support/memory_buffer.h"
#include "tests/support/stream.h"

namespace sampan::test::host_function_test {
namespace {

class HostFunction : public DeviceTest {};

TEST_F(HostFunction, ArgumentsAreChecked) {
  Stream stream;
  const auto nothing = [](void*) {};
  EXPECT_ACL(ACL_ERROR_RT_PARAM_INVALID, aclrtLaunchHostFunc(stream, nullptr, nullptr));
  EXPECT_ACL(ACL_ERROR_RT_INVALID_HANDLE, aclrtLaunchHostFunc(DeadStream(), nothing, nullptr));
  OnNewThread([=] { EXPECT_ACL(ACL_ERROR_RT_CONTEXT_NULL, aclrtLaunchHostFunc(nullptr, nothing, nullptr)); });
}

TEST_F(HostFunction, RunsOnceOnAThreadOfTheRuntime) {
  struct Call {
    int count = 0;
    std::thread::id thread;
  } call;
  const auto note = [](void* argument) {
    auto& one = *static_cast<Call*>(argument);
    ++one.count;
    one.thread = std::this_thread::get_id();
  };
  Stream stream;
  EXPECT_ACL(ACL_SUCCESS, aclrtLaunchHostFunc(stream, note, &call));
  EXPECT_ACL(ACL_SUCCESS, aclrtSynchronizeStream(stream));
  EXPECT_EQ(call.count, 1);
  EXPECT_NE(call.thread, std::this_thread::get_id());
}

TEST_F(HostFunction, RunsInTheDefaultStream) {
  int calls = 0;
  const auto count = [](void* argument) { ++*static_cast<int*>(argument); };
  EXPECT_ACL(ACL_SUCCESS, aclrtLaunchHostFunc(nullptr, count, &calls));
  EXPECT_ACL(ACL_SUCCESS, aclrtSynchronizeStream(nullptr));
  EXPECT_EQ(calls, 1);
}

TEST_F(HostFunction, RunInTheOrderOfTheStream) {
  struct Item {
    std::vector<int>* order;
    int number;
  };
  const auto append = [](void* argument) {
    const auto* const one = static_cast<Item*>(argument);
    one->order->push_back(one->number);
  };
  Stream stream;
  std::vector<int> order, expected;
  std::vector<Item> items;
  for (int i = 0; i < 50; ++i) {
    items.push_back({&order, i});
    expected.push_back(i);
  }
  for (Item& item : items)
    EXPECT_ACL(ACL_SUCCESS, aclrtLaunchHostFunc(stream, append, &item));
  EXPECT_ACL(ACL_SUCCESS, aclrtSynchronizeStream(stream));
  EXPECT_EQ(order, expected);
}

TEST_F(HostFunction, SeesTheCopiesBefore) {
  struct View {
    const std::byte* data;
    std::byte seen;
  };
  const auto look = [](void* argument) {
    auto& view = *static_cast<View*>(argument);
    view.seen = *view.data;
  };
  Stream stream;
  const DeviceBuffer device(1);
  const PinnedBuffer pinned(1);
  device.Write(0, Bytes{std::byte{0x6B}});
  *pinned.at(0) = std::byte{0};
  View view = {pinned.at(0), std::byte{0}};
  EXPECT_ACL(ACL_SUCCESS,
             aclrtMemcpyAsync(pinned.data(), 1, device.data(), 1, ACL_MEMCPY_DEVICE_TO_HOST, stream));
  EXPECT_ACL(ACL_SUCCESS, aclrtLaunchHostFunc(stream, look, &view));
  EXPECT_ACL(ACL_SUCCESS, aclrtSynchronizeStream(stream));
  EXPECT_EQ(view.seen, std::byte{0x6B});
}

TEST_F(HostFunction, IsSeenByTheCopiesBehind) {
  const auto write = [](void* argument) { *static_cast<std::byte*>(argument) = std::byte{0x7C}; };
  Stream stream;
  const DeviceBuffer device(1);
  const PinnedBuffer pinned(1);
  *pinned.at(0) = std::byte{0};
  EXPECT_ACL(ACL_SUCCESS, aclrtLaunchHostFunc(stream, write, pinned.data()));
  EXPECT_ACL(ACL_SUCCESS,
             aclrtMemcpyAsync(device.data(), 1, pinned.data(), 1, ACL_MEMCPY_HOST_TO_DEVICE, stream));
  EXPECT_ACL(ACL_SUCCESS, aclrtSynchronizeStream(stream));
  EXPECT_EQ(device.Read(0, 1), Bytes{std::byte{0x7C}});
}

TEST_F(HostFunction, HoldsTheCopiesBehind) {
  Stream stream;
  const DeviceBuffer device(1);
  const PinnedBuffer pinned(1);
  device.Write(0, Bytes{std::byte{0x2D}});
  *pinned.at(0) = std::byte{0};
  Gate gate(stream);
  EXPECT_ACL(ACL_SUCCESS,
             aclrtMemcpyAsync(pinned.data(), 1, device.data(), 1, ACL_MEMCPY_DEVICE_TO_HOST, stream));
  EXPECT_ACL(ACL_ERROR_RT_STREAM_SYNC_TIMEOUT, aclrtSynchronizeStreamWithTimeout(stream, 20));
  EXPECT_EQ(*pinned.at(0), std::byte{0});
  gate.Open();
  EXPECT_ACL(ACL_SUCCESS, aclrtSynchronizeStream(stream));
  EXPECT_EQ(*pinned.at(0), std::byte{0x2D});
}

TEST_F(HostFunction, OfOneStreamDoesNotHoldAnother) {
  Stream held, free;
  Gate gate(held);
  int calls = 0;
  const auto count = [](void* argument) { ++*static_cast<int*>(argument); };
  EXPECT_ACL(ACL_SUCCESS, aclrtLaunchHostFunc(free, count, &calls));
  EXPECT_ACL(ACL_SUCCESS, aclrtSynchronizeStreamWithTimeout(free, 5000));
  EXPECT_EQ(calls, 1);
  EXPECT_FALSE(gate.passed());
}

TEST_F(HostFunction, OfTwoStreamsRunAtTheSameTime) {
  struct Meeting {
    std::mutex mutex;
    std::condition_variable changed;
    int present = 0;
    bool complete = true;
  } meeting;
  const auto meet = [](void* argument) {
    auto& one = *static_cast<Meeting*>(argument);
    std::unique_lock lock(one.mutex);
    ++one.present;
    one.changed.notify_all();
    if (!one.changed.wait_for(lock, std::chrono::seconds(5), [&] { return one.present == 2; })) {
      one.complete = false;
    }
  };
  Stream first, second;
  EXPECT_ACL(ACL_SUCCESS, aclrtLaunchHostFunc(first, meet, &meeting));
  EXPECT_ACL(ACL_SUCCESS, aclrtLaunchHostFunc(second, meet, &meeting));
  EXPECT_ACL(ACL_SUCCESS, aclrtSynchronizeStream(first));
  EXPECT_ACL(ACL_SUCCESS, aclrtSynchronizeStream(second));
  EXPECT_TRUE(meeting.complete) << "one waited for the end of the other";
}

}  // namespace
}  // namespace sampan::test::host_function_test
