// Memory between hosts, by the keys of aclrtIpcMemGetExportKey: this rank's for others, and theirs.
#pragma once

#include <deque>
#include <memory>
#include <mutex>
#include <string>
#include <utility>

#include "acl/acl.h"
#include "base/error/status.h"
#include "base/platform_bridge.h"
#include "collectives/board/region.h"

namespace sampan::collectives {

/// A whole allocation under a key, exported or imported. The key is closed with its owner.
class KeyedMemory {
 public:
  KeyedMemory(std::string key, std::byte* base, u64 bytes)
      : key_(std::move(key)), base_(base), bytes_(bytes) {}
  ~KeyedMemory() { sampanCloseKey(key_); }
  KeyedMemory(const KeyedMemory&) = delete;
  KeyedMemory& operator=(const KeyedMemory&) = delete;

  const std::string& key() const { return key_; }
  std::byte* base() const { return base_; }
  bool Holds(u64 offset, u64 bytes) const { return offset <= bytes_ && bytes <= bytes_ - offset; }
  bool Holds(const std::byte* address) const { return address >= base_ && address < base_ + bytes_; }

 private:
  const std::string key_;
  std::byte* const base_;
  const u64 bytes_;
};
using KeyedMemoryUse = std::shared_ptr<const KeyedMemory>;

/// Thread-safe. Exports an allocation when it is first used, and keeps the last ones: an import takes
/// milliseconds.
class FarMemory {
 public:
  /// Imports are made in the context.
  explicit FarMemory(aclrtContext context) : context_(context) {}

  aclrtContext context() const { return context_; }
  /// For the calling thread's context. The range is of use to others as long as `use` exists.
  Status Export(const DeviceRange& range, u64 bytes, FarRange& far, KeyedMemoryUse& use);
  /// Blocks until the owner's host has answered. The calling thread must be in the context.
  Result<KeyedMemoryUse> Import(const FarRange& far);
  /// Those that no operator uses are closed.
  void ForgetImports() {
    const std::lock_guard lock(mutex_);
    imports_.clear();
  }

 private:
  static constexpr std::size_t kMaxKept = 256;

  const aclrtContext context_;
  std::mutex mutex_;
  std::deque<std::pair<u64, KeyedMemoryUse>> exports_;  // by the allocation's number; the last used first
  std::deque<KeyedMemoryUse> imports_;                  // the last used first
};

}  // namespace sampan::collectives
