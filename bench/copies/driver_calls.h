// Calls of the CUDA driver that benchmarks make themselves.
#pragma once

#include <string>

#include "backend/cuda/driver.h"

namespace bench {

/// Loaded once. Throws a Failure if there is no driver.
const sampan::cuda::Driver& TheDriver();

/// Throws a Failure that names the call and the driver's reason.
void RequireOfDriver(sampan::cuda::CuResult result, const char* call);

#define BENCH_DRIVER(call) ::bench::RequireOfDriver((call), #call)

/// The name of the first GPU.
std::string GpuName();
int GpuCount();

/// The context of the process on that GPU. The runtime uses it too.
sampan::cuda::CuContext ContextOf(int gpu);

/// Makes the context current while it exists.
class CurrentContext {
 public:
  explicit CurrentContext(sampan::cuda::CuContext context);
  ~CurrentContext();
  CurrentContext(const CurrentContext&) = delete;
  CurrentContext& operator=(const CurrentContext&) = delete;
};

}  // namespace bench
