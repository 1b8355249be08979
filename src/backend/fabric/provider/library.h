// libfabric, loaded when it is needed.
#pragma once

#include <rdma/fabric.h>

#include "base/error/status.h"

namespace sampan::fabric {

/// The functions of libfabric that are no members of its objects. The library is never unloaded.
struct Library {
  decltype(&::fi_getinfo) get_info = nullptr;
  decltype(&::fi_freeinfo) free_info = nullptr;
  decltype(&::fi_dupinfo) dup_info = nullptr;
  decltype(&::fi_fabric) open_fabric = nullptr;
  decltype(&::fi_strerror) error_text = nullptr;
  decltype(&::fi_version) version = nullptr;
};

/// Fails with 207000 and the name of the package if the library is not installed. Thread-safe.
Result<Library> LoadLibrary();

}  // namespace sampan::fabric
