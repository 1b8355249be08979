// The functions of the CUDA driver that the backend uses, loaded from libcuda.so.1 at run time.
#include "backend/cuda/driver.h"

#include <dlfcn.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "base/error/text.h"

namespace sampan::cuda {
namespace {

constexpr const char* kLibrary = "libcuda.so.1";
constexpr int kOldestVersion = 12000;

std::string VersionText(int version) {
  return Text(version / 1000, ".", version % 1000 / 10);
}

Status Missing(std::string_view text) {
  return {Code::kDeviceSetupError, Text("SAMPAN_BACKEND=cuda: ", text)};
}

}  // namespace

Result<Driver> LoadDriver() {
  void* const library = ::dlopen(kLibrary, RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    const char* const why = ::dlerror();  // NOLINT(concurrency-mt-unsafe): each thread has its own
    return Missing(Text("there is no NVIDIA driver: ", std::string_view(why != nullptr ? why : kLibrary)));
  }
  Driver driver;
  driver.DriverGetVersion =
      reinterpret_cast<decltype(driver.DriverGetVersion)>(::dlsym(library, "cuDriverGetVersion"));
  if (driver.DriverGetVersion == nullptr || driver.DriverGetVersion(&driver.version) != cu::kSuccess)
    return Missing(Text(kLibrary, " does not say its version"));
  if (driver.version < kOldestVersion) {
    return Missing(Text("the NVIDIA driver supports CUDA ", VersionText(driver.version), ", ",
                        VersionText(kOldestVersion), " or newer is needed"));
  }
#define SAMPAN_CUDA_FIND(member, name, ...)                                          \
  driver.member = reinterpret_cast<decltype(driver.member)>(::dlsym(library, name)); \
  if (driver.member == nullptr) return Missing(Text(kLibrary, " has no function ", name));
  SAMPAN_CUDA_FUNCTIONS(SAMPAN_CUDA_FIND)
#undef SAMPAN_CUDA_FIND
  driver.CopyBatch = reinterpret_cast<decltype(driver.CopyBatch)>(::dlsym(library, "cuMemcpyBatchAsync"));
  const CuResult started = driver.Init(0);
  if (started == cu::kNoDevice) return Missing("the NVIDIA driver finds no GPU");
  if (started != cu::kSuccess) return Missing(Text("cuInit failed: ", Describe(driver, started)));
  return driver;
}

std::string Describe(const Driver& driver, CuResult result) {
  const char* name = nullptr;
  const char* text = nullptr;
  if (driver.GetErrorName(result, &name) != cu::kSuccess || name == nullptr)
    return Text("CUDA error ", result);
  static_cast<void>(driver.GetErrorString(result, &text));
  return Text(std::string_view(name), " (", std::string_view(text != nullptr ? text : "no text"), ")");
}

bool IsSticky(CuResult result) {
  // Illegal accesses, failed launches, hardware faults, a GPU that is gone, a driver that has shut down.
  constexpr std::array kSticky = {cu::kDeinitialized,
                                  cu::kDeviceUnavailable,
                                  cu::kEccUncorrectable,
                                  220,
                                  226,
                                  cu::kIllegalAddress,
                                  cu::kLaunchTimeout,
                                  709,
                                  710,
                                  714,
                                  715,
                                  716,
                                  717,
                                  718,
                                  719,
                                  cu::kUnknown};
  return std::find(kSticky.begin(), kSticky.end(), result) != kSticky.end();
}

Status Failure(const Driver& driver, CuResult result, std::string_view what) {
  Code code = Code::kDriverInternalError;
  if (result == cu::kOutOfMemory) code = Code::kMemoryAllocation;
  if (result == cu::kNotSupported) code = Code::kFeatureNotSupport;
  if (result == cu::kInvalidValue) code = Code::kParamInvalid;
  if (result == cu::kEccUncorrectable) code = Code::kHbmMultiBitEcc;
  if (result == cu::kIllegalAddress) code = Code::kDeviceMemoryError;
  if (result == cu::kLaunchTimeout) code = Code::kTaskTimeout;
  if (result == cu::kDeinitialized || result == cu::kNoDevice || result == cu::kDeviceUnavailable)
    code = Code::kLostHeartbeat;
  return {code, Text(what, ": ", Describe(driver, result))};
}

}  // namespace sampan::cuda
