/* A library of layered_kernel. */
#include "acl/acl.h"

__attribute__((visibility("default"))) aclError AllocateForKernel(void);
aclError AllocateForKernel(void) {
  void* memory = 0;
  return aclrtMallocHost(&memory, 64);
}
