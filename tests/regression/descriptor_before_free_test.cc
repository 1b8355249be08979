// A descriptor copy that was queued before its memory was freed in stream order failed with 507013: its
// operands were looked up when it ran, and the free had hidden them already.
// Rules of docs/BEHAVIOUR.md: operand-6, pool-5, cuda-13.
#include <gtest/gtest.h>

#include <cstdint>
#include <cstdlib>
#include <optional>
#include <string_view>
#include <utility>

#include "acl/acl.h"
#include "tests/support/pool_fixture.h"

namespace sampan::test::descriptor_before_free_test {
namespace {

constexpr std::size_t kBytes = 4'096;

bool OnGpu() {
  const char* const backend = std::getenv("SAMPAN_BACKEND");
  return backend != nullptr && std::string_view(backend) == "cuda";
}

class DescriptorBeforeFree : public PoolTest {
 protected:
  void SetUp() override {
    PoolTest::SetUp();
    source_.emplace(kBytes);
    descriptor_.emplace(64);
    contents_ = random().Fill(kBytes);
    source_->Write(0, contents_);
  }
  void TearDown() override {
    EndPool();
    source_.reset();
    descriptor_.reset();
    PoolTest::TearDown();
  }

  void* Take(aclrtStream on, std::size_t bytes = kBytes) const { return PoolTest::Take(on, bytes); }
  /// Queues a copy of the source into the memory, with its operands in a descriptor.
  void QueueCopy(void* memory, aclrtStream on) {
    EXPECT_ACL(ACL_SUCCESS, aclrtSetMemcpyDesc(descriptor_->data(), ACL_MEMCPY_INNER_DEVICE_TO_DEVICE,
                                               source_->data(), memory, kBytes, nullptr));
    QueueAgain(on);
  }
  void QueueAgain(aclrtStream on) {
    EXPECT_ACL(ACL_SUCCESS,
               aclrtMemcpyAsyncWithDesc(descriptor_->data(), ACL_MEMCPY_INNER_DEVICE_TO_DEVICE, on));
  }
  /// Synchronizations leave the pool's memory where it is.
  void KeepFreedBlocks() const {
    std::uint64_t threshold = UINT64_MAX;
    EXPECT_ACL(ACL_SUCCESS, aclrtMemPoolSetAttr(pool(), ACL_RT_MEM_POOL_ATTR_RELEASE_THRESHOLD, &threshold));
  }
  /// Queues a copy of the memory to the host.
  void QueueRead(PinnedBuffer& target, const void* memory, aclrtStream on) {
    EXPECT_ACL(ACL_SUCCESS,
               aclrtMemcpyAsync(target.data(), kBytes, memory, kBytes, ACL_MEMCPY_DEVICE_TO_HOST, on));
  }
  const Bytes& contents() const { return contents_; }

