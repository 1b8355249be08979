// Names the place in the program that a call came from.
#include "core/memory/origin/backtrace.h"

#include <dlfcn.h>
#include <execinfo.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <mutex>
#include <span>
#include <string_view>

#include "base/error/text.h"

namespace sampan::core {
namespace {

constexpr std::size_t kMaxFrames = 32;

/// Asks the dynamic linker for the module of an address.
Dl_info ModuleOf(std::uintptr_t address) {
  Dl_info info{};
  ::dladdr(reinterpret_cast<void*>(address), &info);
  return info;
}

/// True for our libraries. If the runtime is linked statically, our frames cannot be recognized.
bool IsRuntime(const Dl_info& module) {
  std::string_view name = module.dli_fname != nullptr ? module.dli_fname : "";
  name.remove_prefix(name.rfind('/') + 1);
  return name.starts_with("libacl_rt.so") || name.starts_with("libascendcl.so") ||
         name.starts_with("libhccl_plf.so") || name.starts_with("libhccl.so");
}

}  // namespace

std::string Backtraces::Describe(std::uintptr_t instruction) {
  const Dl_info module = ModuleOf(instruction);
  std::string line = lines_.Describe(instruction);
  if (line.empty() && module.dli_sname != nullptr) line = module.dli_sname;
  if (module.dli_fname == nullptr) return Text("    ", line, "[", Hex(instruction), "]\n");
  const std::uintptr_t offset = instruction - reinterpret_cast<std::uintptr_t>(module.dli_fbase);
  return Text("    ", line, line.empty() ? "" : " ", "(", std::string_view(module.dli_fname), "+",
              Hex(offset), ")\n");
}

std::string Backtraces::Find(std::uintptr_t instruction) {
  const std::lock_guard lock(mutex_);
  const auto found = known_.find(instruction);
  if (found != known_.end()) return found->second;
  return known_.emplace(instruction, Describe(instruction)).first->second;
}

std::string Backtraces::Current() {
  std::array<void*, kMaxFrames> storage{};
  const int count = ::backtrace(storage.data(), static_cast<int>(storage.size()));
  const std::span<void* const> frames(storage.data(), static_cast<std::size_t>(count));
  // A frame has the return address. The call is the instruction before it.
  const auto call = [](void* frame) { return reinterpret_cast<std::uintptr_t>(frame) - 1; };
  constexpr std::size_t kFramesAtLeastOurs = 2;  // this function and its caller
  auto frame = std::find_if_not(
      frames.begin() + static_cast<std::ptrdiff_t>(std::min(frames.size(), kFramesAtLeastOurs)), frames.end(),
      [&](void* each) { return IsRuntime(ModuleOf(call(each))); });
  std::string text;
  for (; frame != frames.end(); ++frame)
    text += Find(call(*frame));
  return text;
}

}  // namespace sampan::core
