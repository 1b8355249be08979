/* Faults of a device and their repair: an emulated device has none to report. Included by acl_rt.h. */
#include "acl_rt.h" /* first, and not guarded here: it includes this header in its turn */

#ifndef SAMPAN_ACL_ACL_RT_HEALTH_H
#define SAMPAN_ACL_ACL_RT_HEALTH_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Gets the fault of a device: always ACL_RT_NO_ERROR, without details.
 * @param deviceId Number of a visible device, from 0.
 * @param errorInfo Receives the fault.
 * @async no
 * @error 100000 errorInfo is NULL.
 * @error 207000 The chip of the profile gives no details.
 * @error 107001 deviceId is not a visible device.
 */
ACL_FUNC_VISIBILITY aclError aclrtGetErrorVerbose(int32_t deviceId, aclrtErrorInfo* errorInfo);

/** Repairs a fault of a device. There is none: only a fault of type ACL_RT_NO_ERROR succeeds.
 * @param deviceId Number of a visible device, from 0.
 * @param errorInfo The fault.
 * @async no
 * @error 100000 errorInfo is NULL.
 * @error 207000 The chip of the profile repairs nothing.
 * @error 107000 tryRepair of the fault is 0.
 * @error 107001 deviceId is not a visible device.
 * @error 207000 The fault is of type ACL_RT_ERROR_MEMORY.
 * @error 107000 The fault is of another type.
 */
ACL_FUNC_VISIBILITY aclError aclrtRepairError(int32_t deviceId, const aclrtErrorInfo* errorInfo);

/** Gets the ranges of memory with uncorrectable errors: always none.
 * @param deviceId Number of a visible device, from 0.
 * @param memUceInfoArray Receives the ranges.
 * @param arraySize Number of ranges that the array has room for.
 * @param retSize Receives the number of ranges: 0.
 * @async no
 * @error 100000 memUceInfoArray or retSize is NULL.
 * @error 207000 The chip of the profile does not report such errors.
 * @error 107001 deviceId is not a visible device.
 * @error 107002 The device has no context.
 */
ACL_FUNC_VISIBILITY aclError aclrtGetMemUceInfo(int32_t deviceId, aclrtMemUceInfo* memUceInfoArray,
                                                size_t arraySize, size_t* retSize);

/** Repairs ranges of memory with uncorrectable errors. There are none: only a call with no range succeeds.
 * @param deviceId Number of a visible device, from 0.
 * @param memUceInfoArray The ranges; their reserved words must be 0.
 * @param arraySize Number of ranges, at most 20 (ACL_RT_MEM_UCE_INFO_MAX_NUM).
 * @async no
 * @error 100000 memUceInfoArray is NULL, arraySize is more than 20, or a reserved word is not 0.
 * @error 207000 The chip of the profile repairs nothing.
 * @error 107001 deviceId is not a visible device.
 * @error 107002 The device has no context.
 * @error 207000 arraySize is not 0.
 */
ACL_FUNC_VISIBILITY aclError aclrtMemUceRepair(int32_t deviceId, aclrtMemUceInfo* memUceInfoArray,
                                               size_t arraySize);

#ifdef __cplusplus
}
#endif

#endif /* SAMPAN_ACL_ACL_RT_HEALTH_H */
