// What some copies of a replay need besides their memory: operands in device memory, a dispatcher.
#include "tools/sampan/replay/replay_operands.h"

#include <array>
#include <cstdint>

namespace sampan::tool {

ReplayOperands::~ReplayOperands() {
  for (void* block : blocks_)
    ::aclrtFree(block);
  if (dispatcher_ != nullptr) HcclDispatcherDestroy(dispatcher_);
}

aclError ReplayOperands::Allocate(std::size_t bytes, void*& block) {
  const aclError code = ::aclrtMalloc(&block, bytes, ACL_MEM_MALLOC_HUGE_FIRST);
  if (code == ACL_SUCCESS) blocks_.push_back(block);
  return code;
}

aclError ReplayOperands::Descriptor(const ReplayEnds& ends, void*& descriptor) {
  constexpr aclrtMemcpyKind kKind = ACL_MEMCPY_INNER_DEVICE_TO_DEVICE;
  void*& known = descriptors_[{ends.dst, ends.src, ends.bytes}];
  if (known == nullptr) {
    std::size_t bytes = 0;
    void* made = nullptr;
    aclError code = ::aclrtGetMemcpyDescSize(kKind, &bytes);
    if (code == ACL_SUCCESS) code = Allocate(bytes, made);
    if (code == ACL_SUCCESS)
      code = ::aclrtSetMemcpyDesc(made, kKind, ends.src, ends.dst, ends.bytes, nullptr);
    if (code != ACL_SUCCESS) return code;
    known = made;
  }
  descriptor = known;
  return ACL_SUCCESS;
}

aclError ReplayOperands::Cells(const ReplayEnds& ends, aclrtStream stream, void**& cells) {
  void**& known = cells_[{ends.dst, ends.src, stream}];
  if (known == nullptr) {
    const std::array<void*, 2> addresses = {ends.dst, ends.src};
    void* made = nullptr;
    aclError code = Allocate(sizeof(addresses), made);
    // Writes of values are no copies, so the summary does not count them. Chips without value writes use a
    // copy.
    for (std::size_t i = 0; code == ACL_SUCCESS && i < addresses.size(); ++i)
      code = ::aclrtValueWrite(static_cast<void**>(made) + i, reinterpret_cast<std::uint64_t>(addresses[i]),
                               0, stream);
    if (code == ACL_ERROR_RT_FEATURE_NOT_SUPPORT)
      code = ::aclrtMemcpy(made, sizeof(addresses), addresses.data(), sizeof(addresses),
                           ACL_MEMCPY_HOST_TO_DEVICE);
    if (code != ACL_SUCCESS) return code;
    known = static_cast<void**>(made);
  }
  cells = known;
  return ACL_SUCCESS;
}

HcclDispatcher ReplayOperands::Dispatcher() {
  if (dispatcher_ == nullptr) HcclDispatcherInit(DispatcherType::DISPATCHER_NORMAL, -1, &dispatcher_);
  return dispatcher_;
}

}  // namespace sampan::tool
