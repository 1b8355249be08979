// What programs with paged caches rely on in batch copies.
// Rules of docs/BEHAVIOUR.md: client-4, client-5, client-6.
#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <vector>

#include "acl/acl.h"
#include "tests/support/batch_request.h"
#include "tests/support/copy_fixture.h"

namespace sampan::test::client_batch_test {
namespace {

constexpr std::size_t kBlocks = 160, kBlockBytes = 8192;

class ClientBatch : public CopyTest {
 protected:
  /// As callers write it: a batch, and a loop instead only where batches are not supported.
  aclError MoveBlocks(std::vector<void*> dsts, std::vector<void*> srcs, bool& looped) const {
    std::vector<std::size_t> sizes(dsts.size(), kBlockBytes);
    aclrtMemcpyBatchAttr attr = HostToDevice();
    std::size_t index = 0, fail_index = 0;
    const aclError code = aclrtMemcpyBatchAsync(dsts.data(), sizes.data(), srcs.data(), sizes.data(),
                                                dsts.size(), &attr, &index, 1, &fail_index, stream());
    looped = code == ACL_ERROR_RT_FEATURE_NOT_SUPPORT;
    if (!looped) return code;
    for (std::size_t i = 0; i < dsts.size(); ++i) {
      const aclError each =
          aclrtMemcpyAsync(dsts[i], kBlockBytes, srcs[i], kBlockBytes, ACL_MEMCPY_HOST_TO_DEVICE, stream());
      if (each != ACL_SUCCESS) return each;
    }
    return ACL_SUCCESS;
  }

  static std::vector<void*> Blocks(const Buffer& memory) {
    std::vector<void*> blocks;
    for (std::size_t i = 0; i < kBlocks; ++i)
      blocks.push_back(memory.at(i * kBlockBytes));
    return blocks;
  }
};

TEST_F(ClientBatch, BlocksArriveWithOrWithoutSupportForBatches) {
  PinnedBuffer host(kBlocks * kBlockBytes);
  DeviceBuffer cache(kBlocks * kBlockBytes);
  const Bytes contents = random().Fill(kBlocks * kBlockBytes);
  host.Write(0, contents);
  bool looped = false;
  EXPECT_ACL(ACL_SUCCESS, MoveBlocks(Blocks(cache), Blocks(host), looped));
  Synchronize();
  EXPECT_TRUE(SameBytes(contents, cache.Read(0, kBlocks * kBlockBytes)));
  aclrtRunMode mode = ACL_HOST;
  EXPECT_ACL(ACL_SUCCESS, aclrtGetRunMode(&mode));
  EXPECT_EQ(looped, mode == ACL_DEVICE) << "207000 is the answer of chips without batches, of no other";
}

TEST_F(ClientBatch, AttachedAMistakeIsNeverReportedAsMissingSupport) {
  PinnedBuffer host(kBlocks * kBlockBytes);
  DeviceBuffer cache(kBlocks * kBlockBytes);
  std::vector<void*> dsts = Blocks(cache);
  dsts[7] = host.data();
  bool looped = false;
  EXPECT_ACL(ACL_ERROR_RT_PARAM_INVALID, MoveBlocks(dsts, Blocks(host), looped));
  EXPECT_FALSE(looped);
}

TEST_F(ClientBatch, AttachedThousandsOfEntriesWithTheirOwnAttributes) {
  constexpr std::size_t kEntries = 16'384, kBytes = 512;
  PinnedBuffer host(kEntries * kBytes);
  DeviceBuffer cache(kEntries * kBytes);
  const Bytes contents = random().Fill(kEntries * kBytes);
  cache.Write(0, contents);
  BatchRequest request;
  for (std::size_t i = 0; i < kEntries; ++i) {
    request.Add(host.at(i * kBytes), cache.at(i * kBytes), kBytes);
    request.UseAttr(DeviceToHost(), i);
  }
  EXPECT_ACL(ACL_SUCCESS, request.Submit(BatchForm::kAsync, stream()));
  EXPECT_EQ(request.fail_index, SIZE_MAX);
  Synchronize();
  EXPECT_TRUE(SameBytes(contents, host.Read(0, kEntries * kBytes)));
}

TEST_F(ClientBatch, AttachedLayersOnAFastStream) {
  constexpr std::size_t kLayers = 61, kLarge = 131'072, kSmall = 16'384, kLayer = kLarge + kSmall;
  Stream fast(ACL_STREAM_FAST_LAUNCH | ACL_STREAM_FAST_SYNC);
  PinnedBuffer host(kLayers * kLayer);
  std::vector<DeviceBuffer> keys, values;
  BatchRequest down, up;
  for (std::size_t layer = 0; layer < kLayers; ++layer) {
    keys.emplace_back(kLarge);
    values.emplace_back(kSmall);
    up.Add(keys[layer].data(), host.at(layer * kLayer), kLarge);
    up.Add(values[layer].data(), host.at(layer * kLayer + kLarge), kSmall);
  }
  down.dsts = up.srcs, down.srcs = up.dsts, down.sizes = down.dest_maxs = up.sizes;
  up.UseAttr(HostToDevice());
  down.UseAttr(DeviceToHost());
  const Bytes contents = random().Fill(kLayers * kLayer);
  host.Write(0, contents);
  EXPECT_ACL(ACL_SUCCESS, up.Submit(BatchForm::kAsync, fast));
  EXPECT_ACL(ACL_SUCCESS, aclrtSynchronizeStream(fast));
  host.Write(0, Bytes(kLayers * kLayer, std::byte{0}));
  EXPECT_ACL(ACL_SUCCESS, down.Submit(BatchForm::kAsync, fast));
  EXPECT_ACL(ACL_SUCCESS, aclrtSynchronizeStreamWithTimeout(fast, 60'000));
  EXPECT_TRUE(SameBytes(contents, host.Read(0, kLayers * kLayer)));
}

}  // namespace
}  // namespace sampan::test::client_batch_test
