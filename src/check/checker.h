// The observer that judges the order of accesses.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "base/threads/spin_lock.h"
#include "check/findings/findings.h"
#include "check/findings/held_counts.h"
#include "check/findings/stacks.h"
#include "check/host/page_guard.h"
#include "check/memory/memory_table.h"
#include "check/order/order.h"
#include "check/order/task_accesses.h"
#include "observe/observer.h"

namespace sampan::check {

/// What the checker keeps of a thread.
struct ThreadMark {
  std::uint32_t number = 0;     ///< counts the threads that made calls
  bool in_checker = false;      ///< it holds the checker's lock
  bool waits = false;           ///< one of the calls is in the list of those that wait
  bool in_hccl = false;         ///< the outermost call is one of HCCL's
  bool takes_faults = false;    ///< it does not block the checker's signals
  bool submits_writes = false;  ///< it submits a task that writes memory whose sources are summed
  std::uint32_t calls = 0;      ///< that have not ended
  const char* outer = nullptr;  ///< the outermost call
  const char* inner = nullptr;  ///< the innermost call
};
ThreadMark& ThisThreadMark() noexcept;

/// While it exists, the calling thread owns the checker's state. A fault of the thread meanwhile is not
/// judged.
class StateLock {
 public:
  explicit StateLock(SpinLock& lock) noexcept : lock_(lock) {
    ThisThreadMark().in_checker = true;
    lock_.lock();
  }
  ~StateLock() {
    lock_.unlock();
    ThisThreadMark().in_checker = false;
  }
  StateLock(const StateLock&) = delete;
  StateLock& operator=(const StateLock&) = delete;

 private:
  SpinLock& lock_;
};

/// The pages that may be kept from the program: of registered memory whole pages alone, because the program
/// has other things behind its end.
Range GuardablePages(const CheckedMemory& memory);

/// An access of the host, by its own instructions or by a system call.
struct HostAccess {
  std::uintptr_t address = 0;
  std::uint64_t bytes = 0;
  bool writes = false;
  const char* call = nullptr;  ///< null: an instruction
};

/// Thread-safe. Never destroyed.
class Checker final : public observe::Observer, private Order::Listener {
 public:
  Checker() = default;
  struct Scope {
    bool guards_pages = true;     ///< accesses of the host to pinned memory are judged
    bool sums_sources = true;     ///< its writes to other host memory are, by checksums
    bool finds_unwritten = true;  ///< all writes to device memory are seen
    std::string held_counts;      ///< the file of the counters; empty: none
  };
  bool Start(Findings::Options options, const Scope& scope);
  /// Reports what is left, and ends the report.
  void Finish() noexcept;
  /// Ends the report without a look at what is left.
  void FinishAt(std::string_view reason) noexcept;
  /// For a forked child: makes all memory usable.
  void Abandon() noexcept;

  // For faults and system calls of the host. They allocate nothing.

  enum class Fault : std::uint8_t {
    kForeign,  ///< the checker has nothing to do with the address
    kRetry,    ///< the page is open now
    kStep,     ///< the page is open for one instruction: call CloseAfterStep
    kFatal,    ///< the memory was freed; a finding was made
  };
  Fault OnFault(const HostAccess& access, std::uintptr_t instruction) noexcept;
  void CloseAfterStep() noexcept;
  /// The beginning of a range of the program, as the system may access it at any time.
  struct SystemPiece {
    std::uintptr_t address = 0;
    std::uint64_t bytes = 0;
  };
  SystemPiece PieceForSystem(const Range& range) noexcept;
  /// A system call has accessed the bytes.
  void OnSystemCall(const HostAccess& access) noexcept;
  /// True if memory in the range is registered.
  bool HasRegistered(const Range& addresses) noexcept;
  bool has_registered() const { return has_registered_.load(std::memory_order_relaxed); }
  /// The program is about to unmap or free host memory.
  /// True if some of it is registered.
  bool OnHostFreed(std::uintptr_t address, std::uint64_t bytes, const char* call) noexcept;

  /// The threads, by the system's numbers, in calls that wait without a time limit.
  std::vector<std::int64_t> WaitingThreads();
  /// True if the wait at which the queue stands may be ended by another process, or is not known.
  bool MayEndFromOutside(std::uint64_t queue) noexcept;
  /// The members of a circle of waits, and the calls that wait. Ends the report.
  struct Standing {
    std::uint64_t queue;
    std::int32_t device;
    std::uint32_t stream;
  };
  void ReportDeadlock(std::span<const Standing> circle, std::string_view text) noexcept;

