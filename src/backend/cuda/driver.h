// The functions of the CUDA driver that the backend uses, loaded from libcuda.so.1 at run time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "base/error/status.h"

namespace sampan::cuda {

// Only what is used, with the driver's names and values.
using CuResult = int;
using CuDevice = int;
using CuAddress = unsigned long long;
using CuMemoryHandle = unsigned long long;
using CuContext = struct CuContextTag*;
using CuStream = struct CuStreamTag*;
using CuEvent = struct CuEventTag*;
using CuModule = struct CuModuleTag*;
using CuFunction = struct CuFunctionTag*;
using CuGraph = struct CuGraphTag*;
using CuGraphNode = struct CuGraphNodeTag*;
using CuGraphExec = struct CuGraphExecTag*;
using CuHostFunction = void (*)(void*);

namespace cu {
inline constexpr CuResult kSuccess = 0, kInvalidValue = 1, kOutOfMemory = 2, kNotInitialized = 3,
                          kDeinitialized = 4, kDeviceUnavailable = 46, kNoDevice = 100,
                          kEccUncorrectable = 214, kHostMemoryAlreadyRegistered = 712, kNotSupported = 801,
                          kNotReady = 600, kIllegalAddress = 700, kLaunchTimeout = 702, kUnknown = 999;
/// The calling thread's own default stream.
inline const CuStream kThreadStream = reinterpret_cast<CuStream>(2);
// Attributes of a device.
inline constexpr int kMultiprocessors = 16, kMaxPitch = 11, kUnifiedAddressing = 41, kMajor = 75, kMinor = 76,
                     kHostPointersUsable = 91, kVirtualMemory = 102, kReadOnlyRegistration = 113,
                     kPosixHandles = 103, kHostNode = 134, kVirtualHostMemory = 141;
// Flags.
inline constexpr unsigned kStreamNonBlocking = 1, kEventWithoutTime = 2, kRegisterPortable = 1,
                          kRegisterDeviceMap = 2, kRegisterReadOnly = 8;
/// Of streams. The driver takes the highest priority that it has.
inline constexpr int kHighestPriority = -1000;
inline constexpr int kMemoryHost = 1, kMemoryDevice = 2, kAllocationPinned = 1, kLocationDevice = 1,
                     kLocationHostNode = 3, kAccessReadWrite = 3, kHandlePosix = 1, kPointerOrdinal = 9;
}  // namespace cu

struct CuLocation {
  int type, id;
};
struct CuAllocationProperties {
  int type = cu::kAllocationPinned;
  int handle_types = 0;
  CuLocation location{};
  void* unused = nullptr;
  unsigned char flags[8] = {};
};
struct CuAccess {
  CuLocation location;
  int flags;
};
struct CuCopy2d {
  std::size_t src_x, src_y;
  int src_type;
  const void* src_host;
  CuAddress src_device;
  void* src_array;
  std::size_t src_pitch;
  std::size_t dst_x, dst_y;
  int dst_type;
  void* dst_host;
  CuAddress dst_device;
  void* dst_array;
  std::size_t dst_pitch;
  std::size_t width, height;
};
struct CuKernelNode {
  CuFunction function;
  unsigned blocks[3];
  unsigned threads[3];
  unsigned shared_bytes;
  void** arguments;
  void** extra;
  void* kernel;
  CuContext context;
};
struct CuBatchAttributes {
  int source_order = 1;  ///< the source is read in stream order
  CuLocation src{}, dst{};
  unsigned flags = 0;
};

// Member, exported name, parameters. All exist since driver 12.0.
#define SAMPAN_CUDA_FUNCTIONS(X)                                                                            \
  X(Init, "cuInit", unsigned)                                                                               \
  X(DriverGetVersion, "cuDriverGetVersion", int*)                                                           \
  X(GetErrorName, "cuGetErrorName", CuResult, const char**)                                                 \
  X(GetErrorString, "cuGetErrorString", CuResult, const char**)                                             \
  X(DeviceGetCount, "cuDeviceGetCount", int*)                                                               \
  X(DeviceGet, "cuDeviceGet", CuDevice*, int)                                                               \
  X(DeviceGetName, "cuDeviceGetName", char*, int, CuDevice)                                                 \
  X(DeviceGetAttribute, "cuDeviceGetAttribute", int*, int, CuDevice)                                        \
  X(DeviceTotalMem, "cuDeviceTotalMem_v2", std::size_t*, CuDevice)                                          \
  X(DeviceCanAccessPeer, "cuDeviceCanAccessPeer", int*, CuDevice, CuDevice)                                 \
  X(PrimaryContextRetain, "cuDevicePrimaryCtxRetain", CuContext*, CuDevice)                                 \
  X(PrimaryContextReset, "cuDevicePrimaryCtxReset_v2", CuDevice)                                            \
  X(ContextGetCurrent, "cuCtxGetCurrent", CuContext*)                                                       \
  X(ContextSetCurrent, "cuCtxSetCurrent", CuContext)                                                        \
  X(ContextEnablePeer, "cuCtxEnablePeerAccess", CuContext, unsigned)                                        \
  X(ContextPush, "cuCtxPushCurrent_v2", CuContext)                                                          \
  X(ContextPop, "cuCtxPopCurrent_v2", CuContext*)                                                           \
  X(MemGetInfo, "cuMemGetInfo_v2", std::size_t*, std::size_t*)                                              \
  X(MemAlloc, "cuMemAlloc_v2", CuAddress*, std::size_t)                                                     \
  X(MemFree, "cuMemFree_v2", CuAddress)                                                                     \
  X(AddressReserve, "cuMemAddressReserve", CuAddress*, std::size_t, std::size_t, CuAddress,                 \
    unsigned long long)                                                                                     \
  X(AddressFree, "cuMemAddressFree", CuAddress, std::size_t)                                                \
  X(MemCreate, "cuMemCreate", CuMemoryHandle*, std::size_t, const CuAllocationProperties*,                  \
    unsigned long long)                                                                                     \
  X(MemRelease, "cuMemRelease", CuMemoryHandle)                                                             \
  X(MemMap, "cuMemMap", CuAddress, std::size_t, std::size_t, CuMemoryHandle, unsigned long long)            \
  X(MemUnmap, "cuMemUnmap", CuAddress, std::size_t)                                                         \
  X(MemSetAccess, "cuMemSetAccess", CuAddress, std::size_t, const CuAccess*, std::size_t)                   \
  X(AllocationGranularity, "cuMemGetAllocationGranularity", std::size_t*, const CuAllocationProperties*,    \
    int)                                                                                                    \
  X(MemRetainHandle, "cuMemRetainAllocationHandle", CuMemoryHandle*, void*)                                 \
  X(MemExport, "cuMemExportToShareableHandle", void*, CuMemoryHandle, int, unsigned long long)              \
  X(MemImport, "cuMemImportFromShareableHandle", CuMemoryHandle*, void*, int)                               \
  X(PointerGetAttribute, "cuPointerGetAttribute", void*, int, CuAddress)                                    \
  X(HostRegister, "cuMemHostRegister_v2", void*, std::size_t, unsigned)                                     \
  X(HostUnregister, "cuMemHostUnregister", void*)                                                           \
  X(StreamCreate, "cuStreamCreateWithPriority", CuStream*, unsigned, int)                                   \
  X(StreamDestroy, "cuStreamDestroy_v2", CuStream)                                                          \
  X(StreamSynchronize, "cuStreamSynchronize", CuStream)                                                     \
  X(StreamQuery, "cuStreamQuery", CuStream)                                                                 \
  X(StreamWaitEvent, "cuStreamWaitEvent", CuStream, CuEvent, unsigned)                                      \
  X(EventCreate, "cuEventCreate", CuEvent*, unsigned)                                                       \
  X(EventDestroy, "cuEventDestroy_v2", CuEvent)                                                             \
  X(EventRecord, "cuEventRecord", CuEvent, CuStream)                                                        \
  X(EventQuery, "cuEventQuery", CuEvent)                                                                    \
  X(EventSynchronize, "cuEventSynchronize", CuEvent)                                                        \
  X(EventElapsedTime, "cuEventElapsedTime", float*, CuEvent, CuEvent)                                       \
  X(StreamWriteWord, "cuStreamWriteValue64_v2", CuStream, CuAddress, unsigned long long, unsigned)          \
  X(LaunchHostFunction, "cuLaunchHostFunc", CuStream, CuHostFunction, void*)                                \
  X(ModuleLoadData, "cuModuleLoadData", CuModule*, const void*)                                             \
  X(ModuleGetFunction, "cuModuleGetFunction", CuFunction*, CuModule, const char*)                           \
  X(LaunchKernel, "cuLaunchKernel", CuFunction, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, \
    unsigned, CuStream, void**, void**)                                                                     \
  X(GraphCreate, "cuGraphCreate", CuGraph*, unsigned)                                                       \
  X(GraphAddKernel, "cuGraphAddKernelNode_v2", CuGraphNode*, CuGraph, const CuGraphNode*, std::size_t,      \
    const CuKernelNode*)                                                                                    \
  X(GraphInstantiate, "cuGraphInstantiateWithFlags", CuGraphExec*, CuGraph, unsigned long long)             \
  X(GraphSetKernel, "cuGraphExecKernelNodeSetParams_v2", CuGraphExec, CuGraphNode, const CuKernelNode*)     \
  X(GraphLaunch, "cuGraphLaunch", CuGraphExec, CuStream)                                                    \
  X(GraphDestroyExecutable, "cuGraphExecDestroy", CuGraphExec)                                              \
  X(GraphDestroy, "cuGraphDestroy", CuGraph)                                                                \
  X(CopyHostToDevice, "cuMemcpyHtoDAsync_v2", CuAddress, const void*, std::size_t, CuStream)                \
  X(CopyDeviceToHost, "cuMemcpyDtoHAsync_v2", void*, CuAddress, std::size_t, CuStream)                      \
  X(CopyDeviceToDevice, "cuMemcpyDtoDAsync_v2", CuAddress, CuAddress, std::size_t, CuStream)                \
  X(CopyAny, "cuMemcpyAsync", CuAddress, CuAddress, std::size_t, CuStream)                                  \
  X(CopyOutBlocking, "cuMemcpyDtoH_v2_ptds", void*, CuAddress, std::size_t)                                 \
  X(Copy2d, "cuMemcpy2DAsync_v2", const CuCopy2d*, CuStream)                                                \
  X(FillBytes, "cuMemsetD8Async", CuAddress, unsigned char, std::size_t, CuStream)                          \
  X(FillWords, "cuMemsetD32Async", CuAddress, unsigned, std::size_t, CuStream)

/// The driver's functions. Filled once, never unloaded.
struct Driver {
#define SAMPAN_CUDA_MEMBER(member, name, ...) CuResult (*member)(__VA_ARGS__) = nullptr;
  SAMPAN_CUDA_FUNCTIONS(SAMPAN_CUDA_MEMBER)
#undef SAMPAN_CUDA_MEMBER
  /// Null if the driver is older than 12.8.
  CuResult (*CopyBatch)(CuAddress* dsts, CuAddress* srcs, std::size_t* sizes, std::size_t count,
                        CuBatchAttributes* attributes, std::size_t* attribute_starts,
                        std::size_t attribute_count, std::size_t* fail_index, CuStream stream) = nullptr;
  int version = 0;  ///< 12040 is 12.4
};

/// Loads and initializes the driver. The message of a failure says what is missing.
Result<Driver> LoadDriver();

/// "CUDA_ERROR_OUT_OF_MEMORY (out of memory)".
std::string Describe(const Driver& driver, CuResult result);

/// Returns true if the result means that the context is unusable.
bool IsSticky(CuResult result);

/// The error for a failed call, with the code of the public API.
Status Failure(const Driver& driver, CuResult result, std::string_view what);

}  // namespace sampan::cuda
