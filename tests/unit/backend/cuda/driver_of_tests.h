// A driver without a GPU behind it: enough to open one that has nothing to say, and streams. Tests give it
// what they watch.
#pragma once

#include "backend/cuda/driver.h"

namespace sampan::cuda {

inline Driver DriverOfTests() {
  static int context = 0;
  Driver driver;
  driver.GetErrorName = [](CuResult, const char** name) { return *name = "FAILED", cu::kSuccess; };
  driver.GetErrorString = [](CuResult, const char** text) { return *text = "on order", cu::kSuccess; };
  driver.DeviceGet = [](CuDevice* device, int ordinal) { return *device = ordinal, cu::kSuccess; };
  driver.DeviceGetCount = [](int* count) { return *count = 1, cu::kSuccess; };
  driver.DeviceGetName = [](char* name, int, CuDevice) { return *name = '\0', cu::kSuccess; };
  driver.DeviceGetAttribute = [](int* value, int, CuDevice) { return *value = 9, cu::kSuccess; };
  driver.DeviceTotalMem = [](std::size_t* bytes, CuDevice) { return *bytes = 1 << 30, cu::kSuccess; };
  driver.PrimaryContextRetain = [](CuContext* made, CuDevice) {
    return *made = reinterpret_cast<CuContext>(&context), cu::kSuccess;
  };
  driver.ContextGetCurrent = [](CuContext* current) {
    return *current = reinterpret_cast<CuContext>(&context), cu::kSuccess;
  };
  driver.ContextPush = [](CuContext) { return cu::kSuccess; };
  driver.ContextPop = [](CuContext*) { return cu::kSuccess; };
  driver.ModuleLoadData = [](CuModule*, const void*) { return cu::kSuccess; };
  driver.ModuleGetFunction = [](CuFunction*, CuModule, const char*) { return cu::kSuccess; };
  driver.StreamCreate = [](CuStream*, unsigned, int) { return cu::kSuccess; };
  driver.StreamDestroy = [](CuStream) { return cu::kSuccess; };
  driver.StreamSynchronize = [](CuStream) { return cu::kSuccess; };
  return driver;
}

}  // namespace sampan::cuda
