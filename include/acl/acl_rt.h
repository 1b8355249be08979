/* The runtime: devices, contexts, streams, events, memory and copies. */
#ifndef SAMPAN_ACL_ACL_RT_H
#define SAMPAN_ACL_ACL_RT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "acl_base.h"
#include "acl_rt_allocator.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- version of the interface ---- */

#define ACL_MAJOR_VERSION 1
#define ACL_MINOR_VERSION 17
#define ACL_PATCH_VERSION 0

/* ---- flags and other constants ---- */

/* aclrtCreateEventWithFlag, aclrtCreateEventExWithFlag */
#define ACL_EVENT_SYNC 0x00000001U
#define ACL_EVENT_CAPTURE_STREAM_PROGRESS 0x00000002U
#define ACL_EVENT_TIME_LINE 0x00000008U
#define ACL_EVENT_DEVICE_USE_ONLY 0x00000010U
#define ACL_EVENT_EXTERNAL 0x00000020U
#define ACL_EVENT_IPC 0x00000040U

/* aclrtRecordEventWithFlag, aclrtStreamWaitEventWithFlag */
#define ACL_EVENT_RECORD_DEFAULT 0x0U
#define ACL_EVENT_RECORD_EXTERNAL 0x01U
#define ACL_EVENT_WAIT_DEFAULT 0x0U
#define ACL_EVENT_WAIT_EXTERNAL 0x01U

/* aclrtCreateStreamWithConfig */
#define ACL_STREAM_FAST_LAUNCH 0x00000001U
#define ACL_STREAM_FAST_SYNC 0x00000002U
#define ACL_STREAM_PERSISTENT 0x00000004U
#define ACL_STREAM_HUGE 0x00000008U
#define ACL_STREAM_CPU_SCHEDULE 0x00000010U
#define ACL_STREAM_DEVICE_USE_ONLY 0x00000020U

/* aclrtValueWait: how the word in memory is compared with the value */
#define ACL_STREAM_WAIT_VALUE_GEQ 0x00000000U
#define ACL_STREAM_WAIT_VALUE_EQ 0x00000001U
#define ACL_STREAM_WAIT_VALUE_AND 0x00000002U
#define ACL_STREAM_WAIT_VALUE_NOR 0x00000003U

/* aclrtSetStreamFailureMode */
#define ACL_CONTINUE_ON_FAILURE 0x00000000U
#define ACL_STOP_ON_FAILURE 0x00000001U

/* aclrtCreateNotify */
#define ACL_NOTIFY_DEFAULT 0x00000000U
#define ACL_NOTIFY_DEVICE_USE_ONLY 0x00000001U

/* aclrtNotifyGetExportKey, aclrtNotifyImportByKey */
#define ACL_RT_NOTIFY_EXPORT_FLAG_DEFAULT 0x0UL
#define ACL_RT_NOTIFY_EXPORT_FLAG_DISABLE_PID_VALIDATION 0x02UL
#define ACL_RT_NOTIFY_IMPORT_FLAG_DEFAULT 0x0UL
#define ACL_RT_NOTIFY_IMPORT_FLAG_ENABLE_PEER_ACCESS 0x02UL

/* aclrtIpcMemGetExportKey, aclrtIpcMemImportByKey */
#define ACL_RT_IPC_MEM_EXPORT_FLAG_DEFAULT 0x0UL
#define ACL_RT_IPC_MEM_EXPORT_FLAG_DISABLE_PID_VALIDATION 0x1UL
#define ACL_RT_IPC_MEM_IMPORT_FLAG_DEFAULT 0x0UL
#define ACL_RT_IPC_MEM_IMPORT_FLAG_ENABLE_PEER_ACCESS 0x1UL

/* aclrtIpcMemSetAttr: values of ACL_RT_IPC_MEM_ATTR_ACCESS_LINK */
#define ACL_RT_IPC_MEM_ATTR_ACCESS_LINK_SIO 0
#define ACL_RT_IPC_MEM_ATTR_ACCESS_LINK_HCCS 1
#define ACL_RT_IPC_MEM_ATTR_ACCESS_LINK_UB_ONE_PORT_PATH 2
#define ACL_RT_IPC_MEM_ATTR_ACCESS_LINK_UB_MULTI_PORT_PATH 3

/* aclrtMemExportToShareableHandle */
#define ACL_RT_VMM_EXPORT_FLAG_DEFAULT 0x0UL
#define ACL_RT_VMM_EXPORT_FLAG_DISABLE_PID_VALIDATION 0x1UL

/* aclrtHostRegisterV2 */
#define ACL_HOST_REG_MAPPED 0x2UL
#define ACL_HOST_REG_IOMEMORY 0x4UL
#define ACL_HOST_REG_READONLY 0x8UL
#define ACL_HOST_REG_PINNED 0x10000000UL

/* aclrtGetDeviceCapability */
#define ACL_DEV_FEATURE_SUPPORT 0x00000001
#define ACL_DEV_FEATURE_NOT_SUPPORT 0x00000000

/* aclrtGetDeviceInfo: values of ACL_DEV_ATTR_HD_CONNECT_TYPE */
#define ACL_HOST_DEVICE_CONNECT_TYPE_PCIE 0
#define ACL_HOST_DEVICE_CONNECT_TYPE_HCCS 1
#define ACL_HOST_DEVICE_CONNECT_TYPE_UB 2

/* aclrtGetDeviceInfo: values of ACL_DEV_ATTR_DEVICE_FORM_FACTOR */
#define ACL_DEVICE_FORM_FACTOR_POD 0
#define ACL_DEVICE_FORM_FACTOR_A_K 1
#define ACL_DEVICE_FORM_FACTOR_A_X 2
#define ACL_DEVICE_FORM_FACTOR_PCIE_CARD 3

/* aclrtGetDevicesTopo: one bit per kind of link */
#define ACL_RT_DEVS_TOPOLOGY_HCCS 0x01ULL
#define ACL_RT_DEVS_TOPOLOGY_PIX 0x02ULL
#define ACL_RT_DEVS_TOPOLOGY_PIB 0x04ULL
#define ACL_RT_DEVS_TOPOLOGY_PHB 0x08ULL
#define ACL_RT_DEVS_TOPOLOGY_SYS 0x10ULL
#define ACL_RT_DEVS_TOPOLOGY_SIO 0x20ULL
#define ACL_RT_DEVS_TOPOLOGY_HCCS_SW 0x40ULL

/* aclrtCheckMemType */
#define ACL_RT_MEM_TYPE_DEV (0X2U)
#define ACL_RT_MEM_TYPE_DVPP (0X8U)
#define ACL_RT_MEM_TYPE_RSVD (0X10U)

/* managed memory */
#define ACL_RT_MEM_ATTACH_GLOBAL 0x01U

/* array sizes */
#define ACL_IPC_EVENT_HANDLE_SIZE 64U
#define ACL_PKG_VERSION_MAX_SIZE 128
#define ACL_PKG_VERSION_PARTS_MAX_SIZE 64
#define ACL_RT_MEM_UCE_INFO_MAX_NUM 20
#define ACL_RT_MAX_RECORD_PA_NUM_PER_DEV 20
#define MAX_MEM_UCE_INFO_ARRAY_SIZE 128
#define UCE_INFO_RESERVED_SIZE 14

/* ---- handles ---- */

typedef void* aclrtDrvMemHandle;
typedef void* aclrtBinary;
typedef void* aclrtBinHandle;
typedef void* aclrtFuncHandle;
typedef void* aclrtArgsHandle;
typedef void* aclrtParamHandle;
typedef void* aclmdlRI;
typedef void* aclmdlRICondHandle;

typedef struct aclrtUtilizationExtendInfo aclrtUtilizationExtendInfo;
typedef struct tagRtGroupInfo aclrtGroupInfo;
typedef struct rtExceptionInfo aclrtExceptionInfo;

/* ---- enumerations: execution ---- */

/* The side on which the process runs. */
typedef enum aclrtRunMode {
  ACL_DEVICE = 0,
  ACL_HOST = 1,
} aclrtRunMode;

/* Result of aclrtQueryEvent. */
typedef enum aclrtEventStatus {
  ACL_EVENT_STATUS_COMPLETE = 0,
  ACL_EVENT_STATUS_NOT_READY = 1,
  ACL_EVENT_STATUS_RESERVED = 2,
} aclrtEventStatus;

/* Result of aclrtQueryEventStatus: the numbers are the reverse of aclrtEventStatus. */
typedef enum aclrtEventRecordedStatus {
  ACL_EVENT_RECORDED_STATUS_NOT_READY = 0,
  ACL_EVENT_RECORDED_STATUS_COMPLETE = 1,
} aclrtEventRecordedStatus;

/* Result of aclrtQueryEventWaitStatus. */
typedef enum aclrtEventWaitStatus {
  ACL_EVENT_WAIT_STATUS_COMPLETE = 0,
  ACL_EVENT_WAIT_STATUS_NOT_READY = 1,
  ACL_EVENT_WAIT_STATUS_RESERVED = 0xFFFF,
} aclrtEventWaitStatus;

/* Result of aclrtStreamQuery. */
typedef enum aclrtStreamStatus {
  ACL_STREAM_STATUS_COMPLETE = 0,
  ACL_STREAM_STATUS_NOT_READY = 1,
  ACL_STREAM_STATUS_RESERVED = 0xFFFF,
} aclrtStreamStatus;

/* Whether later work of the stream waits for a callback. */
typedef enum aclrtCallbackBlockType {
  ACL_CALLBACK_NO_BLOCK = 0,
  ACL_CALLBACK_BLOCK = 1,
} aclrtCallbackBlockType;

/* Keys of a stream configuration. */
typedef enum {
  ACL_RT_STREAM_WORK_ADDR_PTR = 0,
  ACL_RT_STREAM_WORK_SIZE = 1,
  ACL_RT_STREAM_FLAG = 2,
  ACL_RT_STREAM_PRIORITY = 3,
} aclrtStreamConfigAttr;

/* Attributes of a stream that can be set after its creation. */
typedef enum {
  ACL_STREAM_ATTR_FAILURE_MODE = 1,
  ACL_STREAM_ATTR_FLOAT_OVERFLOW_CHECK = 2,
  ACL_STREAM_ATTR_USER_CUSTOM_TAG = 3,
  ACL_STREAM_ATTR_CACHE_OP_INFO = 4,
  ACL_STREAM_ATTR_PRIORITY = 5,
} aclrtStreamAttr;

/* Which unsafe calls a capture forbids. */
typedef enum {
  ACL_MODEL_RI_CAPTURE_MODE_GLOBAL = 0,
  ACL_MODEL_RI_CAPTURE_MODE_THREAD_LOCAL = 1,
  ACL_MODEL_RI_CAPTURE_MODE_RELAXED = 2,
} aclmdlRICaptureMode;

/* State of a capture. */
typedef enum {
  ACL_MODEL_RI_CAPTURE_STATUS_NONE = 0,
  ACL_MODEL_RI_CAPTURE_STATUS_ACTIVE = 1,
  ACL_MODEL_RI_CAPTURE_STATUS_INVALIDATED = 2,
} aclmdlRICaptureStatus;

/* The owner of a last error. */
typedef enum aclrtLastErrLevel {
  ACL_RT_THREAD_LEVEL = 0,
} aclrtLastErrLevel;

/* Moments at which a device-state callback runs. */
typedef enum {
  ACL_RT_DEVICE_STATE_SET_PRE = 0,
  ACL_RT_DEVICE_STATE_SET_POST = 1,
  ACL_RT_DEVICE_STATE_RESET_PRE = 2,
  ACL_RT_DEVICE_STATE_RESET_POST = 3,
} aclrtDeviceState;

/* Moments at which a stream-state callback runs. */
typedef enum {
  ACL_RT_STREAM_STATE_CREATE_POST = 1,
  ACL_RT_STREAM_STATE_DESTROY_PRE = 2,
} aclrtStreamState;

/* Moments at which a task-abort callback runs. */
typedef enum {
  ACL_RT_DEVICE_TASK_ABORT_PRE = 0,
  ACL_RT_DEVICE_TASK_ABORT_POST = 1,
} aclrtDeviceTaskAbortStage;

/* Part of the toolkit that an initialization callback belongs to. */
typedef enum aclRegisterCallbackType {
  ACL_REG_TYPE_ACL_MODEL = 0,
  ACL_REG_TYPE_ACL_OP_EXECUTOR = 1,
  ACL_REG_TYPE_ACL_OP_CBLAS = 2,
  ACL_REG_TYPE_ACL_OP_COMPILER = 3,
  ACL_REG_TYPE_ACL_TDT_CHANNEL = 4,
  ACL_REG_TYPE_ACL_TDT_QUEUE = 5,
  ACL_REG_TYPE_ACL_DVPP = 6,
  ACL_REG_TYPE_ACL_RETR = 7,
  ACL_REG_TYPE_OTHER = 0xFFFF,
} aclRegisterCallbackType;

/* ---- enumerations: memory ---- */

/* Direction of a copy; each call accepts its own subset. */
typedef enum aclrtMemcpyKind {
  ACL_MEMCPY_HOST_TO_HOST = 0,
  ACL_MEMCPY_HOST_TO_DEVICE = 1,
  ACL_MEMCPY_DEVICE_TO_HOST = 2,
  ACL_MEMCPY_DEVICE_TO_DEVICE = 3,
  ACL_MEMCPY_DEFAULT = 4,
  ACL_MEMCPY_HOST_TO_BUF_TO_DEVICE = 5,
  ACL_MEMCPY_INNER_DEVICE_TO_DEVICE = 6,
  ACL_MEMCPY_INTER_DEVICE_TO_DEVICE = 7,
} aclrtMemcpyKind;

/* Operation of aclrtReduceAsync. */
typedef enum {
  ACL_RT_MEMCPY_SDMA_AUTOMATIC_SUM = 10,
  ACL_RT_MEMCPY_SDMA_AUTOMATIC_MAX = 11,
  ACL_RT_MEMCPY_SDMA_AUTOMATIC_MIN = 12,
  ACL_RT_MEMCPY_SDMA_AUTOMATIC_EQUAL = 13,
} aclrtReduceKind;

/* Pages of an allocation; the last three can be combined with the others by OR. */
typedef enum aclrtMemMallocPolicy {
  ACL_MEM_MALLOC_HUGE_FIRST = 0,
  ACL_MEM_MALLOC_HUGE_ONLY = 1,
  ACL_MEM_MALLOC_NORMAL_ONLY = 2,
  ACL_MEM_MALLOC_HUGE_FIRST_P2P = 3,
  ACL_MEM_MALLOC_HUGE_ONLY_P2P = 4,
  ACL_MEM_MALLOC_NORMAL_ONLY_P2P = 5,
  ACL_MEM_MALLOC_HUGE1G_ONLY = 6,
  ACL_MEM_MALLOC_HUGE1G_ONLY_P2P = 7,
  ACL_MEM_TYPE_LOW_BAND_WIDTH = 0x0100,
  ACL_MEM_TYPE_HIGH_BAND_WIDTH = 0x1000,
  ACL_MEM_ACCESS_USER_SPACE_READONLY = 0x100000,
} aclrtMemMallocPolicy;

/* Where memory is. */
typedef enum aclrtMemLocationType {
  ACL_MEM_LOCATION_TYPE_HOST = 0,
  ACL_MEM_LOCATION_TYPE_DEVICE = 1,
  ACL_MEM_LOCATION_TYPE_UNREGISTERED = 2,
  ACL_MEM_LOCATION_TYPE_MANAGED = 3,
  ACL_MEM_LOCATION_TYPE_HOST_NUMA = 4,
} aclrtMemLocationType;

/* Where managed memory is: with other numbers than aclrtMemLocationType. */
typedef enum aclrtMemManagedLocationType {
  ACL_MEM_LOCATIONTYPE_INVALID = 0,
  ACL_MEM_LOCATIONTYPE_DEVICE = 1,
  ACL_MEM_LOCATIONTYPE_HOST = 2,
  ACL_MEM_LOCATIONTYPE_HOST_NUMA = 3,
  ACL_MEM_LOCATIONTYPE_HOST_NUMA_CURRENT = 4,
} aclrtMemManagedLocationType;

/* Flags of aclrtHostRegister. */
typedef enum {
  ACL_HOST_REGISTER_MAPPED = 0,
  ACL_HOST_REGISTER_IOMEMORY = 0x04,
  ACL_HOST_REGISTER_READONLY = 0x08,
} aclrtHostRegisterType;

/* Keys of an allocation's configuration. */
typedef enum {
  ACL_RT_MEM_ATTR_RSV = 0,
  ACL_RT_MEM_ATTR_MODULE_ID = 1,
  ACL_RT_MEM_ATTR_DEVICE_ID = 2,
  ACL_RT_MEM_ATTR_VA_FLAG = 3,
} aclrtMallocAttrType;

/* Kinds of device memory. */
typedef enum aclrtMemAttr {
  ACL_DDR_MEM = 0,
  ACL_HBM_MEM = 1,
  ACL_DDR_MEM_HUGE = 2,
  ACL_DDR_MEM_NORMAL = 3,
  ACL_HBM_MEM_HUGE = 4,
  ACL_HBM_MEM_NORMAL = 5,
  ACL_DDR_MEM_P2P_HUGE = 6,
  ACL_DDR_MEM_P2P_NORMAL = 7,
  ACL_HBM_MEM_P2P_HUGE = 8,
  ACL_HBM_MEM_P2P_NORMAL = 9,
  ACL_HBM_MEM_HUGE1G = 10,
  ACL_HBM_MEM_P2P_HUGE1G = 11,
  ACL_MEM_NORMAL = 12,
  ACL_MEM_HUGE = 13,
  ACL_MEM_HUGE1G = 14,
  ACL_MEM_P2P_NORMAL = 15,
  ACL_MEM_P2P_HUGE = 16,
  ACL_MEM_P2P_HUGE1G = 17,
} aclrtMemAttr;

/* Page sizes by name; part of the names that this header is known to define. */
enum aclrtMemPgType {
  NORMAL_PAGE_TYPE = 0U,
  HUGE_PAGE_TYPE = 1U,
  HUGE1G_PAGE_TYPE = 2U,
};

/* Memory technologies by name; part of the names that this header is known to define. */
enum aclrtMemType {
  HBM_TYPE = 0U,
  DDR_TYPE = 1U,
  P2P_HBM_TYPE = 2U,
  P2P_DDR_TYPE = 3U,
};

/* Attributes of memory shared between processes. */
typedef enum {
  ACL_RT_IPC_MEM_ATTR_ACCESS_LINK = 0,
} aclrtIpcMemAttrType;

/* How physical memory is held. */
typedef enum aclrtMemAllocationType {
  ACL_MEM_ALLOCATION_TYPE_PINNED = 0,
} aclrtMemAllocationType;

