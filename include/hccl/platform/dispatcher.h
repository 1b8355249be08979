/* The dispatcher: puts copies, reductions and signals into streams. */
#ifndef SAMPAN_HCCL_PLATFORM_DISPATCHER_H
#define SAMPAN_HCCL_PLATFORM_DISPATCHER_H

#include <functional>
#include <string>
#include <vector>

#include "adapter_pub.h"
#include "dispatcher_task_types.h"
#include "hccl_common.h"
#include "mem_device_pub.h"
#include "stream_pub.h"

constexpr u32 ATTR_POS_INLINE_REDUCE = 0;
constexpr u32 ATTR_POS_SUPPORT_RDMA = 1;
constexpr u32 ATTR_POS_SUPPORT_RDMA_ASYNC = 2;
constexpr u32 ATTR_POS_SUPPORT_RDMA_REDUCE = 3;
constexpr u64 INLINE_REDUCE_BITMASK = 1ULL << ATTR_POS_INLINE_REDUCE;
constexpr u64 RDMA_REDUCE_BITMASK = 1ULL << ATTR_POS_SUPPORT_RDMA_REDUCE;
constexpr u64 INLINE_REDUCE_BIT = 1;

enum class DispatcherType { DISPATCHER_NORMAL = 0, DISPATCHER_VIRTURAL = 1, DISPATCHER_AICPU = 2 };

/* Gets a hccl::TaskPara and its size. Runs on the thread that submits. */
using LoadTaskCallBack = void (*)(void* userPtr, void* param, u32 length);

