// How the bytes of operators travel where the host does not reach device memory: the rank's device moves
// them.
#pragma once

#include <memory>
#include <mutex>

#include "acl/acl.h"
#include "base/error/status.h"
#include "collectives/operators/data_moves.h"

namespace sampan::collectives {

/// Thread-safe. Calls the public functions, in the context in which it was made, on a stream of its own.
/// Reductions need room of their own, because an output may be an input of another rank.
class DeviceMoves {
 public:
  /// For the calling thread's current context.
  static Status Make(std::unique_ptr<DeviceMoves>& made);
  ~DeviceMoves();
  DeviceMoves(const DeviceMoves&) = delete;
  DeviceMoves& operator=(const DeviceMoves&) = delete;

  // As the functions of data_moves.h. The bytes are in place on return.
  Status Combine(ConstPlaces inputs, Places outputs, u64 count, Combination how);
  Status CopyToAll(const std::byte* source, Places places, u64 bytes);

 private:
  DeviceMoves() = default;
  Status CombinePart(ConstPlaces inputs, u64 offset, u64 count, Combination how);

  std::mutex mutex_;  // for the room
  aclrtContext context_ = nullptr;
  aclrtStream stream_ = nullptr;
  void* room_ = nullptr;
};

}  // namespace sampan::collectives