/* What a physical allocation can be exported as. */
typedef enum aclrtMemHandleType {
  ACL_MEM_HANDLE_TYPE_NONE = 0,
  ACL_MEM_HANDLE_TYPE_POSIX = 2,
} aclrtMemHandleType;

/* Form of a handle that another process imports. */
typedef enum aclrtMemSharedHandleType {
  ACL_MEM_SHARE_HANDLE_TYPE_DEFAULT = 0x1,
  ACL_MEM_SHARE_HANDLE_TYPE_FABRIC = 0x2,
} aclrtMemSharedHandleType;

/* The requested granularity. */
typedef enum aclrtMemGranularityOptions {
  ACL_RT_MEM_ALLOC_GRANULARITY_MINIMUM = 0,
  ACL_RT_MEM_ALLOC_GRANULARITY_RECOMMENDED = 1,
  ACL_RT_MEM_ALLOC_GRANULARITY_UNDEF = 0xFFFF,
} aclrtMemGranularityOptions;

/* Rights on mapped memory. */
typedef enum {
  ACL_RT_MEM_ACCESS_FLAGS_NONE = 0x0,
  ACL_RT_MEM_ACCESS_FLAGS_READ = 0x1,
  ACL_RT_MEM_ACCESS_FLAGS_READWRITE = 0x3,
} aclrtMemAccessFlags;

/* Engines that may have access to mapped host memory. */
typedef enum {
  ACL_RT_HAC_TYPE_STARS = 0,
  ACL_RT_HAC_TYPE_AICPU = 1,
  ACL_RT_HAC_TYPE_AIC = 2,
  ACL_RT_HAC_TYPE_AIV = 3,
  ACL_RT_HAC_TYPE_PCIEDMA = 4,
  ACL_RT_HAC_TYPE_RDMA = 5,
  ACL_RT_HAC_TYPE_SDMA = 6,
  ACL_RT_HAC_TYPE_DVPP = 7,
  ACL_RT_HAC_TYPE_UDMA = 8,
  ACL_RT_HAC_TYPE_CCU = 9,
} aclrtHacType;

/* Whether such an engine has access. */
typedef enum {
  ACL_RT_HOST_MEM_MAP_NOT_SUPPORTED = 0,
  ACL_RT_HOST_MEM_MAP_SUPPORTED = 1,
} aclrtHostMemMapCapability;

/* ---- enumerations: devices and packages ---- */

/* Attributes of aclrtGetDeviceInfo. */
typedef enum {
  ACL_DEV_ATTR_AICPU_CORE_NUM = 1,
  ACL_DEV_ATTR_AICORE_CORE_NUM = 101,
  ACL_DEV_ATTR_CUBE_CORE_NUM = 102,
  ACL_DEV_ATTR_VECTOR_CORE_NUM = 201,
  ACL_DEV_ATTR_WARP_SIZE = 202,
  ACL_DEV_ATTR_MAX_THREAD_PER_VECTOR_CORE = 203,
  ACL_DEV_ATTR_LOCAL_MEM_PER_VECTOR_CORE = 204,
  ACL_DEV_ATTR_UBUF_PER_VECTOR_CORE = 204,
  ACL_DEV_ATTR_MAX_GRID_DIM_X = 205,
  ACL_DEV_ATTR_MAX_GRID_DIM_Y = 206,
  ACL_DEV_ATTR_MAX_GRID_DIM_Z = 207,
  ACL_DEV_ATTR_MAX_BLOCK_PER_GRID = 208,
  ACL_DEV_ATTR_MAX_THREADS_PER_BLOCK = 209,
  ACL_DEV_ATTR_MAX_BLOCK_DIM_X = 210,
  ACL_DEV_ATTR_MAX_BLOCK_DIM_Y = 211,
  ACL_DEV_ATTR_MAX_BLOCK_DIM_Z = 212,
  ACL_DEV_ATTR_TOTAL_GLOBAL_MEM_SIZE = 301,
  ACL_DEV_ATTR_L2_CACHE_SIZE = 302,
  ACL_DEV_ATTR_SMP_ID = 401,
  ACL_DEV_ATTR_PHY_CHIP_ID = 402,
  ACL_DEV_ATTR_SUPER_POD_DEVIDE_ID = 403,
  ACL_DEV_ATTR_SUPER_POD_DEVICE_ID = 403,
  ACL_DEV_ATTR_SUPER_POD_SERVER_ID = 404,
  ACL_DEV_ATTR_SUPER_POD_ID = 405,
  ACL_DEV_ATTR_CUST_OP_PRIVILEGE = 406,
  ACL_DEV_ATTR_MAINBOARD_ID = 407,
  ACL_DEV_ATTR_HD_CONNECT_TYPE = 408,
  ACL_DEV_ATTR_DEVICE_FORM_FACTOR = 409,
  ACL_DEV_ATTR_SUPER_POD_CHASSIS_ID = 410,
  ACL_DEV_ATTR_IS_VIRTUAL = 501,
  ACL_DEV_ATTR_NPU_ARCH = 601,
} aclrtDevAttr;

/* Features of aclrtGetDeviceCapability. */
typedef enum {
  ACL_FEATURE_TSCPU_TASK_UPDATE_SUPPORT_AIC_AIV = 1,
  ACL_FEATURE_SYSTEM_MEMQ_EVENT_CROSS_DEV = 21,
} aclrtDevFeatureType;

/* Health of a device. */
typedef enum aclrtDeviceStatus {
  ACL_RT_DEVICE_STATUS_NORMAL = 0,
  ACL_RT_DEVICE_STATUS_ABNORMAL = 1,
  ACL_RT_DEVICE_STATUS_END = 0xFFFF,
} aclrtDeviceStatus;

/* Class of a device error. */
typedef enum {
  ACL_RT_NO_ERROR = 0,
  ACL_RT_ERROR_MEMORY = 1,
  ACL_RT_ERROR_L2 = 2,
  ACL_RT_ERROR_AICORE = 3,
  ACL_RT_ERROR_LINK = 4,
  ACL_RT_ERROR_L3_PORT = 5,
  ACL_RT_ERROR_OTHERS = 0xFFFF,
} aclrtErrorType;

/* Likely origin of a core error. */
typedef enum aclrtAicoreErrorType {
  ACL_RT_AICORE_ERROR_UNKNOWN = 0,
  ACL_RT_AICORE_ERROR_SW = 1,
  ACL_RT_AICORE_ERROR_HW_LOCAL = 2,
} aclrtAicoreErrorType;

/* Packages whose version aclsysGetCANNVersion knows. */
typedef enum aclCANNPackageName {
  ACL_PKG_NAME_CANN = 0,
  ACL_PKG_NAME_RUNTIME = 1,
  ACL_PKG_NAME_COMPILER = 2,
  ACL_PKG_NAME_HCCL = 3,
  ACL_PKG_NAME_TOOLKIT = 4,
  ACL_PKG_NAME_OPP = 5,
  ACL_PKG_NAME_OPP_KERNEL = 6,
  ACL_PKG_NAME_DRIVER = 7,
} aclCANNPackageName;

/* ---- structures ---- */

/* A place: the number of the device or NUMA node, then what it is. */
typedef struct aclrtMemLocation {
  uint32_t id;
  aclrtMemLocationType type;
} aclrtMemLocation;

/* A place of managed memory: here the type comes first. */
typedef struct aclrtMemManagedLocation {
  aclrtMemManagedLocationType type;
  int32_t id;
} aclrtMemManagedLocation;

/* Places that a run of batch entries copies between; rsv must be zero. */
typedef struct {
  aclrtMemLocation dstLoc;
  aclrtMemLocation srcLoc;
  uint8_t rsv[16];
} aclrtMemcpyBatchAttr;

/* Attributes of a pointer. */
typedef struct aclrtPtrAttributes {
  aclrtMemLocation location;
  uint32_t pageSize;
  uint32_t rsv[4];
} aclrtPtrAttributes;

/* Value of one allocation attribute. */
typedef union {
  uint16_t moduleId;
  uint32_t deviceId;
  uint32_t vaFlag;
  uint8_t rsv[8];
} aclrtMallocAttrValue;

/* One allocation attribute. */
typedef struct {
  aclrtMallocAttrType attr;
  aclrtMallocAttrValue value;
} aclrtMallocAttribute;

/* Configuration of an allocation. */
typedef struct {
  aclrtMallocAttribute* attrs;
  size_t numAttrs;
} aclrtMallocConfig;

/* Properties of physical memory. */
typedef struct aclrtPhysicalMemProp {
  aclrtMemHandleType handleType;
  aclrtMemAllocationType allocationType;
  aclrtMemAttr memAttr;
  aclrtMemLocation location;
  uint64_t reserve;
} aclrtPhysicalMemProp;

/* Rights of one place on mapped memory; rsv must be zero. */
typedef struct {
  aclrtMemAccessFlags flags;
  aclrtMemLocation location;
  uint8_t rsv[12];
} aclrtMemAccessDesc;

/* Handle for other machines. */
typedef struct aclrtMemFabricHandle {
  uint8_t data[128];
} aclrtMemFabricHandle;

/* Memory used by one module of the runtime. */
typedef struct aclrtMemUsageInfo {
  char name[32];
  uint64_t curMemSize;
  uint64_t memPeakSize;
  size_t reserved[8];
} aclrtMemUsageInfo;

/* A row of the table from page and memory type to attribute. */
struct MemAttrMapping {
  uint32_t pgType;
  uint32_t memType;
  bool isHostAlloc;
  aclrtMemAttr memAttr;
};

/* Value of one stream attribute. */
typedef union {
  uint64_t failureMode;
  uint32_t overflowSwitch;
  uint32_t userCustomTag;
  uint32_t cacheOpInfoSwitch;
  uint32_t streamPriority;
  uint32_t reserve[4];
} aclrtStreamAttrValue;

/* Configuration that a stream is created with. */
typedef struct aclrtStreamConfigHandle {
  void* workptr;
  size_t workSize;
  size_t flag;
  uint32_t priority;
} aclrtStreamConfigHandle;

/* Processes of one server, named to an exporter. */
typedef struct {
  uint32_t sdid;
  int32_t* pid;
  size_t num;
} aclrtServerPid;

/* Load of a device in percent; utilizationExtend must be NULL. */
typedef struct aclrtUtilizationInfo {
  int32_t cubeUtilization;
  int32_t vectorUtilization;
  int32_t aicpuUtilization;
  int32_t memoryUtilization;
  aclrtUtilizationExtendInfo* utilizationExtend;
} aclrtUtilizationInfo;

/* An event as another process receives it; passed by value. */
typedef struct aclrtIpcEventHandle {
  char reserved[ACL_IPC_EVENT_HANDLE_SIZE];
} aclrtIpcEventHandle;

/* Identity of a device. */
typedef struct aclrtUuid {
  char bytes[16];
} aclrtUuid;

/* A range of memory with an uncorrectable error. */
typedef struct aclrtMemUceInfo {
  void* addr;
  size_t len;
  size_t reserved[UCE_INFO_RESERVED_SIZE];
} aclrtMemUceInfo;

/* All such ranges of one error. */
typedef struct {
  size_t arraySize;
  aclrtMemUceInfo memUceInfoArray[ACL_RT_MEM_UCE_INFO_MAX_NUM];
} aclrtMemUceInfoArray;

/* Details of an error. */
typedef union aclrtErrorInfoDetail {
  aclrtMemUceInfoArray uceInfo;
  aclrtAicoreErrorType aicoreErrType;
} aclrtErrorInfoDetail;

/* One device error. */
typedef struct aclrtErrorInfo {
  uint8_t tryRepair;
  uint8_t hasDetail;
  uint8_t reserved[2];
  aclrtErrorType errorType;
  aclrtErrorInfoDetail detail;
} aclrtErrorInfo;

/* A package version, whole and in parts. */
typedef struct aclCANNPackageVersion {
  char version[ACL_PKG_VERSION_MAX_SIZE];
  char majorVersion[ACL_PKG_VERSION_PARTS_MAX_SIZE];
  char minorVersion[ACL_PKG_VERSION_PARTS_MAX_SIZE];
  char releaseVersion[ACL_PKG_VERSION_PARTS_MAX_SIZE];
  char patchVersion[ACL_PKG_VERSION_PARTS_MAX_SIZE];
  char reserved[ACL_PKG_VERSION_MAX_SIZE];
} aclCANNPackageVersion;

/* Extent in three dimensions. The device compiler brings its own, and so does CUDA, whose dim3 has the same
 * members: a file that includes both headers, in either order, has CUDA's. */
#if !defined(__BISHENG_CCEC__) && !defined(__VECTOR_TYPES_H__)
#if defined(__has_include)
#if __has_include(<vector_types.h>) && __has_include(<cuda_runtime_api.h>)
#include <vector_types.h>
#endif
#endif
#endif
#if !defined(__BISHENG_CCEC__) && !defined(__VECTOR_TYPES_H__)
typedef struct dim3 {
  uint32_t x;
  uint32_t y;
  uint32_t z;
#ifdef __cplusplus
  constexpr dim3(uint32_t vx = 1, uint32_t vy = 1, uint32_t vz = 1) : x(vx), y(vy), z(vz) {}
#endif
} dim3;
#endif

/* ---- callback types ---- */

typedef void (*aclrtCallback)(void* userData);
typedef void (*aclrtHostFunc)(void* args);
typedef void (*aclrtExceptionInfoCallback)(aclrtExceptionInfo* exceptionInfo);
typedef void (*aclrtOpExceptionCallback)(aclrtExceptionInfo* exceptionInfo, void* userData);
typedef void (*aclrtDeviceStateCallback)(int32_t deviceId, aclrtDeviceState state, void* args);
typedef void (*aclrtStreamStateCallback)(aclrtStream stm, aclrtStreamState state, void* args);
typedef int32_t (*aclrtDeviceTaskAbortCallback)(int32_t deviceId, aclrtDeviceTaskAbortStage stage,
                                                uint32_t timeout, void* args);
typedef uint32_t (*aclrtSnapShotCallBack)(int32_t deviceId, void* args);
typedef aclError (*aclInitCallbackFunc)(const char* configStr, size_t len, void* userData);
typedef aclError (*aclFinalizeCallbackFunc)(void* userData);

/* ---- initialization, errors and versions ---- */

/** Initializes the process, from an optional JSON file. Copies do not need it: a context is enough. Calls are
 * counted, also those that return 100002.
 * @param configPath Path of the file. NULL or "" for none. `defaultDevice` is the one key that changes what
 *     this library does.
 * @async no
 * @error 100002 The process is already initialized. The call is counted too.
 * @error 100003 The file cannot be read.
 * @error 100006 The file is no JSON object, or nests too deeply.
 * @error 100000 A value in the file is not accepted, or the text differs from the file of an earlier aclInit.
 * @error 107001 The default device of the file is not visible.
 * @error other The code of a registered callback that failed. The process is then not initialized.
 */
ACL_FUNC_VISIBILITY aclError aclInit(const char* configPath);

/** Finalizes the process, after any number of aclInit calls. Memory, streams and contexts stay valid.
 * @async no
 * @error 100037 The process is already finalized.
 * @error other The code of a registered callback that failed.
 */
ACL_FUNC_VISIBILITY aclError aclFinalize(void);

/** Undoes one aclInit. The last one finalizes the process.
 * @param refCount Receives the number of references that are left. May be NULL.
 * @async no
 * @error 100037 The count is 0 already.
 * @error other The code of a registered callback that failed.
 */
ACL_FUNC_VISIBILITY aclError aclFinalizeReference(uint64_t* refCount);

/** Gets the messages of this thread, newest first. Each message says what was asked, which value is wrong
 * and, for memory, which allocation. The text is kept to about 16 KiB.
 * @async no
 * @return A string that is valid until the thread's next call; NULL if the thread never had a message.
 * @threads Each thread has its own messages.
 */
ACL_FUNC_VISIBILITY const char* aclGetRecentErrMsg(void);

/** Returns the last runtime error of this thread and keeps it. Codes of argument checks (such as 100000) do
 * not become the last error. See the common rules.
 * @param level ACL_RT_THREAD_LEVEL.
 * @async no
 * @threads Each thread has its own last error.
 * @error 100000 level is not ACL_RT_THREAD_LEVEL.
 */
ACL_FUNC_VISIBILITY aclError aclrtPeekAtLastError(aclrtLastErrLevel level);

/** Returns the last runtime error of this thread and clears it.
 * @param level ACL_RT_THREAD_LEVEL.
 * @async no
 * @threads Each thread has its own last error.
 * @error 100000 level is not ACL_RT_THREAD_LEVEL.
 */
ACL_FUNC_VISIBILITY aclError aclrtGetLastError(aclrtLastErrLevel level);

/** Registers a function that aclInit calls. If the process is initialized, the function is called at once.
 * @param type The part of the toolkit that the function belongs to. Any value.
 * @param cbFunc The function. It gets the text of the configuration file and its length in bytes.
 * @param userData Passed to the function. May be NULL.
 * @async no
 * @error 100000 cbFunc is NULL.
 * @error other The code with which the function failed when it was called at once.
 */
ACL_FUNC_VISIBILITY aclError aclInitCallbackRegister(aclRegisterCallbackType type, aclInitCallbackFunc cbFunc,
                                                     void* userData);

/** Removes a function of aclInitCallbackRegister.
 * @param type The type that it was registered with.
 * @param cbFunc The function.
 * @async no
 * @error 100000 cbFunc is NULL, or is not registered for this type.
 */
ACL_FUNC_VISIBILITY aclError aclInitCallbackUnRegister(aclRegisterCallbackType type,
                                                       aclInitCallbackFunc cbFunc);

/** Registers a function that finalizing the process calls.
 * @param type The part of the toolkit that the function belongs to. Any value.
 * @param cbFunc The function.
 * @param userData Passed to the function. May be NULL.
 * @async no
 * @error 100000 cbFunc is NULL.
 */
ACL_FUNC_VISIBILITY aclError aclFinalizeCallbackRegister(aclRegisterCallbackType type,
                                                         aclFinalizeCallbackFunc cbFunc, void* userData);

/** Removes a function of aclFinalizeCallbackRegister.
 * @param type The type that it was registered with.
 * @param cbFunc The function.
 * @async no
 * @error 100000 cbFunc is NULL, or is not registered for this type.
 */
ACL_FUNC_VISIBILITY aclError aclFinalizeCallbackUnRegister(aclRegisterCallbackType type,
                                                           aclFinalizeCallbackFunc cbFunc);

/** Gets the version of a package, whole and in parts.
 * @param name One of aclCANNPackageName, 0 to 7.
 * @param version Receives the version.
 * @async no
 * @error 100000 version is NULL, or name is not 0 to 7.
 * @error 100003 The package is not installed, or its version.info has no line `Version=`.
 * @error 500000 The version is malformed.
 */
