// Asks what a framework asks of a device when it starts, then fills and copies memory.
#include <acl/acl.h>
#include <aclnn/acl_meta.h>
#include <aclnn/aclnn_base.h>

#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

int main() {
  const aclError initialized = aclInit(nullptr);
  bool right = initialized == ACL_SUCCESS || initialized == ACL_ERROR_REPEAT_INITIALIZE;
  right = right && aclrtSetDevice(0) == ACL_SUCCESS;
  std::int64_t cores = 0;
  std::int32_t has_bf16 = -1;
  std::size_t free_bytes = 0, total_bytes = 0;
  right =
      right && aclGetDeviceCapability(0, ACL_DEVICE_INFO_VECTOR_CORE_NUM, &cores) == ACL_SUCCESS && cores > 0;
  right = right && aclGetCannAttribute(ACL_CANN_ATTR_BF16, &has_bf16) == ACL_SUCCESS && has_bf16 == 1;
  right = right && aclrtGetMemInfo(ACL_HBM_MEM, &free_bytes, &total_bytes) == ACL_SUCCESS &&
          free_bytes <= total_bytes;
  right = right && std::string(aclrtGetSocName()).rfind("Ascend910", 0) == 0;
  std::uint64_t limit_us = 0;
  right = right && aclrtSetOpWaitTimeout(1868) == ACL_SUCCESS &&
          aclrtSetOpExecuteTimeOutV2(547000000, &limit_us) == ACL_SUCCESS && limit_us >= 547000000;
  right = right && aclrtSetDeviceSatMode(ACL_RT_OVERFLOW_MODE_INFNAN) == ACL_SUCCESS;

  aclrtStream stream = nullptr;
  aclmdlRICaptureStatus capture = ACL_MODEL_RI_CAPTURE_STATUS_ACTIVE;
  aclmdlRI model = nullptr;
  right = right && aclrtCreateStream(&stream) == ACL_SUCCESS &&
          aclmdlRICaptureGetInfo(stream, &capture, &model) == ACL_SUCCESS &&
          capture == ACL_MODEL_RI_CAPTURE_STATUS_NONE;

  std::vector<std::uint8_t> back(4096, 0x11);
  void* device = nullptr;
  right = right && aclrtMalloc(&device, back.size(), ACL_MEM_MALLOC_NORMAL_ONLY) == ACL_SUCCESS &&
          aclrtMemsetAsync(device, back.size(), 0x5C, 4000, stream) == ACL_SUCCESS &&
          aclrtCmoAsync(device, back.size(), ACL_RT_CMO_TYPE_PREFETCH, stream) == ACL_SUCCESS &&
          aclrtSynchronizeStream(stream) == ACL_SUCCESS &&
          aclrtMemcpy(back.data(), 4000, device, 4000, ACL_MEMCPY_DEVICE_TO_HOST) == ACL_SUCCESS;
  for (std::size_t i = 0; i < back.size(); ++i)
    right = right && back[i] == (i < 4000 ? 0x5C : 0x11);
  std::puts(right ? "answers and bytes are right" : "wrong");
  return right ? 0 : 1;
}
