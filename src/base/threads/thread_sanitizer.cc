// Tells ThreadSanitizer, in programs that are built with it, what the runtime does for them.
#include "base/threads/thread_sanitizer.h"

#include <link.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
#include <unwind.h>

#include <chrono>
#include <utility>

// What ThreadSanitizer's library exports. Weak: null in programs without it.
// NOLINTBEGIN(bugprone-reserved-identifier)
extern "C" {
[[gnu::weak]] void __tsan_acquire(void* key);
[[gnu::weak]] void __tsan_release(void* key);
[[gnu::weak]] void __tsan_read_range_pc(void* begin, std::size_t bytes, void* instruction);
[[gnu::weak]] void __tsan_write_range_pc(void* begin, std::size_t bytes, void* instruction);
[[gnu::weak]] void __tsan_func_entry(void* call);
[[gnu::weak]] void __tsan_func_exit();
[[gnu::weak]] void* __tsan_get_current_fiber();
[[gnu::weak]] void* __tsan_create_fiber(unsigned flags);
[[gnu::weak]] void __tsan_destroy_fiber(void* fiber);
[[gnu::weak]] void __tsan_switch_to_fiber(void* fiber, unsigned flags);
[[gnu::weak]] void __tsan_set_fiber_name(void* fiber, const char* name);
[[gnu::weak]] void AnnotateIgnoreReadsBegin(const char* file, int line);
[[gnu::weak]] void AnnotateIgnoreReadsEnd(const char* file, int line);
[[gnu::weak]] void AnnotateIgnoreSyncBegin(const char* file, int line);
[[gnu::weak]] void AnnotateIgnoreSyncEnd(const char* file, int line);
}
// NOLINTEND(bugprone-reserved-identifier)

namespace sampan::races {
namespace {

#if defined(__SANITIZE_THREAD__)
constexpr bool kInstrumented = true;
#elif defined(__has_feature)
constexpr bool kInstrumented = __has_feature(thread_sanitizer);
#else
constexpr bool kInstrumented = false;
#endif

/// Switching to a fiber does not order what was before it and what comes after.
constexpr unsigned kNoSync = 1;

constinit thread_local bool in_runtime = false;

bool IsComplete() {
  return __tsan_acquire != nullptr && __tsan_release != nullptr && __tsan_read_range_pc != nullptr &&
         __tsan_write_range_pc != nullptr && __tsan_func_entry != nullptr && __tsan_func_exit != nullptr &&
         __tsan_get_current_fiber != nullptr && __tsan_create_fiber != nullptr &&
         __tsan_destroy_fiber != nullptr && __tsan_switch_to_fiber != nullptr &&
         __tsan_set_fiber_name != nullptr && AnnotateIgnoreReadsBegin != nullptr &&
         AnnotateIgnoreReadsEnd != nullptr && AnnotateIgnoreSyncBegin != nullptr &&
         AnnotateIgnoreSyncEnd != nullptr;
}

/// The instructions of this library, by which its frames are told from the program's.
struct OwnCode {
  std::uintptr_t begin = 0, end = 0;