ACL_DEPRECATED_MESSAGE("prefer aclsysGetVersionStr or aclsysGetVersionNum")
ACL_FUNC_VISIBILITY aclError aclsysGetCANNVersion(aclCANNPackageName name, aclCANNPackageVersion* version);

/** Gets the version of a package as text.
 * @param pkgName Name of the package, such as "runtime". Dashes and underscores are the same.
 * @param versionStr Receives the text. At least 128 bytes (ACL_PKG_VERSION_MAX_SIZE).
 * @async no
 * @error 100000 pkgName or versionStr is NULL.
 * @error 100003 ASCEND_HOME_PATH is not set, or the package has no version.info with a line `Version=`.
 * @error 500000 The version is empty or longer than 127 bytes.
 */
ACL_FUNC_VISIBILITY aclError aclsysGetVersionStr(char* pkgName, char* versionStr);

/** Gets the version of a package as a number that can be compared. The number is major * 10,000,000 + minor *
 * 100,000 + patch * 1000. A pre-release counts less: alpha 300, beta 200, rc 100, plus its own number.
 * @param pkgName Name of the package, such as "runtime".
 * @param versionNum Receives the number.
 * @async no
 * @error 100000 pkgName or versionNum is NULL.
 * @error 100003 ASCEND_HOME_PATH is not set, or the package has no version.info with a line `Version=`.
 * @error 500000 The version is malformed or too large.
 */
ACL_FUNC_VISIBILITY aclError aclsysGetVersionNum(char* pkgName, int32_t* versionNum);

/** Gets the version of the interface: 1.17.0.
 * @param majorVersion Receives 1.
 * @param minorVersion Receives 17.
 * @param patchVersion Receives 0.
 * @async no
 * @error 100000 An argument is NULL.
 */
ACL_DEPRECATED_MESSAGE("prefer aclsysGetVersionNum")
ACL_FUNC_VISIBILITY aclError aclrtGetVersion(int32_t* majorVersion, int32_t* minorVersion,
                                             int32_t* patchVersion);

/* ---- devices ---- */

/** Makes a device current for this thread and retains its primary context. It replaces a context that was set
 * explicitly. Calls are counted; aclrtResetDevice undoes one.
 * @param deviceId Number of a visible device, from 0.
 * @async no
 * @error 107001 deviceId is not a visible device.
 * @error 507033 The device cannot be opened.
 */
ACL_FUNC_VISIBILITY aclError aclrtSetDevice(int32_t deviceId);

/** Undoes one aclrtSetDevice. The last reset waits for the device's work and frees everything on it. Its
 * streams, events, notifies and pools are then invalid, and its peer access is disabled.
 * @param deviceId Number of a visible device, from 0.
 * @async The last reset waits for all work of the device.
 * @error 107001 deviceId is not a visible device.
 * @error 507007 The device is reset more often than it was set.
 */
ACL_FUNC_VISIBILITY aclError aclrtResetDevice(int32_t deviceId);

/** Resets a device, however often it was set.
 * @param deviceId Number of a visible device, from 0.
 * @async Waits for all work of the device.
 * @error 107001 deviceId is not a visible device.
 * @error 507007 The device is not set.
 */
ACL_FUNC_VISIBILITY aclError aclrtResetDeviceForce(int32_t deviceId);

/** Gets the current device of this thread.
 * @param deviceId Receives its number.
 * @async no
 * @error 100000 deviceId is NULL.
 * @error 107002 The calling thread has no context.
 */
ACL_FUNC_VISIBILITY aclError aclrtGetDevice(int32_t* deviceId);

/** Gets the number of visible devices.
 * @param count Receives the number.
 * @async no
 * @error 100000 count is NULL.
 * @error 207004 No device is visible: ASCEND_RT_VISIBLE_DEVICES is empty or malformed.
 */
ACL_FUNC_VISIBILITY aclError aclrtGetDeviceCount(uint32_t* count);

/** Gets the side on which this process runs.
 * @param runMode Receives ACL_HOST; ACL_DEVICE with the profile `ascend310-rc`.
 * @async no
 * @error 100000 runMode is NULL.
 */
ACL_FUNC_VISIBILITY aclError aclrtGetRunMode(aclrtRunMode* runMode);

/** Waits for all streams of the current context.
 * @async Returns when the work that was queued before the call is complete.
 * @error 107002 The calling thread has no context.
 * @error other The failure of a task in one of the streams. The other streams report their failures later.
 */
ACL_FUNC_VISIBILITY aclError aclrtSynchronizeDevice(void);

/** Waits for all streams of the current context, for a limited time.
 * @param timeout Milliseconds; -1 for no limit. 0 and less than -1 are refused.
 * @async Returns when the work that was queued before the call is complete, or at the limit.
 * @error 107000 timeout is 0 or less than -1.
 * @error 107002 The calling thread has no context.
 * @error 507046 The work was not complete in time. It continues.
 * @error other The failure of a task in one of the streams.
 */
ACL_FUNC_VISIBILITY aclError aclrtSynchronizeDeviceWithTimeout(int32_t timeout);

/** Gets the health of a device: always ACL_RT_DEVICE_STATUS_NORMAL.
 * @param deviceId Number of a visible device, from 0.
 * @param deviceStatus Receives the health.
 * @async no
 * @error 100000 deviceStatus is NULL.
 * @error 107001 deviceId is not a visible device.
 */
ACL_FUNC_VISIBILITY aclError aclrtQueryDeviceStatus(int32_t deviceId, aclrtDeviceStatus* deviceStatus);

/** Stops and drops the work of a device. Threads that wait for its streams get 107022. From the first
 * callback to the last, so do aclrtMemcpy and aclrtMemset on the device.
 * @param deviceId Number of a visible device, from 0.
 * @param timeout Milliseconds. Passed to the callbacks; the call itself has no limit.
 * @async Returns when the queued work is dropped. Running host functions continue.
 * @error 107001 deviceId is not a visible device.
 * @error 507000 A callback of aclrtSetDeviceTaskAbortCallback did not return 0.
 */
ACL_FUNC_VISIBILITY aclError aclrtDeviceTaskAbort(int32_t deviceId, uint32_t timeout);

/** Gets one attribute of a device.
 * @param deviceId Number of a visible device, from 0.
 * @param attr One of aclrtDevAttr.
 * @param value Receives the attribute: a number of cores, bytes for memory and caches, a number for the rest.
 * @async no
 * @error 100000 value is NULL.
 * @error 107001 deviceId is not a visible device.
 * @error 207000 The attribute has no meaning here, such as SIMT limits or super pods.
 */
ACL_FUNC_VISIBILITY aclError aclrtGetDeviceInfo(uint32_t deviceId, aclrtDevAttr attr, int64_t* value);

/** Checks whether a device has a feature. Neither of the two known features is supported.
 * @param deviceId Number of a visible device, from 0.
 * @param devFeatureType 1 or 21, see aclrtDevFeatureType.
 * @param value Receives ACL_DEV_FEATURE_NOT_SUPPORT.
 * @async no
 * @error 100000 value is NULL.
 * @error 107001 deviceId is not a visible device.
 * @error 107000 devFeatureType is neither 1 nor 21.
 */
ACL_FUNC_VISIBILITY aclError aclrtGetDeviceCapability(int32_t deviceId, aclrtDevFeatureType devFeatureType,
                                                      int32_t* value);

/** Gets the load of a device.
 * @param deviceId Number of a visible device, from 0.
 * @param utilizationInfo Receives percentages. Cores are always 0; memory is the allocated share. Its field
 *     utilizationExtend must be NULL.
 * @async no
 * @error 100000 utilizationInfo is NULL.
 * @error 107001 deviceId is not a visible device.
 * @error 100000 utilizationInfo->utilizationExtend is not NULL.
 */
ACL_FUNC_VISIBILITY aclError aclrtGetDeviceUtilizationRate(int32_t deviceId,
                                                           aclrtUtilizationInfo* utilizationInfo);

/** Gets the lowest and the highest priority of a stream.
 * @param leastPriority Receives 7. May be NULL.
 * @param greatestPriority Receives 0. May be NULL.
 * @async no
 * @error none
 */
ACL_FUNC_VISIBILITY aclError aclrtDeviceGetStreamPriorityRange(int32_t* leastPriority,
                                                               int32_t* greatestPriority);

/** Gets the identity of a device.
 * @param deviceId Number of a visible device, from 0.
 * @param uuid Receives 16 bytes.
 * @async no
 * @error 100000 uuid is NULL.
 * @error 107001 deviceId is not a visible device.
 */
ACL_FUNC_VISIBILITY aclError aclrtDeviceGetUuid(int32_t deviceId, aclrtUuid* uuid);

/** Gets the PCI bus address of a device, as text such as "0000:3D:00.0".
 * @param deviceId Number of a visible device, from 0.
 * @param pciBusId Receives the text with its final zero.
 * @param len Size of pciBusId in bytes, at least 13.
 * @async no
 * @error 100000 pciBusId is NULL.
 * @error 107001 deviceId is not a visible device.
 * @error 107000 len is too short.
 */
ACL_FUNC_VISIBILITY aclError aclrtDeviceGetPCIBusId(int32_t deviceId, char* pciBusId, int32_t len);

/** Finds the device at a PCI bus address.
 * @param pciBusId The address, in upper or lower case.
 * @param deviceId Receives the number of the device.
 * @async no
 * @error 100000 pciBusId or deviceId is NULL.
 * @error 107001 No visible device has this address.
 */
ACL_FUNC_VISIBILITY aclError aclrtDeviceGetByPCIBusId(const char* pciBusId, int32_t* deviceId);

/** Gets the id of this process.
 * @param pid Receives the id.
 * @async no
 * @error 100000 pid is NULL.
 */
ACL_FUNC_VISIBILITY aclError aclrtDeviceGetBareTgid(int32_t* pid);

/** Gets the links between two devices: always ACL_RT_DEVS_TOPOLOGY_HCCS.
 * @param deviceId Number of a visible device, from 0.
 * @param otherDeviceId Number of another one.
 * @param value Receives one bit for each kind of link.
 * @async no
 * @error 100000 value is NULL.
 * @error 107001 deviceId or otherDeviceId is not a visible device.
 */
ACL_FUNC_VISIBILITY aclError aclrtGetDevicesTopo(uint32_t deviceId, uint32_t otherDeviceId, uint64_t* value);

/** Checks whether one device can access the memory of another.
 * @param canAccessPeer Receives 1 or 0.
 * @param deviceId The device that accesses.
 * @param peerDeviceId The device that owns the memory.
 * @async no
 * @error 100000 deviceId and peerDeviceId are equal.
 * @error 107001 One of them is not a visible device.
 * @error 107000 canAccessPeer is NULL.
 * @error 207000 The chip of the profile has no peer access.
 */
ACL_FUNC_VISIBILITY aclError aclrtDeviceCanAccessPeer(int32_t* canAccessPeer, int32_t deviceId,
                                                      int32_t peerDeviceId);

/** Lets the current device access the memory of a peer, in this direction only.
 * @param peerDeviceId The device that owns the memory.
 * @param flags 0.
 * @async no
 * @error 200006 flags is not 0.
 * @error 107002 The calling thread has no context.
 * @error 100000 peerDeviceId is the current device.
 * @error 107001 peerDeviceId is not a visible device.
 * @error 207000 The chip of the profile has no peer access.
 */
ACL_FUNC_VISIBILITY aclError aclrtDeviceEnablePeerAccess(int32_t peerDeviceId, uint32_t flags);

/** Disables the access of the current device to a peer's memory.
 * @param peerDeviceId The device that owns the memory.
 * @async no
 * @error 107002 The calling thread has no context.
 * @error 100000 peerDeviceId is the current device.
 * @error 107001 peerDeviceId is not a visible device.
 * @error 207000 The chip of the profile has no peer access.
 */
ACL_FUNC_VISIBILITY aclError aclrtDeviceDisablePeerAccess(int32_t peerDeviceId);

/** Checks whether peer access is enabled.
 * @param deviceId The device that accesses.
 * @param peerDeviceId The device that owns the memory.
 * @param status Receives 1 or 0.
 * @async no
 * @error 100000 status is NULL.
 * @error 107001 One of the devices is not visible.
 */
ACL_FUNC_VISIBILITY aclError aclrtDevicePeerAccessStatus(int32_t deviceId, int32_t peerDeviceId,
                                                         int32_t* status);

/** Gets the number that the driver has for a visible device.
 * @param userDevid Number of a visible device, from 0.
 * @param logicDevId Receives the driver's number.
 * @async no
 * @error 100000 logicDevId is NULL.
 * @error 107001 userDevid is not a visible device.
 */
ACL_FUNC_VISIBILITY aclError aclrtGetLogicDevIdByUserDevId(const int32_t userDevid,
                                                           int32_t* const logicDevId);

/** Gets the visible device of a driver's number.
 * @param logicDevId The driver's number.
 * @param userDevid Receives the number of the visible device.
 * @async no
 * @error 100000 userDevid is NULL.
 * @error 107001 The device is not visible.
 */
ACL_FUNC_VISIBILITY aclError aclrtGetUserDevIdByLogicDevId(const int32_t logicDevId,
                                                           int32_t* const userDevid);

/** Gets the driver's number of a physical device. Both numbers are the same here.
 * @param phyDevId The physical number.
 * @param logicDevId Receives the driver's number.
 * @async no
 * @error 100000 logicDevId is NULL.
 * @error 107001 The device is not visible.
 */
ACL_FUNC_VISIBILITY aclError aclrtGetLogicDevIdByPhyDevId(const int32_t phyDevId, int32_t* const logicDevId);

/** Gets the physical number of a driver's number. Both numbers are the same here.
 * @param logicDevId The driver's number.
 * @param phyDevId Receives the physical number.
 * @async no
 * @error 100000 phyDevId is NULL.
 * @error 107001 The device is not visible.
 */
ACL_FUNC_VISIBILITY aclError aclrtGetPhyDevIdByLogicDevId(const int32_t logicDevId, int32_t* const phyDevId);

/** Gets the visible device of a physical number.
 * @param phyDevId The physical number.
 * @param userDevId Receives the number of the visible device.
 * @async no
 * @error 100000 userDevId is NULL.
 * @error 107001 The device is not visible.
 */
ACL_FUNC_VISIBILITY aclError aclrtGetUserDevIdByPhyDevId(const int32_t phyDevId, int32_t* const userDevId);

/** Gets the physical number of a visible device.
 * @param userDevId Number of a visible device, from 0.
 * @param phyDevId Receives the physical number.
 * @async no
 * @error 100000 phyDevId is NULL.
 * @error 107001 userDevId is not a visible device.
 */
ACL_FUNC_VISIBILITY aclError aclrtGetPhyDevIdByUserDevId(const int32_t userDevId, int32_t* const phyDevId);

/** Registers a function that is called before and after devices are set and reset. It runs on the thread of
 * that call. It is not called for refused calls.
 * @param regName Name of the registration. A second one with the same name replaces the first.
 * @param callback The function. NULL removes the registration.
 * @param args Passed to the function. May be NULL.
 * @async no
 * @error 100000 regName is NULL.
 */
ACL_FUNC_VISIBILITY aclError aclrtRegDeviceStateCallback(const char* regName,
                                                         aclrtDeviceStateCallback callback, void* args);

/** Registers a function that is called before and after aclrtDeviceTaskAbort drops work.
 * @param regName Name of the registration. A second one with the same name replaces the first.
 * @param callback The function. It must return 0. NULL removes the registration.
 * @param args Passed to the function. May be NULL.
 * @async no
 * @error 100000 regName is NULL.
 */
ACL_FUNC_VISIBILITY aclError aclrtSetDeviceTaskAbortCallback(const char* regName,
                                                             aclrtDeviceTaskAbortCallback callback,
                                                             void* args);

/* ---- contexts and system options ---- */

/** Creates a context on a device and makes it current for this thread.
 * @param context Receives the handle.
 * @param deviceId Number of a visible device, from 0.
 * @async no
 * @error 100000 context is NULL.
 * @error 107001 deviceId is not a visible device.
 * @error 207005 All handles are in use.
 * @error 507033 The device cannot be opened.
 */
ACL_FUNC_VISIBILITY aclError aclrtCreateContext(aclrtContext* context, int32_t deviceId);

/** Destroys a context of aclrtCreateContext with its streams. It does not wait for their work.
 * @param context The context.
 * @async no
 * @error 100000 context is NULL.
 * @error 107002 context is a primary context, or not a valid one.
 * @error 507007 Another thread is destroying it.
 */
ACL_FUNC_VISIBILITY aclError aclrtDestroyContext(aclrtContext context);

/** Makes a context current for this thread.
 * @param context A valid context.
 * @async no
 * @threads Each thread has its own current context. New threads have none.
 * @error 100000 context is NULL.
 * @error 107000 context is not a valid context.
 */
ACL_FUNC_VISIBILITY aclError aclrtSetCurrentContext(aclrtContext context);

/** Gets the current context of this thread.
 * @param context Receives the handle, or NULL if the call fails.
 * @async no
 * @error 100000 context is NULL.
 * @error 107002 The calling thread has no context. It does not become the last error.
 */
ACL_FUNC_VISIBILITY aclError aclrtGetCurrentContext(aclrtContext* context);

/** Gets the default stream of the current context as a handle.
 * @param stream Receives the handle.
 * @async no
 * @error 100000 stream is NULL.
 * @error 107002 The calling thread has no context.
 */
ACL_FUNC_VISIBILITY aclError aclrtCtxGetCurrentDefaultStream(aclrtStream* stream);

/** Checks whether the primary context of a device exists.
 * @param deviceId Number of a visible device, from 0.
 * @param flags NULL.
 * @param active Receives 1 or 0.
 * @async no
 * @error 100000 flags is not NULL, or active is NULL.
 * @error 107001 deviceId is not a visible device.
 */
ACL_FUNC_VISIBILITY aclError aclrtGetPrimaryCtxState(int32_t deviceId, uint32_t* flags, int32_t* active);

/** Gets an option of the current context.
 * @param opt One of aclSysParamOpt, 0 to 3.
 * @param value Receives the value, 0 by default.
 * @async no
 * @error 100000 value is NULL.
 * @error 107002 The calling thread has no context.
 * @error 107000 opt is not 0 to 3.
 */
ACL_FUNC_VISIBILITY aclError aclrtCtxGetSysParamOpt(aclSysParamOpt opt, int64_t* value);

/** Sets an option of the current context. It is stored and has no effect: there are no operators here.
 * @param opt One of aclSysParamOpt, 0 to 3.
 * @param value Any number.
 * @async no
 * @error 107002 The calling thread has no context.
 * @error 107000 opt is not 0 to 3.
 */
