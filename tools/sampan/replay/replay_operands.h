// What some copies of a replay want besides their memory: operands in device memory, a dispatcher.
#pragma once

#include <acl/acl.h>

#include <map>
#include <tuple>
#include <vector>

#include "hccl/platform/dispatcher.h"

namespace sampan::tool {

/// From where to where, in this process.
struct ReplayEnds {
  void* dst;
  void* src;
  std::size_t bytes;
};

/// Operands are kept for copies with the same ends. Not thread-safe: steps take turns. The current device
/// must be the stream's.
class ReplayOperands {
 public:
  ReplayOperands() = default;
  ~ReplayOperands();
  ReplayOperands(const ReplayOperands&) = delete;
  ReplayOperands& operator=(const ReplayOperands&) = delete;

  /// A descriptor of the copy; null, with the code, when there is none.
  aclError Descriptor(const ReplayEnds& ends, void*& descriptor);
  /// Two cells with the addresses of destination and source, written in the order of the stream.
  aclError Cells(const ReplayEnds& ends, aclrtStream stream, void**& cells);
  /// For reductions that only HCCL has; null when it cannot be made.
  HcclDispatcher Dispatcher();

 private:
  aclError Allocate(std::size_t bytes, void*& block);

  std::vector<void*> blocks_;
  std::map<std::tuple<void*, void*, std::size_t>, void*> descriptors_;
  std::map<std::tuple<void*, void*, aclrtStream>, void**> cells_;
  HcclDispatcher dispatcher_ = nullptr;
};

}  // namespace sampan::tool
