/* Needs a function that works, one that is refused, one of a later release, and can do without a fourth. They
 * are bound when they are called: without arguments none of them is. */
#include <stdio.h>

#include "acl/acl.h"

extern aclError aclNoSuchFunction(void);
extern aclError aclMaybeThere(void) __attribute__((weak));

int main(int argc, char** argv) {
  void* memory = 0;
  (void)argv;
  puts("started");
  if (argc == 1) return 0;
  if (aclMaybeThere != 0 && aclMaybeThere() != ACL_SUCCESS) return 1;
  return aclrtMalloc(&memory, 64, ACL_MEM_MALLOC_HUGE_FIRST) + aclrtLaunchKernel(0, 1, 0, 0, 0) +
         aclNoSuchFunction();
}