ACL_FUNC_VISIBILITY aclError aclrtCtxSetSysParamOpt(aclSysParamOpt opt, int64_t value);

/** Gets an option of the process.
 * @param opt One of aclSysParamOpt, 0 to 3.
 * @param value Receives the value, 0 by default.
 * @async no
 * @error 100000 value is NULL.
 * @error 107000 opt is not 0 to 3.
 */
ACL_FUNC_VISIBILITY aclError aclrtGetSysParamOpt(aclSysParamOpt opt, int64_t* value);

/** Sets an option of the process. It is stored and has no effect: there are no operators here.
 * @param opt One of aclSysParamOpt, 0 to 3.
 * @param value Any number.
 * @async no
 * @error 107000 opt is not 0 to 3.
 */
ACL_FUNC_VISIBILITY aclError aclrtSetSysParamOpt(aclSysParamOpt opt, int64_t value);

/* ---- streams ---- */

/** Creates a stream in the current context, with priority 0 and no flags.
 * @param stream Receives the handle.
 * @async no
 * @error 100000 stream is NULL.
 * @error 107002 The calling thread has no context.
 * @error 207008 All streams of the device are in use. The 910B has 1984.
 */
ACL_FUNC_VISIBILITY aclError aclrtCreateStream(aclrtStream* stream);

/** Creates a stream with a priority and flags.
 * @param stream Receives the handle.
 * @param priority 0 (highest) to 7 (lowest). Larger values mean 7.
 * @param flag ACL_STREAM flags, combined by OR. Unknown bits are ignored.
 * @async no
 * @error 100000 stream is NULL.
 * @error 107002 The calling thread has no context.
 * @error 207000 flag has ACL_STREAM_HUGE, which the imitated chips do not have.
 * @error 107000 flag combines ACL_STREAM_DEVICE_USE_ONLY with another flag.
 * @error 207008 All streams of the device are in use.
 */
ACL_FUNC_VISIBILITY aclError aclrtCreateStreamWithConfig(aclrtStream* stream, uint32_t priority,
                                                         uint32_t flag);

/** Waits for the work of a stream, then destroys it.
 * @param stream A valid stream, not the default stream of a context.
 * @async Returns when all queued work is complete.
 * @error 100000 stream is NULL.
 * @error 107017 stream is not a valid stream.
 * @error 107002 The calling thread has no context.
 * @error 107003 stream belongs to another context.
 * @error 107000 stream is the default stream of its context.
 */
ACL_FUNC_VISIBILITY aclError aclrtDestroyStream(aclrtStream stream);

/** Destroys a stream and drops work that has not begun. Threads that wait for the stream get 107023. Events
 * recorded there become complete.
 * @param stream A valid stream, not the default stream of a context.
 * @async no
 * @error 100000 stream is NULL.
 * @error 107017 stream is not a valid stream.
 * @error 107002 The calling thread has no context.
 * @error 107003 stream belongs to another context.
 * @error 107000 stream is the default stream of its context.
 */
ACL_FUNC_VISIBILITY aclError aclrtDestroyStreamForce(aclrtStream stream);

/** Waits for the work of a stream. Pools also return unused memory above their thresholds to the device.
 * @param stream A valid stream, of any context. NULL means the default stream.
 * @async Returns when the work that was queued before the call is complete. Streams made with CPU_SCHEDULE,
 *     PERSISTENT or DEVICE_USE_ONLY return at once.
 * @error 107017 stream is not a valid stream.
 * @error 107002 The calling thread has no context.
 * @error 107022 aclrtDeviceTaskAbort dropped the work.
 * @error 107023 aclrtStreamAbort, or destroying by force, dropped the work.
 * @error other The first failure of a task since the last report. It is reported once.
 */
ACL_FUNC_VISIBILITY aclError aclrtSynchronizeStream(aclrtStream stream);

/** Waits for the work of a stream, for a limited time.
 * @param stream A valid stream, of any context. NULL means the default stream.
 * @param timeout Milliseconds; -1 for no limit. 0 and less than -1 are refused.
 * @async Returns when the work that was queued before the call is complete, or at the limit.
 * @error 107000 timeout is 0 or less than -1.
 * @error 107017 stream is not a valid stream.
 * @error 107002 The calling thread has no context.
 * @error 507046 The work was not complete in time. The stream stays usable.
 * @error 107022 aclrtDeviceTaskAbort dropped the work.
 * @error 107023 aclrtStreamAbort, or destroying by force, dropped the work.
 * @error other The first failure of a task since the last report.
 */
ACL_FUNC_VISIBILITY aclError aclrtSynchronizeStreamWithTimeout(aclrtStream stream, int32_t timeout);

/** Checks whether all work of a stream is complete.
 * @param stream A valid stream, of any context. NULL means the default stream.
 * @param status Receives ACL_STREAM_STATUS_COMPLETE or ACL_STREAM_STATUS_NOT_READY.
 * @async no
 * @error 100000 status is NULL.
 * @error 107017 stream is not a valid stream.
 * @error 107002 The calling thread has no context.
 * @error other The first failure of a task since the last report. It is reported once.
 */
ACL_FUNC_VISIBILITY aclError aclrtStreamQuery(aclrtStream stream, aclrtStreamStatus* status);

/** Drops the queued work of a stream. The stream stays usable. Threads that wait for it get 107023.
 * @param stream A valid stream, of any context. NULL means the default stream.
 * @async Waits for the task that runs, but not for a host function. On a GPU it waits for all tasks that the
 *     driver has.
 * @error 107017 stream is not a valid stream.
 * @error 107002 The calling thread has no context.
 */
ACL_FUNC_VISIBILITY aclError aclrtStreamAbort(aclrtStream stream);

/** Drops the queued work of a stream, like aclrtStreamAbort.
 * @param stream A valid stream, of any context. Not NULL.
 * @async Waits for the task that runs, but not for a host function.
 * @error 107000 stream is NULL.
 * @error 107017 stream is not a valid stream.
 * @error 107002 The calling thread has no context.
 */
ACL_FUNC_VISIBILITY aclError aclrtStreamStop(aclrtStream stream);

/** Gets the number of a stream.
 * @param stream A valid stream, of any context. NULL means the default stream.
 * @param streamId Receives the number.
 * @async no
 * @error 100000 streamId is NULL.
 * @error 107017 stream is not a valid stream.
 * @error 107002 The calling thread has no context.
 */
ACL_FUNC_VISIBILITY aclError aclrtStreamGetId(aclrtStream stream, int32_t* streamId);

/** Gets the priority of a stream.
 * @param stream A valid stream, of any context. NULL means the default stream.
 * @param priority Receives 0 (highest) to 7.
 * @async no
 * @error 100000 priority is NULL.
 * @error 107017 stream is not a valid stream.
 * @error 107002 The calling thread has no context.
 */
ACL_FUNC_VISIBILITY aclError aclrtStreamGetPriority(aclrtStream stream, uint32_t* priority);

/** Gets the flags of a stream.
 * @param stream A valid stream, of any context. NULL means the default stream.
 * @param flags Receives ACL_STREAM flags.
 * @async no
 * @error 100000 flags is NULL.
 * @error 107017 stream is not a valid stream.
 * @error 107002 The calling thread has no context.
 */
ACL_FUNC_VISIBILITY aclError aclrtStreamGetFlags(aclrtStream stream, uint32_t* flags);

/** Sets whether work behind a failed task still runs. It cannot be undone.
 * @param stream A stream of the current context. NULL means the default stream.
 * @param mode ACL_CONTINUE_ON_FAILURE (0, the default) or ACL_STOP_ON_FAILURE (1). Only the lowest bit is
 *     used.
 * @async no
 * @error 107017 stream is not a valid stream.
 * @error 107000 stream is NULL and the thread has no context.
 * @error 107002 The calling thread has no context.
 * @error 107003 stream belongs to another context.
 * @error 207000 The stream stops on failure already and mode is ACL_CONTINUE_ON_FAILURE.
 */
ACL_FUNC_VISIBILITY aclError aclrtSetStreamFailureMode(aclrtStream stream, uint64_t mode);

/** Sets one attribute of a stream.
 * @param stream A valid stream. NULL means the default stream.
 * @param stmAttrType FAILURE_MODE (1), FLOAT_OVERFLOW_CHECK (2) or USER_CUSTOM_TAG (3). The last two are
 *     stored and have no effect.
 * @param value The value, in the member of the union that the attribute has.
 * @async no
 * @error 100000 value is NULL.
 * @error 107017 stream is not a valid stream.
 * @error 107002 The calling thread has no context.
 * @error 207000 stmAttrType is CACHE_OP_INFO (4) or PRIORITY (5).
 * @error 107000 stmAttrType is not 1 to 5.
 * @error other For FAILURE_MODE, the codes of aclrtSetStreamFailureMode.
 */
ACL_FUNC_VISIBILITY aclError aclrtSetStreamAttribute(aclrtStream stream, aclrtStreamAttr stmAttrType,
                                                     aclrtStreamAttrValue* value);

/** Gets one attribute of a stream.
 * @param stream A valid stream. NULL means the default stream.
 * @param stmAttrType FAILURE_MODE (1), FLOAT_OVERFLOW_CHECK (2), USER_CUSTOM_TAG (3) or PRIORITY (5).
 * @param value Receives the value, in the member of the union that the attribute has.
 * @async no
 * @error 100000 value is NULL.
 * @error 107017 stream is not a valid stream.
 * @error 107002 The calling thread has no context.
 * @error 207000 stmAttrType is CACHE_OP_INFO (4).
 * @error 107000 stmAttrType is not 1 to 5.
 */
ACL_FUNC_VISIBILITY aclError aclrtGetStreamAttribute(aclrtStream stream, aclrtStreamAttr stmAttrType,
                                                     aclrtStreamAttrValue* value);

/** Gets how many more streams the current device can have.
 * @param streamCount Receives the number.
 * @async no
 * @error 100000 streamCount is NULL.
 * @error 107002 The calling thread has no context.
 */
ACL_FUNC_VISIBILITY aclError aclrtGetStreamAvailableNum(uint32_t* streamCount);

/** Registers a function that is called after streams are created and before they are destroyed. It runs on
 * the thread of that call. It is not called for refused calls.
 * @param regName Name of the registration. A second one with the same name replaces the first.
 * @param callback The function. NULL removes the registration.
 * @param args Passed to the function. May be NULL.
 * @async no
 * @error 100000 regName is NULL.
 */
ACL_FUNC_VISIBILITY aclError aclrtRegStreamStateCallback(const char* regName,
                                                         aclrtStreamStateCallback callback, void* args);

/** Writes a 64-bit word of device memory, in stream order.
 * @param devAddr Address of the word in device memory, aligned to 8 bytes.
 * @param value The word.
 * @param flag 0.
 * @param stream A stream of the current context. NULL means the default stream.
 * @async queued
 * @error 100000 devAddr is NULL.
 * @error 107000 flag is not 0.
 * @error 107017 stream is not a valid stream.
 * @error 107002 The calling thread has no context.
 * @error 107003 stream belongs to another context.
 * @error 207000 The chip of the profile has no such words.
 * @error 107000 devAddr is not device memory, leaves its allocation, or is not aligned.
 */
ACL_FUNC_VISIBILITY aclError aclrtValueWrite(void* devAddr, uint64_t value, uint32_t flag,
                                             aclrtStream stream);

/** Holds a stream until a 64-bit word of device memory satisfies a condition.
 * @param devAddr Address of the word in device memory, aligned to 8 bytes.
 * @param value The value to compare with.
 * @param flag 0 GEQ: word - value is not negative as a signed number. 1 EQ: word == value. 2 AND: (word &
 *     value) != 0. 3 NOR: ~(word | value) != 0.
 * @param stream A stream of the current context. NULL means the default stream.
 * @async queued
 * @error 100000 devAddr is NULL.
 * @error 107000 flag is not 0 to 3.
 * @error 107017 stream is not a valid stream.
 * @error 107002 The calling thread has no context.
 * @error 107003 stream belongs to another context.
 * @error 207000 The chip of the profile has no such words.
 * @error 107000 devAddr is not device memory, leaves its allocation, or is not aligned.
 */
ACL_FUNC_VISIBILITY aclError aclrtValueWait(void* devAddr, uint64_t value, uint32_t flag, aclrtStream stream);

/* ---- events ---- */

/** Creates an event for synchronization, timing and progress.
 * @param event Receives the handle.
 * @async no
 * @error 100000 event is NULL.
 * @error 107002 The calling thread has no context.
 * @error 207007 All events of the device are in use. The 910B has 65536.
 */
ACL_FUNC_VISIBILITY aclError aclrtCreateEvent(aclrtEvent* event);

/** Creates an event with the functions of its flags.
 * @param event Receives the handle.
 * @param flag ACL_EVENT_SYNC (1), ACL_EVENT_CAPTURE_STREAM_PROGRESS (2), 4 and ACL_EVENT_TIME_LINE (8) in any
 *     combination. Or ACL_EVENT_DEVICE_USE_ONLY or ACL_EVENT_EXTERNAL alone.
 * @async no
 * @error 100000 event is NULL.
 * @error 107000 flag is 0 or no such combination.
 * @error 107002 The calling thread has no context.
 * @error 207007 All events of the device are in use.
 */
ACL_FUNC_VISIBILITY aclError aclrtCreateEventWithFlag(aclrtEvent* event, uint32_t flag);

/** Creates an event that may be recorded again while streams wait for it. A wait binds to the latest
 * recording at the time of the wait call.
 * @param event Receives the handle.
 * @param flag 1, 2, 4 and 8 in any combination, as in aclrtCreateEventWithFlag. Or ACL_EVENT_IPC (0x40)
 *     alone.
 * @async no
 * @error 100000 event is NULL.
 * @error 107000 flag is 0 or no such combination.
 * @error 107002 The calling thread has no context.
 * @error 207000 flag is ACL_EVENT_IPC and the profile or the backend has no shared events.
 * @error 207007 All events of the device are in use.
 */
ACL_FUNC_VISIBILITY aclError aclrtCreateEventExWithFlag(aclrtEvent* event, uint32_t flag);

/** Destroys an event. Recordings and waits that are queued still take place.
 * @param event A valid event.
 * @async no
 * @error 100000 event is NULL.
 * @error 107017 event is not a valid event.
 */
ACL_FUNC_VISIBILITY aclError aclrtDestroyEvent(aclrtEvent event);

/** Records the end of the work that is queued in a stream so far.
 * @param event A valid event.
 * @param stream A stream of the current context. NULL means the default stream.
 * @async queued
 * @error 100000 event is NULL.
 * @error 107017 event or stream is not a valid handle.
 * @error 107002 The calling thread has no context.
 * @error 107003 stream belongs to another context.
 */
ACL_FUNC_VISIBILITY aclError aclrtRecordEvent(aclrtEvent event, aclrtStream stream);

/** Records an event, with ACL_EVENT_RECORD flags.
 * @param event A valid event.
 * @param stream A stream of the current context. NULL means the default stream.
 * @param flag ACL_EVENT_RECORD_DEFAULT (0). ACL_EVENT_RECORD_EXTERNAL (1) is for streams that are being
 *     captured.
 * @async queued
 * @error 100000 event is NULL, or flag is not 0 or 1.
 * @error 107017 event or stream is not a valid handle.
 * @error 107002 The calling thread has no context.
 * @error 107003 stream belongs to another context.
 * @error 107029 flag is 1: no stream is ever being captured here.
 */
ACL_FUNC_VISIBILITY aclError aclrtRecordEventWithFlag(aclrtEvent event, aclrtStream stream, uint32_t flag);

/** Clears an event in stream order, so that it can be recorded again.
 * @param event An event of aclrtCreateEvent or aclrtCreateEventWithFlag.
 * @param stream A stream of the current context. NULL means the default stream.
 * @async queued
 * @error 100000 event is NULL.
 * @error 107017 event is not a valid event.
 * @error 107000 The event is for use on the device only.
 * @error 107017 stream is not a valid stream.
 * @error 107002 The calling thread has no context.
 * @error 107003 stream belongs to another context.
 * @error 207000 The event is of the Ex kind, shared, or cannot synchronize.
 */
ACL_FUNC_VISIBILITY aclError aclrtResetEvent(aclrtEvent event, aclrtStream stream);

/** Checks whether a recorded point has been reached.
 * @param event An event of aclrtCreateEvent or aclrtCreateEventWithFlag.
 * @param status Receives ACL_EVENT_STATUS_COMPLETE (0) or ACL_EVENT_STATUS_NOT_READY (1).
 * @async no
 * @error 100000 event or status is NULL.
 * @error 107017 event is not a valid event.
 * @error 207000 The event is of the Ex kind: use aclrtQueryEventStatus.
 */
ACL_DEPRECATED_MESSAGE("prefer aclrtQueryEventStatus or aclrtQueryEventWaitStatus")
ACL_FUNC_VISIBILITY aclError aclrtQueryEvent(aclrtEvent event, aclrtEventStatus* status);

/** Checks whether a recorded point has been reached. An event that was never recorded is COMPLETE if it is of
 * the Ex kind, and NOT_READY otherwise.
 * @param event A valid event.
 * @param status Receives ACL_EVENT_RECORDED_STATUS_NOT_READY (0) or ACL_EVENT_RECORDED_STATUS_COMPLETE (1).
 * @async no
 * @error 100000 event or status is NULL.
 * @error 107017 event is not a valid event.
 */
ACL_FUNC_VISIBILITY aclError aclrtQueryEventStatus(aclrtEvent event, aclrtEventRecordedStatus* status);

/** Checks whether all waits for an event are over.
 * @param event An event of aclrtCreateEvent or aclrtCreateEventWithFlag.
 * @param status Receives ACL_EVENT_WAIT_STATUS_COMPLETE (0) or ACL_EVENT_WAIT_STATUS_NOT_READY (1).
 * @async no
 * @error 100000 event or status is NULL.
 * @error 107017 event is not a valid event.
 * @error 207000 The event is of the Ex kind.
 */
ACL_FUNC_VISIBILITY aclError aclrtQueryEventWaitStatus(aclrtEvent event, aclrtEventWaitStatus* status);

/** Waits on the host until a recorded point is reached. Needs no context.
 * @param event A valid event. An event that was never recorded is complete.
 * @async Returns when the point is reached.
 * @error 100000 event is NULL.
 * @error 107017 event is not a valid event.
 * @error 207000 The event was made with ACL_EVENT_EXTERNAL.
 * @error 107023 The recording, or work that it depends on, was dropped: a stream was aborted or destroyed.
 *     107022 after aclrtDeviceTaskAbort.
 */
