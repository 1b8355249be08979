// The state of the library in this process.
#include "hccl/platform_state.h"

#include <type_traits>

namespace sampan::hccl {

constinit Platform the_platform;
static_assert(std::is_trivially_destructible_v<Platform>, "it must be usable until the process has exited");

HcclResult Platform::Call(const std::atomic<TaskCallBack>& callback, const HcclDispatcher& handle,
                          ::hccl::Stream& stream) {
  const TaskCallBack call = callback.load();
  if (call == nullptr) return HCCL_SUCCESS;
  const HcclResult result = call(handle, stream);
  callback_result_.store(result);
  return result;
}

}  // namespace sampan::hccl
