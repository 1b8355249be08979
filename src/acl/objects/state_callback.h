// Calls the program's registered functions for events of devices and streams.
#pragma once

#include <cstdint>

#include "acl/acl_rt.h"

namespace sampan::acl {

void TellDeviceState(std::int32_t device, aclrtDeviceState state);
void TellStreamState(aclrtStream stream, aclrtStreamState state);

}  // namespace sampan::acl
