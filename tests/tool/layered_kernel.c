/* A library of layered_program: calls the runtime, and another library for the rest. */
#include "acl/acl.h"

extern aclError AllocateForKernel(void);

__attribute__((visibility("default"))) aclError StartKernel(void);
aclError StartKernel(void) {
  return AllocateForKernel() + aclrtLaunchKernel(0, 1, 0, 0, 0);
}
