/* Communicators of HCCL: how ranks join, and what is known about them. */
#ifndef SAMPAN_HCCL_HCCL_COMM_H
#define SAMPAN_HCCL_HCCL_COMM_H

#include <stdbool.h>
#include <stdint.h>

#include "acl/acl.h"
#include "hccl_types.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- making and destroying ---- */

/** Makes the root info of a future communicator. One rank calls it and gives the bytes to all others. A
 * root info makes one communicator at a time. If its ranks are on several hosts, the caller is rank 0. With
 * profile ascend910c it listens for them, at the interface and port of the HCCL_* variables.
 * @param rootInfo Receives 4108 opaque bytes, to be copied as they are.
 * @async no
 * @error HCCL_E_PTR rootInfo is NULL.
 * @error HCCL_E_RUNTIME The calling thread has no current device.
 * @error HCCL_E_PARA A variable is malformed, or no interface fits it.
 * @error HCCL_E_UNAVAIL No port that the variables name is free.
 */
HCCL_PUBLIC_WEAK HcclResult HcclGetRootInfo(HcclRootInfo* rootInfo);

/** Joins the communicator of a root info as one rank. The ranks are threads or processes, of one host or,
 * with profile ascend910c, of several.
 * @param nRanks Number of ranks; the same on all of them.
 * @param rootInfo The bytes of HcclGetRootInfo.
 * @param rank Number of this rank, from 0.
 * @param comm Receives the communicator, for the thread's current device.
 * @async Returns when all ranks have joined, or after HCCL_CONNECT_TIMEOUT.
 * @error HCCL_E_RUNTIME The calling thread has no current device.
 * @error HCCL_E_PARA nRanks is 0, rank is not less than nRanks, rootInfo is not one, or an HCCL_* variable
 *     has a wrong value. The ranks do not agree on nRanks, or two of them have one number.
 * @error HCCL_E_PTR comm or rootInfo is NULL.
 * @error HCCL_E_NOT_SUPPORT nRanks is more than 128, the chip has no collectives, or the devices are GPUs and
 *     a rank is another process. A rank runs on another host than the root, and the profile or the devices
 *     cannot reach it.
 * @error HCCL_E_NETWORK The memory of another host cannot be reached.
 * @error HCCL_E_TIMEOUT Ranks are missing; the message names them.
 * @error HCCL_E_UNAVAIL The root info is used by another communicator.
 * @error HCCL_E_REMOTE A rank exited meanwhile.
 */
HCCL_PUBLIC_WEAK HcclResult HcclCommInitRootInfo(uint32_t nRanks, const HcclRootInfo* rootInfo, uint32_t rank,
                                                 HcclComm* comm);

/** HcclCommInitRootInfo with settings, which have to be the same on all ranks.
 * @param nRanks Number of ranks; the same on all of them.
 * @param rootInfo The bytes of HcclGetRootInfo.
 * @param rank Number of this rank, from 0.
 * @param config Settings, filled by HcclCommConfigInit and then changed.
 * @param comm Receives the communicator.
 * @async Returns when all ranks have joined, or after HCCL_CONNECT_TIMEOUT.
 * @error HCCL_E_PTR config is NULL.
 * @error HCCL_E_PARA A field of config is not accepted, or a communicator of the device has its name.
 * @error other The codes of HcclCommInitRootInfo.
 */
HCCL_PUBLIC_WEAK HcclResult HcclCommInitRootInfoConfig(uint32_t nRanks, const HcclRootInfo* rootInfo,
                                                       uint32_t rank, const HcclCommConfig* config,
                                                       HcclComm* comm);

/** Joins the communicator that a rank table describes, as one rank. There is one such communicator for each
 * device of a process.
 * @param clusterInfo Path of the rank table, a JSON file of version 1.0 or 1.2.
 * @param rank A rank_id of the table. Its device_id is the current device.
 * @param comm Receives the communicator.
 * @async Returns when all ranks have joined, or after HCCL_CONNECT_TIMEOUT.
 * @error HCCL_E_PTR clusterInfo or comm is NULL.
 * @error HCCL_E_PARA The file cannot be read, is no rank table, or has a wrong value.
 * @error HCCL_E_UNAVAIL The rank is not in the table, has another device, or the communicator exists
 *     already.
 * @error HCCL_E_NOT_SUPPORT The table names several servers, and the profile is not ascend910c.
 * @error other The codes of HcclCommInitRootInfo.
 */
