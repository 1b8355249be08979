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

/* Gets a hccl::TaskPara and its size. Runs in the thread that submits. */
using LoadTaskCallBack = void (*)(void* userPtr, void* param, u32 length);

extern "C" {

using InitTaskCallBack = HcclResult (*)(const HcclDispatcher&, hccl::Stream&);
using LaunchTaskCallBack = HcclResult (*)(const HcclDispatcher&, hccl::Stream&);

/* ---- making and ending ---- */

/** Creates a dispatcher, which puts copies, reductions and signals into streams.
 * @param type DISPATCHER_NORMAL, or DISPATCHER_VIRTURAL, which only stores records in the streams.
 * @param devicePhyId Physical number of the device, or HOST_DEVICE_ID.
 * @param dispatcher Receives the handle.
 * @async no
 * @error HCCL_E_PTR dispatcher is NULL.
 * @error HCCL_E_RUNTIME devicePhyId is not a visible device.
 * @error HCCL_E_NOT_SUPPORT type is DISPATCHER_AICPU or unknown.
 * @error HCCL_E_MEMORY All handles are in use.
 */
HCCL_PLF_VISIBILITY HcclResult HcclDispatcherInit(DispatcherType type, const s32 devicePhyId,
                                                  HcclDispatcher* dispatcher);

/** Destroys a dispatcher. Tasks that it still holds are dropped, and the log says how many.
 * @param dispatcher The dispatcher. An invalid handle has no effect.
 * @async no
 * @error none
 */
HCCL_PLF_VISIBILITY HcclResult HcclDispatcherDestroy(HcclDispatcher dispatcher);
/* Of the device side. */
HCCL_PLF_VISIBILITY HcclResult
HcclDispatcherAicpuInit(HcclDispatcher* dispatcher, const u32 devPhyId, const u32 hcclQos,
                        DispatcherType type = DispatcherType::DISPATCHER_AICPU);

/* ---- settings ---- */

/** No-op: the imitated chips have no address for overflows.
 * @param dispatcherPtr A valid dispatcher.
 * @param globalWorkSpaceAddr Addresses. Ignored.
 * @async no
 * @error HCCL_E_PTR dispatcherPtr is NULL or destroyed.
 */
HCCL_PLF_VISIBILITY HcclResult HcclSetGlobalWorkSpace(HcclDispatcher dispatcherPtr,
                                                      std::vector<void*>& globalWorkSpaceAddr);

/** Sets how waits for signals are limited.
 * @param dispatcherPtr A valid dispatcher.
 * @param notifyWaitMode DEFAULT, CONFIGURABLE (the limit of HcclSetExecTimeOut) or UNLIMITED.
 * @async no
 * @error HCCL_E_PTR dispatcherPtr is NULL or destroyed.
 */
HCCL_PLF_VISIBILITY HcclResult HcclSetNotifyWaitMode(HcclDispatcher dispatcherPtr,
                                                     const SyncMode notifyWaitMode);

/** Gets how waits for signals are limited.
 * @param dispatcherPtr A valid dispatcher.
 * @param notifyWaitMode Receives the mode.
 * @async no
 * @error HCCL_E_PTR dispatcherPtr is NULL or destroyed, or notifyWaitMode is NULL.
 */
HCCL_PLF_VISIBILITY HcclResult HcclGetNotifyWaitMode(HcclDispatcher dispatcherPtr, SyncMode* notifyWaitMode);

/** Sets the limit of waits in the mode CONFIGURABLE.
 * @param dispatcherPtr A valid dispatcher.
 * @param execTimeOut Seconds; 0 for no limit.
 * @async no
 * @error HCCL_E_PTR dispatcherPtr is NULL or destroyed.
 * @error HCCL_E_PARA execTimeOut is negative.
 */
HCCL_PLF_VISIBILITY HcclResult HcclSetExecTimeOut(HcclDispatcher dispatcherPtr,
                                                  const s32 execTimeOut = NOTIFY_DEFAULT_WAIT_TIME);

/** No-op: it turns off caching, and nothing is cached.
 * @param dispatcherPtr A valid dispatcher.
 * @param multiQpMode Ignored.
 * @async no
 * @error HCCL_E_PTR dispatcherPtr is NULL or destroyed.
 */
HCCL_PLF_VISIBILITY HcclResult SetMultiQpMode(HcclDispatcher dispatcherPtr, bool multiQpMode);

/* ---- copies and reductions ---- */

/** Queues a copy of all of src to the beginning of dst, from device memory to device memory. Copies of more
 * than 4 GiB are several tasks. Between InitTask and LaunchTask it is held.
 * @param dispatcherPtr A valid dispatcher.
 * @param dst Destination, with at least src.size() bytes. Memory of another device needs peer access.
 * @param src Source. Its size is the number of bytes; 0 copies nothing.
 * @param stream The stream. With an empty stream the call copies at once.
 * @param remoteUserRank World rank of the peer, for traces and records. It does not change the copy.
 * @param inLinkType Link of the copy, for traces and records. A link that contradicts the addresses is
 *     logged.
 * @async queued; without a stream it returns after the copy
 * @error HCCL_E_PTR dispatcherPtr is NULL or destroyed; dst or src is empty; dst.size() is less than
 *     src.size().
 * @error HCCL_E_INTERNAL Without a stream: the ranges overlap, or the copy was refused. aclGetRecentErrMsg
 *     says why.
 * @error HCCL_E_RUNTIME The runtime refused the copy. aclGetRecentErrMsg says why.
 * @example
 *     // Inside device 0: a block of 1 MiB to another one.
 *     HcclDispatcher dispatcher = nullptr;
 *     aclrtSetDevice(0);
 *     HcclDispatcherInit(DispatcherType::DISPATCHER_NORMAL, 0, &dispatcher);
 *     hccl::Stream stream(hccl::StreamType::STREAM_TYPE_ONLINE);
 *     hccl::DeviceMem from = hccl::DeviceMem::alloc(1 << 20);
 *     hccl::DeviceMem to = hccl::DeviceMem::alloc(1 << 20);
 *     HcclD2DMemcpyAsync(dispatcher, to, from, stream);
 *     aclrtSynchronizeStream(stream.ptr()); // only now are the bytes there
 *     HcclDispatcherDestroy(dispatcher);
 */
HCCL_PLF_VISIBILITY HcclResult HcclD2DMemcpyAsync(HcclDispatcher dispatcherPtr, hccl::DeviceMem& dst,
                                                  const hccl::DeviceMem& src, hccl::Stream& stream,
                                                  u32 remoteUserRank = INVALID_VALUE_RANKID,
                                                  hccl::LinkType inLinkType = hccl::LinkType::LINK_ONCHIP);

/** Queues a copy between any two places. It is never held for a launch.
 * @param dispatcherPtr A valid dispatcher.
 * @param dst Destination.
 * @param destMax Capacity of dst in bytes, at least count.
 * @param src Source.
 * @param count Bytes; 0 copies nothing.
 * @param kind HOST_TO_HOST to DEVICE_TO_DEVICE (0 to 3).
 * @param stream The stream. With an empty stream the call copies at once.
 * @param remoteUserRank World rank of the peer, for traces and records.
 * @param inLinkType Link of the copy, for traces and records.
 * @async queued; without a stream, or with pageable memory, it returns after the copy
 * @error HCCL_E_PTR dispatcherPtr is NULL or destroyed; dst or src is NULL.
 * @error HCCL_E_INTERNAL Without a stream: count is more than destMax, the ranges overlap, or the copy was
 *     refused.
 * @error HCCL_E_PARA count is more than destMax, or kind is not 0 to 3.
 * @error HCCL_E_RUNTIME The runtime refused the copy. aclGetRecentErrMsg says why.
 */
HCCL_PLF_VISIBILITY HcclResult HcclMemcpyAsync(HcclDispatcher dispatcherPtr, void* dst, const u64 destMax,
                                               const void* src, const u64 count, const HcclRtMemcpyKind kind,
                                               hccl::Stream& stream, const u32 remoteUserRank,
                                               hccl::LinkType inLinkType);

/** Queues a reduction: dst = dst op src.
 * @param dispatcherPtr A valid dispatcher.
 * @param src Source, in device memory.
 * @param count Number of elements; 0 does nothing.
 * @param datatype Type of the elements. With the inline bit: int8, int16, int32, fp16, bf16, fp32. Without it
 *     also int64, unsigned integers and fp64.
 * @param reduceOp SUM, MAX or MIN. Without the inline bit also PROD.
 * @param stream The stream.
 * @param dst Destination, in device memory.
 * @param remoteUserRank World rank of the peer, for traces and records.
 * @param linkType Link of the reduction, for traces and records.
 * @param reduceAttr INLINE_REDUCE_BITMASK: by the copy engine, else by the vector unit.
 * @async queued
 * @error HCCL_E_PTR dispatcherPtr is NULL or destroyed; dst or src is NULL; the stream is empty.
 * @error HCCL_E_PARA The inline reduction does not have this type or operation, or count is too large.
 * @error HCCL_E_NOT_SUPPORT There is no such type or operation.
 * @error HCCL_E_RUNTIME The runtime refused the reduction.
 */
HCCL_PLF_VISIBILITY HcclResult HcclReduceAsync(HcclDispatcher dispatcherPtr, void* src, u64 count,
                                               const HcclDataType datatype, const HcclReduceOp reduceOp,
                                               hccl::Stream& stream, void* dst, const u32 remoteUserRank,
                                               const hccl::LinkType linkType, const u64 reduceAttr);

/* ---- signals ---- */

/** Sets a notify in stream order.
 * @param dispatcherPtr A valid dispatcher.
 * @param signal The notify.
 * @param stream The stream.
 * @param userRank Rank of the peer, for traces and records.
 * @param offset Offset of the notify in bytes, for records.
 * @param stage Stage of the algorithm, for records.
 * @param inchip Ignored.
 * @param signalAddr Ignored.
 * @async queued
 * @error HCCL_E_PTR dispatcherPtr is NULL or destroyed; signal is NULL; the stream is empty.
 * @error HCCL_E_RUNTIME The runtime refused the signal.
 */
HCCL_PLF_VISIBILITY HcclResult HcclSignalRecord(HcclDispatcher dispatcherPtr, HcclRtNotify signal,
                                                hccl::Stream& stream, u32 userRank, u64 offset, s32 stage,
                                                bool inchip, u64 signalAddr);

/** Holds a stream until a notify is set, then clears it. The mode of HcclSetNotifyWaitMode limits the wait.
 * Past the limit, the stream fails with 107020.
 * @param dispatcherPtr A valid dispatcher.
 * @param signal The notify.
 * @param stream The stream.
 * @param userRank Rank of the caller, for records.
 * @param remoteUserRank Rank of the peer, for traces and records.
 * @param stage Stage of the algorithm, for records.
 * @param inchip Ignored.
 * @async queued
 * @error HCCL_E_PTR dispatcherPtr is NULL or destroyed; signal is NULL; the stream is empty.
 * @error HCCL_E_RUNTIME The runtime refused the wait.
 */
HCCL_PLF_VISIBILITY HcclResult HcclSignalWait(HcclDispatcher dispatcherPtr, HcclRtNotify signal,
                                              hccl::Stream& stream, u32 userRank, u32 remoteUserRank,
                                              s32 stage, bool inchip);

/** No-op, as in the original's host dispatchers.
 * @param dispatcherPtr A valid dispatcher.
 * @param stream Ignored.
 * @param waitAddr Ignored.
 * @param valueAddr Ignored.
 * @param reset Ignored.
 * @async no
 * @error HCCL_E_PTR dispatcherPtr is NULL or destroyed.
 */
HCCL_PLF_VISIBILITY HcclResult HcclDispatcherWaitValue(HcclDispatcher dispatcherPtr, hccl::Stream& stream,
                                                       u64 waitAddr, u64 valueAddr, bool reset);

/** No-op, as in the original's host dispatchers.
 * @param dispatcherPtr A valid dispatcher.
 * @param stream Ignored.
 * @param writeAddr Ignored.
 * @param valueAddr Ignored.
 * @async no
 * @error HCCL_E_PTR dispatcherPtr is NULL or destroyed.
 */
HCCL_PLF_VISIBILITY HcclResult HcclDispatcherWriteValue(HcclDispatcher dispatcherPtr, hccl::Stream& stream,
                                                        u64 writeAddr, u64 valueAddr);

/* ---- launching together ---- */

/** Holds tasks that are submitted from here on until LaunchTask.
 * @param dispatcherPtr A valid dispatcher.
 * @param stream The main stream, passed to the callback.
 * @param enableCache Ignored.
 * @param key Ignored.
 * @param useGraphConstructorV2 Ignored.
 * @async no
 * @error HCCL_E_PTR dispatcherPtr is NULL or destroyed.
 * @error other The code of the callback of RegisterInitTaskCallBack.
 */
HCCL_PLF_VISIBILITY HcclResult InitTask(HcclDispatcher dispatcherPtr, hccl::Stream& stream,
                                        const bool enableCache, const std::string& key,
                                        bool useGraphConstructorV2 = false);

/** Gets the held tasks to their streams, as if they were one task of the main stream. Side streams begin
 * after the earlier work of the main stream. The main stream continues when all of them are complete.
 * @param dispatcherPtr A valid dispatcher.
 * @param stream The main stream.
 * @async queued
 * @error HCCL_E_PTR dispatcherPtr is NULL or destroyed; the stream is empty and tasks are held.
 * @error other The code of the callback of RegisterLaunchTaskCallBack. The tasks stay held.
 * @error HCCL_E_RUNTIME The runtime refused a task.
 */
HCCL_PLF_VISIBILITY HcclResult LaunchTask(HcclDispatcher dispatcherPtr, hccl::Stream& stream);

/** Gets the held tasks to their streams, like LaunchTask.
 * @param dispatcherPtr A valid dispatcher.
 * @param stream The main stream.
 * @param subStreams Ignored: the tasks know their streams.
 * @async queued
 * @error HCCL_E_PTR dispatcherPtr is NULL or destroyed; the stream is empty and tasks are held.
 * @error other As in LaunchTask.
 */
HCCL_PLF_VISIBILITY HcclResult LaunchTaskExtend(HcclDispatcher dispatcherPtr, hccl::Stream& stream,
                                                std::vector<hccl::Stream>& subStreams);

/** Stops holding tasks after InitTask. Held tasks are dropped, and the log says how many.
 * @param dispatcherPtr A valid dispatcher.
 * @async no
 * @error HCCL_E_PTR dispatcherPtr is NULL or destroyed.
 */
HCCL_PLF_VISIBILITY HcclResult SetNormalMode(HcclDispatcher dispatcherPtr);

/** No-op, as in the original's host dispatchers.
 * @param dispatcherPtr A valid dispatcher.
 * @param stream Ignored.
 * @async no
 * @error HCCL_E_PTR dispatcherPtr is NULL or destroyed.
 */
HCCL_PLF_VISIBILITY HcclResult AddRetryPreamble(HcclDispatcher dispatcherPtr, hccl::Stream& stream);

/** Does not wait, as in the original. It logs a warning while tasks wait for a launch.
 * @param dispatcherPtr A valid dispatcher.
 * @param stream Ignored.
 * @async no
 * @error HCCL_E_PTR dispatcherPtr is NULL or destroyed.
 */
HCCL_PLF_VISIBILITY HcclResult StreamSync(HcclDispatcher dispatcherPtr, hccl::Stream& stream);

/* ---- observers ---- */

/** Sets the process-wide function that InitTask calls.
 * @param p1 The function; NULL removes it.
 * @async no
 */
HCCL_PLF_VISIBILITY void RegisterInitTaskCallBack(HcclResult (*p1)(const HcclDispatcher&, hccl::Stream&));

/** Sets the process-wide function that LaunchTask calls. If it fails, held tasks are not launched.
 * @param p1 The function; NULL removes it.
 * @async no
 */
HCCL_PLF_VISIBILITY void RegisterLaunchTaskCallBack(HcclResult (*p1)(const HcclDispatcher&, hccl::Stream&));

/** Sets the function that a dispatcher calls for each task. It runs on the thread that submits.
 * @param dispatcherPtr A valid dispatcher.
 * @param userPtr Passed to the function.
 * @param p1 The function; NULL removes it. It gets a hccl::TaskPara and its size in bytes.
 * @async no
 * @error HCCL_E_PTR dispatcherPtr is NULL or destroyed.
 */
HCCL_PLF_VISIBILITY HcclResult RegisterLoadTaskCallBack(HcclDispatcher dispatcherPtr, void* userPtr,
                                                        LoadTaskCallBack p1);

/** Gets the result of the last callback of InitTask or LaunchTask.
 * @param dispatcherPtr A valid dispatcher.
 * @async no
 * @error HCCL_E_PTR dispatcherPtr is NULL or destroyed.
 * @error other The callback's result.
 */
HCCL_PLF_VISIBILITY HcclResult HcclGetCallbackResult(HcclDispatcher dispatcherPtr);

/** Adds a TASK_PROFILING record for each task.
 * @param dispatcherPtr A valid dispatcher.
 * @param isForce true to add the records.
 * @async no
 * @error HCCL_E_PTR dispatcherPtr is NULL or destroyed.
 */
HCCL_PLF_VISIBILITY HcclResult ForceProfOn(HcclDispatcher& dispatcherPtr, bool isForce);

/* ---- of the device side: HCCL_E_NOT_SUPPORT ---- */

HCCL_PLF_VISIBILITY HcclResult HcclSetOpExecStatusCallback(HcclDispatcher dispatcherPtr,
                                                           std::function<HcclResult()> callback);
HCCL_PLF_VISIBILITY HcclResult HcclSetSqeTimeOut(HcclDispatcher dispatcherPtr, u64 timeOut);
HCCL_PLF_VISIBILITY HcclResult HcclSetSqFullWaitTimeOut(HcclDispatcher dispatcherPtr, u64 timeOut);
HCCL_PLF_VISIBILITY HcclResult HcclSetOpRingBufferIdx(HcclDispatcher dispatcherPtr, u32 opRingBufferIdx);

}  // extern "C"

#endif /* SAMPAN_HCCL_PLATFORM_DISPATCHER_H */
