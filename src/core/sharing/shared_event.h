// The recordings of an event that several processes share. They have numbers, in a cell that all processes
// map.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>

#include "backend/api/timeline.h"
#include "base/error/status.h"
#include "core/sharing/foreign_boards.h"
#include "core/sharing/share_board.h"
#include "core/streams/stream.h"

namespace sampan::core {

/// Thread-safe. A wait binds to the latest recording that any process has submitted so far.
class SharedEvent {
 public:
  /// A recording of this process. It outlives the word of the cell that other processes read.
  struct OwnRecording {
    std::uint64_t number = 0;
    std::atomic<std::uint64_t> ended{0};  // as in the cell; 0 while it is pending
  };

  explicit SharedEvent(std::shared_ptr<OwnCell> cell) : own_(std::move(cell)) {}
  explicit SharedEvent(std::shared_ptr<ForeignCell> cell) : foreign_(std::move(cell)) {}

  Status Record(Stream& stream);
  Status WaitIn(Stream& stream, std::chrono::nanoseconds limit) const;
  /// Blocks the calling thread. Fails with the reason if the recording can never complete.
  Status Synchronize(Deadline deadline);
  bool Recorded();
  /// For other processes; fails for an imported event.
  Result<std::string> Key() const;
  /// The owner's number of the event, for messages in all processes.
  void set_number(std::uint32_t number) {
    if (own_ != nullptr) (*own_)->number = number;
  }

 private:
  std::shared_ptr<SharedCell> cell() const;
  /// The point of the recording, if this process made it and it is the latest.
  std::optional<Point> LocalPoint(std::uint64_t recording) const;
  /// The recording, if this process made it and no later one.
  std::shared_ptr<const OwnRecording> Own(std::uint64_t recording) const;

  std::shared_ptr<OwnCell> own_;
  std::shared_ptr<ForeignCell> foreign_;
  mutable std::mutex mutex_;
  std::shared_ptr<OwnRecording> last_own_;
  Point last_point_;  // of last_own_; without a timeline while it is being queued
};

}  // namespace sampan::core
