/* Settings that steer compute: they are checked and remembered, and can be read back. No kernel ever runs
 * here. Included by acl_rt.h. */
#include "acl_rt.h" /* first, and not guarded here: it includes this header in its turn */

#ifndef SAMPAN_ACL_ACL_RT_SETTINGS_H
#define SAMPAN_ACL_ACL_RT_SETTINGS_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- enumerations ---- */

/* What a cache does with a range of device memory. */
typedef enum aclrtCmoType {
  ACL_RT_CMO_TYPE_PREFETCH = 0,
  ACL_RT_CMO_TYPE_WRITEBACK = 1,
  ACL_RT_CMO_TYPE_INVALID = 2,
  ACL_RT_CMO_TYPE_FLUSH = 3,
} aclrtCmoType;

/* What a floating-point result beyond the largest number becomes. */
typedef enum aclrtFloatOverflowMode {
  ACL_RT_OVERFLOW_MODE_SATURATION = 0,
  ACL_RT_OVERFLOW_MODE_INFNAN = 1,
  ACL_RT_OVERFLOW_MODE_UNDEF = 2,
} aclrtFloatOverflowMode;

/* Cores that a limit is about. */
typedef enum aclrtDevResLimitType {
  ACL_RT_DEV_RES_CUBE_CORE = 0,
  ACL_RT_DEV_RES_VECTOR_CORE = 1,
} aclrtDevResLimitType;

/* ---- cache hints ---- */

/** Queues a cache operation on device memory. Here device memory needs none: the stream passes a task that
 * does nothing, so the order is that of a device. The memory is not accessed.
 * @param src Beginning of the range.
 * @param size Bytes, at least 1.
 * @param cmoType One of aclrtCmoType.
 * @param stream A stream of the current context; NULL for its default stream.
 * @async queued
 * @error 100000 src is NULL, or size is 0.
 * @error 207000 The chip of the profile has no such operations, or cmoType is not 0 to 3.
 * @error 107017 stream is not a valid stream.
 * @error 107002 The calling thread has no context.
 * @error 107003 stream belongs to another context.
 */
ACL_FUNC_VISIBILITY aclError aclrtCmoAsync(void* src, size_t size, aclrtCmoType cmoType, aclrtStream stream);

/* ---- time limits ---- */

/** Sets the time limit of the waits that aclrtStreamWaitEvent queues from now on, in all streams of the
 * process. A wait that runs past it fails its stream with 107020. The last call wins.
 * @param timeout Seconds; 0 for no limit, as before the first call.
 * @async no
 * @error none
 */
ACL_FUNC_VISIBILITY aclError aclrtSetOpWaitTimeout(uint32_t timeout);

/** Sets the time limit of operators, in seconds. It is rounded up like that of aclrtSetOpExecuteTimeOutV2. No
 * operator runs here, so only aclrtGetOpExecuteTimeout shows it.
 * @param timeout Seconds; 0 for the maximum, about 1091 s.
 * @async no
 * @error none
 */
ACL_FUNC_VISIBILITY aclError aclrtSetOpExecuteTimeOut(uint32_t timeout);

/** Sets the time limit of operators in milliseconds. No chip supports it.
 * @param timeout Milliseconds.
 * @async no
 * @error 207000 Always.
 */
ACL_FUNC_VISIBILITY aclError aclrtSetOpExecuteTimeOutWithMs(uint32_t timeout);

/** Sets the time limit of operators and gets what it was rounded up to: a whole number of the intervals of
 * aclrtGetOpTimeOutInterval, 254 at most.
 * @param timeout Microseconds; 0 for the maximum.
 * @param actualTimeout Receives the limit in microseconds.
 * @async no
 * @error 100000 actualTimeout is NULL.
 * @error 107002 The calling thread has no context.
 */
ACL_FUNC_VISIBILITY aclError aclrtSetOpExecuteTimeOutV2(uint64_t timeout, uint64_t* actualTimeout);

/** Gets the unit of the time limits of operators: 4,294,967 us.
 * @param interval Receives the unit in microseconds.
 * @async no
 * @error 100000 interval is NULL.
 */
ACL_FUNC_VISIBILITY aclError aclrtGetOpTimeOutInterval(uint64_t* interval);

