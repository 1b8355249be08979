/* Function types of a caller-supplied device allocator; the calls to register one are not offered. */
#ifndef SAMPAN_ACL_ACL_RT_ALLOCATOR_H
#define SAMPAN_ACL_ACL_RT_ALLOCATOR_H

#include "acl_base.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Returns a block of at least size bytes. */
typedef void* (*aclrtAllocatorAllocFunc)(aclrtAllocator allocator, size_t size);

/* Takes a block back. */
typedef void (*aclrtAllocatorFreeFunc)(aclrtAllocator allocator, aclrtAllocatorBlock block);

/* Returns a block of at least size bytes, at addr where that is possible. */
typedef void* (*aclrtAllocatorAllocAdviseFunc)(aclrtAllocator allocator, size_t size,
                                               aclrtAllocatorAddr addr);

/* Gets the device address of a block. */
typedef void* (*aclrtAllocatorGetAddrFromBlockFunc)(aclrtAllocatorBlock block);

#ifdef __cplusplus
}
#endif

#endif /* SAMPAN_ACL_ACL_RT_ALLOCATOR_H */
