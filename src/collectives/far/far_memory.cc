// Memory between hosts, by the keys of aclrtIpcMemGetExportKey: this rank's for others, and theirs.
#include "collectives/far/far_memory.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <iterator>
#include <map>

#include "base/error/text.h"

namespace sampan::collectives {
namespace {

std::string LastMessage() {
  const char* const message = aclGetRecentErrMsg();
  return message != nullptr ? message : "";
}

/// The imports of this process. The ranks of a process share one, because a key is closed by its text.
/// Thread-safe.
class Imports {
 public:
  Result<KeyedMemoryUse> Open(const std::string& key) {
    const std::lock_guard lock(mutex_);
    std::weak_ptr<const KeyedMemory>& known = known_[key];
    if (KeyedMemoryUse use = known.lock()) return use;
    void* address = nullptr;
    void* base = nullptr;
    std::size_t bytes = 0;
    if (aclrtIpcMemImportByKey(&address, key.c_str(), 0) != ACL_SUCCESS ||
        aclrtMemGetAddressRange(address, &base, &bytes) != ACL_SUCCESS) {
      known_.erase(key);
      return Error{Code::kTaskTimeout, LastMessage()};
    }
    auto made = std::make_shared<const KeyedMemory>(key, static_cast<std::byte*>(base), bytes);
    known = made;
    std::erase_if(known_, [](const auto& each) { return each.second.expired(); });
    return KeyedMemoryUse(std::move(made));
  }

 private:
  std::mutex mutex_;
  std::map<std::string, std::weak_ptr<const KeyedMemory>> known_;
};

Imports& TheImports() {
  static auto* const imports = new Imports;  // communicators may be left at the end of the process
  return *imports;
}

}  // namespace

Status FarMemory::Export(const DeviceRange& range, u64 bytes, FarRange& far, KeyedMemoryUse& use) {
  const std::lock_guard lock(mutex_);
  auto found = std::find_if(exports_.begin(), exports_.end(),
                            [&](const auto& each) { return each.first == range.allocation; });
  if (found == exports_.end()) {
    void* base = nullptr;
    std::size_t whole = 0;
    std::array<char, sizeof(far.key)> key{};
    if (aclrtMemGetAddressRange(const_cast<void*>(range.address), &base, &whole) != ACL_SUCCESS ||
        aclrtIpcMemGetExportKey(base, whole, key.data(), key.size(),
                                ACL_RT_IPC_MEM_EXPORT_FLAG_DISABLE_PID_VALIDATION) != ACL_SUCCESS)
      return {Code::kFeatureNotSupport, LastMessage()};
    exports_.emplace_front(range.allocation, std::make_shared<const KeyedMemory>(
                                                 key.data(), static_cast<std::byte*>(base), whole));
    if (exports_.size() > kMaxKept) exports_.pop_back();
  } else {
    std::rotate(exports_.begin(), found, std::next(found));
  }
  use = exports_.front().second;
  far = {.offset = static_cast<u64>(static_cast<const std::byte*>(range.address) - use->base()),
         .bytes = bytes};
  use->key().copy(far.key.data(), far.key.size() - 1);
  return {};
}

Result<KeyedMemoryUse> FarMemory::Import(const FarRange& far) {
  const std::string key(far.key.data(), ::strnlen(far.key.data(), far.key.size()));
  {
    const std::lock_guard lock(mutex_);
    const auto found =
        std::find_if(imports_.begin(), imports_.end(), [&](const auto& each) { return each->key() == key; });
    if (found != imports_.end()) {
      std::rotate(imports_.begin(), found, std::next(found));
      return imports_.front();
    }
  }
  auto opened = TheImports().Open(key);
  if (!opened.ok()) return opened;
  const std::lock_guard lock(mutex_);
  imports_.push_front(*opened);
  if (imports_.size() > kMaxKept) imports_.pop_back();
  return opened;
}

}  // namespace sampan::collectives
