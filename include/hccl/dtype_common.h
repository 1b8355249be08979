/* Sizes of the data types. */
#ifndef SAMPAN_HCCL_DTYPE_COMMON_H
#define SAMPAN_HCCL_DTYPE_COMMON_H

#include "base.h"

enum { HCCL_DATA_TYPE_COUNT = 18 };

/* Bytes of an element, by HcclDataType. */
static const u32 SIZE_TABLE[HCCL_DATA_TYPE_COUNT] = {1, 2, 4, 2, 4, 8, 8, 1, 2, 4, 8, 2, 16, 2, 1, 1, 1, 1};

#ifdef __cplusplus
/* A program may include the table and not use it. */
[[maybe_unused]] static inline u32 HcclDataTypeBytes(HcclDataType type) {
  return static_cast<u32>(type) < HCCL_DATA_TYPE_COUNT ? SIZE_TABLE[type] : 0;
}
#endif

#endif /* SAMPAN_HCCL_DTYPE_COMMON_H */
