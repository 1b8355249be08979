// All streams of a process, and what each of them waits for.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "backend/api/gate.h"
#include "backend/api/timeline.h"
#include "base/error/status.h"

namespace sampan::core {

class Stream;

/// What a stream with work left is doing.
enum class StreamStand : std::uint8_t {
  kWorks,         ///< tasks are executed, or wait for an engine
  kEvent,         ///< before a wait for a task of another stream
  kGate,          ///< before a notify, a shared event, or a word in device memory
  kHostFunction,  ///< until a function of the program returns
  kDrops,         ///< its work is being dropped
};

/// A stream with work left, at one moment.
struct StreamState {
  std::int32_t device = 0;
  std::uint32_t stream = 0;
  std::uint64_t queue = 0;                     ///< its number in traces
  const Timeline* timeline = nullptr;          ///< compared, never dereferenced
  std::uint64_t completed = 0, submitted = 0;  ///< tasks
  bool is_full = false;                        ///< calls that submit to it wait for room
  StreamStand stand = StreamStand::kWorks;
  std::string wait;                   ///< of a stream that stands: for what, in words
  std::string signaller;              ///< and who has to end the wait
  std::shared_ptr<Gate> gate;         ///< of a stream that stands before one
  std::optional<std::size_t> behind;  ///< the stream that has to go on first, as an index of the same list
};

/// "stream 2 of device 0 stands at task 3 of 5: a wait for notify 7; ..."
std::string Describe(const StreamState& state);

/// Streams that wait for one another, so that none of them can go on; empty: there are none.
std::vector<std::size_t> FindCycle(const std::vector<StreamState>& states);

/// Thread-safe. Questions never block: they take no lock that is held, and change nothing.
class StreamRoster {
 public:
  void Add(const std::shared_ptr<Stream>& stream);
  void Remove(const Stream& stream) noexcept;

  /// Every stream that has work left, by device and number. Fails with kResourceAllocFail if a thread holds
  /// the roster's lock for long.
  Result<std::vector<StreamState>> Look() const;
  /// What the stream of a timeline stands at, and the streams that it waits for, in one sentence. Empty if
  /// it has no work.
  std::string Explain(const Timeline& timeline) const;
  /// What the other streams stand at, as the rest of a sentence; empty if none stands.
  std::string DescribeOthers(const Timeline& timeline) const;

 private:
  mutable std::mutex mutex_;
  std::unordered_map<const Stream*, std::weak_ptr<Stream>> streams_;
};

}  // namespace sampan::core
