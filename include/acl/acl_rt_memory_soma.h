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

/* What can be asked of, or set on, a pool. */
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

/* How a pool is made: pinned device memory, reserved bytes zero, maxSize 0 for no bound. */
typedef struct {
  aclrtMemAllocationType allocType;
  aclrtMemHandleType handleType;
  aclrtMemLocation location;
  size_t maxSize;
  unsigned char reserved[32];
} aclrtMemPoolProps;

/* Makes a pool on the device that poolProps names. */
ACL_FUNC_VISIBILITY aclError aclrtMemPoolCreate(aclrtMemPool* memPool, const aclrtMemPoolProps* poolProps);

/* Gives a pool and what it still holds back to the device. */
ACL_FUNC_VISIBILITY aclError aclrtMemPoolDestroy(const aclrtMemPool memPool);

/* Sets one attribute from the value that the pointer leads to. */
ACL_FUNC_VISIBILITY aclError aclrtMemPoolSetAttr(aclrtMemPool memPool, aclrtMemPoolAttr attr, void* value);

/* Stores one attribute at the address given. */
ACL_FUNC_VISIBILITY aclError aclrtMemPoolGetAttr(aclrtMemPool memPool, aclrtMemPoolAttr attr, void* value);

/* Allocates from a pool; the memory is usable by work queued on the stream afterwards. */
ACL_FUNC_VISIBILITY aclError aclrtMemPoolMallocAsync(void** ptr, size_t size, aclrtMemPool memPool,
                                                     aclrtStream stream);

/* Returns memory to its pool once the work already queued on the stream is done. */
ACL_FUNC_VISIBILITY aclError aclrtMemPoolFreeAsync(void* ptr, aclrtStream stream);

/* Gives unused memory back to the device until at most minBytesToKeep stay reserved. */
ACL_FUNC_VISIBILITY aclError aclrtMemPoolTrimTo(aclrtMemPool memPool, size_t minBytesToKeep);

#ifdef __cplusplus
}
#endif

#endif /* SAMPAN_ACL_ACL_RT_MEMORY_SOMA_H */
