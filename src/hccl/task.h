// What a dispatcher can be asked to put into a stream.
#pragma once

#include <cstdint>
#include <memory>
#include <variant>

#include "base/platform_bridge.h"
#include "hccl/platform/dispatcher.h"

namespace sampan::plf {

/// Who is at the other end of a task, as the caller says: for records.
struct Peer {
  u32 rank = INVALID_VALUE_RANKID;
  hccl::LinkType link = hccl::LinkType::LINK_ONCHIP;
};
inline constexpr Peer kNobody{INVALID_VALUE_RANKID, hccl::LinkType::LINK_RESERVED};

struct CopyTask {
  void* dst;
  u64 dst_bytes;
  const void* src;
  u64 bytes;
  HcclRtMemcpyKind kind;
  Peer peer;
};

struct ReduceTask {
  void* dst;
  const void* src;
  u64 count;  ///< elements
  HcclDataType type;
  HcclReduceOp operation;
  bool inlined;  ///< by the copy engine, else by the vector unit
  Peer peer;
};

/// What a record says of a signal.
struct SignalRecord {
  u32 rank = INVALID_VALUE_RANKID;    ///< in the notify's number
  u32 remote = INVALID_VALUE_RANKID;  ///< the other side
  u64 offset = INVALID_U64;           ///< all ones: ask the runtime
  s32 stage = INVALID_VALUE_STAGE;
  hccl::LinkType link = hccl::LinkType::LINK_RESERVED;  ///< of a transport
};

struct PostTask {
  HcclRtNotify notify;
  SignalRecord record;
  std::shared_ptr<SignalLink> link;  ///< of a transport; else null
};

struct WaitTask {
  HcclRtNotify notify;
  u32 seconds;
  SignalRecord record;
  std::shared_ptr<SignalLink> link;
};

using TaskContent = std::variant<CopyTask, ReduceTask, PostTask, WaitTask>;

struct Task {
  void* stream;
  bool main_stream;
  u64 begin_ns;  ///< when the call began
  TaskContent content;
};

}  // namespace sampan::plf
