/* Short integer names and the description of a collective operation. */
#ifndef SAMPAN_HCCL_BASE_H
#define SAMPAN_HCCL_BASE_H

#include <stdint.h>

#include "hccl_types.h"

#if defined(__GNUC__)
#define HCCL_PLF_VISIBILITY __attribute__((visibility("default")))
#else
#define HCCL_PLF_VISIBILITY
#endif

#ifdef __cplusplus
extern "C" {
#endif

typedef signed char s8;
typedef signed short s16;
typedef signed int s32;
typedef signed long long s64;
typedef unsigned char u8;
typedef unsigned short u16;
typedef unsigned int u32;
typedef unsigned long long u64;

typedef void* rtStream_t;
typedef void* rtNotify_t;

enum { GROUP_NAME_MAX_LEN = 127 };

/* The description of the operation for a template. */
typedef struct HcomCollOpInfo {
  char group[GROUP_NAME_MAX_LEN];
  void* inputAddr;
  void* outputAddr;
  u64 count;
  HcclDataType dataType;
  u32 root;
  HcclReduceOp reduceOp;
  u64 strideCount;
} HcomCollOpInfo;

#ifdef __cplusplus
}
#endif

#endif /* SAMPAN_HCCL_BASE_H */
