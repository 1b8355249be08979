// Hazards of lifetime: memory that goes before the copy, a block too far. The ids are those of
// docs/BEHAVIOUR.md.
#include <gtest/gtest.h>
#include <sys/mman.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "acl/acl.h"
#include "tests/support/batch_request.h"
#include "tests/support/copy_fixture.h"

namespace sampan::test::hazard_lifetime_test {
namespace {

constexpr std::size_t kBytes = 16'384;

class HazardLifetime : public CopyTest {};

// hazard-5: the staging buffer is freed while its copy is queued. The copy fails and says why; no other
// bytes move.
TEST_F(HazardLifetime, FreedStagingSource) {
  GuardedBuffer block(Place::kDevice, kBytes);
  PinnedBuffer staging(kBytes);
  void* const address = staging.data();
  std::optional<PinnedBuffer> next;
  {
    Gate gate(stream());
    EXPECT_ACL(ACL_SUCCESS, aclrtMemcpyAsync(block.data(), kBytes, staging.data(), kBytes,
                                             ACL_MEMCPY_HOST_TO_DEVICE, stream()));
    staging.Free();
    next.emplace(kBytes);  // perhaps at the same address
    next->Write(0, random().Fill(kBytes));
  }
  EXPECT_ACL(ACL_ERROR_RT_SYS_DMA, aclrtSynchronizeStream(stream()));
  EXPECT_TRUE(MessageHas(Hex(address)));
  EXPECT_TRUE(block.Untouched());
}

TEST_F(HazardLifetime, FreedStagingDestination) {
  DeviceBuffer block(kBytes);
  PinnedBuffer staging(kBytes);
  std::optional<GuardedBuffer> next;
  {
    Gate gate(stream());
    EXPECT_ACL(ACL_SUCCESS, aclrtMemcpyAsync(staging.data(), kBytes, block.data(), kBytes,
                                             ACL_MEMCPY_DEVICE_TO_HOST, stream()));
    staging.Free();
    next.emplace(Place::kPinned, kBytes);
  }
  EXPECT_ACL(ACL_ERROR_RT_SYS_DMA, aclrtSynchronizeStream(stream()));
  EXPECT_TRUE(next->Untouched());
}

TEST_F(HazardLifetime, FreedDeviceDestinationDoesNotHitItsSuccessor) {
  PinnedBuffer src(kBytes);
  src.Write(0, random().Fill(kBytes));
  DeviceBuffer block(kBytes);
  std::vector<GuardedBuffer> successors;
  {
    Gate gate(stream());
    EXPECT_ACL(ACL_SUCCESS, aclrtMemcpyAsync(block.data(), kBytes, src.data(), kBytes,
                                             ACL_MEMCPY_HOST_TO_DEVICE, stream()));
    block.Free();
    for (int i = 0; i < 4; ++i)
      successors.emplace_back(Place::kDevice, kBytes);
  }
  EXPECT_ACL(ACL_ERROR_RT_SYS_DMA, aclrtSynchronizeStream(stream()));
  for (const GuardedBuffer& successor : successors)
    EXPECT_TRUE(successor.Untouched());
}

TEST_F(HazardLifetime, AttachedFreedBlockOfABatch) {
  constexpr std::size_t kEntries = 50;
  PinnedBuffer src(kEntries * 512);
  std::vector<DeviceBuffer> blocks;
  BatchRequest request;
  for (std::size_t i = 0; i < kEntries; ++i) {
    blocks.emplace_back(512);
    request.Add(blocks[i].data(), src.at(i * 512), 512);
  }
  request.UseAttr(HostToDevice());
  {
    Gate gate(stream());
    EXPECT_ACL(ACL_SUCCESS, request.Submit(BatchForm::kAsync, stream()));
    blocks[31].Free();
  }
  EXPECT_ACL(ACL_ERROR_RT_SYS_DMA, aclrtSynchronizeStream(stream()));
}

TEST_F(HazardLifetime, AttachedFreedRows) {
  PinnedBuffer src(kBytes);
  DeviceBuffer block(kBytes);
  {
    Gate gate(stream());
    EXPECT_ACL(ACL_SUCCESS, aclrtMemcpy2dAsync(block.data(), 1024, src.data(), 1024, 1000, 16,
                                               ACL_MEMCPY_HOST_TO_DEVICE, stream()));
    block.Free();
  }
  EXPECT_ACL(ACL_ERROR_RT_SYS_DMA, aclrtSynchronizeStream(stream()));
}

TEST_F(HazardLifetime, FreedFillTarget) {
  DeviceBuffer block(kBytes);
  {
    Gate gate(stream());
    EXPECT_ACL(ACL_SUCCESS, aclrtMemsetAsync(block.data(), kBytes, 1, kBytes, stream()));
    block.Free();
  }
  EXPECT_ACL(ACL_ERROR_RT_SYS_DMA, aclrtSynchronizeStream(stream()));
}

// The cure for hazard-5: the free that waits.
TEST_F(HazardLifetime, FreeWithDeviceSynchronisationIsSafe) {
  GuardedBuffer block(Place::kDevice, kBytes);
  void* staging = nullptr;
  ASSERT_ACL(ACL_SUCCESS, aclrtMallocHost(&staging, kBytes));
  const Bytes contents = random().Fill(kBytes);
  std::copy(contents.begin(), contents.end(), static_cast<std::byte*>(staging));
  EXPECT_ACL(ACL_SUCCESS,
             aclrtMemcpyAsync(block.data(), kBytes, staging, kBytes, ACL_MEMCPY_HOST_TO_DEVICE, stream()));
  EXPECT_ACL(ACL_SUCCESS, aclrtFreeHostWithDevSync(staging));
  EXPECT_TRUE(block.Holds(contents));
  Synchronize();
}

// hazard-6: a local array is the source and goes out of scope: it is pageable, so the copy is over on return.
TEST_F(HazardLifetime, AttachedLocalArrayIsCopiedBeforeTheCallReturns) {
  GuardedBuffer block(Place::kDevice, 256);
  const Bytes contents = random().Fill(256);
  const auto copy_from_local = [&] {
    std::byte local[256];
    std::copy(contents.begin(), contents.end(), local);
    EXPECT_ACL(ACL_SUCCESS,
               aclrtMemcpyAsync(block.data(), 256, local, 256, ACL_MEMCPY_HOST_TO_DEVICE, stream()));
    std::fill(std::begin(local), std::end(local), std::byte{0xEE});
  };
  copy_from_local();
  Synchronize();
  EXPECT_TRUE(block.Holds(contents));
}

// hazard-9: registered host memory is unregistered, then unmapped, while the device still has to read it.
TEST_F(HazardLifetime, UnmappedRegisteredSource) {
  GuardedBuffer block(Place::kDevice, kBytes);
  void* const pages = mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(pages, MAP_FAILED);
  void* seen_by_device = nullptr;
  ASSERT_ACL(ACL_SUCCESS, aclrtHostRegister(pages, kBytes, ACL_HOST_REGISTER_MAPPED, &seen_by_device));
  {
    Gate gate(stream());
    EXPECT_ACL(ACL_SUCCESS,
               aclrtMemcpyAsync(block.data(), kBytes, pages, kBytes, ACL_MEMCPY_HOST_TO_DEVICE, stream()));
    EXPECT_ACL(ACL_SUCCESS, aclrtHostUnregister(pages));
    munmap(pages, kBytes);
  }
  EXPECT_ACL(ACL_ERROR_RT_SYS_DMA, aclrtSynchronizeStream(stream()));
  EXPECT_TRUE(block.Untouched());
}

// hazard-11: the check of a block index is off by one.
TEST_F(HazardLifetime, BlockOnePastTheEndIsRefused) {
  constexpr std::size_t kBlocks = 10, kBlockBytes = 1024;
  DeviceBuffer cache(kBlocks * kBlockBytes);
  GuardedBuffer neighbour(Place::kDevice, kBlockBytes);
  PinnedBuffer src(kBlockBytes);
  for (std::size_t block = 0; block <= kBlocks; ++block) {
    EXPECT_ACL(block < kBlocks ? ACL_SUCCESS : ACL_ERROR_RT_PARAM_INVALID,
               aclrtMemcpyAsync(cache.at(block * kBlockBytes), kBlockBytes, src.data(), kBlockBytes,
                                ACL_MEMCPY_HOST_TO_DEVICE, stream()));
  }
  EXPECT_TRUE(MessageHas(Hex(cache.at(kBlocks * kBlockBytes))));
  Synchronize();
  EXPECT_TRUE(neighbour.Untouched());
}

TEST_F(HazardLifetime, AttachedBlockOnePastTheEndOfABatchIsRefused) {
  constexpr std::size_t kBlocks = 10, kBlockBytes = 1024;
  DeviceBuffer cache(kBlocks * kBlockBytes);
  GuardedBuffer back(Place::kPinned, (kBlocks + 1) * kBlockBytes);
  BatchRequest request;
  for (std::size_t block = 0; block <= kBlocks; ++block)
    request.Add(back.at(block * kBlockBytes), cache.at(block * kBlockBytes), kBlockBytes);
  request.UseAttr(DeviceToHost());
  EXPECT_ACL(ACL_ERROR_RT_PARAM_INVALID, request.Submit(BatchForm::kAsync, stream()));
  EXPECT_EQ(request.fail_index, kBlocks);
  Synchronize();
  EXPECT_TRUE(back.Untouched());
}

// hazard-12: the descriptor is freed before the copy that uses it has run.
TEST_F(HazardLifetime, AttachedFreedDescriptor) {
  DeviceBuffer src(kBytes), desc(64);
  GuardedBuffer dst(Place::kDevice, kBytes);
  ASSERT_ACL(ACL_SUCCESS, aclrtSetMemcpyDesc(desc.data(), ACL_MEMCPY_INNER_DEVICE_TO_DEVICE, src.data(),
                                             dst.data(), kBytes, nullptr));
  void* const address = desc.data();
  {
    Gate gate(stream());
    EXPECT_ACL(ACL_SUCCESS,
               aclrtMemcpyAsyncWithDesc(desc.data(), ACL_MEMCPY_INNER_DEVICE_TO_DEVICE, stream()));
    desc.Free();
  }
  EXPECT_ACL(ACL_ERROR_RT_SYS_DMA, aclrtSynchronizeStream(stream()));
  EXPECT_TRUE(MessageHas(Hex(address)));
  EXPECT_TRUE(dst.Untouched());
}

TEST_F(HazardLifetime, AttachedDescriptorSetAnewBeforeItsCopyRuns) {
  DeviceBuffer src(kBytes), desc(64);
  GuardedBuffer meant(Place::kDevice, kBytes), other(Place::kDevice, kBytes);
  const Bytes contents = random().Fill(kBytes);
  src.Write(0, contents);
  constexpr aclrtMemcpyKind kInner = ACL_MEMCPY_INNER_DEVICE_TO_DEVICE;
  ASSERT_ACL(ACL_SUCCESS, aclrtSetMemcpyDesc(desc.data(), kInner, src.data(), meant.data(), kBytes, nullptr));
  Gate gate(stream());
  EXPECT_ACL(ACL_SUCCESS, aclrtMemcpyAsyncWithDesc(desc.data(), kInner, stream()));
  EXPECT_ACL(ACL_SUCCESS, aclrtSetMemcpyDesc(desc.data(), kInner, src.data(), other.data(), kBytes, nullptr));
  gate.Open();
  Synchronize();
  EXPECT_TRUE(meant.Untouched());
  EXPECT_TRUE(other.Holds(contents));
}

}  // namespace
}  // namespace sampan::test::hazard_lifetime_test