ACL_FUNC_VISIBILITY aclError aclrtSynchronizeEvent(aclrtEvent event);

/** Waits on the host until a recorded point is reached, for a limited time.
 * @param event A valid event. An event that was never recorded is complete.
 * @param timeout Milliseconds; -1 for no limit. 0 and less than -1 are refused.
 * @async Returns when the point is reached, or at the limit.
 * @error 107000 timeout is less than -1.
 * @error 100000 event is NULL.
 * @error 107000 timeout is 0.
 * @error 107017 event is not a valid event.
 * @error 207000 The event was made with ACL_EVENT_EXTERNAL.
 * @error 507047 The point was not reached in time.
 * @error 107023 The recording, or work that it depends on, was dropped: a stream was aborted or destroyed.
 *     107022 after aclrtDeviceTaskAbort.
 */
ACL_FUNC_VISIBILITY aclError aclrtSynchronizeEventWithTimeout(aclrtEvent event, int32_t timeout);

/** Gets the time between two points that have been reached.
 * @param ms Receives milliseconds, with a resolution below one microsecond. Negative if the end was reached
 *     first.
 * @param startEvent An event with timing (ACL_EVENT_TIME_LINE).
 * @param endEvent Another one.
 * @async no
 * @error 100000 An argument is NULL.
 * @error 107017 An event is not a valid event.
 * @error 207000 An event is external or shared with other processes.
 * @error 507000 An event was never recorded.
 * @error 107006 An event has no timing, or its point is not reached yet.
 */
ACL_FUNC_VISIBILITY aclError aclrtEventElapsedTime(float* ms, aclrtEvent startEvent, aclrtEvent endEvent);

/** Gets the device time at which a point was reached.
 * @param event An event with timing (ACL_EVENT_TIME_LINE).
 * @param timestamp Receives microseconds.
 * @async no
 * @error 100000 An argument is NULL.
 * @error 107017 event is not a valid event.
 * @error 207000 The event is external or shared with other processes.
 * @error 507000 The event was never recorded.
 * @error 107006 The event has no timing, or its point is not reached yet.
 */
ACL_FUNC_VISIBILITY aclError aclrtEventGetTimestamp(aclrtEvent event, uint64_t* timestamp);

/** Holds a stream until the point of an event's latest recording is reached. An event that was never recorded
 * holds nothing.
 * @param stream A stream of the current context. NULL means the default stream.
 * @param event A valid event that can synchronize.
 * @async queued
 * @error 100000 event is NULL.
 * @error 107017 event or stream is not a valid handle.
 * @error 107002 The calling thread has no context.
 * @error 107003 stream belongs to another context.
 * @error 207000 The event was made without a flag that synchronizes.
 */
ACL_FUNC_VISIBILITY aclError aclrtStreamWaitEvent(aclrtStream stream, aclrtEvent event);

/** Holds a stream until a recorded point is reached, with a limit and ACL_EVENT_WAIT flags.
 * @param stream A stream of the current context. NULL means the default stream.
 * @param event A valid event that can synchronize.
 * @param timeout Seconds from when the stream reaches the wait; 0 for no limit. Past it, the stream fails
 *     with 107020.
 * @param flag ACL_EVENT_WAIT_DEFAULT (0). ACL_EVENT_WAIT_EXTERNAL (1) is for streams that are being captured.
 * @async queued
 * @error 100000 event is NULL, flag is not 0 or 1, or flag is 1 and timeout is not 0.
 * @error 107017 event or stream is not a valid handle.
 * @error 107002 The calling thread has no context.
 * @error 107003 stream belongs to another context.
 * @error 107029 flag is 1: no stream is ever being captured here.
 * @error 207000 The event was made without a flag that synchronizes.
 */
ACL_FUNC_VISIBILITY aclError aclrtStreamWaitEventWithFlag(aclrtStream stream, aclrtEvent event,
                                                          uint32_t timeout, uint32_t flag);

/** Holds a stream until a recorded point is reached, with a limit.
 * @param stream A stream of the current context. NULL means the default stream.
 * @param event A valid event that can synchronize.
 * @param timeout Seconds from when the stream reaches the wait; 0 for no limit. Past it, the stream fails
 *     with 107020.
 * @async queued
 * @error 107000 timeout is negative, or event is NULL.
 * @error 107017 event or stream is not a valid handle.
 * @error 107002 The calling thread has no context.
 * @error 107003 stream belongs to another context.
 * @error 207000 The event was made without a flag that synchronizes.
 */
ACL_FUNC_VISIBILITY aclError aclrtStreamWaitEventWithTimeout(aclrtStream stream, aclrtEvent event,
                                                             int32_t timeout);

/** Gets the number of an event.
 * @param event A valid event.
 * @param eventId Receives the number.
 * @async no
 * @error 100000 event or eventId is NULL.
 * @error 107017 event is not a valid event.
 * @error 207007 The device has no number left for an event of the Ex kind.
 */
ACL_FUNC_VISIBILITY aclError aclrtGetEventId(aclrtEvent event, uint32_t* eventId);

/** Gets how many more events the current device can have.
 * @param eventCount Receives the number.
 * @async no
 * @error 100000 eventCount is NULL.
 * @error 107002 The calling thread has no context.
 */
ACL_FUNC_VISIBILITY aclError aclrtGetEventAvailNum(uint32_t* eventCount);

/** Gets the handle with which another process opens an event.
 * @param event An event made with ACL_EVENT_IPC.
 * @param handle Receives 64 bytes.
 * @async no
 * @error 100000 event or handle is NULL.
 * @error 107017 event is not a valid event.
 * @error 107000 The event was made without ACL_EVENT_IPC.
 * @error 207000 The event belongs to another process.
 */
ACL_FUNC_VISIBILITY aclError aclrtIpcGetEventHandle(aclrtEvent event, aclrtIpcEventHandle* handle);

/** Opens an event of another process.
 * @param handle The handle that aclrtIpcGetEventHandle returned there.
 * @param event Receives a handle of this process.
 * @async no
 * @error 100000 event is NULL.
 * @error 107002 The calling thread has no context.
 * @error 207000 The profile or the backend has no shared events.
 * @error 107000 The handle is malformed, or its event or process no longer exists.
 * @error 207007 All handles are in use.
 */
ACL_FUNC_VISIBILITY aclError aclrtIpcOpenEventHandle(aclrtIpcEventHandle handle, aclrtEvent* event);

/* ---- notifies ---- */

/** Creates a notify on the current device: a binary signal that a wait clears.
 * @param notify Receives the handle.
 * @param flag ACL_NOTIFY_DEFAULT (0) or ACL_NOTIFY_DEVICE_USE_ONLY (1).
 * @async no
 * @error 100000 notify is NULL.
 * @error 107000 flag is not 0 or 1.
 * @error 107002 The calling thread has no context.
 * @error 207000 The profile or the backend has no notifies.
 * @error 207009 All notifies of the device are in use. The 910B has 8192.
 */
ACL_FUNC_VISIBILITY aclError aclrtCreateNotify(aclrtNotify* notify, uint64_t flag);

/** Destroys a notify.
 * @param notify A valid notify.
 * @async no
 * @error 100000 notify is NULL.
 * @error 107017 notify is not a valid notify.
 */
ACL_FUNC_VISIBILITY aclError aclrtDestroyNotify(aclrtNotify notify);

/** Sets a notify in stream order. Setting it twice has the effect of setting it once. Another host's notify
 * is set when its owner has answered; if the owner is gone, the stream fails with 507010.
 * @param notify A valid notify.
 * @param stream A stream of the current context. NULL means the default stream.
 * @async queued
 * @error 100000 notify is NULL.
 * @error 107017 notify or stream is not a valid handle.
 * @error 107002 The calling thread has no context.
 * @error 107003 stream belongs to another context.
 */
ACL_FUNC_VISIBILITY aclError aclrtRecordNotify(aclrtNotify notify, aclrtStream stream);

/** Holds a stream until a notify is set, then clears the notify.
 * @param notify A valid notify.
 * @param stream A stream of the current context. NULL means the default stream.
 * @param timeout Seconds from the moment at which the stream reaches the wait; 0 for no limit. Past it, the
 *     stream fails with 107020.
 * @async queued
 * @error 100000 notify is NULL.
 * @error 107017 notify or stream is not a valid handle.
 * @error 107002 The calling thread has no context.
 * @error 107003 stream belongs to another context.
 * @error 207000 The notify is another host's: only its owner can wait for it.
 */
ACL_FUNC_VISIBILITY aclError aclrtWaitAndResetNotify(aclrtNotify notify, aclrtStream stream,
                                                     uint32_t timeout);

/** Gets the number of a notify.
 * @param notify A valid notify.
 * @param notifyId Receives the number.
 * @async no
 * @error 100000 notify or notifyId is NULL.
 * @error 107017 notify is not a valid notify.
 */
ACL_FUNC_VISIBILITY aclError aclrtGetNotifyId(aclrtNotify notify, uint32_t* notifyId);

/** Clears several notifies at once, not in stream order.
 * @param notifies The notifies.
 * @param num Number of notifies, at least 1.
 * @async no
 * @error 100000 notifies is NULL.
 * @error 107000 num is 0.
 * @error 100000 One of the notifies is NULL.
 * @error 107017 One of them is not a valid notify. None is cleared then.
 * @error 207000 A notify is another host's.
 */
ACL_FUNC_VISIBILITY aclError aclrtNotifyBatchReset(aclrtNotify* notifies, size_t num);

/** Gets the key with which another process imports a notify.
 * @param notify A notify of this process.
 * @param key Receives a string.
 * @param len Size of key in bytes, at least 65.
 * @param flags 0, or ACL_RT_NOTIFY_EXPORT_FLAG_DISABLE_PID_VALIDATION (2): every process may import.
 * @async no
 * @error 100000 notify or key is NULL.
 * @error 107000 len is less than 65, or flags is neither 0 nor 2.
 * @error 107017 notify is not a valid notify.
 * @error 107000 The notify belongs to another process.
 */
ACL_FUNC_VISIBILITY aclError aclrtNotifyGetExportKey(aclrtNotify notify, char* key, size_t len,
                                                     uint64_t flags);

/** Imports a notify by its key.
 * @param notify Receives a handle of this process.
 * @param key The key that aclrtNotifyGetExportKey returned.
 * @param flags 0 or ACL_RT_NOTIFY_IMPORT_FLAG_ENABLE_PEER_ACCESS (2).
 * @async no
 * @error 100000 notify or key is NULL.
 * @error 107000 flags is neither 0 nor 2.
 * @error 107002 The calling thread has no context.
 * @error 207000 The profile or the backend has no notifies.
 * @error 107000 The key is malformed, or its notify or process no longer exists.
 * @error 207006 This process is not on the notify's list.
 * @error 507010 The notify's process is on another host and cannot be reached.
 * @error 207009 All handles are in use.
 */
ACL_FUNC_VISIBILITY aclError aclrtNotifyImportByKey(aclrtNotify* notify, const char* key, uint64_t flags);

/** Adds processes that may import a notify.
 * @param notify A notify of this process.
 * @param pid Process ids.
 * @param num Number of ids, at least 1. At most 64 for a notify in all.
 * @async no
 * @error 100000 notify or pid is NULL.
 * @error 107000 num is 0.
 * @error 107017 notify is not a valid notify.
 * @error 107000 The notify belongs to another process, or the list would have more than 64 entries.
 */
ACL_FUNC_VISIBILITY aclError aclrtNotifySetImportPid(aclrtNotify notify, int32_t* pid, size_t num);

/** Adds processes of servers of a super pod that may import a notify. Processes of other hosts can set it
 * then.
 * @param notify A notify of this process.
 * @param serverPids Process ids, with the ACL_DEV_ATTR_SUPER_POD_DEVICE_ID of a device of their server.
 * @param num Number of entries, at least 1. At most 64 processes for a notify in all.
 * @async no
 * @error 100000 notify or serverPids is NULL.
 * @error 107000 num is 0, an entry names no process, or the list would have more than 64 of them.
 * @error 107017 notify is not a valid notify.
 * @error 107000 The notify belongs to another process.
 * @error 207000 The profile has no super pod, or there is no network or no libfabric.
 */
ACL_FUNC_VISIBILITY aclError aclrtNotifySetImportPidInterServer(aclrtNotify notify,
                                                                aclrtServerPid* serverPids, size_t num);

/* ---- callbacks and exceptions ---- */

/** Runs a function of the program in stream order, on a thread of the runtime. Later work of the stream waits
 * for it. The function must not wait for its own stream. All signals are blocked there, except SIGSEGV,
 * SIGBUS, SIGFPE, SIGILL and SIGTRAP.
 * @param stream A stream of the current context without a subscribed thread. NULL means the default stream.
 * @param fn The function.
 * @param args Passed to the function. May be NULL.
 * @async queued
 * @error 107000 fn is NULL.
 * @error 107017 stream is not a valid stream.
 * @error 107002 The calling thread has no context.
 * @error 107003 stream belongs to another context.
 * @error 107011 The stream has a subscribed thread: use aclrtLaunchCallback.
 */
ACL_FUNC_VISIBILITY aclError aclrtLaunchHostFunc(aclrtStream stream, aclrtHostFunc fn, void* args);

/** Subscribes a thread to the callbacks of a stream.
 * @param threadId Id of the thread, as pthread_self gives it.
 * @param stream A stream of the current context. NULL means the default stream.
 * @async no
 * @error 107017 stream is not a valid stream.
 * @error 107002 The calling thread has no context.
 * @error 107003 stream belongs to another context.
 * @error 107011 The stream has a subscribed thread already.
 */
ACL_FUNC_VISIBILITY aclError aclrtSubscribeReport(uint64_t threadId, aclrtStream stream);

/** Queues a callback, which the subscribed thread runs in aclrtProcessReport.
 * @param fn The function.
 * @param userData Passed to the function. May be NULL.
 * @param blockType ACL_CALLBACK_BLOCK (1): later work of the stream waits for the function.
 *     ACL_CALLBACK_NO_BLOCK (0): it does not.
 * @param stream A stream of the current context with a subscribed thread. NULL means the default stream.
 * @async queued
 * @error 100000 blockType is not 0 or 1.
 * @error 107000 fn is NULL.
 * @error 107017 stream is not a valid stream.
 * @error 107002 The calling thread has no context.
 * @error 107003 stream belongs to another context.
 * @error 107015 The stream has no subscribed thread.
 */
ACL_FUNC_VISIBILITY aclError aclrtLaunchCallback(aclrtCallback fn, void* userData,
                                                 aclrtCallbackBlockType blockType, aclrtStream stream);

/** Runs pending callbacks on the calling thread. If there are none, waits for one. A thread that is not
 * subscribed yet waits for a subscription, up to the limit.
 * @param timeout Milliseconds; -1 for no limit. 0 and less than -1 are refused.
 * @async Returns when it has run callbacks, or at the limit.
 * @threads Call it on the subscribed thread.
 * @error 100000 timeout is 0 or less than -1.
 * @error 107012 The thread is not subscribed to any stream. Without a limit this is returned at once.
 * @error 507012 No callback came in time.
 */
ACL_FUNC_VISIBILITY aclError aclrtProcessReport(int32_t timeout);

/** Removes the subscription of a thread to a stream. Queued callbacks are dropped and reported.
 * @param threadId Id of the subscribed thread.
 * @param stream A stream of the current context. NULL means the default stream.
 * @async no
 * @error 107017 stream is not a valid stream.
 * @error 107002 The calling thread has no context.
 * @error 107003 stream belongs to another context.
 * @error 107012 The thread is not subscribed to any stream.
 * @error 107015 The thread is not subscribed to this stream.
 */
ACL_FUNC_VISIBILITY aclError aclrtUnSubscribeReport(uint64_t threadId, aclrtStream stream);

/* Subscribes a thread to the host functions of a stream. */
ACL_FUNC_VISIBILITY aclError aclrtSubscribeHostFunc(uint64_t hostFuncThreadId, aclrtStream exeStream);

/* Runs pending host functions, waiting at most timeout milliseconds for one. */
ACL_FUNC_VISIBILITY aclError aclrtProcessHostFunc(int32_t timeout);

/* Removes the subscription of a thread to a stream's host functions. */
ACL_FUNC_VISIBILITY aclError aclrtUnSubscribeHostFunc(uint64_t hostFuncThreadId, aclrtStream exeStream);

/** Sets the function that is called for every task that fails.
 * @param callback The function; NULL removes it.
 * @async no
 * @error none
 */
ACL_DEPRECATED_MESSAGE("prefer aclrtExceptionInfoCallbackRegister")
ACL_FUNC_VISIBILITY aclError aclrtSetExceptionInfoCallback(aclrtExceptionInfoCallback callback);

/** Adds a function that is called for every task that fails. It runs on a thread of the runtime, before the
 * synchronization that reports the failure returns.
 * @param callback The function.
 * @async no
 * @error 107000 callback is NULL.
 */
ACL_FUNC_VISIBILITY aclError aclrtExceptionInfoCallbackRegister(aclrtExceptionInfoCallback callback);

/** Removes a function of aclrtExceptionInfoCallbackRegister.
 * @param callback The function.
 * @async no
 * @error 107000 callback is NULL or not registered.
 */
ACL_FUNC_VISIBILITY aclError aclrtExceptionInfoCallbackUnregister(aclrtExceptionInfoCallback callback);

/** Gets the number of the task that failed.
 * @param info The argument of the callback. Valid during the callback.
 * @async no
 * @return The number; 0xFFFFFFFF if info is NULL.
 */
ACL_FUNC_VISIBILITY uint32_t aclrtGetTaskIdFromExceptionInfo(const aclrtExceptionInfo* info);

/** Gets the number of the stream of the task that failed.
 * @param info The argument of the callback. Valid during the callback.
 * @async no
 * @return The number; 0xFFFFFFFF if info is NULL.
 */
ACL_FUNC_VISIBILITY uint32_t aclrtGetStreamIdFromExceptionInfo(const aclrtExceptionInfo* info);

/** Gets the number of the thread that submitted to the stream last.
 * @param info The argument of the callback. Valid during the callback.
 * @async no
 * @return The number; 0xFFFFFFFF if info is NULL.
 */
ACL_FUNC_VISIBILITY uint32_t aclrtGetThreadIdFromExceptionInfo(const aclrtExceptionInfo* info);

/** Gets the number of the device that the task ran on.
 * @param info The argument of the callback. Valid during the callback.
 * @async no
 * @return The number; 0xFFFFFFFF if info is NULL.
 */
ACL_FUNC_VISIBILITY uint32_t aclrtGetDeviceIdFromExceptionInfo(const aclrtExceptionInfo* info);