HCCL_PUBLIC_WEAK HcclResult HcclCommInitClusterInfo(const char* clusterInfo, uint32_t rank, HcclComm* comm);

/** HcclCommInitClusterInfo with settings, which have to be the same on all ranks.
 * @param clusterInfo Path of the rank table.
 * @param rank A rank_id of the table.
 * @param config Settings, filled by HcclCommConfigInit and then changed.
 * @param comm Receives the communicator.
 * @async Returns when all ranks have joined, or after HCCL_CONNECT_TIMEOUT.
 * @error HCCL_E_PTR config is NULL.
 * @error HCCL_E_PARA A field of config is not accepted.
 * @error other The codes of HcclCommInitClusterInfo.
 */
HCCL_PUBLIC_WEAK HcclResult HcclCommInitClusterInfoConfig(const char* clusterInfo, uint32_t rank,
                                                          HcclCommConfig* config, HcclComm* comm);

/** Makes a communicator of devices of this process: one rank for each device.
 * @param ndev Number of devices.
 * @param devices Their numbers, each once. NULL is refused.
 * @param comms Receives ndev communicators. That of devices[i] has the rank i.
 * @async no
 * @error HCCL_E_PARA ndev is 0, or a device is named twice.
 * @error HCCL_E_PTR devices or comms is NULL.
 * @error HCCL_E_RUNTIME A device cannot be set.
 * @error other The codes of HcclCommInitRootInfo. There are no communicators then.
 */
HCCL_PUBLIC_WEAK HcclResult HcclCommInitAll(uint32_t ndev, int32_t* devices, HcclComm* comms);

/** Makes a communicator of some ranks of another one. Its members call it; other ranks need not.
 * @param comm Points to the communicator, which is no sub-communicator.
 * @param rankNum Number of ranks.
 * @param rankIds The ranks, ascending. NULL, with 0xFFFFFFFF as subCommId: this rank is no member.
 * @param subCommId A number that is the same on all members.
 * @param subCommRankId Place of this rank in rankIds.
 * @param config Settings, filled by HcclCommConfigInit and then changed. Without a name in it, the name is
 *     that of comm with _sub_ and subCommId behind it.
 * @param subComm Receives the communicator.
 * @async no
 * @error HCCL_E_PTR subComm, comm or config is NULL.
 * @error HCCL_E_PARA Only one of rankIds and subCommId says that this rank is no member. rankNum is 0.
 *     subCommRankId is not less than rankNum. comm is not a communicator. A rank is too large, does not
 *     ascend, or is not this rank. A field of config is not accepted, or the name exists.
 * @error HCCL_E_NOT_SUPPORT comm is a sub-communicator.
 * @error HCCL_E_UNAVAIL comm has had 256 sub-communicators.
 */
HCCL_PUBLIC_WEAK HcclResult HcclCreateSubCommConfig(HcclComm* comm, uint32_t rankNum, uint32_t* rankIds,
                                                    uint64_t subCommId, uint32_t subCommRankId,
                                                    HcclCommConfig* config, HcclComm* subComm);

/** Destroys the communicator. Other ranks are not waited for.
 * @param comm The communicator. NULL has no effect.
 * @async no
 * @error HCCL_E_PARA comm was destroyed before, or never was one.
 * @error HCCL_E_AGAIN A call uses it at the moment, or queued operators have not ended.
 */
HCCL_PUBLIC_WEAK HcclResult HcclCommDestroy(HcclComm comm);

/* ---- facts ---- */

/** Gets the number of this rank.
 * @param comm A communicator.
 * @param rank Receives the number, from 0.
 * @async no
 * @error HCCL_E_PTR comm or rank is NULL.
 * @error HCCL_E_PARA comm is not a communicator.
 */
HCCL_PUBLIC_WEAK HcclResult HcclGetRankId(HcclComm comm, uint32_t* rank);

/** Gets the number of ranks.
 * @param comm A communicator.
 * @param rankSize Receives the number.
 * @async no
 * @error HCCL_E_PTR comm or rankSize is NULL.
 * @error HCCL_E_PARA comm is not a communicator.
 */
HCCL_PUBLIC_WEAK HcclResult HcclGetRankSize(HcclComm comm, uint32_t* rankSize);

