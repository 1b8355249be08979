// The reference: what every operation must answer and leave in memory, as far as the rules determine it.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "tests/model/clock.h"
#include "tests/model/history.h"
#include "tests/model/model_state.h"
#include "tests/model/operation.h"

namespace sampan::model {

/// The answer to an operation, or why there is none.
struct Verdict {
  bool admitted = false;
  aclError code = ACL_SUCCESS;
  std::vector<aclError> codes;            ///< by world, where they differ; then `code` means nothing
  std::optional<std::size_t> fail_index;  ///< expected in *failIndex; without it, untouched
  std::optional<int> ready;               ///< queries: 1 complete, 0 not; without it, either

  bool held = false;                ///< it would wait for a closed gate or a signal that is not sent
  std::vector<int> unordered_with;  ///< streams (by number) that it would race with; 0: the other thread
};

/// One use of memory that an operation asks for.
struct Touch {
  Buffer* buffer;
  std::size_t begin, end;
  bool write;
};

/// Applies operations one after the other. Not thread-safe. An operation whose outcome the rules leave open
/// is not admitted and changes nothing; so every sequence of operations is a program, whatever was dropped
/// from it. Aborts leave several worlds possible; what the library answers then tells some of them apart.
class Model {
 public:
  Model();

  Verdict Apply(const Operation& op);
  /// What the library answered to the operation applied last; empty when a world allows it.
  std::string Observe(const Verdict& verdict, aclError answer);
  /// What the library has in a buffer; empty when a world allows it.
  std::string ObserveBytes(int slot, std::span<const std::uint8_t> bytes);

  /// The same in parts, for answers that come later: which of the worlds that fit so far still do.
  std::vector<ImageBytes> Images(int slot) const;
  static std::string FitsAnswer(const Verdict& verdict, aclError answer, std::vector<bool>& fits);
  static std::string FitsBytes(const std::vector<ImageBytes>& images, std::span<const std::uint8_t> bytes,
                               std::vector<bool>& fits);
  void Keep(const std::vector<bool>& fits);

  const Buffer& buffer(int slot) const { return buffers_[slot]; }
  const Stream& stream(int slot) const { return streams_[slot]; }
  const Event& event(int slot) const { return events_[slot]; }
  const Notify& notify(int slot) const { return notifies_[slot]; }
  const Word& word(int slot) const { return tables_[current_].words[slot]; }
  const Stream& default_stream(int context) const { return defaults_[context]; }
  const Descriptor& descriptor(int slot) const { return tables_[current_].descriptors[slot]; }
  bool cell_set(int slot) const { return tables_[current_].cells[slot].has_value(); }
  Address cell(int slot) const { return tables_[current_].cells[slot]->address; }
  int current_device() const { return current_; }
  int current_context() const { return context_; }
  const Context& context(int number) const { return contexts_[number]; }
  bool peer_access(int device) const { return peer_[device]; }
  bool gate_closed() const;
  bool forked() const { return forked_; }
  /// The signal that a stream waits for and that was not sent yet.
  std::optional<Hold> held_signal() const;
  std::size_t worlds() const { return history_.worlds().size(); }
  /// For each world the index of the one that it was at the last call.
  std::vector<std::size_t> TakeParents() { return history_.TakeParents(); }

 private:
  struct Table {
    Buffer memory;  ///< only its accesses count: what is stored there is symbolic
    std::array<Descriptor, kDescriptors> descriptors;
    std::array<std::optional<StoredAddress>, kCells> cells;
    std::array<Word, kWords> words;
  };
  /// Where an address points.
  struct Site {
    bool known = true;   ///< false: the rules do not say what such an address answers
    bool usable = true;  ///< the range lies in live memory
    bool device_side = false, pageable = false;
    int device = 0;
    Buffer* buffer = nullptr;
  };
  using Codes = std::set<aclError>;

  static Verdict Undetermined() { return {}; }
  static Verdict Answer(aclError code);
  /// One code: that. None: nothing. Several without a promised order: undetermined.
  static std::optional<Verdict> FromCodes(const Codes& codes);

