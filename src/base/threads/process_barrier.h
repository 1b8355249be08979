// A memory barrier in all threads of the process: the rare side pays, so that the frequent side needs none.
#pragma once

namespace sampan {

/// Returns true if the system has the barrier. It is asked once.
bool HasProcessBarrier() noexcept;

/// A full memory barrier in the calling thread, and between two instructions of every other thread of the
/// process. 0.3 us. Returns false if the system refuses, which it does not after HasProcessBarrier.
[[nodiscard]] bool ProcessBarrier() noexcept;

}  // namespace sampan