/** Gets the time limit of operators that is in force.
 * @param timeout Receives the limit in milliseconds, rounded down; before the first call that sets one, the
 *     maximum.
 * @async no
 * @error 100000 timeout is NULL.
 */
ACL_FUNC_VISIBILITY aclError aclrtGetOpExecuteTimeout(uint32_t* timeout);

/* ---- floating-point overflow ---- */

/** Sets what floating-point results beyond the largest number become, in streams that are created from now
 * on. One value for the process; no context is needed.
 * @param mode ACL_RT_OVERFLOW_MODE_SATURATION or ACL_RT_OVERFLOW_MODE_INFNAN.
 * @async no
 * @error 107000 mode is neither.
 * @error 207000 The chip of the profile can only saturate, and mode is INFNAN.
 */
ACL_FUNC_VISIBILITY aclError aclrtSetDeviceSatMode(aclrtFloatOverflowMode mode);

/** Gets the mode of aclrtSetDeviceSatMode. At first it is INFNAN, or SATURATION where the chip can only
 * saturate.
 * @param mode Receives the mode.
 * @async no
 * @error 100000 mode is NULL.
 */
ACL_FUNC_VISIBILITY aclError aclrtGetDeviceSatMode(aclrtFloatOverflowMode* mode);

/** Switches overflow detection of a stream on or off. It is the stream attribute
 * ACL_STREAM_ATTR_FLOAT_OVERFLOW_CHECK.
 * @param stream A stream of the current context; NULL for its default stream.
 * @param flag 1 for on, 0 for off.
 * @async no
 * @error 100000 flag is neither 0 nor 1.
 * @error 207000 The chip of the profile has no such switch.
 * @error 107017 stream is not a valid stream.
 * @error 107002 The calling thread has no context.
 * @error 107003 stream belongs to another context.
 */
ACL_FUNC_VISIBILITY aclError aclrtSetStreamOverflowSwitch(aclrtStream stream, uint32_t flag);

/** Gets whether overflow detection of a stream is on. It is off at first.
 * @param stream A stream of the current context; NULL for its default stream.
 * @param flag Receives 1 for on, 0 for off.
 * @async no
 * @error 100000 flag is NULL.
 * @error 207000 The chip of the profile has no such switch.
 * @error 107017 stream is not a valid stream.
 * @error 107002 The calling thread has no context.
 * @error 107003 stream belongs to another context.
 */
ACL_FUNC_VISIBILITY aclError aclrtGetStreamOverflowSwitch(aclrtStream stream, uint32_t* flag);

/* ---- limits of cores ---- */

/** Gets how many cores of a kind this process may use on a device: the limit, or the number that the chip
 * has.
 * @param deviceId Number of a visible device, from 0.
 * @param type One of aclrtDevResLimitType.
 * @param value Receives the number of cores.
 * @async no
 * @error 100000 value is NULL.
 * @error 107000 type is neither.
 * @error 107001 deviceId is not a visible device.
 * @error 507033 The device is not set.
 */
ACL_FUNC_VISIBILITY aclError aclrtGetDeviceResLimit(int32_t deviceId, aclrtDevResLimitType type,
                                                    uint32_t* value);

/** Sets how many cores of a kind this process may use on a device. The last call wins.
 * @param deviceId Number of a visible device, from 0.
 * @param type One of aclrtDevResLimitType.
 * @param value Number of cores, at most what the chip has.
 * @async no
 * @error 107000 type is neither.
 * @error 107001 deviceId is not a visible device.
 * @error 507033 The device is not set.
 * @error 107000 The chip has fewer cores than value.
 */
ACL_FUNC_VISIBILITY aclError aclrtSetDeviceResLimit(int32_t deviceId, aclrtDevResLimitType type,
                                                    uint32_t value);

/** Removes both limits of a device.
 * @param deviceId Number of a visible device, from 0.
 * @async no
 * @error 107001 deviceId is not a visible device.
 * @error 507033 The device is not set.
 */
ACL_FUNC_VISIBILITY aclError aclrtResetDeviceResLimit(int32_t deviceId);

