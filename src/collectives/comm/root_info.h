// The bytes that the root gives to all ranks of a future communicator.
#pragma once

#include <optional>
#include <string>

#include "base/error/status.h"
#include "base/system/host_identity.h"
#include "hccl/base.h"
#include "hccl/hccl_types.h"

namespace sampan::collectives {

/// Where the ranks meet.
struct RootInfo {
  std::string name;   ///< of the communicator, if the configuration has none
  std::string token;  ///< proves that a rank belongs to it
  HostIdentity host;  ///< of the root
  /// Where ranks of other hosts meet rank 0; empty: all ranks run on one host.
  std::string address{};
};

/// A new one, with random bits that no other process can guess.
Result<RootInfo> MakeRootInfo();
HcclRootInfo Encode(const RootInfo& info);
/// Nothing if the bytes are no root info.
std::optional<RootInfo> Decode(const HcclRootInfo& bytes);

}  // namespace sampan::collectives
