// Orders two streams by an event, and checks the bytes that one wrote and the other read.
#include <cstdint>
#include <iostream>
#include <vector>

#include "acl/acl.h"
#include "acl/acl_rt.h"

#define CHECK(call)                                                           \
  do {                                                                        \
    const aclError code = (call);                                             \
    if (code != ACL_SUCCESS) {                                                \
      std::cerr << #call << " gave " << code << "\n" << aclGetRecentErrMsg(); \
      return 1;                                                               \
    }                                                                         \
  } while (0)

int main() {
  constexpr std::size_t kWords = 10000, kBytes = kWords * sizeof(std::uint32_t);
  void *device = nullptr, *sent = nullptr, *received = nullptr;
  aclrtStream writer = nullptr, reader = nullptr;
  aclrtEvent written = nullptr;
  CHECK(aclrtSetDevice(0));
  CHECK(aclrtCreateStream(&writer));
  CHECK(aclrtCreateStream(&reader));
  CHECK(aclrtCreateEventExWithFlag(&written, ACL_EVENT_SYNC));
  CHECK(aclrtMalloc(&device, kBytes, ACL_MEM_MALLOC_HUGE_FIRST));
  CHECK(aclrtMallocHost(&sent, kBytes));
  CHECK(aclrtMallocHost(&received, kBytes));
  auto* const words = static_cast<std::uint32_t*>(sent);
  for (std::size_t i = 0; i < kWords; ++i)
    words[i] = static_cast<std::uint32_t>(i) * 747796405U + 1;
  CHECK(aclrtMemcpyAsync(device, kBytes, sent, kBytes, ACL_MEMCPY_HOST_TO_DEVICE, writer));
  CHECK(aclrtRecordEvent(written, writer));
  CHECK(aclrtStreamWaitEvent(reader, written));
  CHECK(aclrtMemcpyAsync(received, kBytes, device, kBytes, ACL_MEMCPY_DEVICE_TO_HOST, reader));
  CHECK(aclrtSynchronizeStream(reader));
  for (std::size_t i = 0; i < kWords; ++i) {
    if (static_cast<std::uint32_t*>(received)[i] != words[i]) {
      std::cerr << "word " << i << " is wrong\n";
      return 1;
    }
  }
  CHECK(aclrtDestroyEvent(written));
  CHECK(aclrtDestroyStream(reader));
  CHECK(aclrtDestroyStream(writer));
  CHECK(aclrtFree(device));
  CHECK(aclrtFreeHost(sent));
  CHECK(aclrtFreeHost(received));
  CHECK(aclrtResetDevice(0));
  std::cout << "the words' bytes are right" << std::endl;
  return 0;
}
