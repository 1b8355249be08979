// Calls of the CUDA driver's that the command makes itself.
#include "tools/sampan/bench/copies/driver_calls.h"

#include <array>

#include "tools/sampan/shared/command_line/failure.h"

namespace sampan::tool {

const cuda::Driver& TheDriver() {
  static const cuda::Driver driver = [] {
    auto loaded = cuda::LoadDriver();
    if (!loaded.ok()) throw Failure(kCheckFailed, loaded.TakeStatus().error().message);
    return *loaded;
  }();
  return driver;
}

void RequireOfDriver(cuda::CuResult result, const char* call) {
  if (result == cuda::cu::kSuccess) return;
  throw Failure(kCheckFailed, std::string(call) + ", which Sampan is compared with, failed: " +
                                  cuda::Describe(TheDriver(), result));
}

std::string GpuName() {
  std::array<char, 256> name{};
  const bool known =
      TheDriver().DeviceGetName(name.data(), static_cast<int>(name.size()) - 1, 0) == cuda::cu::kSuccess;
  return known ? name.data() : "unknown GPU";
}

int GpuCount() {
  int count = 0;
  RequireOfDriver(TheDriver().DeviceGetCount(&count), "cuDeviceGetCount");
  return count;
}

cuda::CuContext ContextOf(int gpu) {
  cuda::CuContext context = nullptr;
  RequireOfDriver(TheDriver().PrimaryContextRetain(&context, gpu), "cuDevicePrimaryCtxRetain");
  return context;
}

CurrentContext::CurrentContext(cuda::CuContext context) {
  RequireOfDriver(TheDriver().ContextPush(context), "cuCtxPushCurrent");
}

CurrentContext::~CurrentContext() {
  cuda::CuContext context = nullptr;
  TheDriver().ContextPop(&context);
}

}  // namespace sampan::tool
