/* Types of HCCL: results, reduce operations, data types, and what communicators are made from. */
#ifndef SAMPAN_HCCL_HCCL_TYPES_H
#define SAMPAN_HCCL_HCCL_TYPES_H

#include <stddef.h>
#include <stdint.h>

#if defined(__GNUC__)
#define HCCL_PUBLIC __attribute__((visibility("default")))
#define HCCL_PUBLIC_WEAK __attribute__((visibility("default"), weak))
#else
#define HCCL_PUBLIC
#define HCCL_PUBLIC_WEAK
#endif

#ifdef __cplusplus
#define HCCL_CONSTANT(name, value) const uint32_t name = value
#define HCCL_WORD(name, value) const uint32_t name = value
#else
#define HCCL_CONSTANT(name, value) enum { name = value }
#define HCCL_WORD(name, value) static const uint32_t name = value
#endif

#ifdef __cplusplus
extern "C" {
#endif

HCCL_CONSTANT(HCCL_ROOT_INFO_BYTES, 4108);
HCCL_CONSTANT(HCCL_COMM_CONFIG_INFO_BYTES, 24);
HCCL_CONSTANT(COMM_NAME_MAX_LENGTH, 128);
HCCL_CONSTANT(BUFFER_NAME_MAX_LENGTH, 128);
HCCL_CONSTANT(UDI_MAX_LENGTH, 128);
HCCL_CONSTANT(HCCL_COMM_ALGO_MAX_LENGTH, 1600);
HCCL_CONSTANT(HCCL_COMM_RETRY_ENABLE_MAX_LENGTH, 50);
HCCL_CONSTANT(HCCL_COMM_RETRY_PARAMS_MAX_LENGTH, 128);
HCCL_WORD(HCCL_COMM_CONFIG_MAGIC_WORD, 0xf0f0f0f0);
HCCL_CONSTANT(HCCL_COMM_CONFIG_VERSION, 11);
HCCL_CONSTANT(HCCL_COMM_DEFAULT_BUFFSIZE, 200);
HCCL_WORD(HCCL_COMM_BUFFSIZE_CONFIG_NOT_SET, 0xffffffff);
HCCL_WORD(HCCL_COMM_DETERMINISTIC_CONFIG_NOT_SET, 0xffffffff);
HCCL_WORD(HCCL_COMM_TRAFFIC_CLASS_CONFIG_NOT_SET, 0xffffffff);
HCCL_WORD(HCCL_COMM_SERVICE_LEVEL_CONFIG_NOT_SET, 0xffffffff);
HCCL_WORD(HCCL_COMM_QOS_CONFIG_NOT_SET, 0xffffffff);

typedef void* HcclComm;
typedef void* HcclConn;
typedef void* HcclCommSymWindow;

typedef enum {
  HCCL_SUCCESS = 0,
  HCCL_E_PARA = 1,
  HCCL_E_PTR = 2,
  HCCL_E_MEMORY = 3,
  HCCL_E_INTERNAL = 4,
  HCCL_E_NOT_SUPPORT = 5,
  HCCL_E_NOT_FOUND = 6,
  HCCL_E_UNAVAIL = 7,
  HCCL_E_SYSCALL = 8,
  HCCL_E_TIMEOUT = 9,
  HCCL_E_OPEN_FILE_FAILURE = 10,
  HCCL_E_TCP_CONNECT = 11,
  HCCL_E_ROCE_CONNECT = 12,
  HCCL_E_TCP_TRANSFER = 13,
  HCCL_E_ROCE_TRANSFER = 14,
  HCCL_E_RUNTIME = 15,
  HCCL_E_DRV = 16,
  HCCL_E_PROFILING = 17,
  HCCL_E_CCE = 18,
  HCCL_E_NETWORK = 19,
  HCCL_E_AGAIN = 20,
  HCCL_E_REMOTE = 21,
  HCCL_E_SUSPENDING = 22,
  HCCL_E_OPRETRY_FAIL = 23,
  HCCL_E_OOM = 24,
  HCCL_E_IN_STATUS = 1041,
  HCCL_E_RESERVED = 1042
} HcclResult;

typedef enum {
  HCCL_REDUCE_SUM = 0,
  HCCL_REDUCE_PROD = 1,
  HCCL_REDUCE_MAX = 2,
  HCCL_REDUCE_MIN = 3,
  HCCL_REDUCE_RESERVED = 255
} HcclReduceOp;

/* The values of the newer releases; older ones have HIF8, FP8E4M3 and FP8E5M2 one lower. */
typedef enum {
  HCCL_DATA_TYPE_INT8 = 0,
  HCCL_DATA_TYPE_INT16 = 1,
  HCCL_DATA_TYPE_INT32 = 2,
  HCCL_DATA_TYPE_FP16 = 3,
  HCCL_DATA_TYPE_FP32 = 4,
  HCCL_DATA_TYPE_INT64 = 5,
  HCCL_DATA_TYPE_UINT64 = 6,
  HCCL_DATA_TYPE_UINT8 = 7,
  HCCL_DATA_TYPE_UINT16 = 8,
  HCCL_DATA_TYPE_UINT32 = 9,
  HCCL_DATA_TYPE_FP64 = 10,
  HCCL_DATA_TYPE_BFP16 = 11,
  HCCL_DATA_TYPE_INT128 = 12,
  HCCL_DATA_TYPE_HIF8 = 14,
  HCCL_DATA_TYPE_FP8E4M3 = 15,
  HCCL_DATA_TYPE_FP8E5M2 = 16,
  HCCL_DATA_TYPE_FP8E8M0 = 17,
  HCCL_DATA_TYPE_RESERVED = 255
} HcclDataType;

/* What the root gives to all ranks of a future communicator: opaque bytes. */
typedef struct HcclRootInfoDef {
  char internal[HCCL_ROOT_INFO_BYTES];
} HcclRootInfo;

typedef enum { HCCL_DETERMINISTIC = 0, HCCL_CONFIG_RESERVED } HcclConfig;

/* Without a typedef, as in the original: C programs write `union HcclConfigValue`. */
union HcclConfigValue {
  int32_t value;
};

/* An item is supported if HcclGetCommConfigCapability returns more than its number. */
typedef enum {
  HCCL_COMM_CONFIG_BUFFER_SIZE = 0,
  HCCL_COMM_CONFIG_DETERMINISTIC = 1,
  HCCL_COMM_CONFIG_COMM_NAME = 2,
  HCCL_COMM_CONFIG_OP_EXPANSION_MODE = 3,
  HCCL_COMM_CONFIG_SUPPORT_INIT_BY_ENV = 4,
  HCCL_COMM_CONFIG_WORLD_RANKID = 5,
  HCCL_COMM_CONFIG_JOBID = 6,
  HCCL_COMM_CONFIG_ACLGRAPH_ZEROCOPY_ENABLE = 7,
  HCCL_COMM_CONFIG_EXEC_TIMEOUT = 8,
  HCCL_COMM_CONFIG_ALGO = 9,
  HCCL_COMM_CONFIG_RETRY = 10,
  HCCL_COMM_CONFIG_BUFFER_NAME = 11,
  HCCL_COMM_CONFIG_RESERVED = 12
} HcclCommConfigCapability;

/* Whether a communicator accepts operators. INVALID: it has failed. */
typedef enum {
  HCCL_COMM_STATUS_READY = 0,
  HCCL_COMM_STATUS_SUSPENDING = 1,
  HCCL_COMM_STATUS_INVALID = 254,
  HCCL_COMM_STATUS_RESERVED = 255
} HcclCommStatus;

/* Before and after HcclCommDestroy, before and after HcclCommResume. */
typedef enum {
  HCCL_COMM_STATE_PHASE_INVALID = -1,
  HCCL_COMM_STATE_PHASE_DESTROY_PRE = 0,
  HCCL_COMM_STATE_PHASE_DESTROY_POST = 1,
  HCCL_COMM_STATE_PHASE_RESUME_PRE = 2,
  HCCL_COMM_STATE_PHASE_RESUME_POST = 3
} HcclCommStatePhase;

/* What a program calls before and after a communicator changes. */
typedef HcclResult (*HcclCommStateCallback)(HcclComm comm, HcclCommStatePhase state, void* args);

/* Where the original executes operators. */
typedef enum {
  HCCL_OP_EXPANSION_MODE_INVALID = -1,
  HCCL_OP_EXPANSION_MODE_AI_CPU = 0,
  HCCL_OP_EXPANSION_MODE_AIV = 1,
  HCCL_OP_EXPANSION_MODE_HOST = 2,
  HCCL_OP_EXPANSION_MODE_HOST_TS = 3,
  HCCL_OP_EXPANSION_MODE_CCU_MS = 4,
  HCCL_OP_EXPANSION_MODE_CCU_SCHED = 5,
  HCCL_OP_EXPANSION_AIV_ONLY = 6
} HcclOpExpansionMode;
typedef HcclOpExpansionMode HcclConfigTypeOpExpansionMode;

/* What HcclConfigGetInfo can be asked for. */
typedef enum { HCCL_CONFIG_TYPE_INVALID = -1, HCCL_CONFIG_TYPE_OP_EXPANSION_MODE = 0 } HcclConfigType;

typedef enum { HCCL_SEND = 0, HCCL_RECV = 1, HCCL_SEND_RECV_RESERVED = 2 } HcclSendRecvType;

/* One item of HcclBatchSendRecv. */
typedef struct HcclSendRecvItemDef {
  HcclSendRecvType sendRecvType;
  void* buf;
  uint64_t count;
  HcclDataType dataType;
  uint32_t remoteRank;
} HcclSendRecvItem;

/* The settings of a communicator. HcclCommConfigInit fills it; larger and smaller versions are accepted. */
typedef struct HcclCommConfigDef {
  char reserved[HCCL_COMM_CONFIG_INFO_BYTES]; /* size, magic word, version: not for programs */
  uint32_t hcclBufferSize;                    /* MB */
  uint32_t hcclDeterministic;                 /* 0 off, 1 on, 2 strict */
  char hcclCommName[COMM_NAME_MAX_LENGTH];
  char hcclUdi[UDI_MAX_LENGTH];
  uint32_t hcclOpExpansionMode;
  uint32_t hcclRdmaTrafficClass;
  uint32_t hcclRdmaServiceLevel;
  uint32_t hcclWorldRankID;
  uint64_t hcclJobID;
  uint8_t aclGraphZeroCopyEnable;
  int32_t hcclExecTimeOut; /* seconds */
  char hcclAlgo[HCCL_COMM_ALGO_MAX_LENGTH];
  char hcclRetryEnable[HCCL_COMM_RETRY_ENABLE_MAX_LENGTH];
  char hcclRetryParams[HCCL_COMM_RETRY_PARAMS_MAX_LENGTH];
  char hcclBufferName[BUFFER_NAME_MAX_LENGTH];
  uint32_t hcclQos;
  uint64_t hcclSymWinMaxMemSizePerRank; /* GB */
  uint32_t hcclChannelSqDepth;
} HcclCommConfig;

#ifdef __cplusplus
}
#endif

#endif /* SAMPAN_HCCL_HCCL_TYPES_H */
