// The file of a trace. It is valid after every write, even if the process is killed.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "base/error/status.h"
#include "trace/gzip_members.h"

namespace sampan::trace {

/// The state of a trace's file. Stopped: a signal ended the program.
enum class FileState { kRunning, kEnded, kStopped, kCut };

/// An array of events, one a line. Owns the file. Not thread-safe.
///
/// Each write overwrites the closing bracket and ends in a new one. A signal that kills the process may cut a
/// write at a page of the file. No event crosses a page, so all events are complete.
class TraceFile {
 public:
  /// The first event, for a state: at most kHeadBytes long.
  using Head = std::function<std::string(FileState)>;
  static constexpr std::size_t kHeadBytes = 1000;
  static constexpr std::size_t kPageBytes = 4096;

  /// Creates the file. If its name ends in .gz, it is compressed. Fails with kInvalidFile if the file exists,
  /// with kResourceAllocFail if the disk is full, otherwise with kDeviceSetupError.
  static Result<std::unique_ptr<TraceFile>> Create(const std::string& path, Head head);
  ~TraceFile();
  TraceFile(const TraceFile&) = delete;
  TraceFile& operator=(const TraceFile&) = delete;

  /// Adds an event; it is written with the next flush.
  void Add(std::string_view event);
  /// Adds an event that is in the file only until the next flush, for what has not ended yet. After all
  /// others.
  void AddOpen(std::string_view event);
  /// Writes the added events.
  void Flush();
  /// Flushes if there are many pending events. Call it only between groups of related events.
  void FlushIfMuch();
  /// The last write: marks the file as complete.
  void End(FileState state);
  /// Why the file cannot be written; empty if it can. After a failure, events are dropped.
  const std::string& failure() const { return failure_; }
  const std::string& path() const { return path_; }

 private:
  TraceFile(std::string path, int descriptor, Head head);

  /// The beginning of the file, always of the same length.
  std::string_view Beginning(FileState state);
  /// For a write that failed after `written` bytes: the bytes of whole lines that leave space for the tail.
  std::uint64_t WholeLines(std::string_view bytes, std::uint64_t written) const;
  /// Appends the event as a line. `offset`: where the lines begin in the file.
  void AppendLine(std::string& lines, std::uint64_t offset, std::string_view event) const;
  bool Write(std::uint64_t offset, std::string_view bytes, std::uint64_t* done = nullptr);
  void Cut();

  const std::string path_;
  const int descriptor_;
  const Head head_;
  const std::unique_ptr<GzipMembers> gzip_;  // null: plain text
  std::string beginning_;
  std::string pending_;           // events that are not written yet
  std::string open_;              // events for the next write alone
  std::string bytes_;             // the same compressed
  std::string_view tail_;         // the closing bracket as it is stored
  std::uint64_t end_ = 0;         // where the next events come
  std::uint64_t open_bytes_ = 0;  // from there to the tail, in the file
  std::string failure_;
};

}  // namespace sampan::trace
