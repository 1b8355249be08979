/* A word there and back, in C, with a function called in stream order. */
#include <stdint.h>
#include <stdio.h>

#include "acl/acl.h"
#include "acl/acl_dump.h"
#include "acl/acl_tdt.h"
#include "acl/ops/acl_cblas.h"

static void Count(void* counter) {
  ++*(int*)counter;
}

int main(void) {
  uint64_t sent = 0x0123456789ABCDEFU, received = 0;
  int calls = 0;
  void* device = NULL;
  aclrtStream stream = NULL;
  if (aclInit(NULL) != ACL_SUCCESS || aclrtSetDevice(0) != ACL_SUCCESS) return 1;
  if (aclrtMalloc(&device, sizeof(sent), ACL_MEM_MALLOC_HUGE_FIRST) != ACL_SUCCESS) return 1;
  if (aclrtCreateStream(&stream) != ACL_SUCCESS) return 1;
  if (aclrtMemcpy(device, sizeof(sent), &sent, sizeof(sent), ACL_MEMCPY_HOST_TO_DEVICE) != ACL_SUCCESS)
    return 1;
  if (aclrtMemcpyAsync(&received, sizeof(received), device, sizeof(received), ACL_MEMCPY_DEVICE_TO_HOST,
                       stream) != ACL_SUCCESS)
    return 1;
  if (aclrtLaunchHostFunc(stream, Count, &calls) != ACL_SUCCESS) return 1;
  if (aclrtSynchronizeStream(stream) != ACL_SUCCESS) return 1;
  if (aclrtDestroyStream(stream) != ACL_SUCCESS || aclrtFree(device) != ACL_SUCCESS) return 1;
  if (aclrtResetDevice(0) != ACL_SUCCESS || aclFinalize() != ACL_SUCCESS) return 1;
  if (received != sent || calls != 1) return 1;
  puts("the word's bytes are right");
  return 0;
}
