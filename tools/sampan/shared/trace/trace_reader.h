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

/// The processes of a trace number their areas by this: the host, then devices.
inline constexpr std::int64_t kMaxDevices = 127;
/// Above all numbers of processes and their areas.
inline constexpr std::int64_t kMaxProcess = std::int64_t{1} << 44;

/// One event of a trace. The views are valid while it is being told.
struct TraceEvent {
  std::size_t line = 0;
  char phase = 0;  ///< M, X, i, s, f or C
  std::string_view name;
  std::string_view id;  ///< of flows
  std::int64_t process = 0;
  std::int64_t thread = 0;
  std::int64_t begin_ns = 0;
  std::int64_t duration_ns = 0;
  const TraceJson* arguments = nullptr;  ///< an object, empty when the event has none

  /// An argument; nullptr when there is none of that name.
  const TraceJson* Find(const char* argument) const;
  /// A whole number; `otherwise` when there is none of that name.
  std::int64_t Number(const char* argument, std::int64_t otherwise = 0) const;
  /// The same for what cannot be negative: ids, counts, sizes.
  std::int64_t Count(const char* argument, std::int64_t otherwise = 0) const;
  /// The number of a device; -1 when there is none.
  std::int32_t Device(const char* argument) const;
  /// A time in microseconds, as nanoseconds.
  std::int64_t Time(const char* argument, std::int64_t otherwise_ns) const;
  std::string_view Text(const char* argument) const;
};

/// What is known of a trace as a whole.
struct TraceFacts {
  std::string program;
  std::string version;
  std::string backend;
  std::string profile;
  std::string started;
  std::size_t events = 0;
  std::vector<std::string> notes;  ///< what is missing in it, in sentences
};

/// Tells all events in the order of the file, in bounded memory. A trace that breaks off is told as far as it
/// goes, with a note. Throws a Failure that names file and line for anything else that is not as it must be.
/// `progress` is told now and then which share of the file has been read.
TraceFacts ReadTrace(const std::filesystem::path& path, const std::function<void(const TraceEvent&)>& tell,
                     const std::function<void(double)>& progress = {});

}  // namespace sampan::tool
