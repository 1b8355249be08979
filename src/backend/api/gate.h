// Gates hold a queue from outside the timelines of this process, such as a word in shared memory.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <string>

#include "base/error/status.h"
#include "base/error/text.h"

namespace sampan {

/// A word that threads of any process sleep on with futex(2). A writer wakes them if `sleepers` is not 0. A
/// process that is killed while it sleeps leaves the count too high, which costs unnecessary wake-ups.
struct SleepWord {
  std::atomic<std::uint32_t> value{0};
  std::atomic<std::uint32_t> sleepers{0};
};

/// Thread-safe. Holds a queue until TryPass succeeds.
class Gate {
 public:
  virtual ~Gate() = default;
  /// Returns true if TryPass would succeed now.
  virtual bool Open() const noexcept = 0;
  /// Passes if it is open, and clears a signal that can be used only once.
  virtual bool TryPass() noexcept = 0;
  /// Fails if the gate can never open.
  virtual Status Check() const { return {}; }
  /// Changes, with a wake-up, when the gate may have opened. Null: the gate has to be polled.
  virtual SleepWord* word() const noexcept = 0;
  /// Called when the task is completed: releases memory. Other threads may still check the gate, and find it
  /// open.
  virtual void Release() noexcept {}
  /// Text for messages: what the gate waits for.
  virtual std::string Describe() const = 0;
  /// The object that opens the gate when it is written, as Effect::target names it. Compared, never
  /// dereferenced.
  virtual const void* target() const noexcept { return word(); }
  /// Text for messages: who has to open the gate if no queued task of this process does.
  virtual std::string Signaller() const { return {}; }
  /// The error for a queue that was held past its limit.
  virtual Status TimedOut(std::chrono::nanoseconds limit) noexcept {
    return {Code::kTaskTimeout, Text(Describe(), " ran past its time limit of ",
                                     std::chrono::duration_cast<std::chrono::seconds>(limit).count(), " s")};
  }
};

}  // namespace sampan
