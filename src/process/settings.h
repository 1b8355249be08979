// The settings of the runtime, read from the environment once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "backend/cuda/paths/copy_path.h"
#include "backend/emulated/schedule/schedule.h"
#include "base/error/fault.h"
#include "base/error/status.h"
#include "core/objects/profile.h"

namespace sampan::process {

enum class BackendKind { kEmulated, kCuda };
std::string_view Describe(BackendKind kind);

struct Settings {
  BackendKind backend = BackendKind::kEmulated;
  std::int32_t devices = 0;      ///< 0: the backend's default
  std::size_t device_bytes = 0;  ///< 0: what the chip has, or the GPU
  std::size_t host_bytes = 0;    ///< what emulated devices may take of the host; 0: half of what is free
  std::optional<std::byte> fresh_byte;  ///< fills new device memory
  unsigned engines = 0;                 ///< 0: from the number of cores
  cuda::PathSettings copy_paths;
  std::string copy_table;  ///< the file of its tables; empty: none
  core::Profile profile;
  emulated::Schedule schedule;
  bool backtrace = false;
  std::uint32_t peer_timeout_s = 3;  ///< a peer on another host that does not answer for so long is lost
  std::string trace;                 ///< the file; empty: none
  bool summary = false;
  std::string summary_kept;  ///< the folder of the command; empty: none
  bool check = false;
  std::string check_findings;           ///< the file of the command; empty: none
  std::string check_json;               ///< the file of the report; empty: none
  std::optional<bool> check_unwritten;  ///< reads of memory that nothing wrote are found; unset: not on GPUs
  bool signal_report = true;
  bool help = false;
  std::uint64_t fail_memory_at = 0;
  std::uint64_t fail_queue_at = 0;
};

/// Refuses an unknown or malformed SAMPAN_ variable with its name and what it accepts.
Result<Settings> ReadSettings();

/// Help text: all settings with their defaults.
std::string SettingsHelp();

/// The devices of ASCEND_RT_VISIBLE_DEVICES, as physical ids. All devices if it is unset, none if the list is
/// invalid.
std::vector<std::int32_t> ReadVisibleDevices(std::int32_t devices);

}  // namespace sampan::process