/** Gets the code with which the task failed.
 * @param info The argument of the callback. Valid during the callback.
 * @async no
 * @return The code; 0xFFFFFFFF if info is NULL.
 */
ACL_FUNC_VISIBILITY uint32_t aclrtGetErrorCodeFromExceptionInfo(const aclrtExceptionInfo* info);

/* ---- device and host memory ---- */

/** Allocates device memory on the current device.
 * @param devPtr Receives the address, aligned to at least 64 bytes.
 * @param size Bytes, at least 1. The block is rounded up to 32 bytes and has 32 bytes of padding, which the
 *     program must not use.
 * @param policy Pages: ACL_MEM_MALLOC values. Unknown values, and the bits from 0x100 on, mean
 *     ACL_MEM_MALLOC_HUGE_FIRST.
 * @async no
 * @error 100000 devPtr is NULL, size is 0, or size plus 64 bytes of padding overflows.
 * @error 207000 policy asks for pages of 1 GiB, which the imitated chips do not have.
 * @error 107002 The calling thread has no context.
 * @error 207001 The device does not have enough memory, even after pools have freed unused memory.
 */
ACL_FUNC_VISIBILITY aclError aclrtMalloc(void** devPtr, size_t size, aclrtMemMallocPolicy policy);

/** Allocates device memory, rounded up to 32 bytes without further padding.
 * @param devPtr Receives the address.
 * @param size Bytes, at least 1.
 * @param policy Pages, as in aclrtMalloc.
 * @async no
 * @error 100000 devPtr is NULL, size is 0, or size plus 64 bytes of padding overflows.
 * @error 207000 policy asks for pages of 1 GiB.
 * @error 107002 The calling thread has no context.
 * @error 207001 The device does not have enough memory.
 */
ACL_FUNC_VISIBILITY aclError aclrtMallocAlign32(void** devPtr, size_t size, aclrtMemMallocPolicy policy);

/** Allocates device memory that the device caches; see aclrtMemFlush.
 * @param devPtr Receives the address.
 * @param size Bytes, at least 1.
 * @param policy Pages, as in aclrtMalloc. The policies for peers mean ACL_MEM_MALLOC_HUGE_FIRST.
 * @async no
 * @error 100000 devPtr is NULL, size is 0, or size plus 64 bytes of padding overflows.
 * @error 207000 policy is ACL_MEM_MALLOC_HUGE1G_ONLY.
 * @error 107002 The calling thread has no context.
 * @error 207001 The device does not have enough memory.
 */
ACL_FUNC_VISIBILITY aclError aclrtMallocCached(void** devPtr, size_t size, aclrtMemMallocPolicy policy);

/** Allocates device memory with attributes.
 * @param devPtr Receives the address.
 * @param size Bytes, at least 1.
 * @param policy Pages, as in aclrtMalloc, combined by OR with the bandwidth bits and
 *     ACL_MEM_ACCESS_USER_SPACE_READONLY.
 * @param cfg Attributes RSV, MODULE_ID and DEVICE_ID. May be NULL.
 * @async no
 * @error 100000 devPtr is NULL; cfg->attrs is NULL and cfg->numAttrs is not 0; size is 0 or too large.
 * @error 107002 The calling thread has no context.
 * @error 107000 cfg->attrs is NULL, an attribute is not 0 to 2, or DEVICE_ID is not the current device.
 * @error 207000 policy asks for pages of 1 GiB.
 * @error 207001 The device does not have enough memory.
 */
ACL_FUNC_VISIBILITY aclError aclrtMallocWithCfg(void** devPtr, size_t size, aclrtMemMallocPolicy policy,
                                                aclrtMallocConfig* cfg);

/** Frees device memory. It does not wait for copies that use it. A copy that is queued on the memory and has
 * not begun fails with 507013. Needs no context.
 * @param devPtr Address that an allocation returned, not one inside the block.
 * @async no
 * @error 100000 devPtr is NULL.
 * @error 107000 devPtr is not the first address of an allocation of device memory.
 */
ACL_FUNC_VISIBILITY aclError aclrtFree(void* devPtr);

/** Waits for the streams of the current context, then frees device memory.
 * @param devPtr Address that an allocation returned.
 * @async Returns when the streams' work is complete and the memory is free.
 * @error 100000 devPtr is NULL.
 * @error 107002 The calling thread has no context.
 * @error other The failure of a task in one of the streams. The memory is not freed then.
 * @error 107000 devPtr is not the first address of an allocation of device memory.
 */
ACL_FUNC_VISIBILITY aclError aclrtFreeWithDevSync(void* devPtr);

/** Allocates pinned host memory. Copies from and to it are asynchronous.
 * @param hostPtr Receives the address, aligned to at least 64 bytes.
 * @param size Bytes, at least 1.
 * @async no
 * @error 100000 hostPtr is NULL, size is 0, or size plus 64 bytes of padding overflows.
 * @error 107002 The calling thread has no context.
 * @error 207001 The host does not have enough memory.
 */
ACL_FUNC_VISIBILITY aclError aclrtMallocHost(void** hostPtr, size_t size);

/** Allocates pinned host memory with attributes.
 * @param ptr Receives the address, aligned to at least 64 bytes.
 * @param size Bytes, at least 1.
 * @param cfg Attribute MODULE_ID. May be NULL.
 * @async no
 * @error 100000 ptr is NULL, size is 0 or too large, or cfg->attrs is NULL and cfg->numAttrs is not 0.
 * @error 207000 cfg has VA_FLAG, which the imitated chips do not have.
 * @error 107000 cfg has an attribute other than MODULE_ID and VA_FLAG.
 * @error 107002 The calling thread has no context.
 * @error 207001 The host does not have enough memory.
 */
ACL_FUNC_VISIBILITY aclError aclrtMallocHostWithCfg(void** ptr, uint64_t size, aclrtMallocConfig* cfg);

/** Frees pinned host memory. It does not wait for copies that use it.
 * @param hostPtr Address that aclrtMallocHost returned.
 * @async no
 * @error 100000 hostPtr is NULL.
 * @error 107000 hostPtr is not the first address of an allocation of pinned memory.
 */
ACL_FUNC_VISIBILITY aclError aclrtFreeHost(void* hostPtr);

/** Waits for the streams of the current context, then frees pinned host memory.
 * @param hostPtr Address that aclrtMallocHost returned.
 * @async Returns when the streams' work is complete and the memory is free.
 * @error 100000 hostPtr is NULL.
 * @error 107002 The calling thread has no context.
 * @error other The failure of a task in one of the streams. The memory is not freed then.
 * @error 107000 hostPtr is not the first address of an allocation of pinned memory.
 */
ACL_FUNC_VISIBILITY aclError aclrtFreeHostWithDevSync(void* hostPtr);

/** Flushes cached device memory. A device has one view of its memory here, so only the range is checked.
 * @param devPtr Device memory.
 * @param size Bytes, at least 1.
 * @async no
 * @error 100000 devPtr is NULL or size is 0.
 * @error 107002 The calling thread has no context.
 * @error 107000 The range is not device memory, or leaves its allocation.
 */
ACL_FUNC_VISIBILITY aclError aclrtMemFlush(void* devPtr, size_t size);

/** Invalidates cached contents of device memory. Only the range is checked.
 * @param devPtr Device memory.
 * @param size Bytes, at least 1.
 * @async no
 * @error 100000 devPtr is NULL or size is 0.
 * @error 107002 The calling thread has no context.
 * @error 107000 The range is not device memory, or leaves its allocation.
 */
ACL_FUNC_VISIBILITY aclError aclrtMemInvalidate(void* devPtr, size_t size);

/** Pins existing host memory and gets its address for the device, which is the same.
 * @param ptr Address, aligned to 4096 bytes.
 * @param size Bytes, at least 1.
 * @param type ACL_HOST_REGISTER_MAPPED (0), combined by OR with IOMEMORY (4) and READONLY (8).
 * @param devPtr Receives the address for the device.
 * @async no
 * @error 100000 ptr is NULL, size is 0, or devPtr is NULL.
 * @error 207000 type has bits outside 4 and 8.
 * @error 107002 The calling thread has no context.
 * @error 107000 ptr is not aligned.
 * @error 507910 ptr is memory of the runtime.
 * @error 107000 The process cannot access the range.
 * @error 507910 The range overlaps a registration.
 */
ACL_FUNC_VISIBILITY aclError aclrtHostRegister(void* ptr, uint64_t size, aclrtHostRegisterType type,
                                               void** devPtr);

/** Pins or maps existing host memory.
 * @param ptr Address, aligned to 4096 bytes.
 * @param size Bytes, at least 1.
 * @param flag ACL_HOST_REG_MAPPED (2), IOMEMORY (4), READONLY (8) and PINNED (0x10000000), at least one,
 *     combined by OR.
 * @async no
 * @error 100000 ptr is NULL or size is 0.
 * @error 107000 flag is 0 or has other bits.
 * @error 107002 The calling thread has no context.
 * @error 107000 ptr is not aligned.
 * @error 507910 ptr is memory of the runtime.
 * @error 107000 The process cannot access the range.
 * @error 507910 The range overlaps a registration.
 */
ACL_FUNC_VISIBILITY aclError aclrtHostRegisterV2(void* ptr, uint64_t size, uint32_t flag);

/** Gets the address for the device of pinned or registered host memory, which is the same.
 * @param pHost Address in such memory.
 * @param pDevice Receives the address for the device.
 * @param flag 0.
 * @async no
 * @error 100000 pHost or pDevice is NULL, or flag is not 0.
 * @error 107000 pHost is not pinned or registered memory.
 */
ACL_FUNC_VISIBILITY aclError aclrtHostGetDevicePointer(void* pHost, void** pDevice, uint32_t flag);

/** Unregisters host memory. The call does not wait for copies that use the memory.
 * @param ptr First address of the registration.
 * @async no
 * @error 100000 ptr is NULL.
 * @error 507911 ptr is not the first address of a registration.
 */
ACL_FUNC_VISIBILITY aclError aclrtHostUnregister(void* ptr);

/* Whether an engine of a device has access to registered host memory. */
ACL_FUNC_VISIBILITY aclError aclrtHostMemMapCapabilities(uint32_t deviceId, aclrtHacType hacType,
                                                         aclrtHostMemMapCapability* capabilities);

/** Gets the place and the page size of the memory at a pointer. Needs no context.
 * @param ptr Any address.
 * @param attributes Receives the place and the page size in bytes. UNREGISTERED for memory that the runtime
 *     does not know.
 * @async no
 * @error 100000 ptr or attributes is NULL.
 * @error 507899 With real-limits and cann8, the runtime does not know the memory.
 */
ACL_FUNC_VISIBILITY aclError aclrtPointerGetAttributes(const void* ptr, aclrtPtrAttributes* attributes);

/* Whether addresses are all of one type of memory. */
ACL_FUNC_VISIBILITY aclError aclrtCheckMemType(void** addrList, uint32_t size, uint32_t memType,
                                               uint32_t* checkResult, uint32_t reserve);

/** Gets the free and the total memory of the current device.
 * @param attr Kind of memory, 0 to 17. The 910B has HBM: kinds of DDR return 0 bytes.
 * @param free Receives free bytes.
 * @param total Receives total bytes.
 * @async no
 * @error 100000 free or total is NULL.
 * @error 107016 attr is not 0 to 17.
 * @error 107002 The calling thread has no context.
 */
ACL_FUNC_VISIBILITY aclError aclrtGetMemInfo(aclrtMemAttr attr, size_t* free, size_t* total);

/* Memory used by the modules of the runtime on a device. */
ACL_FUNC_VISIBILITY aclError aclrtGetMemUsageInfo(int32_t deviceId, aclrtMemUsageInfo* memUsageInfo,
                                                  size_t inputNum, size_t* outputNum);

/* ---- copies ---- */

/** Copies, and returns when the copy is complete. It does not wait for streams. The direction comes from the
 * addresses; `kind` is only checked.
 * @param dst Destination, in host or device memory.
 * @param destMax Capacity of dst in bytes, at least count.
 * @param src Source, in host or device memory.
 * @param count Bytes. 0 is success before any other check.
 * @param kind ACL_MEMCPY_HOST_TO_HOST to ACL_MEMCPY_HOST_TO_BUF_TO_DEVICE (0 to 5).
 * @async no
 * @error 100000 dst or src is NULL, or kind is not 0 to 5.
 * @error 107000 count is more than destMax. (Equal dst and src are success after this check.)
 * @error 107002 The calling thread has no context.
 * @error 107022 The device is being aborted.
 * @error 107000 A range leaves its allocation, is freed or cannot be accessed; or the copy needs peer access.
 */
ACL_FUNC_VISIBILITY aclError aclrtMemcpy(void* dst, size_t destMax, const void* src, size_t count,
                                         aclrtMemcpyKind kind);

/** Queues a copy. With pageable host memory it waits for the stream, copies, and returns when the copy is
 * complete.
 * @param dst Destination, in host or device memory. It must stay allocated until the copy is complete.
 * @param destMax Capacity of dst in bytes, at least count.
 * @param src Source. Pinned memory must stay unchanged until the copy is complete.
 * @param count Bytes. 0 is success before any other check.
 * @param kind 0 to 5. If the runtime knows both addresses, the real direction is used; rule copy-2 of
 *     BEHAVIOUR.md has the table. HOST_TO_BUF_TO_DEVICE (5) reads the source during the call.
 * @param stream A stream of the current context. NULL means the default stream.
 * @async queued; with pageable host memory it returns after the copy
 * @error 100000 dst or src is NULL, or kind is not 0 to 5.
 * @error 107017 stream is not a valid stream.
 * @error 107000 count is more than destMax.
 * @error 107002 The calling thread has no context.
 * @error 107000 A range leaves its allocation, is freed or cannot be accessed; kind does not fit; or the copy
 *     needs peer access.
 * @error 207000 Both addresses are host memory. It does not become the last error. (Equal dst and src are
 *     success after this check.)
 * @error 107003 stream belongs to another context. A copy with pageable memory is done all the same.
 * @error other With pageable memory: the failure of earlier work in the stream.
 */
ACL_FUNC_VISIBILITY aclError aclrtMemcpyAsync(void* dst, size_t destMax, const void* src, size_t count,
                                              aclrtMemcpyKind kind, aclrtStream stream);

/** Queues a copy, exactly like aclrtMemcpyAsync.
 * @param dst Destination, in host or device memory.
 * @param destMax Capacity of dst in bytes, at least count.
 * @param src Source, in host or device memory.
 * @param count Bytes. 0 is success before any other check.
 * @param kind 0 to 5, as in aclrtMemcpyAsync.
 * @param stream A stream of the current context. NULL means the default stream.
 * @async queued; with pageable host memory it returns after the copy
 * @error 100000 dst or src is NULL, or kind is not 0 to 5.
 * @error 107017 stream is not a valid stream.
 * @error 107000 count is more than destMax.
 * @error 107002 The calling thread has no context.
 * @error other As in aclrtMemcpyAsync.
 */
ACL_DEPRECATED_MESSAGE("aclrtMemcpyAsync does the same")
ACL_FUNC_VISIBILITY aclError aclrtMemcpyAsyncWithCondition(void* dst, size_t destMax, const void* src,
                                                           size_t count, aclrtMemcpyKind kind,
                                                           aclrtStream stream);

/** Copies rows, and returns when the copy is complete. It does not wait for streams. Row r goes from src + r
 * * spitch to dst + r * dpitch. The bytes between the rows of the destination do not change.
 * @param dst First row of the destination.
 * @param dpitch Bytes from one row of the destination to the next, at least width. No upper limit.
 * @param src First row of the source.
 * @param spitch Bytes from one row of the source to the next, at least width. No upper limit.
 * @param width Bytes of a row. 0 is success before any other check. At most 5,000,000 with cann9; no limit
 *     with cann8.
 * @param height Number of rows, at most 5,242,880. 0 is success before any other check.
 * @param kind HOST_TO_DEVICE (1), DEVICE_TO_HOST (2) or DEFAULT (4).
 * @async no
 * @error 100000 dst or src is NULL; width is more than spitch or dpitch; kind is not 1 to 4.
 * @error 207000 The chip of the profile has no 2D copies.
 * @error 107000 height or width is more than its limit.
 * @error 207000 kind is DEVICE_TO_DEVICE.
 * @error 107002 The calling thread has no context.
 * @error 107000 A row leaves its allocation, is freed or cannot be accessed; or the addresses are not one
 *     host and one device.
 */
ACL_FUNC_VISIBILITY aclError aclrtMemcpy2d(void* dst, size_t dpitch, const void* src, size_t spitch,
                                           size_t width, size_t height, aclrtMemcpyKind kind);

/** Queues a copy of rows. Row r goes from src + r * spitch to dst + r * dpitch. The bytes between the rows of
 * the destination do not change. With pageable host memory it waits for the stream, copies, and returns when
 * the copy is complete.
 * @param dst First row of the destination. It must stay allocated until the copy is complete.
 * @param dpitch Bytes from one row of the destination to the next, at least width. No upper limit.
 * @param src First row of the source. Pinned memory must stay unchanged until the copy is complete.
 * @param spitch Bytes from one row of the source to the next, at least width. No upper limit.
 * @param width Bytes of a row. 0 is success before any other check. At most 5,000,000 with cann9; no limit
 *     with cann8.
 * @param height Number of rows, at most 5,242,880. 0 is success before any other check.
 * @param kind HOST_TO_DEVICE (1), DEVICE_TO_HOST (2) or DEFAULT (4). With cann9 also DEVICE_TO_DEVICE (3).
 * @param stream A stream of the current context. NULL means the default stream.
 * @async queued; with pageable host memory it returns after the copy
 * @error 100000 dst or src is NULL; width is more than spitch or dpitch; kind is not 1 to 4.
 * @error 107017 stream is not a valid stream.
 * @error 107000 stream is NULL and the calling thread has no context.
 * @error 207000 The chip of the profile has no 2D copies.
 * @error 107000 height or width is more than its limit.
 * @error 207000 kind is DEVICE_TO_DEVICE and the release is cann8. It does not become the last error.
 * @error 107002 The calling thread has no context.
 * @error 107000 A row leaves its allocation, is freed or cannot be accessed; kind does not fit the addresses.
 * @error 107003 stream belongs to another context. A copy with pageable memory is done all the same.
 * @error other With pageable memory: the failure of earlier work in the stream.
 * @example
 *     // A tile of 64 rows of 256 bytes, out of a matrix on the device whose rows are 4096 bytes apart.
 *     const size_t width = 256, height = 64, pitch = 4096;
 *     void *matrix, *tile;
 *     aclrtStream stream;
 *     aclrtSetDevice(0);
 *     aclrtCreateStream(&stream);
 *     aclrtMalloc(&matrix, pitch * height, ACL_MEM_MALLOC_HUGE_FIRST);
 *     aclrtMallocHost(&tile, width * height);
 *     aclrtMemcpy2dAsync(tile, width, matrix, pitch, width, height, ACL_MEMCPY_DEVICE_TO_HOST, stream);
 *     aclrtSynchronizeStream(stream); // only now may the host read the tile
 */
