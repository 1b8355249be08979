// When a copy happens: queued ones after the work before them, pageable ones before the call returns.
// Rules of docs/BEHAVIOUR.md: copy-4, copy-10.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <ostream>
#include <string>
#include <thread>

#include "acl/acl.h"
#include "tests/support/batch_request.h"
#include "tests/support/copy_fixture.h"

namespace sampan::test::copy_ordering_test {
namespace {

constexpr std::size_t kBytes = 8192;

/// One way of asking for the copy of kBytes from src to dst on a stream.
struct Call {
  const char* name;
  Place from, to;
  std::function<aclError(void* dst, const void* src, aclrtStream stream)> copy;
};

std::ostream& operator<<(std::ostream& out, const Call& call) {
  return out << call.name;
}

Call Linear(const char* name, Place from, Place to, aclrtMemcpyKind kind) {
  return {name, from, to, [kind](void* dst, const void* src, aclrtStream stream) {
            return aclrtMemcpyAsync(dst, kBytes, src, kBytes, kind, stream);
          }};
}
Call Rows(const char* name, Place from, Place to, aclrtMemcpyKind kind) {
  return {name, from, to, [kind](void* dst, const void* src, aclrtStream stream) {
            return aclrtMemcpy2dAsync(dst, 1024, src, 1024, 1024, kBytes / 1024, kind, stream);
          }};
}
Call Batch(const char* name, Place from, Place to, aclrtMemcpyBatchAttr attr) {
  return {name, from, to, [attr](void* dst, const void* src, aclrtStream stream) {
            BatchRequest request;
            constexpr std::size_t kHalf = kBytes / 2;
            request.Add(dst, src, kHalf);
            request.Add(static_cast<std::byte*>(dst) + kHalf, static_cast<const std::byte*>(src) + kHalf,
                        kHalf);
            request.UseAttr(attr);
            return request.Submit(BatchForm::kAsync, stream);
          }};
}

std::string Name(const ::testing::TestParamInfo<Call>& given) {
  return given.param.name;
}

class QueuedCopies : public CopyTest, public ::testing::WithParamInterface<Call> {};
class UncapturedCopies : public QueuedCopies {};

TEST_P(QueuedCopies, ReturnBeforeTheyHappen) {
  GuardedBuffer src(GetParam().from, kBytes, 7), dst(GetParam().to, kBytes, 1);
  const Bytes contents = random().Fill(kBytes);
  src.Write(contents);
  Gate gate(stream());
  EXPECT_ACL(ACL_SUCCESS, GetParam().copy(dst.data(), src.data(), stream()));
  EXPECT_FALSE(gate.passed());
  EXPECT_TRUE(dst.Untouched());
  gate.Open();
  Synchronize();
  EXPECT_TRUE(dst.Holds(contents));
}

TEST_P(UncapturedCopies, ReadTheirSourceWhenTheyHappen) {
  GuardedBuffer src(GetParam().from, kBytes), dst(GetParam().to, kBytes);
  src.Write(random().Fill(kBytes));
  const Bytes later = random().Fill(kBytes);
  Gate gate(stream());
  EXPECT_ACL(ACL_SUCCESS, GetParam().copy(dst.data(), src.data(), stream()));
  src.Write(later);
  gate.Open();
  Synchronize();
  EXPECT_TRUE(dst.Holds(later));
}

TEST_P(QueuedCopies, DoNotWaitForOtherStreams) {
  GuardedBuffer src(GetParam().from, kBytes), dst(GetParam().to, kBytes);
  const Bytes contents = random().Fill(kBytes);
  src.Write(contents);
  Stream held;
  Gate gate(held);
  EXPECT_ACL(ACL_SUCCESS, GetParam().copy(dst.data(), src.data(), stream()));
  Synchronize();
  EXPECT_FALSE(gate.passed());
  EXPECT_TRUE(dst.Holds(contents));
}

const auto kUncaptured = ::testing::Values(
    Linear("PinnedToDevice", Place::kPinned, Place::kDevice, ACL_MEMCPY_HOST_TO_DEVICE),
    Linear("DeviceToPinned", Place::kDevice, Place::kPinned, ACL_MEMCPY_DEVICE_TO_HOST),
    Linear("DeviceToDevice", Place::kDevice, Place::kDevice, ACL_MEMCPY_DEVICE_TO_DEVICE),
    Linear("RegisteredToDevice", Place::kRegistered, Place::kDevice, ACL_MEMCPY_HOST_TO_DEVICE),
    Rows("AttachedRowsToDevice", Place::kPinned, Place::kDevice, ACL_MEMCPY_HOST_TO_DEVICE),
    Rows("AttachedRowsToHost", Place::kDevice, Place::kPinned, ACL_MEMCPY_DEVICE_TO_HOST),
    Batch("AttachedBatchToDevice", Place::kPinned, Place::kDevice, HostToDevice()),
    Batch("AttachedBatchToHost", Place::kDevice, Place::kPinned, DeviceToHost()));
INSTANTIATE_TEST_SUITE_P(Calls, QueuedCopies, kUncaptured, Name);
INSTANTIATE_TEST_SUITE_P(Calls, UncapturedCopies, kUncaptured, Name);
INSTANTIATE_TEST_SUITE_P(
    CapturingCalls, QueuedCopies,
    ::testing::Values(Linear("Pinned", Place::kPinned, Place::kDevice, ACL_MEMCPY_HOST_TO_BUF_TO_DEVICE),
                      Linear("Pageable", Place::kPageable, Place::kDevice, ACL_MEMCPY_HOST_TO_BUF_TO_DEVICE)),
    Name);

class DrainingCopies : public CopyTest, public ::testing::WithParamInterface<Call> {};
class DrainingToHost : public DrainingCopies {};

TEST_P(DrainingCopies, ReturnAfterTheStreamAndTheCopy) {
  GuardedBuffer src(GetParam().from, kBytes, 3), dst(GetParam().to, kBytes);
  GuardedBuffer earlier(Place::kDevice, kBytes);
  PinnedBuffer earlier_src(kBytes);
  const Bytes contents = random().Fill(kBytes), earlier_contents = random().Fill(kBytes);
  src.Write(contents);
  earlier_src.Write(0, earlier_contents);
  Gate gate(stream());
  EXPECT_ACL(ACL_SUCCESS, aclrtMemcpyAsync(earlier.data(), kBytes, earlier_src.data(), kBytes,
                                           ACL_MEMCPY_HOST_TO_DEVICE, stream()));
  std::atomic<bool> returned = false;
  bool returned_early = false;
  std::thread opener([&] {
    // A chance for a call that does not wait to give itself away.
    const auto until = std::chrono::steady_clock::now() + std::chrono::milliseconds(2);
    while (!returned && std::chrono::steady_clock::now() < until)
      std::this_thread::yield();
    returned_early = returned;
    gate.Open();
  });
  EXPECT_ACL(ACL_SUCCESS, GetParam().copy(dst.data(), src.data(), stream()));
  returned = true;
  opener.join();
  EXPECT_FALSE(returned_early);
  EXPECT_TRUE(gate.passed());
  EXPECT_TRUE(dst.Holds(contents));
  EXPECT_TRUE(earlier.Holds(earlier_contents));
  aclrtStreamStatus status = ACL_STREAM_STATUS_RESERVED;
  EXPECT_ACL(ACL_SUCCESS, aclrtStreamQuery(stream(), &status));
  EXPECT_EQ(status, ACL_STREAM_STATUS_COMPLETE);
}

TEST_P(DrainingCopies, DoNotWaitForOtherStreams) {
  GuardedBuffer src(GetParam().from, kBytes), dst(GetParam().to, kBytes);
  const Bytes contents = random().Fill(kBytes);
  src.Write(contents);
  Stream held;
  Gate gate(held);
  EXPECT_ACL(ACL_SUCCESS, GetParam().copy(dst.data(), src.data(), stream()));
  EXPECT_FALSE(gate.passed());
  EXPECT_TRUE(dst.Holds(contents));
}

TEST_P(DrainingToHost, SeeWhatTheStreamWroteBefore) {
  GuardedBuffer src(Place::kDevice, kBytes), dst(GetParam().to, kBytes);
  PinnedBuffer fill(kBytes);
  const Bytes contents = random().Fill(kBytes);
  fill.Write(0, contents);
  EXPECT_ACL(ACL_SUCCESS,
             aclrtMemcpyAsync(src.data(), kBytes, fill.data(), kBytes, ACL_MEMCPY_HOST_TO_DEVICE, stream()));
  EXPECT_ACL(ACL_SUCCESS, GetParam().copy(dst.data(), src.data(), stream()));
  EXPECT_TRUE(dst.Holds(contents));
}

const auto kToPageable =
    ::testing::Values(Linear("Linear", Place::kDevice, Place::kPageable, ACL_MEMCPY_DEVICE_TO_HOST),
                      Rows("Rows", Place::kDevice, Place::kPageable, ACL_MEMCPY_DEVICE_TO_HOST),
                      Batch("Batch", Place::kDevice, Place::kPageable, DeviceToHost()));
INSTANTIATE_TEST_SUITE_P(AttachedToHost, DrainingCopies, kToPageable, Name);
INSTANTIATE_TEST_SUITE_P(AttachedToHost, DrainingToHost, kToPageable, Name);
INSTANTIATE_TEST_SUITE_P(
    AttachedToDevice, DrainingCopies,
    ::testing::Values(Linear("Linear", Place::kPageable, Place::kDevice, ACL_MEMCPY_HOST_TO_DEVICE),
                      Linear("LinearDefault", Place::kPageable, Place::kDevice, ACL_MEMCPY_DEFAULT),
                      Rows("Rows", Place::kPageable, Place::kDevice, ACL_MEMCPY_HOST_TO_DEVICE),
                      Batch("Batch", Place::kPageable, Place::kDevice, HostToDevice())),
    Name);

class CapturedSource : public CopyTest, public ::testing::WithParamInterface<Place> {};

TEST_P(CapturedSource, MayBeReusedOnReturn) {
  for (const std::size_t bytes : {std::size_t{1}, std::size_t{100}, std::size_t{65'537}}) {
    GuardedBuffer src(GetParam(), bytes, 5), dst(Place::kDevice, bytes);
    const Bytes contents = random().Fill(bytes);
    src.Write(contents);
    Gate gate(stream());
    EXPECT_ACL(ACL_SUCCESS, aclrtMemcpyAsync(dst.data(), bytes, src.data(), bytes,
                                             ACL_MEMCPY_HOST_TO_BUF_TO_DEVICE, stream()));
    src.Write(Bytes(bytes, std::byte{0xEE}));
    gate.Open();
    Synchronize();
    EXPECT_TRUE(dst.Holds(contents));
  }
}

TEST_P(CapturedSource, MayBeFreedOnReturn) {
  GuardedBuffer dst(Place::kDevice, kBytes);
  const Bytes contents = random().Fill(kBytes);
  Gate gate(stream());
  {
    Buffer src(GetParam(), kBytes);
    src.Write(0, contents);
    EXPECT_ACL(ACL_SUCCESS, aclrtMemcpyAsync(dst.data(), kBytes, src.data(), kBytes,
                                             ACL_MEMCPY_HOST_TO_BUF_TO_DEVICE, stream()));
  }
  gate.Open();
  Synchronize();
  EXPECT_TRUE(dst.Holds(contents));
}

INSTANTIATE_TEST_SUITE_P(Places, CapturedSource, ::testing::Values(Place::kPageable, Place::kPinned),
                         [](const auto& given) {
                           return std::string(given.param == Place::kPinned ? "Pinned" : "Pageable");
                         });

class OrderBetweenStreams : public CopyTest {};

TEST_F(OrderBetweenStreams, AnEventOrdersThem) {
  DeviceBuffer device(kBytes);
  PinnedBuffer src(kBytes);
  GuardedBuffer dst(Place::kPinned, kBytes);
  const Bytes contents = random().Fill(kBytes);
  src.Write(0, contents);
  Stream second;
  Event filled;
  Gate gate(stream());
  EXPECT_ACL(ACL_SUCCESS, aclrtMemcpyAsync(device.data(), kBytes, src.data(), kBytes,
                                           ACL_MEMCPY_HOST_TO_DEVICE, stream()));
  EXPECT_ACL(ACL_SUCCESS, aclrtRecordEvent(filled, stream()));
  EXPECT_ACL(ACL_SUCCESS, aclrtStreamWaitEvent(second, filled));
  EXPECT_ACL(ACL_SUCCESS,
             aclrtMemcpyAsync(dst.data(), kBytes, device.data(), kBytes, ACL_MEMCPY_DEVICE_TO_HOST, second));
  EXPECT_TRUE(dst.Untouched());
  gate.Open();
  EXPECT_ACL(ACL_SUCCESS, aclrtSynchronizeStream(second));
  EXPECT_TRUE(dst.Holds(contents));
}

/// stream-7: the default stream waits for no other stream, and no other stream waits for it.
TEST_F(OrderBetweenStreams, TheDefaultStreamIsLikeAnyOther) {
  Stream other;
  const aclrtStream pairs[][2] = {{other, nullptr}, {nullptr, other}};
  for (const auto& [held, free] : pairs) {
    PinnedBuffer src(kBytes);
    GuardedBuffer dst(Place::kDevice, kBytes);
    const Bytes contents = random().Fill(kBytes);
    src.Write(0, contents);
    const Gate gate(held);
    EXPECT_ACL(ACL_SUCCESS,
               aclrtMemcpyAsync(dst.data(), kBytes, src.data(), kBytes, ACL_MEMCPY_HOST_TO_DEVICE, free));
    EXPECT_ACL(ACL_SUCCESS, aclrtSynchronizeStream(free));
    EXPECT_FALSE(gate.passed());
    EXPECT_TRUE(dst.Holds(contents));
  }
}

TEST_F(OrderBetweenStreams, PlainDestroyWaitsForCopies) {
  PinnedBuffer src(kBytes);
  GuardedBuffer dst(Place::kDevice, kBytes);
  const Bytes contents = random().Fill(kBytes);
  src.Write(0, contents);
  Stream other;
  Gate gate(other);
  EXPECT_ACL(ACL_SUCCESS,
             aclrtMemcpyAsync(dst.data(), kBytes, src.data(), kBytes, ACL_MEMCPY_HOST_TO_DEVICE, other));
  std::thread opener([&] { gate.Open(); });
  EXPECT_ACL(ACL_SUCCESS, aclrtDestroyStream(other.Release()));
  EXPECT_TRUE(dst.Holds(contents));
  opener.join();
}

TEST_F(OrderBetweenStreams, ForcedDestroyDiscardsCopies) {
  PinnedBuffer src(kBytes);
  GuardedBuffer dst(Place::kDevice, kBytes);
  Event never_before_the_gate;
  Stream doomed;
  Gate gate(stream());
  EXPECT_ACL(ACL_SUCCESS, aclrtRecordEvent(never_before_the_gate, stream()));
  EXPECT_ACL(ACL_SUCCESS, aclrtStreamWaitEvent(doomed, never_before_the_gate));
  EXPECT_ACL(ACL_SUCCESS,
             aclrtMemcpyAsync(dst.data(), kBytes, src.data(), kBytes, ACL_MEMCPY_HOST_TO_DEVICE, doomed));
  EXPECT_ACL(ACL_SUCCESS, aclrtDestroyStreamForce(doomed.Release()));
  gate.Open();
  Synchronize();
  EXPECT_TRUE(dst.Untouched());
}

}  // namespace
}  // namespace sampan::test::copy_ordering_test
