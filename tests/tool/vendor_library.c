/* Stands for the vendor's library: the same name, other answers. */
#include <acl/acl.h>

#define ANSWER __attribute__((visibility("default"))) aclError

ANSWER aclrtGetDeviceCount(uint32_t* count) {
  *count = 777;
  return 0;
}
ANSWER aclrtSetDevice(int32_t device) {
  return device - device + 1;
}
ANSWER aclrtMalloc(void** memory, size_t bytes, aclrtMemMallocPolicy policy) {
  (void)bytes, (void)policy;
  *memory = 0;
  return 1;
}
ANSWER aclrtMemcpy(void* dst, size_t room, const void* src, size_t bytes, aclrtMemcpyKind kind) {
  (void)dst, (void)room, (void)src, (void)bytes, (void)kind;
  return 1;
}
