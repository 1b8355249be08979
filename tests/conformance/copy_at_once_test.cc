// Copies of up to 4 KiB in all on an idle stream of an emulated device: over when the call returns, whatever
// their form.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <numeric>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "acl/acl.h"
#include "tests/support/batch_request.h"
#include "tests/support/copy_fixture.h"
#include "tests/support/mapped_memory.h"

namespace sampan::test::copy_at_once_test {
namespace {

constexpr std::size_t kMaxBytes = 4096;
constexpr std::size_t kSpan = 4 * kMaxBytes;  ///< of each end
constexpr int kRounds = 50;

class CopyAtOnce : public CopyTest {
 protected:
  void SetUp() override {
    CopyTest::SetUp();
    if (HasFatalFailure()) return;
    host_.emplace(Place::kPinned, kSpan);
    device_.emplace(Place::kDevice, kSpan);
    host_->Write(0, host_bytes_);
    device_->Write(0, device_bytes_);
  }
  void TearDown() override {
    host_.reset();
    device_.reset();
    CopyTest::TearDown();
  }

  /// Directly after a call: the stream has nothing left to do.
  void ExpectOver() {
    aclrtStreamStatus status = ACL_STREAM_STATUS_RESERVED;
    ASSERT_ACL(ACL_SUCCESS, aclrtStreamQuery(stream(), &status));
    ASSERT_EQ(status, ACL_STREAM_STATUS_COMPLETE) << "the call returned before its copy was over";
  }
  /// Bytes [offset, +bytes) of the device are those of the host at the other offset.
  void ExpectCopied(std::size_t dst_offset, std::size_t src_offset, std::size_t bytes) {
    const Bytes copied = device_->Read(dst_offset, bytes);
    ASSERT_TRUE(std::equal(copied.begin(), copied.end(), host_bytes_.begin() + Signed(src_offset)));
  }
  static std::ptrdiff_t Signed(std::size_t number) { return static_cast<std::ptrdiff_t>(number); }
  std::byte* Host(std::size_t offset) const { return static_cast<std::byte*>(host_->data()) + offset; }
  std::byte* Device(std::size_t offset) const { return static_cast<std::byte*>(device_->data()) + offset; }

