// The places in the program from which calls came, as return addresses.
#include "check/findings/stacks.h"

#include <execinfo.h>
#include <link.h>
#include <sys/mman.h>
#include <unwind.h>

#include <algorithm>
#include <cstring>
#include <string_view>

#include "check/findings/thread_owned.h"

namespace sampan::check {
namespace {

struct CodeRange {
  std::atomic<std::uintptr_t> begin{0}, end{0};

  bool Holds(std::uintptr_t address) const {
    return address >= begin.load(std::memory_order_relaxed) && address < end.load(std::memory_order_relaxed);
  }
};
constexpr std::array<std::string_view, 4> kOwnLibraries = {"libacl_rt.so", "libascendcl.so", "libhccl_plf.so",
                                                           "libhccl.so"};
constinit std::array<CodeRange, 4> own_code;  // of these
/// The C library, whose memcpy accesses memory for the program.
constinit CodeRange c_library;

int FindOwnModule(dl_phdr_info* module, std::size_t /*bytes*/, void* /*argument*/) {
  std::string_view name = module->dlpi_name;
  name.remove_prefix(name.rfind('/') + 1);
  const bool c = name.starts_with("libc.so");
  const auto* const own = std::find_if(kOwnLibraries.begin(), kOwnLibraries.end(),
                                       [&](std::string_view each) { return name.starts_with(each); });
  if (!c && own == kOwnLibraries.end()) return 0;
  for (int i = 0; i < module->dlpi_phnum; ++i) {
    const auto& segment = module->dlpi_phdr[i];
    if (segment.p_type != PT_LOAD || (segment.p_flags & PF_X) == 0) continue;
    CodeRange& range = c ? c_library : own_code[static_cast<std::size_t>(own - kOwnLibraries.begin())];
    range.begin.store(module->dlpi_addr + segment.p_vaddr);
    range.end.store(module->dlpi_addr + segment.p_vaddr + segment.p_memsz);
  }
  return 0;
}

bool IsOwn(std::uintptr_t address) {
  return std::any_of(own_code.begin(), own_code.end(),
                     [&](const CodeRange& code) { return code.Holds(address); });
}

template <typename T>
T* Reserve(std::size_t count) {
  void* const memory = ::mmap(nullptr, count * sizeof(T), PROT_READ | PROT_WRITE,
                              MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  return memory == MAP_FAILED ? nullptr : static_cast<T*>(memory);
}

constexpr std::size_t kMaxRaw = 40;

/// Drops the frames before the first of the program; a program that is linked with us keeps all.
void KeepProgram(std::span<void* const> raw, std::size_t from, Stacks::Captured& stack) {
  std::size_t first = from;
  while (first < raw.size() && IsOwn(reinterpret_cast<std::uintptr_t>(raw[first]) - 1))
    ++first;
  if (first == raw.size()) first = from;
  stack.count = 0;
  for (; first < raw.size() && stack.count < Stacks::kMaxFrames; ++first)
    stack.frames[stack.count++] = reinterpret_cast<std::uintptr_t>(raw[first]) - 1;
}

/// A stack as it was unwound: where its return addresses lay, and which they were. It is the same stack again
/// if they are still there, seen from the same frame. That is read in a few loads; unwinding takes a
/// microsecond for a few frames.
struct SeenStack {
  const void* frame = nullptr;  // null: none
  std::size_t count = 0;
  std::array<const std::uintptr_t*, kMaxRaw> slots{};
  std::array<std::uintptr_t, kMaxRaw> returns{};
  Stacks::Captured stack;

  bool IsStillThere(const void* from) const {
    if (frame != from) return false;
    for (std::size_t i = 0; i < count; ++i) {
      if (*slots[i] != returns[i]) return false;
    }
    return true;
  }
};
/// The last stacks of a thread.
struct SeenStacks {
  std::array<SeenStack, 8> all;
  std::size_t next = 0;
};

struct Unwinding {
  std::array<void*, kMaxRaw> frames;
  std::array<const std::uintptr_t*, kMaxRaw> slots;
  std::size_t count = 0;
  bool knows_slots = true;
};

_Unwind_Reason_Code AddFrame(_Unwind_Context* context, void* argument) {
  auto& unwinding = *static_cast<Unwinding*>(argument);
  const std::uintptr_t address = _Unwind_GetIP(context);
  if (unwinding.count == kMaxRaw || address == 0) return _URC_END_OF_STACK;
#if defined(__x86_64__)
  // A call has pushed the return address below the frame that it belongs to.
  const auto* const slot = reinterpret_cast<const std::uintptr_t*>(_Unwind_GetCFA(context)) - 1;
  if (unwinding.count != 0 && *slot != address) unwinding.knows_slots = false;
  unwinding.slots[unwinding.count] = slot;
#else
  unwinding.knows_slots = false;
#endif
  unwinding.frames[unwinding.count++] = reinterpret_cast<void*>(address);
  return _URC_NO_REASON;
}

}  // namespace

void FindOwnLibraries() noexcept {
  ::dl_iterate_phdr(&FindOwnModule, nullptr);
}

bool Stacks::Start() noexcept {
  entries_ = Reserve<Entry>(kMaxStacks);
  slots_ = Reserve<std::uint32_t>(2 * kMaxStacks);
  words_ = Reserve<std::uintptr_t>(kMaxWords);
  FindOwnLibraries();
  // The C library loads its unwinder at the first use, which allocates; CaptureAt runs in handlers of
  // signals.
  std::array<void*, 1> frame{};
  ::backtrace(frame.data(), static_cast<int>(frame.size()));
  return entries_ != nullptr && slots_ != nullptr && words_ != nullptr;
}

[[gnu::noinline]] void Stacks::Capture(Captured& stack) noexcept {
  const void* const frame = __builtin_frame_address(0);
  SeenStacks* const seen = ThreadOwned<SeenStacks>();  // too large for the thread's own storage
  for (std::size_t i = 0; seen != nullptr && i < seen->all.size(); ++i) {
    if (!seen->all[i].IsStillThere(frame)) continue;
    stack = seen->all[i].stack;
    return;
  }
  Unwinding unwinding;  // NOLINT(cppcoreguidelines-pro-type-member-init): AddFrame fills it
  _Unwind_Backtrace(&AddFrame, &unwinding);
  KeepProgram({unwinding.frames.data(), unwinding.count}, 1, stack);
  if (seen == nullptr || !unwinding.knows_slots || unwinding.count < 2) return;
  SeenStack& kept = seen->all[seen->next++ % seen->all.size()];
  kept.frame = frame;
  kept.count = unwinding.count - 1;  // the first is in this function
  for (std::size_t i = 0; i < kept.count; ++i) {
    kept.slots[i] = unwinding.slots[i + 1];
    kept.returns[i] = reinterpret_cast<std::uintptr_t>(unwinding.frames[i + 1]);
  }
  kept.stack = stack;
}

void Stacks::CaptureAt(std::uintptr_t instruction, Captured& stack) noexcept {
  std::array<void*, kMaxRaw> raw;  // NOLINT(cppcoreguidelines-pro-type-member-init): backtrace fills it
  const int count = ::backtrace(raw.data(), static_cast<int>(raw.size()));
  const std::span<void* const> frames(raw.data(), static_cast<std::size_t>(std::max(count, 0)));
  // The frames before it are the handler's. The interrupted frame has the instruction itself.
  auto at = std::find(frames.begin(), frames.end(), reinterpret_cast<void*>(instruction));
  stack.count = 0;
  if (at == frames.end()) {
    stack.frames[stack.count++] = instruction;
    return;
  }
  const auto is_called = [](void* frame) {
    const auto address = reinterpret_cast<std::uintptr_t>(frame) - 1;
    return IsOwn(address) || c_library.Holds(address);
  };
  const bool in_program = !is_called(*at);
  const auto first = std::find_if_not(at, frames.end(), is_called);
  if (first != frames.end()) at = first;
  for (; at != frames.end() && stack.count < kMaxFrames; ++at)
    stack.frames[stack.count++] = reinterpret_cast<std::uintptr_t>(*at) - 1;
  if (in_program) stack.frames[0] = instruction;
}

std::uint32_t Stacks::Intern(const Captured& stack) noexcept {
  std::uint64_t hash = 14695981039346656037ULL;
  for (std::size_t i = 0; i < stack.count; ++i)
    hash = (hash ^ stack.frames[i]) * 1099511628211ULL;
  hash ^= hash >> 29;
  for (std::size_t slot = hash % (2 * kMaxStacks);; slot = (slot + 1) % (2 * kMaxStacks)) {
    const std::uint32_t number = slots_[slot];
    if (number != 0) {
      const Entry& entry = entries_[number];
      if (entry.hash == hash && entry.count == stack.count &&
          std::equal(stack.frames.begin(), stack.frames.begin() + stack.count, words_ + entry.first))
        return number;
      continue;
    }
    if (stacks_ == kMaxStacks || used_words_ + stack.count > kMaxWords) return 0;
    entries_[stacks_] = {hash, static_cast<std::uint32_t>(used_words_),
                         static_cast<std::uint32_t>(stack.count)};
    std::copy_n(stack.frames.begin(), stack.count, words_ + used_words_);
    used_words_ += stack.count;
    slots_[slot] = static_cast<std::uint32_t>(stacks_);
    return static_cast<std::uint32_t>(stacks_++);
  }
}

std::span<const std::uintptr_t> Stacks::Frames(std::uint32_t stack) const noexcept {
  if (stack == 0) return {};
  return {words_ + entries_[stack].first, entries_[stack].count};
}

}  // namespace sampan::check