 private:
  std::optional<DeviceBuffer> source_, descriptor_;
  Bytes contents_;
};

TEST_F(DescriptorBeforeFree, FindsItsMemory) {
  PinnedBuffer target(kBytes);
  void* const memory = Take(stream());
  Gate gate(stream());
  QueueCopy(memory, stream());
  QueueRead(target, memory, stream());
  EXPECT_ACL(ACL_SUCCESS, aclrtMemPoolFreeAsync(memory, stream()));
  gate.Open();
  EXPECT_ACL(ACL_SUCCESS, aclrtSynchronizeStream(stream()));
  EXPECT_TRUE(target.Read(0, kBytes) == contents());
}

TEST_F(DescriptorBeforeFree, FindsItsMemoryWhenTheFreeIsInAnotherStream) {
  PinnedBuffer target(kBytes);
  const Stream freeing;
  Event over;
  void* const memory = Take(stream());
  Gate gate(stream());
  QueueCopy(memory, stream());
  QueueRead(target, memory, stream());
  EXPECT_ACL(ACL_SUCCESS, aclrtRecordEvent(over, stream()));
  EXPECT_ACL(ACL_SUCCESS, aclrtStreamWaitEvent(freeing, over));
  EXPECT_ACL(ACL_SUCCESS, aclrtMemPoolFreeAsync(memory, freeing));
  gate.Open();
  EXPECT_ACL(ACL_SUCCESS, aclrtSynchronizeStream(stream()));
  EXPECT_ACL(ACL_SUCCESS, aclrtSynchronizeStream(freeing));
  EXPECT_TRUE(target.Read(0, kBytes) == contents());
}

TEST_F(DescriptorBeforeFree, FindsItsMemoryWhenAnotherStreamHasIt) {
  PinnedBuffer target(kBytes);
  const Stream next;
  void* const memory = Take(stream());
  Gate gate(stream());
  QueueCopy(memory, stream());
  QueueRead(target, memory, stream());
  Free(memory, stream());
  EXPECT_EQ(Take(next), memory) << "the block is not used again";
  gate.Open();
  EXPECT_ACL(ACL_SUCCESS, aclrtSynchronizeStream(stream()));
  EXPECT_TRUE(target.Read(0, kBytes) == contents());
  Free(memory, next);
}

TEST_F(DescriptorBeforeFree, FindsItsMemoryWhenTheNextOwnerHasIt) {
  PinnedBuffer target(kBytes);
  void* const memory = Take(stream());
  Gate gate(stream());
  QueueCopy(memory, stream());
  QueueRead(target, memory, stream());
  EXPECT_ACL(ACL_SUCCESS, aclrtMemPoolFreeAsync(memory, stream()));
  EXPECT_EQ(Take(stream(), kBytes - 8), memory);  // another size that rounds to the same
  EXPECT_ACL(ACL_SUCCESS, aclrtMemPoolFreeAsync(memory, stream()));
  gate.Open();
  EXPECT_ACL(ACL_SUCCESS, aclrtSynchronizeStream(stream()));
  EXPECT_TRUE(target.Read(0, kBytes) == contents());
}

TEST_F(DescriptorBeforeFree, FindsItsMemoryWhenThePoolIsGone) {
  PinnedBuffer target(kBytes);
  void* const memory = Take(stream());
  std::size_t free_before = 0, free_after = 0, total = 0;
  Gate gate(stream());
  QueueCopy(memory, stream());
  QueueRead(target, memory, stream());
  EXPECT_ACL(ACL_SUCCESS, aclrtMemPoolFreeAsync(memory, stream()));
  EndPool();
  EXPECT_ACL(ACL_SUCCESS, aclrtGetMemInfo(ACL_HBM_MEM, &free_before, &total));
  gate.Open();
  EXPECT_ACL(ACL_SUCCESS, aclrtSynchronizeStream(stream()));
  EXPECT_TRUE(target.Read(0, kBytes) == contents());
  EXPECT_ACL(ACL_SUCCESS, aclrtGetMemInfo(ACL_HBM_MEM, &free_after, &total));
  EXPECT_GT(free_after, free_before) << "the memory of the destroyed pool is not given back";
}

// Memory that was freed in stream order is gone for work that is queued behind the free. A GPU finds it as
// long as the pool keeps it.
TEST_F(DescriptorBeforeFree, FindsNothingBehindTheFree) {
  KeepFreedBlocks();
  void* const memory = Take(stream());
  QueueCopy(memory, stream());
  EXPECT_ACL(ACL_SUCCESS, aclrtMemPoolFreeAsync(memory, stream()));
  EXPECT_ACL(ACL_SUCCESS, aclrtSynchronizeStream(stream()));
  QueueAgain(stream());
  EXPECT_ACL(OnGpu() ? ACL_SUCCESS : ACL_ERROR_RT_SYS_DMA, aclrtSynchronizeStream(stream()));
}

}  // namespace
}  // namespace sampan::test::descriptor_before_free_test