  Bytes host_bytes_ = random().Fill(kSpan), device_bytes_ = random().Fill(kSpan);
  std::optional<Buffer> host_, device_;
};

TEST_F(CopyAtOnce, Linear) {
  for (const std::size_t bytes : {1, 64, 4095, 4096}) {
    for (int round = 0; round < kRounds; ++round) {
      ASSERT_ACL(ACL_SUCCESS,
                 aclrtMemcpyAsync(Device(8), bytes, Host(round), bytes, ACL_MEMCPY_HOST_TO_DEVICE, stream()));
      ExpectOver();
    }
    ExpectCopied(8, kRounds - 1, bytes);
  }
}

TEST_F(CopyAtOnce, Captured) {
  for (const std::size_t bytes : {1, 64, 4096}) {
    for (int round = 0; round < kRounds; ++round) {
      ASSERT_ACL(ACL_SUCCESS, aclrtMemcpyAsync(Device(8), bytes, Host(round), bytes,
                                               ACL_MEMCPY_HOST_TO_BUF_TO_DEVICE, stream()));
      ExpectOver();
    }
    ExpectCopied(8, kRounds - 1, bytes);
  }
}

TEST_F(CopyAtOnce, Rows) {
  for (const auto& [width, height] :
       {std::pair<std::size_t, std::size_t>{4096, 1}, {64, 64}, {16, 256}, {1, 1000}, {4, 1024}}) {
    for (int round = 0; round < kRounds; ++round) {
      ASSERT_ACL(ACL_SUCCESS, aclrtMemcpy2dAsync(Device(0), width + 3, Host(0), width + 5, width, height,
                                                 ACL_MEMCPY_HOST_TO_DEVICE, stream()));
      ExpectOver();
    }
    ExpectCopied((height - 1) * (width + 3), (height - 1) * (width + 5), width);
  }
}

TEST_F(CopyAtOnce, BatchOfAnyLength) {
  for (const std::size_t entry_bytes : {1, 16, 64, 512}) {
    for (std::size_t entries = 1; entries * entry_bytes <= kMaxBytes && entries <= 1024;
         entries += entries < 70 ? 1 : 97) {
      SCOPED_TRACE(testing::Message() << entries << " of " << entry_bytes);
      BatchRequest batch;
      batch.UseAttr(HostToDevice());
      for (std::size_t i = 0; i < entries; ++i)
        batch.Add(Device((entry_bytes + 2) * i), Host((entry_bytes + 1) * (entries - 1 - i)), entry_bytes);
      for (const BatchForm form : {BatchForm::kAsync, BatchForm::kAsyncV2}) {
        ASSERT_ACL(ACL_SUCCESS, batch.Submit(form, stream()));
        ExpectOver();
      }
      ExpectCopied((entry_bytes + 2) * (entries - 1), 0, entry_bytes);
      ExpectCopied(0, (entry_bytes + 1) * (entries - 1), entry_bytes);
    }
  }
}

TEST_F(CopyAtOnce, Fill) {
  for (const std::size_t bytes : {1, 64, 4096}) {
    for (int round = 0; round < kRounds; ++round) {
      ASSERT_ACL(ACL_SUCCESS, aclrtMemsetAsync(Device(8), bytes, 0x40 + round, bytes, stream()));
      ExpectOver();
    }
    EXPECT_EQ(device_->Read(8 + bytes - 1, 1).front(), std::byte{0x40 + kRounds - 1});
    EXPECT_EQ(device_->Read(8 + bytes, 1).front(), device_bytes_[8 + bytes]);
  }
}

TEST_F(CopyAtOnce, Descriptor) {
  for (const std::size_t bytes : {1, 64, 4096}) {
    device_->Write(0, device_bytes_);
    Buffer descriptor(Place::kDevice, 64);
    ASSERT_ACL(ACL_SUCCESS, aclrtSetMemcpyDesc(descriptor.data(), ACL_MEMCPY_INNER_DEVICE_TO_DEVICE,
                                               Device(kMaxBytes), Device(0), bytes, nullptr));
    for (int round = 0; round < kRounds; ++round) {
      ASSERT_ACL(ACL_SUCCESS,
                 aclrtMemcpyAsyncWithDesc(descriptor.data(), ACL_MEMCPY_INNER_DEVICE_TO_DEVICE, stream()));
      ExpectOver();
    }
    const Bytes copied = device_->Read(0, bytes);
    EXPECT_TRUE(std::equal(copied.begin(), copied.end(), device_bytes_.begin() + Signed(kMaxBytes)));
  }
}

TEST_F(CopyAtOnce, Reduction) {
  for (const std::size_t bytes : {4, 64, 4096}) {
    std::vector<std::int32_t> expected(kMaxBytes / sizeof(std::int32_t)), added(expected.size());
    std::iota(expected.begin(), expected.end(), 1);
    std::iota(added.begin(), added.end(), -7);
    device_->Write(0, std::as_bytes(std::span(expected)));
    device_->Write(kMaxBytes, std::as_bytes(std::span(added)));
    for (int round = 0; round < kRounds; ++round) {
      ASSERT_ACL(ACL_SUCCESS,
                 aclrtReduceAsync(Device(0), Device(kMaxBytes), bytes, ACL_RT_MEMCPY_SDMA_AUTOMATIC_SUM,
                                  ACL_INT32, stream(), nullptr));
      ExpectOver();
    }
    for (std::size_t i = 0; i < bytes / sizeof(std::int32_t); ++i)
      expected[i] += kRounds * added[i];
    const Bytes reduced = device_->Read(0, kMaxBytes);
    EXPECT_EQ(std::memcmp(reduced.data(), expected.data(), kMaxBytes), 0) << bytes;
  }
}

/// From one allocation into the next: the task has more memory than it has room for.
TEST_F(CopyAtOnce, LinearOverTwoMappedPieces) {
  const Reserved range(2 * kPiece);
  const Physical physical[2];
  const Mapped first(range.data(), kPiece, physical[0]), second(range.at(kPiece), kPiece, physical[1]);
  for (const std::size_t bytes : {2, 64, 4096}) {
    void* const across = range.at(kPiece - bytes / 2);
    for (int round = 0; round < kRounds; ++round) {
      ASSERT_ACL(ACL_SUCCESS,
                 aclrtMemcpyAsync(across, bytes, Host(round), bytes, ACL_MEMCPY_HOST_TO_DEVICE, stream()));
      ExpectOver();
    }
    const Bytes copied = ReadDevice(across, bytes);
    EXPECT_TRUE(std::equal(copied.begin(), copied.end(), host_bytes_.begin() + kRounds - 1)) << bytes;
  }
}

TEST_F(CopyAtOnce, Offset) {
  for (const std::size_t bytes : {1, 64, 4096}) {
    device_->Write(0, device_bytes_);
    Buffer cells(Place::kDevice, 64);
    const std::uintptr_t addresses[] = {reinterpret_cast<std::uintptr_t>(Device(0)),
                                        reinterpret_cast<std::uintptr_t>(Device(kMaxBytes))};
    cells.Write(0, std::as_bytes(std::span(addresses)));
    auto* const cell = static_cast<void**>(cells.data());
    for (int round = 0; round < kRounds; ++round) {
      ASSERT_ACL(ACL_SUCCESS,
                 aclrtMemcpyAsyncWithOffset(cell, kSpan, 16, const_cast<const void**>(cell + 1), bytes, 32,
                                            ACL_MEMCPY_INNER_DEVICE_TO_DEVICE, stream()));
      ExpectOver();
    }
    const Bytes copied = device_->Read(16, bytes);
    EXPECT_TRUE(std::equal(copied.begin(), copied.end(), device_bytes_.begin() + Signed(kMaxBytes + 32)));
  }
}

}  // namespace
}  // namespace sampan::test::copy_at_once_test
