// Sends blocks of a cache in one batch, and gets them back by a loop where there is no batch.
#include <acl/acl.h>

#include <array>
#include <cstdint>
#include <cstdio>
#include <cstring>

namespace {

constexpr std::size_t kBlocks = 64, kBlockBytes = 1536;

bool Send(std::uint8_t* device, std::uint8_t* host, aclrtStream stream) {
  std::array<void*, kBlocks> to{}, from{};
  std::array<std::size_t, kBlocks> bytes{};
  for (std::size_t i = 0; i < kBlocks; ++i) {
    to[i] = device + i * kBlockBytes;
    from[i] = host + (kBlocks - 1 - i) * kBlockBytes;
    bytes[i] = kBlockBytes;
  }
  aclrtMemcpyBatchAttr places{};
  places.dstLoc = {0, ACL_MEM_LOCATION_TYPE_DEVICE};
  places.srcLoc = {0, ACL_MEM_LOCATION_TYPE_HOST};
  std::size_t first = 0, failed = 0;
  const aclError code = aclrtMemcpyBatchAsync(to.data(), bytes.data(), from.data(), bytes.data(), kBlocks,
                                              &places, &first, 1, &failed, stream);
  if (code != ACL_ERROR_RT_FEATURE_NOT_SUPPORT) return code == ACL_SUCCESS;
  for (std::size_t i = 0; i < kBlocks; ++i) {
    if (aclrtMemcpyAsync(to[i], bytes[i], from[i], bytes[i], ACL_MEMCPY_HOST_TO_DEVICE, stream) !=
        ACL_SUCCESS)
      return false;
  }
  return true;
}

}  // namespace

int main() {
  void *device = nullptr, *pinned = nullptr;
  aclrtStream stream = nullptr;
  bool right =
      aclrtSetDevice(0) == ACL_SUCCESS &&
      aclrtCreateStreamWithConfig(&stream, 0, ACL_STREAM_FAST_LAUNCH | ACL_STREAM_FAST_SYNC) == ACL_SUCCESS &&
      aclrtMalloc(&device, kBlocks * kBlockBytes, ACL_MEM_MALLOC_HUGE_ONLY) == ACL_SUCCESS &&
      aclrtMallocHost(&pinned, 2 * kBlocks * kBlockBytes) == ACL_SUCCESS;
  if (!right) return 1;
  auto* const host = static_cast<std::uint8_t*>(pinned);
  std::uint8_t* const back = host + kBlocks * kBlockBytes;
  for (std::size_t i = 0; i < kBlocks * kBlockBytes; ++i)
    host[i] = static_cast<std::uint8_t>((i * 2654435761U) >> 13);
  right = Send(static_cast<std::uint8_t*>(device), host, stream) &&
          aclrtMemcpyAsync(back, kBlocks * kBlockBytes, device, kBlocks * kBlockBytes,
                           ACL_MEMCPY_DEVICE_TO_HOST, stream) == ACL_SUCCESS &&
          aclrtSynchronizeStreamWithTimeout(stream, 60000) == ACL_SUCCESS;
  for (std::size_t i = 0; i < kBlocks; ++i)
    right = right &&
            std::memcmp(back + i * kBlockBytes, host + (kBlocks - 1 - i) * kBlockBytes, kBlockBytes) == 0;
  std::puts(right ? "the blocks' bytes are right" : "wrong");
  return right ? 0 : 1;
}
