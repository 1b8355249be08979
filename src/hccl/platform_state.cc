// What the library knows for the whole process.
#include "hccl/platform_state.h"

namespace sampan::plf {

HcclResult Platform::Call(const std::atomic<TaskCallBack>& callback, const HcclDispatcher& handle,
                          hccl::Stream& stream) {
  const TaskCallBack call = callback.load();
  if (call == nullptr) return HCCL_SUCCESS;
  const HcclResult result = call(handle, stream);
  callback_result_.store(result);
  return result;
}

Platform& ThePlatform() {
  static Platform* const platform = new Platform;
  return *platform;
}

}  // namespace sampan::plf
