/* A plug-in that is linked with AscendCL. */
#include <acl/acl.h>

__attribute__((visibility("default"))) unsigned PluginDevices(void) {
  unsigned devices = 0;
  return aclrtGetDeviceCount(&devices) == 0 ? devices : 0;
}
