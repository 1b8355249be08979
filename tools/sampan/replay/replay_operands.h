// What some copies of a replay need besides their memory: operands in device memory, a dispatcher.
#pragma once

#include <acl/acl.h>

#include <map>
#include <tuple>
#include <vector>

#include "hccl/platform/dispatcher.h"

namespace sampan::tool {

/// Source and destination, in this process.
struct ReplayEnds {
  void* dst;
  void* src;
  std::size_t bytes;
};

/// Caches operands for copies with the same ends. Not thread-safe: one step at a time. The current device
/// must be the stream's.
class ReplayOperands {
 public:
  ReplayOperands() = default;
  ~ReplayOperands();
  ReplayOperands(const ReplayOperands&) = delete;
  ReplayOperands& operator=(const ReplayOperands&) = delete;

  /// Gives a descriptor of the copy. On failure it is null.
  aclError Descriptor(const ReplayEnds& ends, void*& descriptor);
  /// Two cells with the addresses of destination and source, written in the order of the stream.
  aclError Cells(const ReplayEnds& ends, aclrtStream stream, void**& cells);
  /// For reductions that only HCCL has. Null if it cannot be created.
  HcclDispatcher Dispatcher();

 private:
  aclError Allocate(std::size_t bytes, void*& block);

  std::vector<void*> blocks_;
  std::map<std::tuple<void*, void*, std::size_t>, void*> descriptors_;
  std::map<std::tuple<void*, void*, aclrtStream>, void**> cells_;
  HcclDispatcher dispatcher_ = nullptr;
};

}  // namespace sampan::tool