/** Gets the name of the communicator.
 * @param comm A communicator.
 * @param commName Receives up to 128 bytes with the NUL.
 * @async no
 * @error HCCL_E_PTR comm or commName is NULL.
 * @error HCCL_E_PARA comm is not a communicator.
 */
HCCL_PUBLIC_WEAK HcclResult HcclGetCommName(HcclComm comm, char* commName);

/** Finds the communicator of the current device with this name.
 * @param commName The name.
 * @param comm Receives the communicator.
 * @async no
 * @error HCCL_E_PTR commName or comm is NULL.
 * @error HCCL_E_PARA No communicator of the current device has this name.
 */
HCCL_PUBLIC HcclResult HcclCommGetHandleWithName(const char* commName, HcclComm* comm);

/** Gets the text of a code.
 * @param code The code.
 * @return A lower-case text that stays valid; never NULL.
 * @async no
 */
HCCL_PUBLIC_WEAK const char* HcclGetErrorString(HcclResult code);

/** Gets what went wrong in the communicator so far. Cheap; any thread may call it while operators run.
 * @param comm A communicator.
 * @param asyncError Receives HCCL_SUCCESS; HCCL_E_REMOTE if a rank is gone; HCCL_E_TIMEOUT if a rank was
 *     waited for too long; HCCL_E_PARA if ranks disagreed; HCCL_E_OOM if the host has no memory for one.
 * @async no
 * @error HCCL_E_PTR comm or asyncError is NULL.
 * @error HCCL_E_PARA comm is not a communicator.
 */
HCCL_PUBLIC_WEAK HcclResult HcclGetCommAsyncError(HcclComm comm, HcclResult* asyncError);

/** Says which settings of HcclCommConfig are known.
 * @return 12: an item of HcclCommConfigCapability is supported if its number is less.
 * @async no
 */
HCCL_PUBLIC_WEAK uint32_t HcclGetCommConfigCapability(void);

/** Sets a setting of all communicators of the current device.
 * @param config HCCL_DETERMINISTIC. Other items have no effect.
 * @param configValue 0 or 1. Reductions are deterministic whatever the value is.
 * @async no
 * @error HCCL_E_RUNTIME The calling thread has no current device.
 * @error HCCL_E_PARA The value is not 0, 1 or 2.
 * @error HCCL_E_NOT_SUPPORT The value is 2, and the chip is not a 910B.
 */
HCCL_PUBLIC_WEAK HcclResult HcclSetConfig(HcclConfig config, union HcclConfigValue configValue);

/** Gets a setting of the communicators of the current device.
 * @param config HCCL_DETERMINISTIC. For other items the value stays as it is.
 * @param configValue Receives the value.
 * @async no
 * @error HCCL_E_RUNTIME The calling thread has no current device.
 * @error HCCL_E_PTR configValue is NULL.
 */
HCCL_PUBLIC_WEAK HcclResult HcclGetConfig(HcclConfig config, union HcclConfigValue* configValue);

/** Gets a setting of a communicator: that of its HcclCommConfig, else of HCCL_OP_EXPANSION_MODE, else the
 * chip's own. Operators are executed alike whatever it is.
 * @param comm A communicator.
 * @param cfgType HCCL_CONFIG_TYPE_OP_EXPANSION_MODE.
 * @param infoLen Bytes of info: sizeof(HcclConfigTypeOpExpansionMode).
 * @param info Receives an HcclConfigTypeOpExpansionMode.
 * @async no
 * @error HCCL_E_PTR comm or info is NULL.
 * @error HCCL_E_PARA comm is not a communicator, cfgType is another one, or infoLen is not its size.
 */
HCCL_PUBLIC HcclResult HcclConfigGetInfo(HcclComm comm, HcclConfigType cfgType, uint32_t infoLen, void* info);

/* ---- stopping for a while ---- */

/** Suspends the communicator: operators fail with HCCL_E_SUSPENDING until it is resumed. Queued ones go on.
 * @param comm A communicator.
 * @async no
 * @error HCCL_E_PTR comm is NULL.
 * @error HCCL_E_PARA comm is not a communicator.
 */
HCCL_PUBLIC_WEAK HcclResult HcclCommSuspend(HcclComm comm);