ACL_FUNC_VISIBILITY aclError aclrtMemcpy2dAsync(void* dst, size_t dpitch, const void* src, size_t spitch,
                                                size_t width, size_t height, aclrtMemcpyKind kind,
                                                aclrtStream stream);

/** Copies many pieces, and returns when the copy is complete. Needs no context and does not wait for streams.
 * All entries are checked before the first byte moves. See aclrtMemcpyBatchAsync for attrs and attrsIndexes.
 * @param dsts numBatches destinations.
 * @param destMaxs Capacity of each destination in bytes, at least sizes[i].
 * @param srcs numBatches sources.
 * @param sizes Bytes of each entry. Entries of 0 are skipped. If all are 0, the call succeeds.
 * @param numBatches Number of entries, 1 to 4096.
 * @param attrs numAttrs attributes: where destination and source are. The bytes rsv must be 0.
 * @param attrsIndexes For each attribute, the first entry that it applies to. See aclrtMemcpyBatchAsync.
 * @param numAttrs Number of attributes, 1 to numBatches.
 * @param failIndex Receives the number of the refused entry; SIZE_MAX on success and for failures without an
 *     entry. Errors 1 to 4 do not change it.
 * @async no
 * @error 100000 failIndex is NULL; sizes is NULL; numBatches is 0. (All sizes 0 are success after this
 *     check.)
 * @error 100000 dsts, destMaxs, srcs, attrs or attrsIndexes is NULL.
 * @error 100000 sizes[i] is more than destMaxs[i], or a byte of rsv is not 0.
 * @error 207000 The chip of the profile has no batch copies.
 * @error 107000 numBatches is more than 4096.
 * @error 107000 numAttrs is 0 or more than numBatches; attrsIndexes does not begin with 0, does not increase,
 *     or exceeds the entries.
 * @error 107000 An entry is NULL, not where its attribute says, out of bounds, or of another direction.
 *     failIndex names it.
 */
ACL_FUNC_VISIBILITY aclError aclrtMemcpyBatch(void** dsts, size_t* destMaxs, void** srcs, size_t* sizes,
                                              size_t numBatches, aclrtMemcpyBatchAttr* attrs,
                                              size_t* attrsIndexes, size_t numAttrs, size_t* failIndex);

/** Copies many pieces, like aclrtMemcpyBatch without failIndex.
 * @param dsts numBatches destinations.
 * @param destMaxs Capacity of each destination in bytes, at least sizes[i].
 * @param srcs numBatches sources.
 * @param sizes Bytes of each entry. Entries of 0 are skipped.
 * @param numBatches Number of entries, 1 to 4096.
 * @param attrs numAttrs attributes: where destination and source are.
 * @param attrsIndexes For each attribute, the first entry that it applies to. See aclrtMemcpyBatchAsync.
 * @param numAttrs Number of attributes, 1 to numBatches.
 * @async no
 * @error 100000 sizes is NULL; numBatches is 0. (All sizes 0 are success after this check.)
 * @error 100000 dsts, destMaxs, srcs, attrs or attrsIndexes is NULL.
 * @error other As in aclrtMemcpyBatch.
 */
ACL_FUNC_VISIBILITY aclError aclrtMemcpyBatchV2(void** dsts, size_t* destMaxs, void** srcs, size_t* sizes,
                                                size_t numBatches, aclrtMemcpyBatchAttr* attrs,
                                                size_t* attrsIndexes, size_t numAttrs);

/** Queues many copies in one call.
 *
 * All entries are checked before the first byte moves: a batch is copied as a whole or not at all.
 *
 * The entries have no order among themselves. The arrays may be reused as soon as the call returns.
 *
 * An attribute says where the destination and the source of a run of entries are. attrsIndexes[k] is the
 * number of the first entry that attrs[k] applies to. attrs[k] applies up to the entry before attrsIndexes[k
 * + 1]; the last attribute applies to the end. So attrsIndexes[0] is 0, and each number is larger than the
 * one before.
 *
 * One attribute for all entries: numAttrs is 1 and attrsIndexes is {0}. An attribute for each entry: numAttrs
 * is numBatches and attrsIndexes is {0, 1, 2, ...}. Example: 5 entries, attrsIndexes is {0, 3}. Then attrs[0]
 * applies to entries 0, 1 and 2; attrs[1] applies to entries 3 and 4.
 *
 * @param dsts numBatches destinations.
 * @param destMaxs Capacity of each destination in bytes, at least sizes[i]. May be the same array as sizes.
 * @param srcs numBatches sources. Pinned memory must stay unchanged until the batch is complete.
 * @param sizes Bytes of each entry, at least 1. If all are 0, the call succeeds and does nothing.
 * @param numBatches Number of entries, at least 1. No upper limit.
 * @param attrs numAttrs attributes. Type DEVICE with the device's number in id, or HOST, where id is ignored.
 *     The bytes rsv must be 0.
 * @param attrsIndexes numAttrs numbers of entries: attrsIndexes[k] is the first entry of attrs[k]. The first
 *     is 0; each is larger than the one before; all are less than numBatches.
 * @param numAttrs Number of attributes, 1 to numBatches.
 * @param failIndex Receives the number of the refused entry; SIZE_MAX on success and for failures without an
 *     entry. Errors 1 to 5 do not change it.
 * @param stream A stream of the current context. NULL means the default stream.
 * @async queued; with pageable host memory it returns after the copy
 * @error 100000 failIndex is NULL; sizes is NULL; numBatches is 0. (All sizes 0 are success after this
 *     check.)
 * @error 100000 dsts, destMaxs, srcs, attrs or attrsIndexes is NULL.
 * @error 100000 sizes[i] is more than destMaxs[i], or a byte of rsv is not 0.
 * @error 207000 The chip of the profile has no batch copies. Programs fall back to a loop on this code only.
 * @error 107017 stream is not a valid stream.
 * @error 107000 numAttrs is 0 or more than numBatches; attrsIndexes does not begin with 0, does not increase,
 *     or exceeds the entries.
 * @error 107002 The calling thread has no context.
 * @error 107000 An entry is NULL, of size 0, or out of bounds. Or it is not where its attribute says, or its
 *     direction is not that of the first entry. failIndex names it.
 * @error 107003 stream belongs to another context. A copy with pageable memory is done all the same.
 * @error other With pageable memory: the failure of earlier work in the stream.
 * @example
 *     // Three pages of a cache on device 0, to three places in pinned memory: one attribute for all.
 *     enum { kPages = 3, kBytes = 16384 };
 *     void *cache, *store;
 *     aclrtStream stream;
 *     aclrtSetDevice(0);
 *     aclrtCreateStream(&stream);
 *     aclrtMalloc(&cache, 8 * kBytes, ACL_MEM_MALLOC_HUGE_FIRST);
 *     aclrtMallocHost(&store, kPages * kBytes);
 *     void* dsts[kPages] = {store, (char*)store + kBytes, (char*)store + 2 * kBytes};
 *     void* srcs[kPages] = {(char*)cache + 5 * kBytes, cache, (char*)cache + 2 * kBytes};
 *     size_t sizes[kPages] = {kBytes, kBytes, kBytes};
 *     aclrtMemcpyBatchAttr attr = {{0, ACL_MEM_LOCATION_TYPE_HOST}, {0, ACL_MEM_LOCATION_TYPE_DEVICE}, {0}};
 *     size_t first_entry = 0, failed = 0;
 *     aclError code =
 *         aclrtMemcpyBatchAsync(dsts, sizes, srcs, sizes, kPages, &attr, &first_entry, 1, &failed, stream);
 *     if (code != ACL_SUCCESS) printf("entry %zu: %s", failed, aclGetRecentErrMsg());
 *     aclrtSynchronizeStream(stream); // only now may the host read the pages
 */
ACL_FUNC_VISIBILITY aclError aclrtMemcpyBatchAsync(void** dsts, size_t* destMaxs, void** srcs, size_t* sizes,
                                                   size_t numBatches, aclrtMemcpyBatchAttr* attrs,
                                                   size_t* attrsIndexes, size_t numAttrs, size_t* failIndex,
                                                   aclrtStream stream);

/** Queues many copies, like aclrtMemcpyBatchAsync without failIndex.
 * @param dsts numBatches destinations.
 * @param destMaxs Capacity of each destination in bytes, at least sizes[i].
 * @param srcs numBatches sources.
 * @param sizes Bytes of each entry, at least 1.
 * @param numBatches Number of entries, at least 1. No upper limit.
 * @param attrs numAttrs attributes: where destination and source are.
 * @param attrsIndexes For each attribute, the first entry that it applies to. See aclrtMemcpyBatchAsync.
 * @param numAttrs Number of attributes, 1 to numBatches.
 * @param stream A stream of the current context. NULL means the default stream.
 * @async queued; with pageable host memory it returns after the copy
 * @error 100000 sizes is NULL; numBatches is 0. (All sizes 0 are success after this check.)
 * @error 100000 dsts, destMaxs, srcs, attrs or attrsIndexes is NULL.
 * @error other As in aclrtMemcpyBatchAsync.
 */
ACL_FUNC_VISIBILITY aclError aclrtMemcpyBatchAsyncV2(void** dsts, size_t* destMaxs, void** srcs,
                                                     size_t* sizes, size_t numBatches,
                                                     aclrtMemcpyBatchAttr* attrs, size_t* attrsIndexes,
                                                     size_t numAttrs, aclrtStream stream);

/** Gets the size of a copy descriptor. Needs no context.
 * @param kind ACL_MEMCPY_INNER_DEVICE_TO_DEVICE (6).
 * @param descSize Receives bytes: 32.
 * @async no
 * @error 100000 descSize is NULL, or kind is not 0 to 7.
 * @error 207000 The chip of the profile has no descriptors, or kind is not 6.
 */
ACL_FUNC_VISIBILITY aclError aclrtGetMemcpyDescSize(aclrtMemcpyKind kind, size_t* descSize);

/** Fills a descriptor in device memory, at once and not in stream order. The source comes before the
 * destination.
 * @param desc The descriptor: device memory, aligned to 64 bytes, of the size of aclrtGetMemcpyDescSize.
 * @param kind ACL_MEMCPY_INNER_DEVICE_TO_DEVICE (6).
 * @param srcAddr Source, in device memory.
 * @param dstAddr Destination, in memory of the same device.
 * @param count Bytes, 1 to 4,294,967,296 (4 GiB). 4 GiB is stored as 0 and copies nothing, as on the device.
 * @param config NULL.
 * @async no
 * @error 100000 desc is NULL; kind is not 0 to 7; srcAddr or dstAddr is NULL; count is 0; config is not
 *     NULL.
 * @error 207000 The chip of the profile has no descriptors, or kind is not 6.
 * @error 107000 count is more than 4 GiB.
 * @error 107000 desc, srcAddr or dstAddr is not device memory or leaves its allocation; desc is not aligned;
 *     the addresses are of two devices.
 * @error 107002 The calling thread has no context.
 */
ACL_FUNC_VISIBILITY aclError aclrtSetMemcpyDesc(void* desc, aclrtMemcpyKind kind, void* srcAddr,
                                                void* dstAddr, size_t count, void* config);

/** Queues the copy of a descriptor. Source, destination and length are read when the copy runs. The
 * descriptor must exist until then and may be changed until then. One descriptor may be queued many times.
 * @param desc A descriptor that aclrtSetMemcpyDesc filled: device memory, aligned to 64 bytes.
 * @param kind ACL_MEMCPY_INNER_DEVICE_TO_DEVICE (6).
 * @param stream A stream of the current context. NULL is refused: the only copy call without a default
 *     stream.
 * @async queued
 * @error 100000 desc is NULL; kind is not 0 to 7; stream is NULL.
 * @error 107017 stream is not a valid stream.
 * @error 207000 The chip of the profile has no descriptors, or kind is not 6.
 * @error 107000 desc is not device memory, leaves its allocation, is not aligned, or needs peer access.
 * @error 107002 The calling thread has no context.
 * @error 107003 stream belongs to another context.
 * @error later 507013 from the stream, if the operands are invalid when the copy runs.
 * @example
 *     size_t bytes = 0;
 *     void *desc, *from, *to;
 *     aclrtStream stream;
 *     aclrtSetDevice(0);
 *     aclrtCreateStream(&stream);
 *     aclrtGetMemcpyDescSize(ACL_MEMCPY_INNER_DEVICE_TO_DEVICE, &bytes);
 *     aclrtMalloc(&desc, bytes, ACL_MEM_MALLOC_HUGE_FIRST);
 *     aclrtMalloc(&from, 4096, ACL_MEM_MALLOC_HUGE_FIRST);
 *     aclrtMalloc(&to, 4096, ACL_MEM_MALLOC_HUGE_FIRST);
 *     aclrtSetMemcpyDesc(desc, ACL_MEMCPY_INNER_DEVICE_TO_DEVICE, from, to, 4096, NULL);
 *     aclrtMemcpyAsyncWithDesc(desc, ACL_MEMCPY_INNER_DEVICE_TO_DEVICE, stream);
 *     aclrtSynchronizeStream(stream); // desc must not be freed before this
 */
ACL_FUNC_VISIBILITY aclError aclrtMemcpyAsyncWithDesc(void* desc, aclrtMemcpyKind kind, aclrtStream stream);

/** Queues a copy that reads both addresses from device memory when it runs. It copies from *src +
 * srcDataOffset to *dst + dstDataOffset.
 * @param dst Device address of a cell that contains the destination address when the copy runs.
 * @param destMax Capacity of the destination in bytes.
 * @param dstDataOffset Bytes added to the destination, less than destMax and at most 0xFFFFFFFFFFFF.
 * @param src Device address of a cell that contains the source address when the copy runs.
 * @param count Bytes, at most 4 GiB and at most destMax - dstDataOffset. 0 is success before any other check.
 * @param srcDataOffset Bytes added to the source, at most 0xFFFFFFFFFFFF.
 * @param kind ACL_MEMCPY_INNER_DEVICE_TO_DEVICE (6).
 * @param stream A stream of the current context. NULL means the default stream.
 * @async queued
 * @error 107000 kind is not 6.
 * @error 207000 The chip of the profile has no copies with offsets.
 * @error 107017 stream is not a valid stream.
 * @error 107000 dst or src is NULL; count or an offset is more than its limit.
 * @error 107002 The calling thread has no context.
 * @error 107000 A cell is not in device memory or leaves its allocation, or needs peer access.
 * @error 107003 stream belongs to another context.
 * @error later 507013 from the stream, if the cells contain invalid addresses when the copy runs.
 */
ACL_FUNC_VISIBILITY aclError aclrtMemcpyAsyncWithOffset(void** dst, size_t destMax, size_t dstDataOffset,
                                                        const void** src, size_t count, size_t srcDataOffset,
                                                        aclrtMemcpyKind kind, aclrtStream stream);

/** Queues a copy that combines the source into the destination: dst = dst op src.
 * @param dst Destination, in device memory.
 * @param src Source, in device memory.
 * @param count Bytes: a positive multiple of the element's size, at most 4 GiB.
 * @param kind ACL_RT_MEMCPY_SDMA_AUTOMATIC_SUM (10), MAX (11) or MIN (12).
 * @param type ACL_INT8, ACL_INT16, ACL_INT32, ACL_FLOAT16, ACL_BF16 or ACL_FLOAT.
 * @param stream A stream of the current context. NULL means the default stream.
 * @param reserve NULL.
 * @async queued
 * @error 100000 dst or src is NULL; reserve is not NULL; kind is not 10 to 13.
 * @error 107017 stream is not a valid stream.
 * @error 107002 The calling thread has no context.
 * @error 207000 kind is EQUAL (13), or type is another one. It does not become the last error.
 * @error 107000 count is 0, no multiple of the element's size, or more than 4 GiB.
 * @error 107000 A range is not device memory, leaves its allocation, or needs peer access.
 * @error 107003 stream belongs to another context.
 */
ACL_FUNC_VISIBILITY aclError aclrtReduceAsync(void* dst, const void* src, uint64_t count,
                                              aclrtReduceKind kind, aclDataType type, aclrtStream stream,
                                              void* reserve);

/* ---- filling ---- */

/** Sets bytes, and returns when the fill is complete. It does not wait for streams.
 * @param devPtr Device or host memory.
 * @param maxCount Capacity in bytes, at least count.
 * @param value The byte: only the low 8 bits are used.
 * @param count Bytes to set. 0 is success before any other check.
 * @async no
 * @error 100000 devPtr is NULL.
 * @error 107000 count is more than maxCount.
 * @error 107002 The calling thread has no context.
 * @error 107022 The device is being aborted.
 * @error 107000 The range leaves its allocation, is freed or cannot be accessed.
 */
ACL_FUNC_VISIBILITY aclError aclrtMemset(void* devPtr, size_t maxCount, int32_t value, size_t count);

/** Queues a fill of device memory. Host memory is set at once, not in stream order.
 * @param devPtr Device or host memory.
 * @param maxCount Capacity in bytes, at least count.
 * @param value The byte: only the low 8 bits are used.
 * @param count Bytes to set. 0 is success before any other check.
 * @param stream A stream of the current context. NULL means the default stream.
 * @async queued; host memory is set before the call returns
 * @error 100000 devPtr is NULL.
 * @error 107017 stream is not a valid stream.
 * @error 107000 count is more than maxCount.
 * @error 107002 The calling thread has no context.
 * @error 107000 The range leaves its allocation, is freed or cannot be accessed.
 * @error 107003 stream belongs to another context.
 */
ACL_FUNC_VISIBILITY aclError aclrtMemsetAsync(void* devPtr, size_t maxCount, int32_t value, size_t count,
                                              aclrtStream stream);

/** Sets 32-bit words, and returns when the fill is complete. It does not wait for streams.
 * @param ptr Device or pinned host memory, aligned to 4 bytes.
 * @param memSize Capacity in bytes, at least 4 * N.
 * @param value The word.
 * @param N Number of words. 0 is success before any other check.
 * @async no
 * @error 100000 ptr is NULL or not aligned; N words are more than memSize; ptr is pageable memory.
 * @error 107002 The calling thread has no context.
 * @error 107022 The device is being aborted.
 * @error 107000 The range leaves its allocation.
 */
ACL_FUNC_VISIBILITY aclError aclrtMemsetD32(void* ptr, size_t memSize, uint32_t value, size_t N);