  // model.cc: memory.
  Verdict Dispatch(const Operation& op);
  Verdict UseDevice(const Operation& op);
  Verdict SetPeerAccess(const Operation& op);
  Verdict Allocate(const Operation& op);
  Verdict Free(const Operation& op);
  Verdict HostFunction(const Operation& op);
  Verdict Verify(const Operation& op);
  // model_pool.cc: memory in the order of a stream.
  Verdict AllocateFromPool(const Operation& op);
  Verdict FreeToPool(const Operation& op);
  // model_map.cc: mappings and rights that change.
  Verdict Unmap(const Operation& op);
  Verdict MapAgain(const Operation& op);
  Verdict SetAccess(const Operation& op);
  // model_stream.cc: streams, events, waits.
  Verdict CreateStream(const Operation& op);
  Verdict DestroyStream(const Operation& op);
  Verdict CreateEvent(const Operation& op);
  Verdict DestroyEvent(const Operation& op);
  Verdict Record(const Operation& op);
  Verdict Wait(const Operation& op);
  Verdict ResetEvent(const Operation& op);
  Verdict SyncStream(const Operation& op);
  Verdict SyncEvent(const Operation& op);
  Verdict SyncDevice();
  Verdict QueryStream(const Operation& op);
  Verdict QueryEvent(const Operation& op);
  Verdict CloseGate(const Operation& op);
  Verdict OpenGate();
  /// All work of the current context, which a wait for the device waits for; nothing when that is
  /// undetermined.
  std::optional<Clock> ContextWork(Verdict& verdict) const;
  Clock RecordingOf(const Event& event) const;
  bool MayBeDropped(int task) const;
  // model_abort.cc: work that is dropped.
  Verdict AbortStream(const Operation& op);
  Verdict AbortDevice();
  Verdict CreateContext();
  Verdict UseContext();
  Verdict DestroyContext();
  Verdict StopOnFailure(const Operation& op);
  /// What is queued in all of them is dropped at the same moment; waits for it fail with the code.
  Verdict Drop(const std::vector<Stream*>& streams, aclError code);
  bool MayDrop(const std::vector<Stream*>& streams, const Clock& after, Verdict& verdict) const;
  /// Whether what depends on the dropped work can go on behind a failed wait.
  bool MayFailDependants(const std::vector<Stream*>& streams, Verdict& verdict) const;
  /// Whether what uses the same memory stays ordered without the dropped work.
  bool OrderedWithout(const std::vector<Stream*>& streams, const Clock& after, Verdict& verdict) const;
  History Severed(const std::vector<Stream*>& streams) const;
  int ContextOf(int stream) const;
  bool StopsAt(const Task& task) const;
  /// What the tasks would have set is not known any more.
  void Forget(const std::vector<int>& dropped);
  void ForgetOperands(const Use& use);
  // model_signal.cc: notifies, words.
  Verdict CreateNotify(const Operation& op);
  Verdict DestroyNotify(const Operation& op);
  /// The stream of a call with a notify; null with the answer in `verdict` when the call is refused.
  Stream* FindNotifyStream(const Operation& op, Verdict& verdict);
  Verdict RecordNotify(const Operation& op);
  Verdict WaitNotify(const Operation& op);
  Verdict ResetNotify(const Operation& op);
  Verdict WriteWord(const Operation& op);
  Verdict WaitWord(const Operation& op);
  Verdict SetWord(const Operation& op);
  /// Streams that stood still for the signal go on behind the task.
  void Release(int signal, int task);
  // model_thread.cc: two threads.
  Verdict Fork();
  Verdict Join();
  /// Whether the operation may run beside what the other thread does; notes what it uses.
  bool MayRunBeside(const Operation& op);
  void NoteUsers(const Operation& op);
  /// The stream that the operation uses; null without one.
  Stream* StreamOf(const Operation& op);
  /// False if the other thread has ordered work behind tasks that an abort of the stream may drop. Also if it
  /// has aborted work that waits for such tasks.
  bool MayAbortBeside(const Stream& stream) const;
  /// Whether the other thread has used the stream since the fork.
  bool IsOthersToo(int stream) const;
  /// Whether the other thread may have put tasks of its own before or behind it.
  bool IsInterleaved(const Task& task) const;
  // model_copy.cc: copies of plain ranges.
  Verdict Copy(const Operation& op);
  Verdict CopyAsync(const Operation& op);
  Verdict CopyRows(const Operation& op, bool async);
  Verdict Flood(const Operation& op);
  /// Whether the host can wait for the stream and is told of no failure; else fills `verdict`.
  bool MayDrain(const Stream& stream, Verdict& verdict) const;
  Verdict Fill(const Operation& op, bool async);
  Verdict FillWords(const Operation& op, bool async);
  Verdict FillWith(const Operation& op, bool async, std::uint32_t pattern);
  // model_batch.cc.
  Verdict Batch(const Operation& op, bool async);
  bool Pageable(const Entry& entry) const;
  static Effect Moves(const std::vector<Entry>& entries, const std::function<bool(const Entry&)>& which);
  // model_indirect.cc: copies whose operands lie in device memory.
  Verdict SetDescriptor(const Operation& op);
  Verdict RewriteDescriptor(const Operation& op);
  Verdict CopyDescriptor(const Operation& op);
  Verdict LaunchDescriptor(const Operation& op);
  Verdict SetCell(const Operation& op);
  Verdict RewriteCell(const Operation& op);
  Verdict CopyThroughCells(const Operation& op);
  Verdict CopyIndirect(Stream& stream, const std::vector<Touch>& operands, const Descriptor& copy);
  /// Nothing when the address has no value that could be stored.
  std::optional<StoredAddress> Store(const Address& address) const;