  bool judges_order() const noexcept override { return true; }
  void OnThreadBegan(const observe::ThreadRole&) noexcept override {}
  void OnCallBegan(const char* name, const observe::Peer* peer) noexcept override;
  void OnCallEnded(const char* name, std::int32_t code) noexcept override;
  void OnCallAwaits(const observe::AwaitedWork& awaited) noexcept override;
  void OnHostWaitBegan(const observe::HostWaitBegin& wait) noexcept override;
  void OnHostWait(const observe::HostWaitEvent& wait) noexcept override;
  void OnSubmitting(const observe::Submission& submission, const Task& task) noexcept override;
  void OnSubmitted(const observe::Submission& submission, std::uint64_t number,
                   const observe::Execution* execution) noexcept override;
  void OnExecuted(const observe::Execution& execution) noexcept override;
  void OnHelped(const observe::TaskKey&, std::int64_t) noexcept override {}
  void OnMemory(const observe::MemoryEvent& event) noexcept override;
  void OnStream(const observe::StreamEvent& event) noexcept override;
  void OnLearned(const Timeline& timeline, std::uint64_t task) noexcept override;
  void OnObject(const observe::ObjectEvent& event) noexcept override;
  void OnHostCode(const observe::TaskKey& task) noexcept override;
  void OnFailureSeen(const QueueLabel& queue, std::uint64_t task) noexcept override;
  void OnMistake(const observe::Mistake& mistake) noexcept override;
  void OnHostWrote(const observe::MemoryEnd& begin, std::uint64_t bytes) noexcept override;
  void OnSignalCleared(const void* target) noexcept override;

 private:
  /// A task between OnSubmitting and OnSubmitted.
  struct Submitting {
    TaskAccesses accesses;
    OrderStep step;
    std::uint32_t stack = 0;
    const char* call = nullptr;
    bool indirect = false;
  };
  /// A call that waits without a time limit.
  struct WaitingCall {
    std::uint32_t thread = 0;  ///< 0: none
    const char* call = nullptr;
    observe::AwaitedWork awaited;
    std::uint32_t stack = 0;
    std::int64_t system_thread = 0;
  };
  struct Failure {
    std::int32_t code = 0;
    SharedSite site;
    bool was_told = false;  ///< to the program
  };
  /// Where the program made something that it has to destroy.
  struct MadeBy {
    const char* call = nullptr;
    std::uint32_t stack = 0, thread = 0;
  };
  struct LivingStream {
    QueueLabel label;
    bool of_context = false;
    MadeBy made;
    std::uint32_t held = 0;  ///< its counter
  };
  struct LivingObject {
    observe::ObjectEvent::Kind kind;
    std::int32_t device = 0;
    MadeBy made;
    std::uint32_t held = 0;  ///< its counter
  };
  /// One access, from a task or from the host itself.
  struct Acting {
    const TaskSite* site = nullptr;  ///< of a task; null: the host
    const char* call = nullptr;
    std::uint32_t stack = 0, thread = 0;
    std::int32_t device = -1;
  };

  void OnStep(const OrderedTask& task, const OrderClock& before) override;
  void OnLostSignal(const LostSignal& lost) override;

  Submitting& Pending();
  void NoteWaiting(const observe::AwaitedWork& awaited) noexcept;
  void NoteGoesOn() noexcept;
  std::uint32_t CaptureStack() noexcept;
  MadeBy MadeHere() noexcept;
  void Judge(const TaskAccess& access, const Acting& acting, const SharedSite& site, const OrderClock& before,
             bool fills);
  /// No queue has this number: it stands for a blocking call.
  static constexpr std::uint64_t kBlockingQueue = ~std::uint64_t{0};
  /// The entries of a blocking batch against one another.
  void JudgeEntries(const Submitting& task, const QueueLabel& queue);
  void JudgeBlocking(const Submitting& task, const observe::Submission& submission);
  /// An access that only the execution could tell. Others were judged before it.
  void JudgeLate(const TaskAccess& access, const Acting& acting, const SharedSite& site,
                 const OrderClock& before);
  /// A copy with a descriptor or with offsets, until it was judged.
  struct Indirect {
    SharedSite site;
    std::array<observe::MemoryEnd, 2> ends{};
    std::uint64_t bytes = 0;
    bool has_run = false;  ///< its ends are known
  };
  using Indirects = std::map<std::pair<std::uint64_t, std::uint64_t>, Indirect>;
  void AddExecutedEnds(const observe::Execution& execution);
  void JudgeEnds(Indirects::iterator at, const OrderClock& before);
  void NoteFailure(const observe::Execution& execution, const SharedSite& site);
  /// For a handler of another signal that has interrupted the checker on this thread: nothing can be looked
  /// up.
  Fault OpenUnjudged(const HostAccess& access) const noexcept;
  /// Without a stack: nothing, if a finding may need one. The access is judged only if queued work writes all
  /// bytes of `must_be_written`: it may touch more than the program asked for.
  std::optional<Fault> AnswerFault(const HostAccess& access, const Range& must_be_written,
                                   const Stacks::Captured* stack) noexcept;
  bool IsAllWritten(const CheckedMemory& memory, const Range& addresses) const noexcept;
  /// `teller`: the task that told the host; null: the thread's call did.
  void HostLearned(const TaskSite* teller = nullptr);
  void Freed(const observe::MemoryEvent& event);
  bool JudgeHost(CheckedMemory& memory, const HostAccess& access, std::uint32_t stack,
                 std::uint32_t thread) noexcept;
  /// Closes what was open for an instruction, as far as it is still needed.
  void ClosePages(const Range& pages) noexcept;
  PageLevel NeededLevel(const CheckedMemory& memory, const Range& page) const noexcept;
  /// Keeps the pages of the task's accesses from the host: one change for each buffer.
  void NoteGuard(CheckedMemory& memory, const TaskAccess& access);
  void GuardNoted();
  void AddToHistory(CheckedMemory& memory, const TaskAccess& access, const SharedSite& site);
  void ReportLeaks();
  void CountHeld(CheckedMemory& memory);
  void CountHeld(LivingStream& stream);
  void CountHeld(LivingObject& object);