/** Queues a fill of device memory with 32-bit words. Host memory is set at once, not in stream order.
 * @param ptr Device or pinned host memory, aligned to 4 bytes.
 * @param memSize Capacity in bytes, at least 4 * N.
 * @param value The word.
 * @param N Number of words. 0 is success before any other check.
 * @param stream A stream of the current context. NULL means the default stream.
 * @async queued; host memory is set before the call returns
 * @error 100000 ptr is NULL or not aligned; N words are more than memSize; ptr is pageable memory.
 * @error 107017 stream is not a valid stream.
 * @error 107002 The calling thread has no context.
 * @error 107000 The range leaves its allocation.
 * @error 107003 stream belongs to another context.
 */
ACL_FUNC_VISIBILITY aclError aclrtMemsetD32Async(void* ptr, size_t memSize, uint32_t value, size_t N,
                                                 aclrtStream stream);

/* ---- virtual and physical memory ---- */

/** Reserves a range of device addresses, without memory.
 * @param virPtr Receives the first address.
 * @param size Bytes, at least 1.
 * @param alignment 0.
 * @param expectPtr The preferred address; NULL for any.
 * @param flags 0, or 1 for huge pages, which has no effect.
 * @async no
 * @error 100000 virPtr is NULL, size is 0, or flags is not 0 or 1.
 * @error 107000 alignment is not 0.
 * @error 207000 The chip of the profile has no mapped memory.
 * @error 207001 There are not enough addresses.
 */
ACL_FUNC_VISIBILITY aclError aclrtReserveMemAddress(void** virPtr, size_t size, size_t alignment,
                                                    void* expectPtr, uint64_t flags);

/** Reserves a range of device addresses, exactly like aclrtReserveMemAddress.
 * @param virPtr Receives the first address.
 * @param size Bytes, at least 1.
 * @param alignment 0.
 * @param expectPtr The preferred address; NULL for any.
 * @param flags 0 or 1.
 * @async no
 * @error 100000 virPtr is NULL, size is 0, or flags is not 0 or 1.
 * @error 107000 alignment is not 0.
 * @error 207000 The chip of the profile has no mapped memory.
 * @error 207001 There are not enough addresses.
 */
ACL_FUNC_VISIBILITY aclError aclrtReserveMemAddressNoUCMemory(void** virPtr, size_t size, size_t alignment,
                                                              void* expectPtr, uint64_t flags);

/** Releases a reserved range.
 * @param virPtr First address of the range. Nothing may be mapped in it.
 * @async no
 * @error 100000 virPtr is NULL.
 * @error 107000 virPtr is not the first address of a reserved range, or memory is mapped there.
 */
ACL_FUNC_VISIBILITY aclError aclrtReleaseMemAddress(void* virPtr);

/** Allocates physical memory, which has no address until it is mapped.
 * @param handle Receives the handle.
 * @param size Bytes, a multiple of 2 MiB.
 * @param prop handleType NONE, allocationType PINNED, a place (DEVICE, HOST, HOST_NUMA) and a kind of memory
 *     that the place has.
 * @param flags 0.
 * @async no
 * @error 100000 handle or prop is NULL; size is 0; flags is not 0; a field of prop is not accepted.
 * @error 207000 The chip of the profile has no mapped memory.
 * @error 107001 prop->location.id is not a visible device.
 * @error 207000 prop asks for pages of 1 GiB.
 * @error 107000 size is no multiple of 2 MiB.
 * @error 207001 The device does not have enough memory.
 */
ACL_FUNC_VISIBILITY aclError aclrtMallocPhysical(aclrtDrvMemHandle* handle, size_t size,
                                                 const aclrtPhysicalMemProp* prop, uint64_t flags);

/** Releases a handle of physical memory. The memory is freed with the last handle or mapping.
 * @param handle The handle.
 * @async no
 * @error 100000 handle is NULL.
 * @error 107000 handle is no physical memory.
 */
ACL_FUNC_VISIBILITY aclError aclrtFreePhysical(aclrtDrvMemHandle handle);

/** Maps physical memory at a reserved address. Devices get the rights that they have on memory of
 * aclrtMalloc.
 * @param virPtr Address in a reserved range, aligned to 2 MiB.
 * @param size Bytes: the size of the physical memory.
 * @param offset 0.
 * @param handle The physical memory.
 * @param flags 0.
 * @async no
 * @error 100000 virPtr or handle is NULL; size is 0; flags is not 0.
 * @error 107000 offset is not 0; handle is no physical memory.
 * @error 107000 virPtr is not reserved or not aligned; size does not fit; memory is mapped there, or queued
 *     work still uses it.
 */
ACL_FUNC_VISIBILITY aclError aclrtMapMem(void* virPtr, size_t size, size_t offset, aclrtDrvMemHandle handle,
                                         uint64_t flags);

/** Maps physical memory without access rights; see aclrtMemSetAccess.
 * @param virPtr Address in a reserved range, aligned to 2 MiB.
 * @param size Bytes: the size of the physical memory.
 * @param offset 0.
 * @param handle The physical memory.
 * @param flags 0.
 * @async no
 * @error 100000 virPtr or handle is NULL; size is 0; flags is not 0.
 * @error 107000 offset is not 0; handle is no physical memory.
 * @error 107000 As in aclrtMapMem.
 */
ACL_FUNC_VISIBILITY aclError aclrtMemMapNoAccess(void* virPtr, size_t size, size_t offset,
                                                 aclrtDrvMemHandle handle, uint64_t flags);

/** Unmaps memory. The address stays reserved. The call does not wait for copies that use the memory.
 * @param virPtr First address of the mapping.
 * @async no
 * @error 100000 virPtr is NULL.
 * @error 107000 virPtr is not the first address of a mapping.
 */
ACL_FUNC_VISIBILITY aclError aclrtUnmapMem(void* virPtr);

/** Sets the rights of devices on a mapping. All entries are checked before the first is set.
 * @param virPtr First address of the mapping.
 * @param size Bytes: the size of the mapping.
 * @param desc Rights (0 NONE, 1 READ, 3 READWRITE) and places. For the host only READWRITE.
 * @param count Number of entries in desc, at least 1.
 * @async no
 * @error 100000 virPtr or desc is NULL; size or count is 0.
 * @error 107000 Rights are not 0, 1 or 3, or a place is no device and no host.
 * @error 107001 A place is not a visible device.
 * @error 207000 The rights of the host cannot be removed.
 * @error 107000 virPtr is not the first address of a mapping, or size is not its size.
 */
ACL_FUNC_VISIBILITY aclError aclrtMemSetAccess(void* virPtr, size_t size, aclrtMemAccessDesc* desc,
                                               size_t count);

/** Gets the rights of a place on a mapped address.
 * @param virPtr A mapped address.
 * @param location The place.
 * @param flag Receives 0 NONE, 1 READ or 3 READWRITE.
 * @async no
 * @error 100000 An argument is NULL.
 * @error 107000 location is no device and no host.
 * @error 107001 location is not a visible device.
 * @error 107000 Nothing is mapped at virPtr.
 */
ACL_FUNC_VISIBILITY aclError aclrtMemGetAccess(void* virPtr, aclrtMemLocation* location, uint64_t* flag);

/** Gets the number of bytes that sizes of physical memory must be a multiple of: 2 MiB.
 * @param prop Place and kind of memory.
 * @param option MINIMUM or RECOMMENDED: both are the same. Not checked.
 * @param granularity Receives bytes.
 * @async no
 * @error 100000 prop or granularity is NULL, or the place does not have this kind of memory.
 */
ACL_FUNC_VISIBILITY aclError aclrtMemGetAllocationGranularity(aclrtPhysicalMemProp* prop,
                                                              aclrtMemGranularityOptions option,
                                                              size_t* granularity);

/** Gets the beginning and the size of the allocation that contains an address.
 * @param ptr Address in memory that the runtime knows.
 * @param pbase Receives the first address. May be NULL if psize is not.
 * @param psize Receives the requested bytes. May be NULL if pbase is not.
 * @async no
 * @error 100000 ptr is NULL, or pbase and psize are both NULL.
 * @error 107000 The runtime does not know the memory.
 */
ACL_FUNC_VISIBILITY aclError aclrtMemGetAddressRange(void* ptr, void** pbase, size_t* psize);

/** Gets the handle of the physical memory behind a mapped address: the open one, or a new one if all were
 * freed. It is not counted: one aclrtFreePhysical closes it.
 * @param virPtr A mapped address.
 * @param handle Receives the handle.
 * @async no
 * @error 100000 virPtr or handle is NULL.
 * @error 107000 Nothing is mapped at virPtr.
 * @error 207005 All handles are in use.
 */
ACL_FUNC_VISIBILITY aclError aclrtMemRetainAllocationHandle(void* virPtr, aclrtDrvMemHandle* handle);

/** Gets the properties of physical memory.
 * @param handle The physical memory.
 * @param prop Receives its properties.
 * @async no
 * @error 100000 handle or prop is NULL.
 * @error 107000 handle is no physical memory.
 */
ACL_FUNC_VISIBILITY aclError aclrtMemGetAllocationPropertiesFromHandle(aclrtDrvMemHandle handle,
                                                                       aclrtPhysicalMemProp* prop);

/** Gets the number with which another process of this host imports physical memory.
 * @param handle The physical memory.
 * @param handleType ACL_MEM_HANDLE_TYPE_NONE (0).
 * @param flags 0, or ACL_RT_VMM_EXPORT_FLAG_DISABLE_PID_VALIDATION (1): every process may import.
 * @param shareableHandle Receives the number.
 * @async no
 * @error 100000 handle or shareableHandle is NULL, or handleType is not 0.
 * @error 107000 flags is neither 0 nor 1, or handle is no physical memory.
 * @error 207000 The memory is imported, or the backend cannot share it.
 * @error 207005 No more objects can be shared.
 */
ACL_FUNC_VISIBILITY aclError aclrtMemExportToShareableHandle(aclrtDrvMemHandle handle,
                                                             aclrtMemHandleType handleType, uint64_t flags,
                                                             uint64_t* shareableHandle);

/** Gets the handle with which another process of this host imports physical memory.
 * @param handle The physical memory. It has one shareable handle: as DEFAULT or as FABRIC.
 * @param flags 0, or ACL_RT_VMM_EXPORT_FLAG_DISABLE_PID_VALIDATION (1): every process may import.
 * @param shareType ACL_MEM_SHARE_HANDLE_TYPE_DEFAULT (1) or FABRIC (2).
 * @param shareableHandle Receives 8 bytes, for FABRIC an aclrtMemFabricHandle of 128 bytes. Any alignment.
 * @async no
 * @error 100000 handle or shareableHandle is NULL.
 * @error 207000 shareType is FABRIC and the profile's chip has no fabric.
 * @error 107000 shareType is another value; flags is neither 0 nor 1; handle is no physical memory.
 * @error 107000 The memory was exported as FABRIC before, or in the other form.
 * @error 207000 The memory is imported, or the backend cannot share it.
 * @error 207005 No more objects can be shared.
 */
ACL_FUNC_VISIBILITY aclError aclrtMemExportToShareableHandleV2(aclrtDrvMemHandle handle, uint64_t flags,
                                                               aclrtMemSharedHandleType shareType,
                                                               void* shareableHandle);

/** Imports physical memory by its number. The exporting process may be this one.
 * @param shareableHandle The number.
 * @param deviceId Number of a visible device that is used for the memory if its own device is not visible
 *     here.
 * @param handle Receives a handle of this process.
 * @async no
 * @error 100000 handle is NULL.
 * @error 107001 deviceId is not a visible device.
 * @error 107000 The number is malformed, or its memory or process no longer exists.
 * @error 207006 This process is not on the list.
 * @error 207000 The backend cannot map this memory.
 */
ACL_FUNC_VISIBILITY aclError aclrtMemImportFromShareableHandle(uint64_t shareableHandle, int32_t deviceId,
                                                               aclrtDrvMemHandle* handle);

/** Imports physical memory by its handle. Devices need no peer access to memory of a FABRIC handle.
 * @param shareableHandle 8 bytes that aclrtMemExportToShareableHandleV2 returned, or 128 bytes for FABRIC.
 * @param shareType ACL_MEM_SHARE_HANDLE_TYPE_DEFAULT (1) or FABRIC (2): what the handle was made as.
 * @param flags 0.
 * @param handle Receives a handle of this process.
 * @async no
 * @error 100000 shareableHandle or handle is NULL.
 * @error 207000 shareType is FABRIC and the profile's chip has no fabric.
 * @error 207000 The handle is of another host, and one of the two has no libfabric or no network.
 * @error 507010 The handle is of another host, which cannot be reached.
 * @error 107000 shareType is another value, or flags is not 0.
 * @error 107002 The calling thread has no context.
 * @error 107000 The handle is malformed or damaged, or its memory or process no longer exists.
 * @error 207006 This process is not on the list.
 */
ACL_FUNC_VISIBILITY aclError aclrtMemImportFromShareableHandleV2(void* shareableHandle,
                                                                 aclrtMemSharedHandleType shareType,
                                                                 uint64_t flags, aclrtDrvMemHandle* handle);

/** Adds processes that may import physical memory.
 * @param shareableHandle The number.
 * @param pid Process ids.
 * @param pidNum Number of ids, at least 1. At most 64 for one object in all.
 * @async no
 * @error 100000 pid is NULL or pidNum is 0.
 * @error 107000 The number is no export of this process, or the list would have more than 64 entries.
 */
ACL_FUNC_VISIBILITY aclError aclrtMemSetPidToShareableHandle(uint64_t shareableHandle, int32_t* pid,
                                                             size_t pidNum);

/** Adds processes that may import physical memory.
 * @param shareableHandle What aclrtMemExportToShareableHandleV2 returned: 8 bytes, or 128 bytes for FABRIC.
 * @param shareType ACL_MEM_SHARE_HANDLE_TYPE_DEFAULT (1) or FABRIC (2): what the handle was made as.
 * @param pid Process ids.
 * @param pidNum Number of ids, at least 1. At most 64 for one object in all.
 * @async no
 * @error 100000 shareableHandle is NULL.
 * @error 207000 shareType is FABRIC and the profile's chip has no fabric.
 * @error 107000 shareType is another value.
 * @error 100000 pid is NULL or pidNum is 0.
 * @error 107000 The handle is no export of this process, or the list would have more than 64 entries.
 */
ACL_FUNC_VISIBILITY aclError aclrtMemSetPidToShareableHandleV2(void* shareableHandle,
                                                               aclrtMemSharedHandleType shareType,
                                                               int32_t* pid, size_t pidNum);

/* ---- memory shared between processes ---- */

/** Gets the key with which another process maps device memory.
 * @param devPtr Device memory of aclrtMalloc's kind.
 * @param size Bytes, at least 1.
 * @param key Receives a string.
 * @param len Size of key in bytes, at least 65.
 * @param flags 0, or ACL_RT_IPC_MEM_EXPORT_FLAG_DISABLE_PID_VALIDATION (1): every process may import.
 * @async no
 * @error 100000 devPtr or key is NULL.
 * @error 107000 size is 0, len is less than 65, or flags is neither 0 nor 1.
 * @error 107002 The calling thread has no context.
 * @error 207000 The chip of the profile, or the backend, has no shared memory.
 * @error 107000 The range is not one allocation of device memory.
 * @error 207005 No more objects can be shared.
 */
ACL_FUNC_VISIBILITY aclError aclrtIpcMemGetExportKey(void* devPtr, size_t size, char* key, size_t len,
                                                     uint64_t flags);

/** Maps the memory of another process by its key.
 * @param devPtr Receives an address of this process.
 * @param key The key that aclrtIpcMemGetExportKey returned.
 * @param flags 0, or ACL_RT_IPC_MEM_IMPORT_FLAG_ENABLE_PEER_ACCESS (1): peer access to the memory's device is
 *     enabled too.
 * @async no
 * @error 100000 devPtr or key is NULL.
 * @error 107000 flags is neither 0 nor 1.
 * @error 107002 The calling thread has no context.
 * @error 107000 The key is malformed, or its memory or process no longer exists.
 * @error 207006 This process is not on the list.
 * @error 507010 The memory's process is on another host and cannot be reached.
 * @error 207000 The backend cannot map this memory.
 */
ACL_FUNC_VISIBILITY aclError aclrtIpcMemImportByKey(void** devPtr, const char* key, uint64_t flags);

/** Stops sharing memory, on either side. The importer's address is then invalid.
 * @param key The key.
 * @async no
 * @error 100000 key is NULL.
 * @error 107000 The key is neither an export nor an import of this process.
 */
ACL_FUNC_VISIBILITY aclError aclrtIpcMemClose(const char* key);

/** Adds processes that may import memory.
 * @param key The key.
 * @param pid Process ids.
 * @param num Number of ids, at least 1. At most 64 for one key in all.
 * @async no
 * @error 100000 key or pid is NULL.
 * @error 107000 num is 0, the key is no export of this process, or the list would exceed 64 entries.
 */
ACL_FUNC_VISIBILITY aclError aclrtIpcMemSetImportPid(const char* key, int32_t* pid, size_t num);

/** Adds processes of servers of a super pod that may import memory.
 * @param key The key.
 * @param serverPids Process ids, with the ACL_DEV_ATTR_SUPER_POD_DEVICE_ID of a device of their server.
 * @param num Number of entries, at least 1. At most 64 processes for one key in all.
 * @async no
 * @error 100000 key or serverPids is NULL.
 * @error 107000 num is 0, an entry names no process, or the key is no export of this process.
 * @error 107000 The list would have more than 64 processes.
 * @error 207000 The profile has no super pod, or there is no network or no libfabric.
 */
ACL_FUNC_VISIBILITY aclError aclrtIpcMemImportPidInterServer(const char* key, aclrtServerPid* serverPids,
                                                             size_t num);

/** Sets the link for access to shared memory. It has no effect on copies.
 * @param key The key.
 * @param type ACL_RT_IPC_MEM_ATTR_ACCESS_LINK (0).
 * @param attr ACL_RT_IPC_MEM_ATTR_ACCESS_LINK_SIO (0) or ACL_RT_IPC_MEM_ATTR_ACCESS_LINK_HCCS (1).
 * @async no
 * @error 100000 key is NULL.
 * @error 107000 type is not 0, or attr is not 0 to 3.
 * @error 207000 attr is a UB link (2 or 3), which the imitated chips do not have.
 * @error 107000 The key is no export of this process.
 */
ACL_FUNC_VISIBILITY aclError aclrtIpcMemSetAttr(const char* key, aclrtIpcMemAttrType type, uint64_t attr);

#ifdef __cplusplus
}
#endif

#include "acl_rt_health.h"
#include "acl_rt_kernel.h"
#include "acl_rt_model.h"
#include "acl_rt_settings.h"

#endif /* SAMPAN_ACL_ACL_RT_H */