/** Resumes a suspended communicator.
 * @param comm A communicator.
 * @async no
 * @error HCCL_E_PTR comm is NULL.
 * @error HCCL_E_PARA comm is not a communicator.
 */
HCCL_PUBLIC_WEAK HcclResult HcclCommResume(HcclComm comm);

/** Says whether the communicator of the current device with this name accepts operators.
 * @param commId The name.
 * @param status Receives HCCL_COMM_STATUS_READY; SUSPENDING if it is suspended; INVALID if it has failed.
 * @async no
 * @error HCCL_E_PTR commId or status is NULL.
 * @error HCCL_E_RUNTIME The calling thread has no current device.
 * @error HCCL_E_PARA No communicator of the current device has this name.
 */
HCCL_PUBLIC HcclResult HcclCommGetStatus(const char* commId, HcclCommStatus* status);

/** Has a function called before and after HcclCommDestroy and HcclCommResume of all communicators, by the
 * thread that calls them. If it fails before, the call fails with its code and changes nothing. Its code
 * afterwards has no effect.
 * @param regName A name of at most 160 bytes. It replaces a function that has this name already.
 * @param cb The function.
 * @param args Is given to it.
 * @async no
 * @error HCCL_E_PTR regName or cb is NULL.
 * @error HCCL_E_PARA regName is longer.
 */
HCCL_PUBLIC HcclResult HcclCommRegCommStateCallback(const char* regName, HcclCommStateCallback cb,
                                                    void* args);

/** Chooses the network device of ranks: the first or the backup. Emulated devices have none: after the checks
 * a warning is logged, and nothing changes.
 * @param comm A communicator.
 * @param ranks The ranks.
 * @param useBackup For each of them: true for the backup.
 * @param nRanks Number of entries in ranks and useBackup.
 * @async no
 * @error HCCL_E_PTR comm, ranks or useBackup is NULL.
 * @error HCCL_E_PARA comm is not a communicator, nRanks is 0 or more than the ranks, or an entry is no rank.
 */
HCCL_PUBLIC_WEAK HcclResult HcclCommWorkingDevNicSet(HcclComm comm, uint32_t* ranks, bool* useBackup,
                                                     uint32_t nRanks);

/* ---- memory of the program ---- */

/** Registers memory as a window of the communicator. Operators access all memory where it lies, so none of
 * them needs it.
 * @param comm A communicator.
 * @param addr Device memory of the communicator's device.
 * @param size Bytes, at least 1.
 * @param handle Receives the window. It is valid until it is deregistered or comm is destroyed.
 * @param flag 0.
 * @async no
 * @error HCCL_E_PTR comm, addr or handle is NULL.
 * @error HCCL_E_PARA comm is not a communicator, flag is not 0, size is 0, or the memory is not that of the
 *     device.
 * @error HCCL_E_RUNTIME The calling thread has no current device.
 */
HCCL_PUBLIC_WEAK HcclResult HcclCommRegister(HcclComm comm, void* addr, uint64_t size, void** handle,
                                             uint32_t flag);

/** Removes a window.
 * @param comm The communicator of the window.
 * @param handle A window of HcclCommRegister.
 * @async no
 * @error HCCL_E_PTR comm or handle is NULL.
 * @error HCCL_E_PARA comm is not a communicator, or handle is not a window of it.
 */
HCCL_PUBLIC_WEAK HcclResult HcclCommDeregister(HcclComm comm, void* handle);

/** Makes a window known to other ranks. They can access it in any case: after the checks nothing changes.
 * @param comm The communicator of the window.
 * @param handle A window of HcclCommRegister.
 * @param peerRanks The ranks.
 * @param peerRankNum Their number, at least 1.
 * @async Does not wait for the ranks.
 * @error HCCL_E_PTR comm, handle or peerRanks is NULL.
 * @error HCCL_E_PARA comm is not a communicator, handle is not a window of it, peerRankNum is 0 or more than
 *     the ranks, or an entry is no rank.
 */
HCCL_PUBLIC_WEAK HcclResult HcclCommExchangeMem(HcclComm comm, void* handle, uint32_t* peerRanks,
                                                uint32_t peerRankNum);

