// Memory that the program registers with communicators: windows, and ranges of addresses with their active
// parts.
#include "collectives/comm/user_memory.h"

#include <algorithm>

#include "base/error/text.h"
#include "collectives/comm/registry.h"

namespace sampan::collectives {
namespace {

constexpr std::uintptr_t kWindowHandleBits = 0xC0330113D0000000;

std::string Describe(const Extent& extent) {
  return Text("[", Hex(std::uintptr_t{extent.begin}), ", +", extent.bytes, " bytes]");
}

Status Wrong(const std::string& text) {
  return {Code::kParamInvalid, text};
}

template <typename Extents, typename Condition>
std::optional<Extent> FindExtent(const Extents& extents, Condition condition) {
  for (const auto& [begin, bytes] : extents) {
    if (condition(Extent{begin, bytes})) return Extent{begin, bytes};
  }
  return std::nullopt;
}

}  // namespace

void UserMemory::DropOldWindows() {
  std::erase_if(windows_, [](const auto& each) { return TheRegistry().Find(each.second.comm) == nullptr; });
}

void* UserMemory::AddWindow(const Window& window) {
  const std::lock_guard lock(mutex_);
  DropOldWindows();
  auto* const handle = reinterpret_cast<void*>(kWindowHandleBits + kHandleStep * next_window_++);
  windows_.emplace(handle, window);
  return handle;
}

std::optional<UserMemory::Window> UserMemory::FindWindow(void* handle) {
  const std::lock_guard lock(mutex_);
  DropOldWindows();
  const auto found = windows_.find(handle);
  return found == windows_.end() ? std::nullopt : std::optional(found->second);
}

void UserMemory::RemoveWindow(void* handle) {
  const std::lock_guard lock(mutex_);
  windows_.erase(handle);
}

void* UserMemory::SymmetricWindowWith(HcclComm comm, const Extent& part) {
  const std::lock_guard lock(mutex_);
  const auto found = std::find_if(windows_.begin(), windows_.end(), [&](const auto& each) {
    const Window& window = each.second;
    return window.comm == comm && window.is_symmetric && window.extent.Holds(part);
  });
  return found == windows_.end() ? nullptr : found->first;
}

Status UserMemory::AddRange(const Extent& range) {
  const std::lock_guard lock(mutex_);
  const auto other = FindExtent(ranges_, [&](const Extent& each) { return each.Overlaps(range); });
  if (other)
    return Wrong(Text("the range ", Describe(range), " overlaps ", Describe(*other), ", which is set"));
  ranges_[range.begin] = range.bytes;
  return {};
}

Status UserMemory::RemoveRange(u64 begin) {
  const std::lock_guard lock(mutex_);
  const auto range = ranges_.find(begin);
  if (range == ranges_.end()) return Wrong(Text("no range is set at ", Hex(std::uintptr_t{begin})));
  const Extent extent{range->first, range->second};
  const auto part = FindExtent(active_, [&](const Extent& each) { return extent.Holds(each); });
  if (part)
    return Wrong(Text("the range ", Describe(extent), " has active memory ", Describe(*part),
                      ": call HcclCommDeactivateCommMemory first"));
  ranges_.erase(range);
  return {};
}

Status UserMemory::Activate(const Extent& part) {
  const std::lock_guard lock(mutex_);
  if (!FindExtent(ranges_, [&](const Extent& each) { return each.Holds(part); }))
    return Wrong(Text("no range that HcclCommSetMemoryRange has set holds ", Describe(part)));
  const auto other = FindExtent(active_, [&](const Extent& each) { return each.Overlaps(part); });
  if (other)
    return Wrong(Text("the memory ", Describe(part), " overlaps ", Describe(*other), ", which is active"));
  active_[part.begin] = part.bytes;
  return {};
}

Status UserMemory::Deactivate(u64 begin) {
  const std::lock_guard lock(mutex_);
  if (active_.erase(begin) != 0) return {};
  return Wrong(Text("no memory is active at ", Hex(std::uintptr_t{begin})));
}

UserMemory& TheUserMemory() {
  static auto* const memory = new UserMemory;
  return *memory;
}

}  // namespace sampan::collectives
