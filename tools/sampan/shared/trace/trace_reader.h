// Reads traces in the format of docs/TRACE.md.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace sampan::tool {

/// Keeps the order of the file.
using TraceJson = nlohmann::ordered_json;

/// The maximum number of devices. A trace numbers the areas of a process by it: the host, then devices.
inline constexpr std::int64_t kMaxDevices = 127;
/// Larger than all numbers of processes and their areas.
inline constexpr std::int64_t kMaxProcess = std::int64_t{1} << 44;

/// One event of a trace. The views are valid during the callback.
struct TraceEvent {
  std::size_t line = 0;
  char phase = 0;  ///< M, X, i, s, f or C
  std::string_view name;
  std::string_view id;  ///< of flows
  std::int64_t process = 0;
  std::int64_t thread = 0;
  std::int64_t begin_ns = 0;
  std::int64_t duration_ns = 0;
  const TraceJson* arguments = nullptr;  ///< an object, empty if the event has none

  /// An argument, or nullptr if there is none of that name.
  const TraceJson* Find(const char* argument) const;
  /// An integer; `otherwise` if there is none of that name.
  std::int64_t Number(const char* argument, std::int64_t otherwise = 0) const;
  /// The same for values that cannot be negative: ids, counts, sizes.
  std::int64_t Count(const char* argument, std::int64_t otherwise = 0) const;
  /// The number of a device; -1 if there is none.
  std::int32_t Device(const char* argument) const;
  /// A time in microseconds, as nanoseconds.
  std::int64_t Time(const char* argument, std::int64_t otherwise_ns) const;
  std::string_view Text(const char* argument) const;
};

/// Facts about a whole trace.
struct TraceFacts {
  std::string program;
  std::string version;
  std::string backend;
  std::string profile;
  std::string started;
  std::size_t events = 0;
  std::vector<std::string> notes;  ///< what is missing in it, in sentences
};

/// Calls `tell` for all events in the order of the file, in bounded memory. Reads an incomplete trace as far
/// as possible and adds a note. For all other errors throws a Failure that names file and line. Calls
/// `progress` repeatedly with the share of the file that was read.
TraceFacts ReadTrace(const std::filesystem::path& path, const std::function<void(const TraceEvent&)>& tell,
                     const std::function<void(double)>& progress = {});

}  // namespace sampan::tool