  bool Holds(std::uintptr_t instruction) const { return begin <= instruction && instruction < end; }
};
constinit OwnCode own_code;

int FindOwnCode(dl_phdr_info* module, std::size_t /*bytes*/, void* /*argument*/) {
  const auto here = reinterpret_cast<std::uintptr_t>(&FindOwnCode);
  for (int i = 0; i < module->dlpi_phnum; ++i) {
    const auto& segment = module->dlpi_phdr[i];
    const OwnCode code{module->dlpi_addr + segment.p_vaddr,
                       module->dlpi_addr + segment.p_vaddr + segment.p_memsz};
    if (segment.p_type != PT_LOAD || !code.Holds(here)) continue;
    own_code = code;
    return 1;
  }
  return 0;
}

struct Capturing {
  std::array<void*, 12>& frames;
  std::size_t& count;
  void* last_own = nullptr;
};

_Unwind_Reason_Code CaptureFrame(_Unwind_Context* context, void* argument) {
  auto& [frames, count, last_own] = *static_cast<Capturing*>(argument);
  const std::uintptr_t instruction = ::_Unwind_GetIP(context);
  if (instruction == 0) return _URC_END_OF_STACK;
  auto* const frame = reinterpret_cast<void*>(instruction);
  if (count == 0 && own_code.Holds(instruction)) {
    last_own = frame;
    return _URC_NO_REASON;
  }
  if (count == 0 && last_own != nullptr) frames[count++] = last_own;
  frames[count++] = frame;
  return count == frames.size() ? _URC_END_OF_STACK : _URC_NO_REASON;
}

}  // namespace

void Start() noexcept {
  if (kInstrumented || !IsComplete()) return;
  ::dl_iterate_phdr(&FindOwnCode, nullptr);
  watched.store(true, std::memory_order_relaxed);
}

void Stop() noexcept {
  watched.store(false, std::memory_order_relaxed);
}

bool Enter() noexcept {
  if (in_runtime) return false;
  in_runtime = true;
  AnnotateIgnoreReadsBegin("", 0);  // writes too
  AnnotateIgnoreSyncBegin("", 0);
  return true;
}

bool Leave() noexcept {
  if (!in_runtime) return false;
  AnnotateIgnoreSyncEnd("", 0);
  AnnotateIgnoreReadsEnd("", 0);
  in_runtime = false;
  return true;
}

void TellRelease(const void* key) noexcept {
  const CalledProgram order_of_program;
  __tsan_release(const_cast<void*>(key));
}

void TellAcquire(const void* key) noexcept {
  const CalledProgram order_of_program;
  __tsan_acquire(const_cast<void*>(key));
}

void CallStack::Capture() noexcept {
  count_ = 0;
  Capturing capturing{frames_, count_};
  ::_Unwind_Backtrace(&CaptureFrame, &capturing);
}

Accesses::Accesses(const CallStack* stack) noexcept : stack_(stack), left_(Leave()) {
  if (stack_ == nullptr) return;
  for (std::size_t i = stack_->count(); i > 1; --i)
    __tsan_func_entry(stack_->frame(i - 1));
}

Accesses::~Accesses() {
  for (std::size_t i = 1; stack_ != nullptr && i < stack_->count(); ++i)
    __tsan_func_exit();
  if (left_) Enter();
}

namespace {

/// Newer versions of ThreadSanitizer leave a range at its first race. They do so even if the race is too old
/// to be shown.
constexpr std::size_t kPieceBytes = 4096;
/// Older versions go on, and need much longer for a word of which they reported a race already.
constexpr std::chrono::milliseconds kMaxForPiece{5};

/// The time that the calling thread had a processor: not that of other programs. By the system call, because
/// ThreadSanitizer would take the library function's result for an access of the program.
std::chrono::nanoseconds ProcessorTime() {
  timespec time{};
  ::syscall(SYS_clock_gettime, CLOCK_THREAD_CPUTIME_ID, &time);
  return std::chrono::seconds(time.tv_sec) + std::chrono::nanoseconds(time.tv_nsec);
}

template <typename TellPiece>
void TellPieces(std::uintptr_t address, std::size_t bytes, TellPiece tell) {
  std::chrono::nanoseconds before = bytes > kPieceBytes ? ProcessorTime() : std::chrono::nanoseconds(0);
  while (bytes > kPieceBytes) {
    tell(reinterpret_cast<void*>(address), kPieceBytes);
    address += kPieceBytes;
    bytes -= kPieceBytes;
    const std::chrono::nanoseconds now = ProcessorTime();
    if (now - std::exchange(before, now) > kMaxForPiece) return;
  }
  tell(reinterpret_cast<void*>(address), bytes);
}

}  // namespace

void Accesses::Read(std::uintptr_t address, std::size_t bytes) noexcept {
  TellPieces(address, bytes,
             [&](void* begin, std::size_t size) { __tsan_read_range_pc(begin, size, Instruction()); });
}

void Accesses::Write(std::uintptr_t address, std::size_t bytes) noexcept {
  TellPieces(address, bytes,
             [&](void* begin, std::size_t size) { __tsan_write_range_pc(begin, size, Instruction()); });
}

void* Accesses::Instruction() const {
  const bool is_known = stack_ != nullptr && stack_->count() != 0;
  return is_known ? stack_->frame(0) : __builtin_return_address(0);
}

// A fiber is always in the runtime's code. So in_runtime says the same of a thread and of its fiber.

Fiber::Fiber(const char* name) noexcept : fiber_(__tsan_create_fiber(kNoSync)) {
  __tsan_set_fiber_name(fiber_, name);
  const Scope scope(*this);
  AnnotateIgnoreReadsBegin("", 0);
  AnnotateIgnoreSyncBegin("", 0);
}

Fiber::~Fiber() {
  {
    const Scope scope(*this);
    AnnotateIgnoreSyncEnd("", 0);
    AnnotateIgnoreReadsEnd("", 0);
  }
  __tsan_destroy_fiber(fiber_);
}

Fiber::Scope::Scope(const Fiber& fiber) noexcept : before_(__tsan_get_current_fiber()) {
  __tsan_switch_to_fiber(fiber.fiber_, kNoSync);
}

Fiber::Scope::~Scope() {
  __tsan_switch_to_fiber(before_, kNoSync);
}

}  // namespace sampan::races
