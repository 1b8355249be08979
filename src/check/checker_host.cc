// The checker's part for accesses of the host. Runs in signal handlers, so nothing here allocates.
#include <algorithm>
#include <utility>

#include "check/checker.h"
#include "check/host/page_guard.h"
#include "check/host/string_functions.h"

namespace sampan::check {
namespace {

/// After so many reported accesses a page stays open until the next copy: a loop over a whole buffer would
/// take long, and says nothing new.
constexpr std::uint32_t kMaxHits = 256;

/// For code that runs in a signal handler: true if the thread itself holds the lock.
bool IsInChecker() {
  return ThisThreadMark().in_checker;
}

Range Common(const Range& one, const Range& other) {
  const std::uint64_t begin = std::max(one.begin, other.begin);
  return {begin, std::max(begin, std::min(one.end, other.end))};
}

}  // namespace

Range GuardablePages(const CheckedMemory& memory) {
  const Range all{memory.facts.address, memory.end()};
  if (!memory.is_registered()) return PagesAround(all);
  return {all.begin, (all.begin + memory.facts.bytes) / HostPageBytes() * HostPageBytes()};
}

PageLevel Checker::NeededLevel(const CheckedMemory& memory, const Range& pages) const noexcept {
  const std::uint64_t address = memory.facts.address;
  const Range offsets{std::max(pages.begin, address) - address, pages.end - address};
  const auto any = [&](Use use) {
    const TaskAccess access{0, {offsets}, use};
    return memory.history.FindConflict(access, 0, 0, order_.host()).site != nullptr;
  };
  if (any(Use::kRead)) return PageLevel::kNothing;
  return any(Use::kWrite) ? PageLevel::kRead : PageLevel::kAll;
}

void Checker::NoteGuard(CheckedMemory& memory, const TaskAccess& access) {
  const std::uint64_t address = memory.facts.address;
  const Range accessed{address + access.shape.range.begin, address + access.shape.range.end};
  const Range pages = Common(PagesAround(accessed), GuardablePages(memory));
  if (pages.bytes() == 0) return;
  if (memory.to_guard_level == PageLevel::kAll) {
    memory.to_guard = pages;
    to_guard_.push_back(&memory);
  } else {
    memory.to_guard = {std::min(memory.to_guard.begin, pages.begin),
                       std::max(memory.to_guard.end, pages.end)};
  }
  const PageLevel level = access.use == Use::kWrite ? PageLevel::kNothing : PageLevel::kRead;
  memory.to_guard_level = std::max(memory.to_guard_level, level);
}

void Checker::GuardNoted() {
  for (CheckedMemory* const memory : to_guard_) {
    memory->hits = 0;
    memory->guard.Keep(memory->to_guard, std::exchange(memory->to_guard_level, PageLevel::kAll));
    guarded_.insert(memory);
  }
  to_guard_.clear();
}

bool Checker::IsAllWritten(const CheckedMemory& memory, const Range& addresses) const noexcept {
  const std::uint64_t address = memory.facts.address;
  for (std::uint64_t at = std::max(addresses.begin, address); at < std::min(addresses.end, memory.end());
       ++at) {
    const TaskAccess byte{0, {{at - address, at - address + 1}}, Use::kRead};
    if (memory.history.FindConflict(byte, 0, 0, order_.host()).site == nullptr) return false;
  }
  return true;
}

bool Checker::JudgeHost(CheckedMemory& memory, const HostAccess& access, std::uint32_t stack,
                        std::uint32_t thread) noexcept {
  const std::uint64_t begin = std::max(access.address, memory.facts.address) - memory.facts.address;
  const std::uint64_t end = std::min(access.address + access.bytes, memory.end()) - memory.facts.address;
  const TaskAccess host{0, {{begin, end}}, access.writes ? Use::kWrite : Use::kRead};
  const Conflict earlier = memory.history.FindConflict(host, 0, 0, order_.host());
  if (earlier.site == nullptr) return false;
  if (access.writes) memory.sources.Drop(host.shape);  // found once
  ReportHost(memory, earlier,
             {.call = access.call,
              .does = access.writes ? "write" : "read",
              .thread = thread,
              .range = host.shape.range,
              .stack = stack});
  return true;
}

Checker::Fault Checker::OnFault(const HostAccess& access, std::uintptr_t instruction) noexcept {
  if (!active_.load()) return Fault::kForeign;
  if (IsInChecker()) return OpenUnjudged(access);
  constexpr std::uint64_t kMinVectorBytes = 16;
  Range must_be_written;
  if (!access.writes && access.bytes >= kMinVectorBytes && MayReadTooMuch(instruction))
    must_be_written = VectorsAround(access.address, access.bytes);
  if (const auto answer = AnswerFault(access, must_be_written, nullptr)) return *answer;
  Stacks::Captured stack;
  Stacks::CaptureAt(instruction, stack);
  return *AnswerFault(access, must_be_written, &stack);
}

Checker::Fault Checker::OpenUnjudged(const HostAccess& access) const noexcept {
  const Range accessed{access.address, access.address + access.bytes};
  const bool may_be_ours = guardable_begin_.load() <= accessed.begin && accessed.end <= guardable_end_.load();
  return may_be_ours && SetPages(accessed, PageLevel::kAll) ? Fault::kRetry : Fault::kForeign;
}

std::optional<Checker::Fault> Checker::AnswerFault(const HostAccess& access, const Range& must_be_written,
                                                   const Stacks::Captured* stack) noexcept {
  const StateLock lock(lock_);
  const std::uint32_t thread = ThisThreadMark().number;
  const char* const call = ThisThreadMark().calls != 0 ? ThisThreadMark().outer : nullptr;
  CheckedMemory* const memory = memory_.At(access.address);
  if (memory == nullptr) {
    const FreedMemory* const freed = memory_.FreedAt(access.address);
    if (freed == nullptr || freed->place.kind != PlaceKind::kPinned || freed->registered)
      return Fault::kForeign;
    if (stack == nullptr) return std::nullopt;
    const std::uint64_t begin = access.address - freed->address;
    ReportUseAfterFree(*freed, {.call = call,
                                .does = access.writes ? "write" : "read",
                                .thread = thread,
                                .range = {begin, begin + access.bytes},
                                .stack = stacks_.Intern(*stack)});
    return Fault::kFatal;
  }
  if (!guards_pages_ || !memory->can_guard()) return Fault::kForeign;
  const Range accessed = PagesAround({access.address, access.address + access.bytes});
  const Range pages = memory->is_registered() ? Common(accessed, memory->guard.hull()) : accessed;
  if (pages.bytes() == 0) return Fault::kRetry;  // another thread opened them, or they were never ours
  memory->guard.NoteAccess(pages);
  const PageLevel needed = NeededLevel(*memory, pages);
  if (needed == PageLevel::kAll || (needed == PageLevel::kRead && !access.writes)) {
    memory->guard.OpenSome(pages, needed);
    return Fault::kRetry;
  }
  const bool is_judged = IsAllWritten(*memory, must_be_written);
  if (is_judged && stack == nullptr) return std::nullopt;
  if (is_judged &&
      JudgeHost(*memory, {access.address, access.bytes, access.writes, call}, stacks_.Intern(*stack),
                thread) &&
      ++memory->hits > kMaxHits) {
    memory->guard.OpenSome(pages, PageLevel::kAll);
    return Fault::kRetry;
  }
  if (!SetPages(pages, PageLevel::kAll)) {
    memory->guard.OpenSome(pages, PageLevel::kAll);
    return Fault::kRetry;
  }
  ThisThreadsStep().Add(pages);
  return Fault::kStep;
}

void Checker::CloseAfterStep() noexcept {
  const auto opened = ThisThreadsStep().Take();
  if (!active_.load() || IsInChecker()) return;
  const StateLock lock(lock_);
  for (const Range& pages : opened)
    ClosePages(pages);
}

void Checker::ClosePages(const Range& pages) noexcept {
  const std::uint64_t page_bytes = HostPageBytes();
  for (std::uint64_t page = pages.begin; page < pages.end; page += page_bytes) {
    const CheckedMemory* const memory = memory_.At(page);
    if (memory == nullptr || !memory->guard.Keeps(page)) continue;
    const PageLevel level = NeededLevel(*memory, {page, page + page_bytes});
    if (level != PageLevel::kAll) SetPages({page, page + page_bytes}, level);
  }
}

Checker::SystemPiece Checker::PieceForSystem(const Range& range) noexcept {
  const SystemPiece whole{range.begin, range.bytes()};
  if (!active_.load(std::memory_order_relaxed) || !guards_pages_ || IsInChecker() || whole.bytes == 0)
    return whole;
  const StateLock lock(lock_);
  SystemPiece piece = whole;
  const auto add = [&](const CheckedMemory& memory) {
    if (!memory.can_guard()) return;
    const Range inside = Common(range, {memory.facts.address, memory.end()});
    const std::uintptr_t engine = inside.begin + static_cast<std::uintptr_t>(memory.facts.engine_delta);
    if (piece.address == whole.address && piece.bytes == whole.bytes) {  // the first one
      const bool begins = inside.begin == range.begin;
      piece =
          begins ? SystemPiece{engine, inside.bytes()} : SystemPiece{range.begin, inside.begin - range.begin};
    } else if (inside.begin == range.begin + piece.bytes && engine == piece.address + piece.bytes) {
      piece.bytes += inside.bytes();
    }
  };
  memory_.ForAllIn(range, add);
  return piece;
}

void Checker::OnSystemCall(const HostAccess& access) noexcept {
  if (!active_.load(std::memory_order_relaxed) || IsInChecker() || access.bytes == 0) return;
  Stacks::Captured captured;
  captured.count = 0;
  const StateLock lock(lock_);
  memory_.ForAllIn({access.address, access.address + access.bytes}, [&](CheckedMemory& memory) {
    if (!guards_pages_ || !memory.is_pinned() || memory.was_given_up || memory.history.empty()) return;
    if (captured.count == 0) Stacks::Capture(captured);
    JudgeHost(memory, access, stacks_.Intern(captured), ThisThreadMark().number);
  });
}

bool Checker::HasRegistered(const Range& addresses) noexcept {
  if (!active_.load(std::memory_order_relaxed) || IsInChecker()) return false;
  bool any = false;
  const StateLock lock(lock_);
  memory_.ForAllIn(addresses, [&](const CheckedMemory& memory) {
    any = any || (memory.is_registered() && !memory.was_given_up);
  });
  return any;
}

bool Checker::OnHostFreed(std::uintptr_t address, std::uint64_t bytes, const char* call) noexcept {
  if (!active_.load(std::memory_order_relaxed) || IsInChecker()) return false;
  bool any = false;
  const StateLock lock(lock_);
  memory_.ForAllIn({address, address + bytes}, [&](CheckedMemory& memory) {
    if (!memory.is_registered() || memory.was_given_up) return;
    const Conflict open = memory.history.FindOpen(order_.host());
    if (open.site != nullptr) {
      Stacks::Captured captured;
      Stacks::Capture(captured);
      ReportFreed(memory, open,
                  {.call = call,
                   .does = "free",
                   .thread = ThisThreadMark().number,
                   .range = {0, memory.facts.bytes},
                   .stack = stacks_.Intern(captured)});
    }
    // The addresses may soon be other memory of the program.
    memory.guard.OpenAll();
    guarded_.erase(&memory);
    memory.was_given_up = any = true;
  });
  return any;
}

}  // namespace sampan::check