  /// The stream; null with 107017 in `verdict`, or null and undetermined.
  Stream* FindStream(int slot, Verdict& verdict);
  Event* FindEvent(int slot, Verdict& verdict);
  bool Foreign(const Stream& stream) const { return stream.context != context_; }
  /// What is queued now is dropped at a failure that is queued before it.
  bool StopsBefore(const Stream& stream) const { return stream.stops && contexts_[stream.context].stop >= 0; }
  Site Locate(const Address& address, std::size_t bytes);
  bool Dangling(const Buffer& buffer) const { return !forked_ && buffer.freed_at == allocations_; }
  static bool Overlap(const Address& dst, const Address& src, std::size_t bytes);
  /// Whether the device may use the memory like that.
  static bool HasRight(const Buffer* buffer, int device, bool write);
  /// Some device may not use the memory.
  static bool LacksRights(const Site& site);

  // model_order.cc: the order of uses.
  Clock& host() { return host_[thread_]; }
  const Clock& host() const { return host_[thread_]; }
  bool Held(const Clock& clock) const;
  /// True when every touch is ordered after what conflicts with it; else fills `verdict`.
  bool Ordered(const std::vector<Touch>& touches, const Clock& seen, Verdict& verdict) const;
  /// The host waits for the tasks; false (in `verdict`) when a hold may keep it for ever.
  bool HostCanWait(const std::vector<int>& tasks, Verdict& verdict) const;
  bool MayBeHeld(const Stream& stream) const;
  /// While two threads run: whether a wait for the tasks may hold the stream by what does not hold it yet.
  /// The other thread's tasks there may come behind that wait or before it. What that thread lets go counts
  /// too.
  bool AddsHold(const Stream& stream, const std::vector<int>& tasks) const;
  /// Ends the holds for which `over` is true.
  template <typename Over>
  void EndHolds(Over over) {
    const auto kept =
        std::stable_partition(holds_.begin(), holds_.end(), [&](const Hold& hold) { return !over(hold); });
    if (forked_) ended_holds_[thread_].insert(ended_holds_[thread_].end(), kept, holds_.end());
    holds_.erase(kept, holds_.end());
  }
  /// What was queued in the stream, as the current thread knows it.
  Clock Last(const Stream& stream) const { return history_.Behind(stream.last[thread_]); }
  /// The clock of the stream's next task.
  Clock Next(const Stream& stream) const;
  std::uint32_t Outstanding(const Stream& stream) const;
  /// Whether the stream takes a task that touches this; else fills `verdict`.
  bool MayQueue(const Stream& stream, const std::vector<Touch>& touches, Verdict& verdict) const;
  /// Whether the context goes on after failures so far; else fills `verdict`.
  bool GoesOn(const Stream& stream, Verdict& verdict) const;
  /// Queues a task that uses this memory.
  int Queue(Stream& stream, const std::vector<Touch>& touches, Task task = {});
  /// The host does it now.
  void DoNow(const std::vector<Touch>& touches, Effect effect);
  void NoteUses(Task& task, const std::vector<Touch>& touches) const;
  static Effect Move(const Address& dst, const Address& src, std::size_t bytes);
  static Effect Initial(int slot, std::size_t bytes);
  bool MayHaveFailed(const Stream& stream) const { return history_.MayHaveFailed(stream.number); }
  /// The answer that depends on whether the stream failed.
  Verdict FailureOf(const Stream& stream);

  std::array<Buffer, kBuffers> buffers_;
  std::array<Stream, kStreams> streams_;
  std::array<Stream, kContexts> defaults_;
  std::array<Context, kContexts> contexts_;
  std::array<Event, kEvents> events_;
  std::array<Notify, kNotifies> notifies_;
  std::array<Table, kDevices> tables_;
  std::array<bool, kDevices> peer_{};
  History history_;
  std::array<Clock, kThreads> host_;  ///< what each thread knows to be over
  std::vector<Hold> holds_;
  std::array<std::vector<Hold>, kThreads> ended_holds_;  ///< between fork and join: by which thread
  std::array<Clock, kNotifies> hold_waits_;              ///< the waits before the one that stands there
  int current_ = 0;
  int context_ = 0;
  int thread_ = 0;
  bool forked_ = false;
  int gate_thread_ =
      kNull;  ///< between fork and join: the thread that closed the gate or aborted what it held
  std::array<std::uint32_t, kThreads> host_ticks_{};
  int streams_made_ = 1;  ///< number 0 is the host
  std::uint64_t allocations_ = 0;
};

}  // namespace sampan::model
