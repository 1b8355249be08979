// The network interface that a process listens on.
#pragma once

#include <string>
#include <vector>

#include "base/error/status.h"
#include "base/network/peer_address.h"

namespace sampan {

/// What HCCL_IF_IP, HCCL_SOCKET_IFNAME and HCCL_SOCKET_FAMILY say; empty: unset.
struct InterfaceWish {
  std::string address;
  std::string names;   ///< "eth" and "^eth" by prefix, "=eth0" and "^=eth0" by the whole name, with commas
  std::string family;  ///< AF_INET or AF_INET6
};

/// The wish of the environment.
InterfaceWish ReadInterfaceWish();

/// An address of an interface that is up.
struct InterfaceAddress {
  std::string name;
  PeerAddress address;
};

/// The address is preferred, then the names. Otherwise the first interface by name that is neither docker's
/// nor lo, then docker's, then lo. Fails with 107000 if nothing fits a wish, with 207000 if there is no
/// network.
Result<PeerAddress> ChooseInterface(const InterfaceWish& wish, std::vector<InterfaceAddress> interfaces);

/// Those of this process's network. Addresses that are valid on one link only are left out.
std::vector<InterfaceAddress> UsableInterfaces();

}  // namespace sampan
