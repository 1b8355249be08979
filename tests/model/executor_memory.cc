// Memory of the random programs: allocations, pools, mappings.
#include <sys/mman.h>

#include <cstddef>
#include <cstring>

#include "tests/model/executor.h"

namespace sampan::model {
namespace {

constexpr std::size_t kPiece = std::size_t{2} << 20;

}  // namespace

aclError Executor::Allocate(const Operation& op) {
  RealBuffer made;
  made.memory = op.memory;
  const bool rounded =
      op.memory == Memory::kDevice || op.memory == Memory::kPinned || op.memory == Memory::kPool;
  made.bytes = rounded ? (op.bytes + 31) / 32 * 32 : op.bytes;
  aclError code = ACL_SUCCESS;
  switch (op.memory) {
    case Memory::kDevice:
      code = aclrtMalloc(&made.address, op.bytes, ACL_MEM_MALLOC_HUGE_FIRST);
      break;
    case Memory::kPinned:
      code = aclrtMallocHost(&made.address, op.bytes);
      break;
    case Memory::kRegistered: {
      made.mapped_bytes = (op.bytes + kPage - 1) / kPage * kPage;
      made.address =
          mmap(nullptr, made.mapped_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
      void* seen_by_device = nullptr;
      code = aclrtHostRegister(made.address, op.bytes, ACL_HOST_REGISTER_MAPPED, &seen_by_device);
      break;
    }
    case Memory::kPool:
      code = TakeFromPool(made, op);
      break;
    case Memory::kMapped:
      code = Map(made, op.bytes);
      break;
    case Memory::kPageable:
      made.guarded.assign(op.bytes + 2 * kGuardBytes, kGuard);
      made.address = made.guarded.data() + kGuardBytes;
      break;
  }
  if (code != ACL_SUCCESS) return code;
  const std::vector<std::uint8_t> initial = InitialBytes(op.slot, made.bytes);
  if (op.memory == Memory::kPool) {
    code = FillInOrder(made, initial, StreamAt(op.stream));
  } else if (made.on_device()) {
    code =
        aclrtMemcpy(made.address, initial.size(), initial.data(), initial.size(), ACL_MEMCPY_HOST_TO_DEVICE);
  } else {
    std::memcpy(made.address, initial.data(), initial.size());
  }
  buffers_[op.slot] = std::move(made);
  return code;
}

aclError Executor::Free(const Operation& op) {
  void* const address = At(op.dst);
  switch (op.memory) {
    case Memory::kDevice:
      return op.value == 0 ? aclrtFree(address) : aclrtFreeWithDevSync(address);
    case Memory::kPinned:
      return op.value == 0 ? aclrtFreeHost(address) : aclrtFreeHostWithDevSync(address);
    case Memory::kRegistered: {
      const aclError code = aclrtHostUnregister(address);
      munmap(address, buffers_[op.dst.slot].mapped_bytes);
      return code;
    }
    case Memory::kPool:
      return GiveToPool(address, op);
    case Memory::kMapped:
      return Unmap(buffers_[op.dst.slot]);
    case Memory::kPageable:
      break;
  }
  buffers_[op.dst.slot] = RealBuffer{};
  return ACL_SUCCESS;
}

aclError Executor::PreparePool(int device) {
  RealPool& own = pools_[device];
  const std::lock_guard lock(mutex_);
  if (own.pool != nullptr) return ACL_SUCCESS;
  aclrtMemPoolProps props = {};
  props.location = {static_cast<std::uint32_t>(device), ACL_MEM_LOCATION_TYPE_DEVICE};
  return aclrtMemPoolCreate(&own.pool, &props);
}

aclError Executor::TakeFromPool(RealBuffer& made, const Operation& op) {
  made.device = model_.current_device();
  if (const aclError code = PreparePool(made.device); code != ACL_SUCCESS) return code;
  return aclrtMemPoolMallocAsync(&made.address, op.bytes, pools_[made.device].pool, StreamAt(op.stream));
}

aclError Executor::FillInOrder(const RealBuffer& made, const std::vector<std::uint8_t>& initial,
                               aclrtStream stream) {
  void* pattern = nullptr;
  if (const aclError code = aclrtMallocHost(&pattern, initial.size()); code != ACL_SUCCESS) return code;
  std::memcpy(pattern, initial.data(), initial.size());
  {
    const std::lock_guard lock(mutex_);
    patterns_.push_back(pattern);
  }
  return aclrtMemcpyAsync(made.address, initial.size(), pattern, initial.size(), ACL_MEMCPY_HOST_TO_DEVICE,
                          stream);
}

aclError Executor::GiveToPool(void* address, const Operation& op) {
  if (op.value != 0) return aclrtFree(address);
  const int device = model_.current_device();
  // Only what would have succeeded is led astray: the missing order must show in the bytes.
  const bool good = op.stream != kNull && model_.stream(op.stream).live &&
                    model_.stream(op.stream).context == device && model_.current_context() == device;
  if (sabotage_ != Sabotage::kGiveOutOfOrder || !good)
    return aclrtMemPoolFreeAsync(address, StreamAt(op.stream));
  RealPool& own = pools_[device];
  if (own.idle == nullptr) {
    if (const aclError code = aclrtCreateStream(&own.idle); code != ACL_SUCCESS) return code;
  }
  return aclrtMemPoolFreeAsync(address, own.idle);
}

aclError Executor::Map(RealBuffer& made, std::size_t bytes) {
  aclrtPhysicalMemProp prop = {};
  prop.memAttr = ACL_HBM_MEM_HUGE;
  prop.location = {static_cast<std::uint32_t>(model_.current_device()), ACL_MEM_LOCATION_TYPE_DEVICE};
  void* range = nullptr;
  aclError code = aclrtReserveMemAddress(&range, 2 * kPiece, 0, nullptr, 0);
  made.range = static_cast<std::byte*>(range);
  for (std::size_t i = 0; i < made.pieces.size() && code == ACL_SUCCESS; ++i)
    code = aclrtMallocPhysical(&made.pieces[i], kPiece, &prop, 0);
  if (code == ACL_SUCCESS) code = MapPieces(made);
  // Half of it before the seam, in whole pages.
  made.address = made.range + kPiece - (bytes / 2 + kPage - 1) / kPage * kPage;
  return code;
}

aclError Executor::MapPieces(RealBuffer& buffer) {
  for (std::size_t i = 0; i < buffer.pieces.size(); ++i) {
    const aclError code = aclrtMapMem(buffer.range + i * kPiece, kPiece, 0, buffer.pieces[i], 0);
    if (code == ACL_SUCCESS) continue;
    for (std::size_t k = 0; k < i; ++k)
      aclrtUnmapMem(buffer.range + k * kPiece);
    return code;
  }
  buffer.unmapped = false;
  return ACL_SUCCESS;
}

aclError Executor::UnmapPieces(RealBuffer& buffer) {
  for (std::size_t i = 0; i < buffer.pieces.size(); ++i) {
    if (const aclError code = aclrtUnmapMem(buffer.range + i * kPiece); code != ACL_SUCCESS) return code;
  }
  buffer.unmapped = true;
  return ACL_SUCCESS;
}

aclError Executor::Unmap(RealBuffer& buffer) {
  if (!buffer.unmapped) {
    if (const aclError code = UnmapPieces(buffer); code != ACL_SUCCESS) return code;
  }
  for (const aclrtDrvMemHandle piece : buffer.pieces) {
    if (const aclError code = aclrtFreePhysical(piece); code != ACL_SUCCESS) return code;
  }
  return aclrtReleaseMemAddress(buffer.range);
}

aclError Executor::SetAccess(const Operation& op) {
  static constexpr aclrtMemAccessFlags kFlags[] = {ACL_RT_MEM_ACCESS_FLAGS_NONE, ACL_RT_MEM_ACCESS_FLAGS_READ,
                                                   ACL_RT_MEM_ACCESS_FLAGS_READWRITE};
  aclrtMemAccessDesc desc = {};
  desc.flags = kFlags[op.value];
  desc.location = {static_cast<std::uint32_t>(op.device), ACL_MEM_LOCATION_TYPE_DEVICE};
  aclError code = ACL_SUCCESS;
  for (std::size_t i = 0; i < 2 && code == ACL_SUCCESS; ++i)
    code = aclrtMemSetAccess(buffers_[op.slot].range + i * kPiece, kPiece, &desc, 1);
  return code;
}

aclError Executor::EndPools() {
  for (int device = 0; device < kDevices; ++device) {
    RealPool& own = pools_[device];
    if (own.pool == nullptr) continue;
    if (const aclError code = aclrtSetDevice(device); code != ACL_SUCCESS) return code;
    if (const aclError code = aclrtMemPoolDestroy(own.pool); code != ACL_SUCCESS) return code;
    if (own.idle != nullptr) aclrtDestroyStreamForce(own.idle);
    own = {};
  }
  return ACL_SUCCESS;
}

}  // namespace sampan::model