/** Registers memory as a symmetric window. All ranks call it with one size. Operators access all memory where
 * it lies, so none of them needs it.
 * @param comm A communicator.
 * @param addr Device memory of the communicator's device.
 * @param size Bytes, 1 to hcclSymWinMaxMemSizePerRank GB.
 * @param winHandle Receives the window. It is valid until it is deregistered or comm is destroyed.
 * @param flag 1.
 * @async Does not wait for the other ranks.
 * @error HCCL_E_PTR comm, addr or winHandle is NULL.
 * @error HCCL_E_NOT_SUPPORT The chip is not a 910C.
 * @error HCCL_E_PARA comm is not a communicator, flag is not 1, size is 0 or too large, or the memory is not
 *     that of the device.
 * @error HCCL_E_RUNTIME The calling thread has no current device.
 */
HCCL_PUBLIC HcclResult HcclCommSymWinRegister(HcclComm comm, void* addr, uint64_t size,
                                              HcclCommSymWindow* winHandle, uint32_t flag);

/** Removes a symmetric window.
 * @param winHandle A window of HcclCommSymWinRegister.
 * @async no
 * @error HCCL_E_PTR winHandle is NULL.
 * @error HCCL_E_PARA winHandle is not a symmetric window.
 */
HCCL_PUBLIC HcclResult HcclCommSymWinDeregister(HcclCommSymWindow winHandle);

/** Finds the symmetric window that holds memory.
 * @param comm A communicator.
 * @param ptr The memory.
 * @param size Bytes, at least 1.
 * @param winHandle Receives the window.
 * @param offset Receives the bytes from its beginning to ptr.
 * @async no
 * @error HCCL_E_PTR comm, ptr, winHandle or offset is NULL.
 * @error HCCL_E_NOT_SUPPORT The chip is not a 910C.
 * @error HCCL_E_PARA comm is not a communicator, or size is 0.
 * @error HCCL_E_NOT_FOUND No symmetric window of comm holds all of it.
 */
HCCL_PUBLIC HcclResult HcclCommSymWinGet(HcclComm comm, void* ptr, size_t size, HcclCommSymWindow* winHandle,
                                         size_t* offset);

/** Gets the address of another rank's window, for kernels on a device. The devices here run none.
 * @param winHandle A window of HcclCommSymWinRegister.
 * @param offset Bytes from its beginning.
 * @param peerRank The rank.
 * @param ptr Is not changed.
 * @async no
 * @error HCCL_E_PTR winHandle or ptr is NULL.
 * @error HCCL_E_NOT_SUPPORT Always otherwise.
 */
HCCL_PUBLIC HcclResult HcclSymWinGetPeerPointer(HcclCommSymWindow winHandle, size_t offset, uint32_t peerRank,
                                                void** ptr);

/** Names reserved addresses whose memory may be activated. They are set for all communicators of the process.
 * @param comm A communicator.
 * @param baseVirPtr The addresses of aclrtReserveMemAddress.
 * @param size Bytes, at least 1.
 * @param alignment 0.
 * @param flags 0.
 * @async Does not wait for the other ranks.
 * @error HCCL_E_PTR comm or baseVirPtr is NULL.
 * @error HCCL_E_NOT_SUPPORT The chip is not a 910C.
 * @error HCCL_E_PARA comm is not a communicator, alignment or flags is not 0, size is 0, or a range that is
 *     set overlaps it.
 */
HCCL_PUBLIC_WEAK HcclResult HcclCommSetMemoryRange(HcclComm comm, void* baseVirPtr, size_t size,
                                                   size_t alignment, uint64_t flags);

/** Takes back HcclCommSetMemoryRange.
 * @param comm A communicator.
 * @param baseVirPtr The beginning of the range.
 * @async no
 * @error HCCL_E_PTR comm or baseVirPtr is NULL.
 * @error HCCL_E_NOT_SUPPORT The chip is not a 910C.
 * @error HCCL_E_PARA comm is not a communicator, no range begins there, or memory in it is active.
 */
HCCL_PUBLIC_WEAK HcclResult HcclCommUnsetMemoryRange(HcclComm comm, void* baseVirPtr);

