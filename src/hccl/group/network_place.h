// Where rank 0 of a group of several hosts listens.
#pragma once

#include <string>

#include "base/network/peer_address.h"
#include "hccl/hccl_types.h"

namespace sampan::hccl {

/// The address in a configuration. If it has no port, the first one that HCCL's variables name.
HcclResult ReadPlace(const char* function, const std::string& text, PeerAddress& address);

/// The interface and a free port, by HCCL's variables.
HcclResult ChoosePlace(const char* function, PeerAddress& address);
/// The same, and keeps the port for a rank 0 in this process.
HcclResult ReservePlace(const char* function, PeerAddress& address);

}  // namespace sampan::hccl
