// Everything that can be set about the runtime, read from the environment once.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "backend/cuda/paths/copy_path.h"
#include "backend/emulated/schedule.h"
#include "base/fault.h"
#include "base/status.h"
#include "core/objects/profile.h"

namespace sampan::process {

enum class BackendKind { kEmulated, kCuda };
std::string_view Describe(BackendKind kind);

struct Settings {
  BackendKind backend = BackendKind::kEmulated;
  std::int32_t devices = 0;      ///< 0: as many as the backend has by default
  std::size_t device_bytes = 0;  ///< 0: a fair share of the memory there is
  unsigned engines = 0;          ///< 0: by the number of cores
  cuda::PathSettings copy_paths;
  std::string copy_table;  ///< the file of its tables; empty: none
  Profile profile;
  emulated::Schedule schedule;
  bool backtrace = false;
  std::string trace;  ///< the file; empty: none
  bool summary = false;
  bool signal_report = true;
  bool help = false;
  std::uint64_t fail_memory_at = 0;
  std::uint64_t fail_queue_at = 0;
};

/// Refuses an unknown or malformed SAMPAN_ variable with its name and what it accepts.
Result<Settings> ReadSettings();

/// All settings with their defaults, for a person.
std::string SettingsHelp();

/// The devices that ASCEND_RT_VISIBLE_DEVICES leaves, as physical ids; all of them when it is unset. Empty
/// when the list is bad.
std::vector<std::int32_t> ReadVisibleDevices(std::int32_t devices);

}  // namespace sampan::process
