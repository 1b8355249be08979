// The commands that a dispatcher puts into streams.
#pragma once

#include <cstdint>
#include <memory>
#include <variant>

#include "base/platform_bridge.h"
#include "hccl/platform/dispatcher.h"

namespace sampan::hccl {

/// The other rank of a command and the link to it, as the caller gave them. Used in records.
struct Peer {
  u32 rank = INVALID_VALUE_RANKID;
  ::hccl::LinkType link = ::hccl::LinkType::LINK_ONCHIP;
};
inline constexpr Peer kNoPeer{INVALID_VALUE_RANKID, ::hccl::LinkType::LINK_RESERVED};

struct CopyCommand {
  void* dst;
  u64 dst_bytes;
  const void* src;
  u64 bytes;
  HcclRtMemcpyKind kind;
  Peer peer;
};

struct ReduceCommand {
  void* dst;
  const void* src;
  u64 count;  ///< elements
  HcclDataType type;
  HcclReduceOp operation;
  bool is_inline;  ///< by the copy engine, else by the vector unit
  Peer peer;
};

/// What a record says of a signal.
struct SignalRecord {
  u32 rank = INVALID_VALUE_RANKID;    ///< part of the notify's number
  u32 remote = INVALID_VALUE_RANKID;  ///< the other side
  u64 offset = INVALID_U64;           ///< all ones: the runtime's own number of the notify
  s32 stage = INVALID_VALUE_STAGE;
  ::hccl::LinkType link = ::hccl::LinkType::LINK_RESERVED;  ///< of a transport
};

struct PostCommand {
  HcclRtNotify notify;
  SignalRecord record;
  std::shared_ptr<SignalLink> link;  ///< of a transport; else null
};

struct WaitCommand {
  HcclRtNotify notify;
  u32 seconds;
  SignalRecord record;
  std::shared_ptr<SignalLink> link;
};

/// A command that waits for a launch, with its stream.
struct HeldCommand {
  void* stream;
  std::variant<CopyCommand, ReduceCommand, PostCommand, WaitCommand> command;
};

}  // namespace sampan::hccl
