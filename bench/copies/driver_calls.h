// Calls of the CUDA driver's that the command makes itself.
#pragma once

#include <string>

#include "backend/cuda/driver.h"

namespace bench {

/// Loaded once; throws a Failure where there is none.
const sampan::cuda::Driver& TheDriver();

/// Throws a Failure that names the call and the driver's reason.
void RequireOfDriver(sampan::cuda::CuResult result, const char* call);

#define BENCH_DRIVER(call) ::bench::RequireOfDriver((call), #call)

/// The name of the first GPU.
std::string GpuName();
int GpuCount();

/// The context that all of the process uses on that GPU, the runtime too.
sampan::cuda::CuContext ContextOf(int gpu);

/// The calling thread uses that context for as long as this lives.
class CurrentContext {
 public:
  explicit CurrentContext(sampan::cuda::CuContext context);
  ~CurrentContext();
  CurrentContext(const CurrentContext&) = delete;
  CurrentContext& operator=(const CurrentContext&) = delete;
};

}  // namespace bench
