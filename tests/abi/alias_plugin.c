/* A library linked with the other name than its program. */
#include "acl/acl.h"

__attribute__((visibility("default"))) aclError (*PluginCountFunction(void))(uint32_t*);

aclError (*PluginCountFunction(void))(uint32_t*) {
  return aclrtGetDeviceCount;
}