/** Gets how many cores of a kind a stream may use: its limit, else that of the process, else what the chip
 * has.
 * @param stream A stream; NULL for the default stream of the current context.
 * @param type One of aclrtDevResLimitType.
 * @param value Receives the number of cores.
 * @async no
 * @error 100000 value is NULL.
 * @error 107000 type is neither.
 * @error 107017 stream is not a valid stream.
 * @error 107002 stream is NULL, and the calling thread has no context.
 */
ACL_FUNC_VISIBILITY aclError aclrtGetStreamResLimit(aclrtStream stream, aclrtDevResLimitType type,
                                                    uint32_t* value);

/** Sets how many cores of a kind a stream may use. It may be more than the limit of the process.
 * @param stream A stream; NULL for the default stream of the current context.
 * @param type One of aclrtDevResLimitType.
 * @param value Number of cores, at most what the chip has.
 * @async no
 * @error 107000 type is neither, or the chip has fewer cores than value.
 * @error 107017 stream is not a valid stream.
 * @error 107002 stream is NULL, and the calling thread has no context.
 */
ACL_FUNC_VISIBILITY aclError aclrtSetStreamResLimit(aclrtStream stream, aclrtDevResLimitType type,
                                                    uint32_t value);

/** Removes both limits of a stream.
 * @param stream A stream; NULL for the default stream of the current context.
 * @async no
 * @error 107017 stream is not a valid stream.
 * @error 107002 stream is NULL, and the calling thread has no context.
 */
ACL_FUNC_VISIBILITY aclError aclrtResetStreamResLimit(aclrtStream stream);

/** Makes this thread use the limits of a stream. The last call wins.
 * @param stream A stream; NULL for the default stream of the current context.
 * @async no
 * @threads Each thread has its own choice. It ends when the stream is destroyed.
 * @error 107017 stream is not a valid stream.
 * @error 107002 stream is NULL, and the calling thread has no context.
 */
ACL_FUNC_VISIBILITY aclError aclrtUseStreamResInCurrentThread(aclrtStream stream);

/** Undoes aclrtUseStreamResInCurrentThread. If the thread uses another stream's limits, nothing changes.
 * @param stream A stream; NULL for the default stream of the current context.
 * @async no
 * @threads Each thread has its own choice.
 * @error 107017 stream is not a valid stream.
 * @error 107002 stream is NULL, and the calling thread has no context.
 */
ACL_FUNC_VISIBILITY aclError aclrtUnuseStreamResInCurrentThread(aclrtStream stream);

/** Gets how many cores of a kind this thread may use. The limit of the thread's stream comes first, then that
 * of the process on the current device, then the chip's.
 * @param type One of aclrtDevResLimitType.
 * @param value Receives the number of cores.
 * @async no
 * @threads Each thread has its own choice of a stream.
 * @error 100000 value is NULL.
 * @error 107000 type is neither.
 * @error 107002 The calling thread has no context.
 */
ACL_FUNC_VISIBILITY aclError aclrtGetResInCurrentThread(aclrtDevResLimitType type, uint32_t* value);

/* ---- dumps of operators ---- */

/** Opens the dump service. No operator runs here, so nothing is ever dumped; the log says so once.
 * @async no
 * @error 100001 aclInit was not called.
 * @error 100002 The service is open, or the file of aclInit has set a dump.
 */
ACL_FUNC_VISIBILITY aclError aclmdlInitDump(void);

/** Reads which operators to dump, from the object `dump` of a JSON file. An empty file sets nothing.
 * @param dumpCfgPath Path of the file.
 * @async no
 * @error 100001 aclInit was not called.
 * @error 100045 The dump service is not open.
 * @error 100000 dumpCfgPath is NULL.
 * @error 100003 The file cannot be read.
 * @error 100006 The file is no JSON object, or nests too deeply.
 * @error 100009 `dump` is no object, or one of its keys has a value that is not accepted.
 */
ACL_FUNC_VISIBILITY aclError aclmdlSetDump(const char* dumpCfgPath);

/** Closes the dump service. It can be opened again.
 * @async no
 * @error 100001 aclInit was not called.
 * @error 100045 The dump service is not open.
 */
ACL_FUNC_VISIBILITY aclError aclmdlFinalizeDump(void);

#ifdef __cplusplus
}
#endif

#endif /* SAMPAN_ACL_ACL_RT_SETTINGS_H */
