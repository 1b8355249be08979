/* Handles, limits and enumerations that the platform's headers share. */
#ifndef SAMPAN_HCCL_PLATFORM_HCCL_COMMON_H
#define SAMPAN_HCCL_PLATFORM_HCCL_COMMON_H

#include <cstdint>

#include "hccl/base.h"

using HcclDispatcher = void*;
using HcclRtStream = void*;
using HcclRtNotify = void*;
using HcclRtContext = void*;
using HcclRtEvent = void*;
using RdmaHandle = void*;
using SocketHandle = void*;
using FdHandle = void*;
using QpHandle = void*;
using MrHandle = void*;
using HcclTraHandle = intptr_t;

constexpr u32 INVALID_VALUE_RANKID = 0xFFFFFFFF;
constexpr u32 INVALID_VALUE_RANKSIZE = 0xFFFFFFFF;
constexpr u32 INVALID_UINT = 0xFFFFFFFF;
constexpr u64 INVALID_U64 = 0xFFFFFFFFFFFFFFFFULL;
constexpr s32 INVALID_INT = -1;
constexpr s32 INVALID_VALUE_STAGE = -1;
constexpr s32 HCCL_DEVICE_NOT_SET = -1;
constexpr s32 HOST_DEVICE_ID = -1;

/* Seconds. */
constexpr u32 NOTIFY_DEFAULT_WAIT_TIME = 27 * 68;
constexpr u32 NOTIFY_MAX_WAIT_TIME = 255 * 68;
constexpr u32 NOTIFY_MAX_WAIT_TIME_910_93 = 2147483647;
constexpr u32 NOTIFY_INVALID_WAIT_TIME = 0xFFFFFFFF;

constexpr u32 HCCL_FFTS_CAPACITY = 65535;
constexpr u32 MAX_MODULE_DEVICE_NUM = 65;
constexpr u32 HCCL_AISERVER_DEVICE_NUM = 8;

constexpr u32 SDMA_QOS_LOW = 2;
constexpr u32 SDMA_QOS_MID = 4;
constexpr u32 SDMA_QOS_HIGH = 6;
constexpr u32 SDMA_QOS_DEFAULT = 6;

/* The maximum bytes of one task. */
constexpr u64 HCCL_SDMA_MAX_COUNT_4GB = 0x100000000ULL;

enum class SyncMode {
  DEFAULT_TIMEWAITSYNCMODE = 0,
  CONFIGURABLE_TIMEWAITSYNCMODE = 1,
  UNLIMITED_TIMEWAITSYNCMODE = 2
};

enum class TransportType {
  TRANS_TYPE_IBV_EXP = 0,
  TRANS_TYPE_P2P = 1,
  TRANS_TYPE_DEVICE_P2P = 2,
  TRANS_TYPE_DEVICE_IBVERBS = 3,
  TRANS_TYPE_DEVICE_DIRECT = 4,
  TRANS_TYPE_RESERVED = 255
};

enum class LinkTypeInServer {
  HCCS_TYPE = 0,
  PXI_TYPE = 1,
  SIO_TYPE = 2,
  HCCS_SW_TYPE = 3,
  RESERVED_LINK_TYPE
};

enum class NICDeployment { NIC_DEPLOYMENT_HOST = 0, NIC_DEPLOYMENT_DEVICE = 1, NIC_DEPLOYMENT_RESERVED };

enum class NotifyLoadType { HOST_NOTIFY = 0, DEVICE_NOTIFY = 1 };

enum class DevType {
  DEV_TYPE_910 = 0,
  DEV_TYPE_310P3 = 1,
  DEV_TYPE_910B = 2,
  DEV_TYPE_310P1 = 3,
  DEV_TYPE_910_93 = 4,
  DEV_TYPE_NOSOC = 5,
  DEV_TYPE_950 = 6,
  DEV_TYPE_MC62 = 7,
  DEV_TYPE_960 = 8,
  DEV_TYPE_COUNT = 9
};

enum class HcclWorkflowMode {
  HCCL_WORKFLOW_MODE_OPS_KERNEL_INFO_LIB = 0,
  HCCL_WORKFLOW_MODE_OP_BASE = 1,
  HCCL_WORKFLOW_MODE_RESERVED = 255
};

/* A notify that can be sent to other ranks: its name, its place and its owner. */
struct HcclSignalInfo {
  u64 resId = INVALID_U64;
  u64 addr = 0;
  u32 devId = INVALID_UINT;
  u32 tsId = 0;
  u32 rankId = INVALID_VALUE_RANKID;
  u32 flag = 0;
};

struct HcclComStreamInfo {
  s32 actualStreamId = -1;
  s32 sqId = -1;
  u32 sqDepth = 0;
  void* sqBaseAddr = nullptr;
  u32 logicCqId = 0;
};

namespace hccl {
using ::DevType;
using ::HcclWorkflowMode;
using ::LinkTypeInServer;
using ::NICDeployment;
using ::NotifyLoadType;
using ::SyncMode;
using ::TransportType;
}  // namespace hccl

#endif /* SAMPAN_HCCL_PLATFORM_HCCL_COMMON_H */
