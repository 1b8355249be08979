/* A libascendcl of a later release, for linking alone: it has a function that ours does not have. */
#include "acl/acl.h"

__attribute__((visibility("default"))) aclError aclNoSuchFunction(void);
aclError aclNoSuchFunction(void) {
  return ACL_SUCCESS;
}
