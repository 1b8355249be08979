/* Stream-ordered memory pools: allocation and release take effect in stream order. */
#ifndef SAMPAN_ACL_ACL_RT_MEMORY_SOMA_H
#define SAMPAN_ACL_ACL_RT_MEMORY_SOMA_H

#include <stddef.h>
#include <stdint.h>

#include "acl_base.h"
#include "acl_rt.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A pool of device memory. */
typedef void* aclrtMemPool;

/* Attributes of a pool. */
typedef enum aclrtMemPoolAttr {
  ACL_RT_MEM_POOL_REUSE_FOLLOW_EVENT_DEPENDENCIES = 0x1,
  ACL_RT_MEM_POOL_REUSE_ALLOW_OPPORTUNISTIC = 0x2,
  ACL_RT_MEM_POOL_REUSE_ALLOW_INTERNAL_DEPENDENCIES = 0x3,
  ACL_RT_MEM_POOL_ATTR_RELEASE_THRESHOLD = 0x4,
  ACL_RT_MEM_POOL_ATTR_RESERVED_MEM_CURRENT = 0x5,
  ACL_RT_MEM_POOL_ATTR_RESERVED_MEM_HIGH = 0x6,
  ACL_RT_MEM_POOL_ATTR_USED_MEM_CURRENT = 0x7,
  ACL_RT_MEM_POOL_ATTR_USED_MEM_HIGH = 0x8,
} aclrtMemPoolAttr;

/* Properties of a new pool: pinned device memory, reserved bytes zero, maxSize 0 for no limit. */
typedef struct {
  aclrtMemAllocationType allocType;
  aclrtMemHandleType handleType;
  aclrtMemLocation location;
  size_t maxSize;
  unsigned char reserved[32];
} aclrtMemPoolProps;

/** Creates a pool of device memory.
 * @param memPool Receives the handle.
 * @param poolProps allocType PINNED, a location of type DEVICE, maxSize in bytes (0 for no limit), reserved
 *     bytes 0.
 * @async no
 * @error 100000 An argument is NULL; allocType is not PINNED; the location is no device; a reserved byte is
 *     not 0.
 * @error 207000 The chip of the profile has no pools.
 * @error 107001 The location is not a visible device.
 * @error 207005 All handles are in use.
 */
ACL_FUNC_VISIBILITY aclError aclrtMemPoolCreate(aclrtMemPool* memPool, const aclrtMemPoolProps* poolProps);

/** Destroys a pool. Memory that is still in use returns to the device when it is freed.
 * @param memPool The pool.
 * @async no
 * @error 100000 memPool is NULL.
 * @error 107017 memPool is not a valid pool.
 */
ACL_FUNC_VISIBILITY aclError aclrtMemPoolDestroy(const aclrtMemPool memPool);

/** Sets one attribute of a pool.
 * @param memPool The pool.
 * @param attr 1 to 3: kinds of reuse. 4: threshold in bytes. 6 and 8: maxima, which can only be set to 0.
 * @param value Points to uint32_t 1 (on) or 2 (off) for 1 to 3, to uint64_t bytes for the others.
 * @async no
 * @error 100000 memPool or value is NULL.
 * @error 107017 memPool is not a valid pool.
 * @error 107000 attr or its value is not accepted.
 */
ACL_FUNC_VISIBILITY aclError aclrtMemPoolSetAttr(aclrtMemPool memPool, aclrtMemPoolAttr attr, void* value);

/** Gets one attribute of a pool.
 * @param memPool The pool.
 * @param attr 1 to 3: kinds of reuse. 4: threshold. 5, 6: bytes reserved, now and at most. 7, 8: bytes in
 *     use, now and at most.
 * @param value Points to uint32_t for 1 to 3, to uint64_t bytes for the others.
 * @async no
 * @error 100000 memPool or value is NULL.
 * @error 107017 memPool is not a valid pool.
 * @error 107000 attr is not 1 to 8.
 */
ACL_FUNC_VISIBILITY aclError aclrtMemPoolGetAttr(aclrtMemPool memPool, aclrtMemPoolAttr attr, void* value);

/** Allocates from a pool. Work that is queued on the stream afterwards may use the memory.
 * @param ptr Receives the address.
 * @param size Bytes. 0 is success and does not change *ptr.
 * @param memPool The pool.
 * @param stream A stream of the current context. NULL is refused.
 * @async The address is valid at once; the memory may be used by later work of the stream.
 * @error 100000 ptr, memPool or stream is NULL.
 * @error 107017 memPool or stream is not a valid handle.
 * @error 107002 The calling thread has no context.
 * @error 107003 stream belongs to another context.
 * @error 207001 The device does not have enough memory, or the pool's limit is reached.
 */
ACL_FUNC_VISIBILITY aclError aclrtMemPoolMallocAsync(void** ptr, size_t size, aclrtMemPool memPool,
                                                     aclrtStream stream);

/** Returns memory to its pool when the work that is queued on the stream is complete. Memory of aclrtMalloc
 * is freed then.
 * @param ptr Address that an allocation returned.
 * @param stream A stream of the current context. NULL is refused.
 * @async queued
 * @error 100000 ptr is NULL.
 * @error 507000 stream is NULL.
 * @error 107017 stream is not a valid stream.
 * @error 107002 The calling thread has no context.
 * @error 107003 stream belongs to another context.
 * @error 107000 ptr is not the first address of memory of a pool or of aclrtMalloc.
 */
ACL_FUNC_VISIBILITY aclError aclrtMemPoolFreeAsync(void* ptr, aclrtStream stream);

/** Returns unused memory of a pool to the device.
 * @param memPool The pool.
 * @param minBytesToKeep Bytes that stay reserved, if the pool has that many.
 * @async no
 * @error 100000 memPool is NULL.
 * @error 107017 memPool is not a valid pool.
 */
ACL_FUNC_VISIBILITY aclError aclrtMemPoolTrimTo(aclrtMemPool memPool, size_t minBytesToKeep);

#ifdef __cplusplus
}
#endif

#endif /* SAMPAN_ACL_ACL_RT_MEMORY_SOMA_H */
