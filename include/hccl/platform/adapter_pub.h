/* What the dispatcher's calls take from the adapter of the runtime. */
#ifndef SAMPAN_HCCL_PLATFORM_ADAPTER_PUB_H
#define SAMPAN_HCCL_PLATFORM_ADAPTER_PUB_H

#include "hccl_common.h"

enum class HcclRtMemcpyKind {
  HCCL_RT_MEMCPY_KIND_HOST_TO_HOST = 0,
  HCCL_RT_MEMCPY_KIND_HOST_TO_DEVICE = 1,
  HCCL_RT_MEMCPY_KIND_DEVICE_TO_HOST = 2,
  HCCL_RT_MEMCPY_KIND_DEVICE_TO_DEVICE = 3,
  HCCL_RT_MEMCPY_ADDR_DEVICE_TO_DEVICE = 4,
  HCCL_RT_MEMCPY_KIND_RESERVED = 5
};

enum class HcclReduceType { HCCL_INLINE_REDUCE = 0, HCCL_TBE_REDUCE = 1 };

namespace hccl {
using ::HcclReduceType;
using ::HcclRtMemcpyKind;
}  // namespace hccl

#endif /* SAMPAN_HCCL_PLATFORM_ADAPTER_PUB_H */
