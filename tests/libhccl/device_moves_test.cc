// The moves of a device whose memory the host does not reach, against those of the host. An emulated device
// does them too.
#include <gtest/gtest.h>

#include <cstring>
#include <functional>
#include <thread>
#include <vector>

#include "acl/acl.h"
#include "collectives/operators/device_moves.h"
#include "tests/support/random_bytes.h"

namespace sampan::test::device_moves_test {
namespace {

using collectives::Combination;
using collectives::ConstPlaces;
using collectives::DeviceMoves;
using collectives::Places;

constexpr std::size_t kGuard = 64;

/// Device memory with random contents, and the same on the host.
class Twin {
 public:
  Twin(std::size_t bytes, Random& random) : host_(random.Fill(bytes + kGuard)) {
    EXPECT_EQ(aclrtMalloc(&device_, host_.size(), ACL_MEM_MALLOC_HUGE_FIRST), ACL_SUCCESS);
    EXPECT_EQ(aclrtMemcpy(device_, host_.size(), host_.data(), host_.size(), ACL_MEMCPY_HOST_TO_DEVICE),
              ACL_SUCCESS);
  }
  ~Twin() { aclrtFree(device_); }
  Twin(const Twin&) = delete;
  Twin& operator=(const Twin&) = delete;

  std::byte* device() const { return static_cast<std::byte*>(device_); }
  std::byte* host() { return host_.data(); }
  bool IsSame() const {
    Bytes found(host_.size());
    EXPECT_EQ(aclrtMemcpy(found.data(), found.size(), device_, found.size(), ACL_MEMCPY_DEVICE_TO_HOST),
              ACL_SUCCESS);
    return found == host_;
  }

 private:
  void* device_ = nullptr;
  Bytes host_;
};

class DeviceMovesTest : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
    const Status made = DeviceMoves::Make(moves_);
    ASSERT_TRUE(made.ok()) << made.error().message;
  }
  /// As the threads that execute streams, which have no context.
  static void ExpectDone(const std::function<Status()>& move) {
    std::thread([&] {
      const Status status = move();
      EXPECT_TRUE(status.ok()) << status.error().message;
      void* context = nullptr;
      EXPECT_NE(aclrtGetCurrentContext(&context), ACL_SUCCESS);
    }).join();
  }

  Random random_;
  std::unique_ptr<DeviceMoves> moves_;
};

/// The outputs are the inputs, as in an all-reduce in place. The second count is more than the room holds.
TEST_F(DeviceMovesTest, CombineInRankOrderInPlace) {
  const Combination how{ReduceElement::kInt32, ReduceOperation::kSum};
  for (const u64 count : {u64{1001}, (u64{32} << 20) / 4 + 77}) {
    Twin first(count * 4, random_), second(count * 4, random_), third(count * 4, random_);
    const std::vector<const std::byte*> inputs = {first.device(), second.device(), third.device()};
    const std::vector<std::byte*> outputs = {third.device(), first.device(), second.device()};
    ExpectDone([&] { return moves_->Combine(inputs, outputs, count, how); });
    const std::vector<const std::byte*> host_inputs = {first.host(), second.host(), third.host()};
    const std::vector<std::byte*> host_outputs = {third.host(), first.host(), second.host()};
    collectives::Combine(host_inputs, host_outputs, count, how, false);
    EXPECT_TRUE(first.IsSame() && second.IsSame() && third.IsSame()) << count;
  }
}

/// An output on the host is one that is put into place later.
TEST_F(DeviceMovesTest, CopyToDevicesAndToTheHost) {
  constexpr std::size_t kBytes = 70'001;
  Twin source(kBytes, random_), target(kBytes, random_);
  Bytes on_host(kBytes, std::byte{0xA5});
  const std::vector<std::byte*> places = {source.device(), target.device(), on_host.data()};
  ExpectDone([&] { return moves_->CopyToAll(source.device(), places, kBytes); });
  std::memcpy(target.host(), source.host(), kBytes);
  EXPECT_TRUE(source.IsSame() && target.IsSame());
  EXPECT_EQ(std::memcmp(on_host.data(), source.host(), kBytes), 0);
}

TEST_F(DeviceMovesTest, SayWhyTheyFail) {
  Twin source(64, random_);
  std::byte* const nowhere = source.device() + (std::size_t{1} << 40);
  const Status status = moves_->CopyToAll(source.device(), Places(&nowhere, 1), 64);
  ASSERT_FALSE(status.ok());
  EXPECT_NE(status.error().message.find("a copy on the device answered"), std::string::npos)
      << status.error().message;
}

}  // namespace
}  // namespace sampan::test::device_moves_test
