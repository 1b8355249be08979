/* The record that a dispatcher's observer gets of each task. */
#ifndef SAMPAN_HCCL_PLATFORM_DISPATCHER_TASK_TYPES_H
#define SAMPAN_HCCL_PLATFORM_DISPATCHER_TASK_TYPES_H

#include <cstddef>

#include "hccl_common.h"

namespace hccl {

enum class TaskType {
  TASK_SDMA = 0,
  TASK_RDMA = 1,
  TASK_REDUCE_INLINE = 2,
  TASK_REDUCE_TBE = 3,
  TASK_NOTIFY_RECORD = 4,
  TASK_NOTIFY_WAIT = 5,
  TASK_HOST = 6,
  TASK_GRAPH_LAUNCH = 7,
  TASK_BATCH_REPORT = 8,
  TASK_FLIP = 9
};

enum class SimpleTaskType { SDMA = 0, RDMA = 1, LOCAL = 2, RESERVED = 255 };

enum class LinkType {
  LINK_ONCHIP = 0,
  LINK_HCCS = 1,
  LINK_PCIE = 2,
  LINK_ROCE = 3,
  LINK_SIO = 4,
  LINK_HCCS_SW = 5,
  LINK_STANDARD_ROCE = 6,
  LINK_UB = 7,
  LINK_RESERVED = 255
};

enum class TaskRole { DST = 0, SRC = 1 };

enum class RdmaType { RDMA_SEND_NOTIFY = 0, RDMA_SEND_PAYLOAD = 1, RDMA_TYPE_RESERVED = 255 };

enum class ProfilerType {
  TASK_PROFILING = 0,
  TASK_EXCEPTION = 1,
  TASK_OVERFLOW = 2,
  TASK_ALL = 3,
  TASK_RESERVE = 4
};

struct TaskParaDMA {
  const void* src = nullptr;
  const void* dst = nullptr;
  std::size_t size = 0; /* bytes */
  u64 notifyID = INVALID_U64;
  LinkType linkType = LinkType::LINK_ONCHIP;
  u32 remoteUserRank = INVALID_VALUE_RANKID;
  RdmaType rdmaType = RdmaType::RDMA_TYPE_RESERVED;
  u32 ctxId = INVALID_UINT; /* place in a launch */

  TaskParaDMA() = default;
  TaskParaDMA(const void* from, const void* to, std::size_t bytes, LinkType link, u32 rank)
      : src(from), dst(to), size(bytes), linkType(link), remoteUserRank(rank) {}
  /* The rank is in the high half of the notify's number. */
  TaskParaDMA(const void* from, const void* to, std::size_t bytes, u64 notify, LinkType link, RdmaType type)
      : src(from),
        dst(to),
        size(bytes),
        notifyID(notify),
        linkType(link),
        remoteUserRank(static_cast<u32>(notify >> 32)),
        rdmaType(type) {}
};

struct TaskParaReduce {
  const void* src = nullptr;
  const void* dst = nullptr;
  std::size_t size = 0; /* bytes of an inline reduce, elements of a vector one */
  HcclReduceOp op = HCCL_REDUCE_RESERVED;
  HcclDataType dataType = HCCL_DATA_TYPE_RESERVED;
  LinkType linkType = LinkType::LINK_ONCHIP;
  u32 remoteUserRank = INVALID_VALUE_RANKID;
  u32 ctxId = INVALID_UINT;
};

struct TaskParaNotify {
  u64 notifyID = INVALID_U64; /* rank in the high half, low half of the notify's offset below */
  s32 stage = INVALID_VALUE_STAGE;
  u32 remoteUserRank = INVALID_VALUE_RANKID;
  u32 ctxId = INVALID_UINT;
};

struct TaskParaHost {
  u32 streamID = INVALID_UINT;
  u32 taskID = INVALID_UINT;
  u64 len = 0;
  const char* tag = nullptr;
};

struct TaskParaGraphLaunch {
  u32 ctxNum = 0; /* tasks launched together */
};

struct TaskParaStreamTasks {
  u32 streamID = INVALID_UINT;
  u32 taskNum = 0;
};

struct TaskParaFlip {
  u32 streamID = INVALID_UINT;
  u32 taskID = INVALID_UINT;
  u32 flipNum = 0;
};

/* Valid during the callback only. */
struct TaskPara {
  TaskType type = TaskType::TASK_SDMA;
  ProfilerType profilerType = ProfilerType::TASK_ALL;
  void* stream = nullptr;
  bool isMainStream = false;
  u64 beginTime = 0; /* nanoseconds of the monotonic clock, when the call began */
  bool isFftsDispatcher = false;
  union {
    TaskParaDMA dma;
    TaskParaReduce reduce;
    TaskParaNotify notify;
    TaskParaHost host;
    TaskParaGraphLaunch graphLaunch;
    TaskParaStreamTasks streamTasks;
    TaskParaFlip flipTask;
  };

  TaskPara() : dma() {}
  TaskPara(TaskType what, const TaskParaDMA& para) : type(what), dma(para) {}
  TaskPara(TaskType what, const TaskParaReduce& para) : type(what), reduce(para) {}
  TaskPara(TaskType what, const TaskParaNotify& para) : type(what), notify(para) {}
  TaskPara(TaskType what, const TaskParaGraphLaunch& para) : type(what), graphLaunch(para) {}
};

}  // namespace hccl

#endif /* SAMPAN_HCCL_PLATFORM_DISPATCHER_TASK_TYPES_H */
