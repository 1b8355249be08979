// The smallest complete program: bytes go to the device and come back, in stream order.
#include "check.h"

#include <vector>

int main(int argc, char** argv) {
  std::mt19937_64 random(example::Seed(argc, argv));
  constexpr std::size_t kBytes = 4 << 20;
  std::vector<unsigned char> original(kBytes);
  example::FillRandom(original.data(), kBytes, random);

  CHECK_ACL(aclInit(nullptr));
  CHECK_ACL(aclrtSetDevice(0));
  aclrtStream stream = nullptr;
  CHECK_ACL(aclrtCreateStream(&stream));

  // Pinned host memory makes the copies asynchronous. With pageable memory the same calls return when done.
  void* host = example::PinnedMemory(kBytes);
  void* device = example::DeviceMemory(kBytes);

  std::memcpy(host, original.data(), kBytes);
  CHECK_ACL(aclrtMemcpyAsync(device, kBytes, host, kBytes, ACL_MEMCPY_HOST_TO_DEVICE, stream));
  CHECK_ACL(aclrtSynchronizeStream(stream));

  std::memset(host, 0, kBytes);  // so that the bytes below can only come from the device
  CHECK_ACL(aclrtMemcpyAsync(host, kBytes, device, kBytes, ACL_MEMCPY_DEVICE_TO_HOST, stream));
  CHECK_ACL(aclrtSynchronizeStream(stream));
  example::ExpectSameBytes(host, original.data(), kBytes, "the bytes that came back");

  CHECK_ACL(aclrtFree(device));
  CHECK_ACL(aclrtFreeHost(host));
  CHECK_ACL(aclrtDestroyStream(stream));
  CHECK_ACL(aclrtResetDevice(0));
  CHECK_ACL(aclFinalize());
  return example::Done("4 MiB to the device and back through one stream");
}
