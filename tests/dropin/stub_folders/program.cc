// Copies rows of a picture to the device and back, and includes headers of which it needs little.
#include <cstdio>
#include <vector>

#include "acl/acl.h"
#include "acl/acl_op_compiler.h"
#include "acl/acl_prof.h"
#include "acl/ops/acl_dvpp.h"

int main() {
  constexpr std::size_t kWidth = 120, kPitch = 160, kRows = 33;
  std::vector<unsigned char> picture(kPitch * kRows), back(kPitch * kRows, 0xEE);
  for (std::size_t i = 0; i < picture.size(); ++i)
    picture[i] = static_cast<unsigned char>(i * 131 + 7);
  void* device = nullptr;
  aclrtStream stream = nullptr;
  bool right = aclInit(nullptr) == ACL_SUCCESS && aclrtSetDevice(0) == ACL_SUCCESS &&
               aclrtCreateStream(&stream) == ACL_SUCCESS &&
               aclrtMalloc(&device, kWidth * kRows, ACL_MEM_MALLOC_HUGE_FIRST) == ACL_SUCCESS;
  right = right && aclrtMemcpy2d(device, kWidth, picture.data(), kPitch, kWidth, kRows,
                                 ACL_MEMCPY_HOST_TO_DEVICE) == ACL_SUCCESS;
  right = right && aclrtMemcpy2dAsync(back.data(), kPitch, device, kWidth, kWidth, kRows,
                                      ACL_MEMCPY_DEVICE_TO_HOST, stream) == ACL_SUCCESS;
  right = right && aclrtSynchronizeStream(stream) == ACL_SUCCESS;
  for (std::size_t i = 0; i < picture.size(); ++i)
    right = right && back[i] == (i % kPitch < kWidth ? picture[i] : 0xEE);
  // Where there is no compiler of operators, it says so.
  aclopAttr* const attributes = aclopCreateAttr();
  right = right && attributes == nullptr;
  right = right && aclrtFree(device) == ACL_SUCCESS && aclrtDestroyStream(stream) == ACL_SUCCESS &&
          aclrtResetDevice(0) == ACL_SUCCESS && aclFinalize() == ACL_SUCCESS;
  std::puts(right ? "the rows' bytes are right" : "wrong");
  return right ? 0 : 1;
}