/** Activates memory that is mapped in a range. Operators of ranks in one process access it where it lies, so
 * nothing changes for them. Ranks in other processes cannot access memory that the program maps.
 * @param comm A communicator.
 * @param virPtr The memory.
 * @param size Bytes, at least 1.
 * @param offset 0.
 * @param handle The physical memory that is mapped there.
 * @param flags 0.
 * @async no
 * @error HCCL_E_PTR comm, virPtr or handle is NULL.
 * @error HCCL_E_NOT_SUPPORT The chip is not a 910C, or a rank of comm is another process.
 * @error HCCL_E_PARA comm is not a communicator, offset or flags is not 0, size is 0, nothing is mapped
 *     there, no range holds it, or active memory overlaps it.
 * @error HCCL_E_RUNTIME The calling thread has no current device.
 */
HCCL_PUBLIC_WEAK HcclResult HcclCommActivateCommMemory(HcclComm comm, void* virPtr, size_t size,
                                                       size_t offset, aclrtDrvMemHandle handle,
                                                       uint64_t flags);

/** Takes back HcclCommActivateCommMemory.
 * @param comm A communicator.
 * @param virPtr The beginning of the memory.
 * @async no
 * @error HCCL_E_PTR comm or virPtr is NULL.
 * @error HCCL_E_NOT_SUPPORT The chip is not a 910C.
 * @error HCCL_E_PARA comm is not a communicator, or no active memory begins there.
 */
HCCL_PUBLIC_WEAK HcclResult HcclCommDeactivateCommMemory(HcclComm comm, void* virPtr);

/* ---- groups of calls ---- */

/** Begins a group of calls of the calling thread. Groups nest. The calls are checked at once and take effect
 * at the outermost HcclGroupEnd. A group has one of three uses: it makes and destroys communicators, which
 * join together; it has collective operators; or it has HcclSend and HcclRecv, which do not wait for one
 * another.
 * @async no
 * @error none
 */
HCCL_PUBLIC HcclResult HcclGroupStart(void);

/** Ends a group. The outermost end carries out the calls in their order, up to the first that fails. If a
 * communicator cannot be made, the group makes none.
 * @async Joins wait for the other ranks, as HcclCommInitRootInfo; operators are queued.
 * @error HCCL_E_NOT_SUPPORT The calling thread has no group.
 * @error other The code of the first call that failed.
 */
HCCL_PUBLIC HcclResult HcclGroupEnd(void);

/** Says whether the calling thread has a group.
 * @param isGroup Receives true or false.
 * @async no
 * @error HCCL_E_PTR isGroup is NULL.
 */
HCCL_PUBLIC HcclResult HcclGroupStatusGet(bool* isGroup);

/* Fills a configuration with its defaults. NULL: no effect. */
static inline void HcclCommConfigInit(HcclCommConfig* config) {
  typedef struct {
    size_t size;
    uint32_t magicWord;
    uint32_t version;
    uint64_t reserved;
  } ConfigInfo;
  ConfigInfo* info;
  if (config == NULL) return;
  info = (ConfigInfo*)config;
  info->size = sizeof(HcclCommConfig);
  info->magicWord = HCCL_COMM_CONFIG_MAGIC_WORD;
  info->version = HCCL_COMM_CONFIG_VERSION;
  info->reserved = 0;
  config->hcclBufferSize = HCCL_COMM_BUFFSIZE_CONFIG_NOT_SET;
  config->hcclDeterministic = HCCL_COMM_DETERMINISTIC_CONFIG_NOT_SET;
  config->hcclCommName[0] = '\0';
  config->hcclUdi[0] = '\0';
  config->hcclOpExpansionMode = 0;
  config->hcclRdmaTrafficClass = HCCL_COMM_TRAFFIC_CLASS_CONFIG_NOT_SET;
  config->hcclRdmaServiceLevel = HCCL_COMM_SERVICE_LEVEL_CONFIG_NOT_SET;
  config->hcclWorldRankID = 0;
  config->hcclJobID = 0;
  config->aclGraphZeroCopyEnable = 0;
  config->hcclExecTimeOut = -1;
  config->hcclAlgo[0] = '\0';
  config->hcclRetryEnable[0] = '\0';
  config->hcclRetryParams[0] = '\0';
  config->hcclBufferName[0] = '\0';
  config->hcclQos = HCCL_COMM_QOS_CONFIG_NOT_SET;
  config->hcclSymWinMaxMemSizePerRank = 16;
  config->hcclChannelSqDepth = 0;
}

#ifdef __cplusplus
}
#endif

#endif /* SAMPAN_HCCL_HCCL_COMM_H */
