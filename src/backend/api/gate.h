// Gates hold a queue from outside the timelines of this process, such as a word in shared memory.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

#include "base/error/status.h"
#include "base/error/text.h"
#include "base/threads/sleep_word.h"

namespace sampan {

class AllocationUse;

/// Thread-safe. Holds a queue until TryPass succeeds.
class Gate {
 public:
  virtual ~Gate() = default;
  /// Returns true if TryPass would succeed now.
  virtual bool Open() const noexcept = 0;
  /// Passes if it is open, and clears a signal that can be used only once.
  virtual bool TryPass() noexcept = 0;
  /// Call it after TryPass succeeded. Fails if what the gate waited for depends on dropped work.
  virtual Status Outcome() const { return {}; }
  /// Fails if the gate can never open.
  virtual Status Check() const { return {}; }
  /// Changes, with a wake-up, when the gate may have opened. Null: the gate has to be polled.
  virtual SleepWord* word() const noexcept = 0;
  /// Called when the task is completed: releases memory. Other threads may still check the gate, and find it
  /// open.
  virtual void Release() noexcept {}
  /// The memory that it reads; null: none of a program's. Only before it is submitted.
  virtual const AllocationUse* memory() const noexcept { return nullptr; }
  /// Text for messages: what the gate waits for.
  virtual std::string Describe() const = 0;
  /// How long a thread that executes the queue spins in front of the closed gate before it leaves. For gates
  /// that usually open within microseconds.
  virtual std::chrono::nanoseconds max_spin() const noexcept { return {}; }
  /// The object that opens the gate when it is written, as Effect::target names it. Compared, never
  /// dereferenced.
  virtual const void* target() const noexcept { return word(); }
  /// Text for messages: who has to open the gate if no queued task of this process does.
  virtual std::string Signaller() const { return {}; }
  /// If other processes have to open the gate: how long the ways are on which all processes are known to
  /// stand, from those behind the gate on. kNotOutside: only this process can open it.
  static constexpr std::uint32_t kNotOutside = UINT32_MAX;
  virtual std::uint32_t OutsideStanding() const noexcept { return kNotOutside; }
  /// Tells other processes how long these ways are from this process on; 0: it does not stand.
  virtual void TellStanding(std::uint32_t /*ways*/) noexcept {}
  /// The error for a queue that was held past its limit.
  virtual Status TimedOut(std::chrono::nanoseconds limit) noexcept {
    return {Code::kTaskTimeout, Text(Describe(), " ran past its time limit of ",
                                     std::chrono::duration_cast<std::chrono::seconds>(limit).count(), " s")};
  }
};

}  // namespace sampan
