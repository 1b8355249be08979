// Calls of the CUDA driver that benchmarks make themselves.
#include "bench/copies/driver_calls.h"

#include <array>

#include "bench/measure/failure.h"

namespace bench {

const sampan::cuda::Driver& TheDriver() {
  static const sampan::cuda::Driver driver = [] {
    auto loaded = sampan::cuda::LoadDriver();
    if (!loaded.ok()) throw Failure(loaded.TakeStatus().error().message);
    return *loaded;
  }();
  return driver;
}

void RequireOfDriver(sampan::cuda::CuResult result, const char* call) {
  if (result == sampan::cuda::cu::kSuccess) return;
  throw Failure(std::string(call) +
                ", which Sampan is compared with, failed: " + sampan::cuda::Describe(TheDriver(), result));
}

std::string GpuName() {
  std::array<char, 256> name{};
  const bool known = TheDriver().DeviceGetName(name.data(), static_cast<int>(name.size()) - 1, 0) ==
                     sampan::cuda::cu::kSuccess;
  return known ? name.data() : "unknown GPU";
}

int GpuCount() {
  int count = 0;
  RequireOfDriver(TheDriver().DeviceGetCount(&count), "cuDeviceGetCount");
  return count;
}

sampan::cuda::CuContext ContextOf(int gpu) {
  sampan::cuda::CuContext context = nullptr;
  RequireOfDriver(TheDriver().PrimaryContextRetain(&context, gpu), "cuDevicePrimaryCtxRetain");
  return context;
}

CurrentContext::CurrentContext(sampan::cuda::CuContext context) {
  RequireOfDriver(TheDriver().ContextPush(context), "cuCtxPushCurrent");
}

CurrentContext::~CurrentContext() {
  sampan::cuda::CuContext context = nullptr;
  TheDriver().ContextPop(&context);
}

}  // namespace bench
