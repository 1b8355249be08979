// Pools and mapped memory of the random programs.
#include <cstddef>

#include "tests/model/executor.h"

namespace sampan::model {
namespace {

constexpr std::size_t kPiece = std::size_t{2} << 20;

}  // namespace

aclError Executor::TakeFromPool(RealBuffer& made, std::size_t bytes) {
  made.device = model_.current_device();
  RealPool& own = pools_[made.device];
  if (own.pool == nullptr) {
    aclrtMemPoolProps props = {};
    props.location = {static_cast<std::uint32_t>(made.device), ACL_MEM_LOCATION_TYPE_DEVICE};
    if (const aclError code = aclrtCreateStream(&own.stream); code != ACL_SUCCESS) return code;
    if (const aclError code = aclrtMemPoolCreate(&own.pool, &props); code != ACL_SUCCESS) return code;
  }
  return aclrtMemPoolMallocAsync(&made.address, bytes, own.pool, own.stream);
}

aclError Executor::GiveToPool(const RealBuffer& buffer, void* address, bool at_once) {
  // The pool's stream is its device's.
  if (at_once || model_.current_device() != buffer.device) return aclrtFree(address);
  return aclrtMemPoolFreeAsync(address, pools_[buffer.device].stream);
}

aclError Executor::Map(RealBuffer& made, std::size_t bytes) {
  aclrtPhysicalMemProp prop = {};
  prop.memAttr = ACL_HBM_MEM_HUGE;
  prop.location = {static_cast<std::uint32_t>(model_.current_device()), ACL_MEM_LOCATION_TYPE_DEVICE};
  void* range = nullptr;
  aclError code = aclrtReserveMemAddress(&range, 2 * kPiece, 0, nullptr, 0);
  made.range = static_cast<std::byte*>(range);
  for (std::size_t i = 0; i < made.pieces.size() && code == ACL_SUCCESS; ++i) {
    code = aclrtMallocPhysical(&made.pieces[i], kPiece, &prop, 0);
    if (code == ACL_SUCCESS) code = aclrtMapMem(made.range + i * kPiece, kPiece, 0, made.pieces[i], 0);
  }
  // Half of it before the seam, in whole pages.
  made.address = made.range + kPiece - (bytes / 2 + kPage - 1) / kPage * kPage;
  return code;
}

aclError Executor::Unmap(const RealBuffer& buffer) {
  for (std::size_t i = 0; i < buffer.pieces.size(); ++i) {
    if (const aclError code = aclrtUnmapMem(buffer.range + i * kPiece); code != ACL_SUCCESS) return code;
    if (const aclError code = aclrtFreePhysical(buffer.pieces[i]); code != ACL_SUCCESS) return code;
  }
  return aclrtReleaseMemAddress(buffer.range);
}

aclError Executor::EndPools() {
  for (int device = 0; device < kDevices; ++device) {
    RealPool& own = pools_[device];
    if (own.pool == nullptr) continue;
    if (const aclError code = aclrtSetDevice(device); code != ACL_SUCCESS) return code;
    if (const aclError code = aclrtMemPoolDestroy(own.pool); code != ACL_SUCCESS) return code;
    if (const aclError code = aclrtDestroyStream(own.stream); code != ACL_SUCCESS) return code;
    own = {};
  }
  return ACL_SUCCESS;
}

}  // namespace sampan::model
