/* Memory of a transfer, and the records that the virtual dispatcher leaves in a stream. */
#ifndef SAMPAN_HCCL_PLATFORM_TASK_LOGIC_INFO_PUB_H
#define SAMPAN_HCCL_PLATFORM_TASK_LOGIC_INFO_PUB_H

#include "dispatcher_task_types.h"

namespace hccl {

enum class UserMemType { INPUT_MEM, OUTPUT_MEM, MEM_RESERVED };

struct TxMemoryInfo {
  UserMemType dstMemType = UserMemType::MEM_RESERVED;
  u64 dstOffset = 0;
  const void* src = nullptr;
  u64 len = 0;
};

struct RxMemoryInfo {
  UserMemType srcMemType = UserMemType::MEM_RESERVED;
  u64 srcOffset = 0;
  void* dst = nullptr;
  u64 len = 0;
};

struct RxWithReduceMemoryInfo {
  UserMemType srcMemType = UserMemType::MEM_RESERVED;
  u64 srcOffset = 0;
  void* dst = nullptr;
  u64 len = 0;
  void* reduceSrc = nullptr;
  void* reduceDst = nullptr;
  u64 reduceDataCount = 0;
};

enum class TaskLogicType { DISPATCHER_TASK = 0, TRANSPORT_TASK = 1, TASK_RESERVED = 255 };

enum class TaskLogicFuncType {
  DISPATCHER_MEMCPYASYNC_TYPE = 0,
  DISPATCHER_REDUCEASYNC_TYPE = 1,
  DISPATCHER_SIGNALRECORD_TYPE = 2,
  DISPATCHER_SIGNALWAIT_TYPE = 3,
  TASK_RESERVED = 255
};

struct TaskLogicCmd {
  TaskLogicType taskLogicType = TaskLogicType::TASK_RESERVED;
  s32 index = -1;
};

/* One task that a virtual dispatcher was asked for. */
struct TaskLogicInfo {
  TaskLogicCmd taskLogicCmd;
  TaskLogicFuncType taskFuncType = TaskLogicFuncType::TASK_RESERVED;
  const void* src = nullptr;
  void* dst = nullptr;
  u64 size = 0; /* bytes of a copy, elements of a reduce */
  HcclDataType dataType = HCCL_DATA_TYPE_RESERVED;
  HcclReduceOp reduceOp = HCCL_REDUCE_RESERVED;
  HcclRtNotify signal = nullptr;
  u32 userRank = INVALID_VALUE_RANKID;
  u32 remoteUserRank = INVALID_VALUE_RANKID;
  u64 offset = INVALID_U64;
  s32 stage = INVALID_VALUE_STAGE;
  LinkType linkType = LinkType::LINK_ONCHIP;
};

}  // namespace hccl

#endif /* SAMPAN_HCCL_PLATFORM_TASK_LOGIC_INFO_PUB_H */
