// Memory that the program registers with communicators: windows, and ranges of addresses with their active
// parts.
#pragma once

#include <map>
#include <mutex>
#include <optional>

#include "base/error/status.h"
#include "hccl/base.h"
#include "hccl/hccl_types.h"

namespace sampan::collectives {

/// Addresses of the program.
struct Extent {
  u64 begin = 0, bytes = 0;

  bool Holds(const Extent& part) const {
    return part.begin >= begin && part.bytes <= bytes && part.begin - begin <= bytes - part.bytes;
  }
  bool Overlaps(const Extent& other) const {
    return begin < other.begin ? other.begin - begin < bytes : begin - other.begin < other.bytes;
  }
};

/// Thread-safe. Operators access all memory where it lies, so they do not ask. It is there for the calls that
/// depend on one another. The windows of a destroyed communicator are no windows.
class UserMemory {
 public:
  struct Window {
    HcclComm comm;
    Extent extent;
    bool is_symmetric;
  };

  /// Returns a handle that is never reused.
  void* AddWindow(const Window& window);
  std::optional<Window> FindWindow(void* handle);
  void RemoveWindow(void* handle);
  /// The handle of the communicator's symmetric window that holds the part; NULL if there is none.
  void* SymmetricWindowWith(HcclComm comm, const Extent& part);

  // Ranges belong to the process, as in the original. Each call fails with a message and changes nothing
  // then.
  Status AddRange(const Extent& range);
  Status RemoveRange(u64 begin);
  Status Activate(const Extent& part);
  Status Deactivate(u64 begin);

 private:
  using Extents = std::map<u64, u64>;  // bytes by begin

  void DropOldWindows();

  std::mutex mutex_;
  std::map<void*, Window> windows_;
  std::uintptr_t next_window_ = 1;
  Extents ranges_, active_;
};

UserMemory& TheUserMemory();

}  // namespace sampan::collectives
