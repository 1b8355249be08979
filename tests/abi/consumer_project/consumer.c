/* A program of a user: allocates, copies there and back, and compares. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "acl/acl.h"

#define CHECK(call)                                                                 \
  do {                                                                              \
    const aclError code = (call);                                                   \
    if (code != ACL_SUCCESS) {                                                      \
      const char* message = aclGetRecentErrMsg();                                   \
      fprintf(stderr, "%s: %d\n%s\n", #call, code, message != NULL ? message : ""); \
      exit(1);                                                                      \
    }                                                                               \
  } while (0)

enum { kBytes = 1 << 20 };

int main(void) {
  CHECK(aclInit(NULL));
  CHECK(aclrtSetDevice(0));
  void* device = NULL;
  void* host = NULL;
  CHECK(aclrtMalloc(&device, kBytes, ACL_MEM_MALLOC_HUGE_FIRST));
  CHECK(aclrtMallocHost(&host, kBytes));
  unsigned char* bytes = (unsigned char*)host;
  for (size_t i = 0; i < kBytes; ++i) {
    bytes[i] = (unsigned char)(i * 31 + 7);
  }
  CHECK(aclrtMemcpy(device, kBytes, host, kBytes, ACL_MEMCPY_HOST_TO_DEVICE));
  memset(host, 0, kBytes);
  CHECK(aclrtMemcpy(host, kBytes, device, kBytes, ACL_MEMCPY_DEVICE_TO_HOST));
  for (size_t i = 0; i < kBytes; ++i) {
    if (bytes[i] != (unsigned char)(i * 31 + 7)) {
      fprintf(stderr, "byte %zu is wrong\n", i);
      return 1;
    }
  }
  CHECK(aclrtFreeHost(host));
  CHECK(aclrtFree(device));
  CHECK(aclrtResetDevice(0));
  CHECK(aclFinalize());
  puts("copied and compared");
  return 0;
}