extern "C" {

using InitTaskCallBack = HcclResult (*)(const HcclDispatcher&, hccl::Stream&);
using LaunchTaskCallBack = HcclResult (*)(const HcclDispatcher&, hccl::Stream&);

/* ---- creation ---- */

HCCL_PLF_VISIBILITY HcclResult HcclDispatcherInit(DispatcherType type, const s32 devicePhyId,
                                                  HcclDispatcher* dispatcher);
HCCL_PLF_VISIBILITY HcclResult HcclDispatcherDestroy(HcclDispatcher dispatcher);
/* Of the device side. */
HCCL_PLF_VISIBILITY HcclResult
HcclDispatcherAicpuInit(HcclDispatcher* dispatcher, const u32 devPhyId, const u32 hcclQos,
                        DispatcherType type = DispatcherType::DISPATCHER_AICPU);

/* ---- settings ---- */

HCCL_PLF_VISIBILITY HcclResult HcclSetGlobalWorkSpace(HcclDispatcher dispatcherPtr,
                                                      std::vector<void*>& globalWorkSpaceAddr);
HCCL_PLF_VISIBILITY HcclResult HcclSetNotifyWaitMode(HcclDispatcher dispatcherPtr,
                                                     const SyncMode notifyWaitMode);
HCCL_PLF_VISIBILITY HcclResult HcclGetNotifyWaitMode(HcclDispatcher dispatcherPtr, SyncMode* notifyWaitMode);
/* The time limit of CONFIGURABLE waits in seconds; 0: no limit. */
HCCL_PLF_VISIBILITY HcclResult HcclSetExecTimeOut(HcclDispatcher dispatcherPtr,
                                                  const s32 execTimeOut = NOTIFY_DEFAULT_WAIT_TIME);
HCCL_PLF_VISIBILITY HcclResult SetMultiQpMode(HcclDispatcher dispatcherPtr, bool multiQpMode);

/* ---- copies and reductions ---- */

HCCL_PLF_VISIBILITY HcclResult HcclD2DMemcpyAsync(HcclDispatcher dispatcherPtr, hccl::DeviceMem& dst,
                                                  const hccl::DeviceMem& src, hccl::Stream& stream,
                                                  u32 remoteUserRank = INVALID_VALUE_RANKID,
                                                  hccl::LinkType inLinkType = hccl::LinkType::LINK_ONCHIP);
HCCL_PLF_VISIBILITY HcclResult HcclMemcpyAsync(HcclDispatcher dispatcherPtr, void* dst, const u64 destMax,
                                               const void* src, const u64 count, const HcclRtMemcpyKind kind,
                                               hccl::Stream& stream, const u32 remoteUserRank,
                                               hccl::LinkType inLinkType);
/* dst = dst op src; count elements. */
HCCL_PLF_VISIBILITY HcclResult HcclReduceAsync(HcclDispatcher dispatcherPtr, void* src, u64 count,
                                               const HcclDataType datatype, const HcclReduceOp reduceOp,
                                               hccl::Stream& stream, void* dst, const u32 remoteUserRank,
                                               const hccl::LinkType linkType, const u64 reduceAttr);

/* ---- signals ---- */

HCCL_PLF_VISIBILITY HcclResult HcclSignalRecord(HcclDispatcher dispatcherPtr, HcclRtNotify signal,
                                                hccl::Stream& stream, u32 userRank, u64 offset, s32 stage,
                                                bool inchip, u64 signalAddr);
HCCL_PLF_VISIBILITY HcclResult HcclSignalWait(HcclDispatcher dispatcherPtr, HcclRtNotify signal,
                                              hccl::Stream& stream, u32 userRank, u32 remoteUserRank,
                                              s32 stage, bool inchip);
HCCL_PLF_VISIBILITY HcclResult HcclDispatcherWaitValue(HcclDispatcher dispatcherPtr, hccl::Stream& stream,
                                                       u64 waitAddr, u64 valueAddr, bool reset);
HCCL_PLF_VISIBILITY HcclResult HcclDispatcherWriteValue(HcclDispatcher dispatcherPtr, hccl::Stream& stream,
                                                        u64 writeAddr, u64 valueAddr);

/* ---- launching together ---- */

/* Copies, reductions and signals are held from here on until LaunchTask. */
HCCL_PLF_VISIBILITY HcclResult InitTask(HcclDispatcher dispatcherPtr, hccl::Stream& stream,
                                        const bool enableCache, const std::string& key,
                                        bool useGraphConstructorV2 = false);
HCCL_PLF_VISIBILITY HcclResult LaunchTask(HcclDispatcher dispatcherPtr, hccl::Stream& stream);
HCCL_PLF_VISIBILITY HcclResult LaunchTaskExtend(HcclDispatcher dispatcherPtr, hccl::Stream& stream,
                                                std::vector<hccl::Stream>& subStreams);
HCCL_PLF_VISIBILITY HcclResult SetNormalMode(HcclDispatcher dispatcherPtr);
HCCL_PLF_VISIBILITY HcclResult AddRetryPreamble(HcclDispatcher dispatcherPtr, hccl::Stream& stream);
/* Does not wait: a no-op on the host side. */
HCCL_PLF_VISIBILITY HcclResult StreamSync(HcclDispatcher dispatcherPtr, hccl::Stream& stream);

/* ---- observers ---- */

/* Of the process. Null removes. */
HCCL_PLF_VISIBILITY void RegisterInitTaskCallBack(HcclResult (*p1)(const HcclDispatcher&, hccl::Stream&));
HCCL_PLF_VISIBILITY void RegisterLaunchTaskCallBack(HcclResult (*p1)(const HcclDispatcher&, hccl::Stream&));
/* Of the dispatcher. Null removes. */
HCCL_PLF_VISIBILITY HcclResult RegisterLoadTaskCallBack(HcclDispatcher dispatcherPtr, void* userPtr,
                                                        LoadTaskCallBack p1);
/* The code of the last callback of InitTask or LaunchTask. */
HCCL_PLF_VISIBILITY HcclResult HcclGetCallbackResult(HcclDispatcher dispatcherPtr);
HCCL_PLF_VISIBILITY HcclResult ForceProfOn(HcclDispatcher& dispatcherPtr, bool isForce);

/* ---- of the device side: HCCL_E_NOT_SUPPORT ---- */

HCCL_PLF_VISIBILITY HcclResult HcclSetOpExecStatusCallback(HcclDispatcher dispatcherPtr,
                                                           std::function<HcclResult()> callback);
HCCL_PLF_VISIBILITY HcclResult HcclSetSqeTimeOut(HcclDispatcher dispatcherPtr, u64 timeOut);
HCCL_PLF_VISIBILITY HcclResult HcclSetSqFullWaitTimeOut(HcclDispatcher dispatcherPtr, u64 timeOut);
HCCL_PLF_VISIBILITY HcclResult HcclSetOpRingBufferIdx(HcclDispatcher dispatcherPtr, u32 opRingBufferIdx);

}  // extern "C"

#endif /* SAMPAN_HCCL_PLATFORM_DISPATCHER_H */