  // checker_sources.cc: the host's writes to the sources of copies, where its accesses are not seen

  /// The program alone can write to the memory, and some of it may not be kept from the program. Allocates.
  static bool MayBeSummed(const observe::MemoryEvent& memory);
  void NoteUnguarded(CheckedMemory& memory);
  /// The calling thread submits the task, from now to EndWrites.
  void BeginWrites(const Submitting& task);
  void EndWrites() noexcept;
  void SumSource(CheckedMemory& memory, const TaskAccess& access, const SharedSite& site);
  void JudgeSources(const TaskSite* teller);

  // checker_reports.cc
  BufferReport BufferOf(const CheckedMemory& memory) const;
  static AccessReport ReportOf(const Conflict& conflict);
  static AccessReport ReportOf(const TaskAccess& access, const Acting& acting);
  void ReportConflict(const CheckedMemory& memory, const Conflict& earlier, const TaskAccess& later,
                      const Acting& acting, bool fills);
  void ReportHost(const CheckedMemory& memory, const Conflict& earlier, const AccessReport& host) noexcept;
  void ReportFreed(const CheckedMemory& memory, const Conflict& earlier,
                   const AccessReport& freeing) noexcept;
  /// `told`: by what the host learned that the copy is over.
  void ReportChanged(const CheckedMemory& memory, const SourceSums::Change& change, const Acting& told);
  void ReportUseAfterFree(const FreedMemory& freed, const AccessReport& use) noexcept;
  void ReportUnwritten(const CheckedMemory& memory, const TaskAccess& access, const Acting& acting);
  void ReportOne(FindingKind kind, std::string_view message, std::string_view fix, const AccessReport& access,
                 const CheckedMemory* memory);
  template <typename Tell>
  void TellLeak(const CheckedMemory& memory, Tell tell) const;
  template <typename Tell>
  static void TellLeak(const LivingStream& stream, Tell tell);
  template <typename Tell>
  static void TellLeak(const LivingObject& object, Tell tell);

  SpinLock lock_;
  std::atomic<bool> active_{false};
  std::atomic<bool> has_registered_{false};  // once and for all
  std::atomic<std::uintptr_t> guardable_begin_{~std::uintptr_t{0}},
      guardable_end_{0};  // of all memory so far
  bool guards_pages_ = false, finds_unwritten_ = false, sums_sources_ = false;
  Stacks stacks_;
  Findings findings_;
  HeldCounts held_;
  Order order_{*this};
  MemoryTable memory_;
  std::vector<CheckedMemory*> open_;            // with a history
  std::vector<CheckedMemory*> to_guard_;        // by the task that is judged
  std::unordered_set<CheckedMemory*> guarded_;  // with pages that the host may not use freely
  std::vector<CheckedMemory*> summed_;          // with sources of copies
  bool has_unguarded_ = false;                  // there was memory whose sources are summed
  std::uint32_t submitted_writes_ = 0;          // threads that submit tasks that write such memory
  std::map<std::uint64_t, LivingStream> streams_;
  std::map<const void*, LivingObject> objects_;                              // by handle
  Indirects indirect_;                                                       // by queue and task
  std::map<std::pair<std::uint64_t, std::uint64_t>, SharedSite> in_queues_;  // tasks that have not ended
  std::map<std::pair<std::uint64_t, std::uint64_t>, Failure> failures_;
  std::array<WaitingCall, 64> waiting_{};
  std::uint64_t sites_ = 0;     // tasks so far
  bool was_reset_ = false;      // aclrtResetDevice or aclFinalize was called
  bool writes_hidden_ = false;  // memory was shared with another process
};

}  // namespace sampan::check
