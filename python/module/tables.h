// The parts of the module: each gives its rows.
#pragma once

#include "binding.h"

namespace sampan::python {

Rows BasicRows();      ///< acl: initialisation, versions, data buffers, numbers
Rows DeviceRows();     ///< acl.rt: devices, contexts, options
Rows StreamRows();     ///< acl.rt: streams, events, notifies, words
Rows MemoryRows();     ///< acl.rt: allocation, registration, virtual memory, sharing
Rows CopyRows();       ///< acl.rt: copies, fills, reductions
Rows CallbackRows();   ///< acl.rt: callbacks, host functions, exceptions
Rows FigureRows();     ///< acl: figures of the chip and the release
Rows SettingRows();    ///< acl.rt: limits and modes that are remembered
Rows TensorRows();     ///< acl: tensor descriptions, which the C library refuses
Rows KernelRows();     ///< acl.rt: binaries and kernels, which it refuses
Rows AllocatorRows();  ///< acl.rt: allocators and the task scheduler, which it refuses
Rows AclUtilRows();    ///< acl.util: bytes, numpy, threads

}  // namespace sampan::python
