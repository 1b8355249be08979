// Gates: what holds a queue from outside the timelines of this process, such as a word in shared memory.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <string>

#include "base/status.h"
#include "base/text.h"

namespace sampan {

/// A word that threads of any process sleep on with futex(2). A writer wakes them if `sleepers` is not 0. A
/// process killed in its sleep leaves the count too high, which costs one wake-up too many.
struct SleepWord {
  std::atomic<std::uint32_t> value{0};
  std::atomic<std::uint32_t> sleepers{0};
};

/// Thread-safe. A queue stands before it, and goes on when it could pass.
class Gate {
 public:
  virtual ~Gate() = default;
  /// Whether TryPass would succeed now.
  virtual bool Open() const noexcept = 0;
  /// Passes, and takes what can be taken only once.
  virtual bool TryPass() noexcept = 0;
  /// A failure when the gate can never open any more.
  virtual Status Check() const { return {}; }
  /// Changes, with a wake-up, when the gate may have opened. Null: the gate has to be polled.
  virtual SleepWord* word() const noexcept = 0;
  /// The task is over: lets go of memory, though other threads may still look at the gate. They find it open.
  virtual void Release() noexcept {}
  /// What is waited for, to a person.
  virtual std::string Describe() const = 0;
  /// The object that opens the gate when it is written, as Effect::target names it. Never followed.
  virtual const void* target() const noexcept { return word(); }
  /// Who would have to open the gate if no queued task of this process does, to a person.
  virtual std::string Signaller() const { return {}; }
  /// The failure of a queue that stood here for longer than it may.
  virtual Status TimedOut(std::chrono::nanoseconds limit) noexcept {
    return {Code::kTaskTimeout, Text(Describe(), " ran past its time limit of ",
                                     std::chrono::duration_cast<std::chrono::seconds>(limit).count(), " s")};
  }
};

}  // namespace sampan
