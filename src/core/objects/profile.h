// The chip and the CANN release that are imitated. All differences are rows of a table.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/error/status.h"

namespace sampan::core {

/// The offsets of the operands in a memory-copy descriptor.
struct DescriptorLayout {
  std::uint32_t bytes, length_at, src_at, dst_at;
};

/// One imitated combination. Immutable data.
struct Profile {
  // The chip.
  std::string_view chip;
  std::string_view soc_name;
  bool attached = true;  ///< a card in a host (EP); otherwise host and device share one memory (RC)
  bool rows = true;      ///< 2D copies
  bool batch = true;
  bool descriptors = true;
  bool offsets = true;
  bool sharing = true;  ///< notifies, memory and events between processes, mapped memory, pools, values
  bool fabric = false;  ///< memory of processes on other hosts
  bool hbm = true;      ///< memory is HBM, otherwise DDR
  /// Inf, NaN and bf16; an overflow switch for streams; cache operations; details of faults.
  bool modern_compute = true;
  DescriptorLayout descriptor{};
  std::uint32_t max_streams = 0;
  std::uint64_t queue_depth = 1792;  ///< maximum tasks in a stream
  std::uint32_t max_events = 0;
  std::uint32_t max_notifies = 8192;
  std::uint32_t ai_cores = 0;
  std::uint32_t vector_cores = 0;
  std::uint32_t ai_cpus = 0;
  std::uint32_t npu_arch = 0;
  std::size_t l2_bytes = 0;
  std::size_t memory_bytes = 0;  ///< of one device
  // The release.
  std::string_view release;
  bool rows_between_devices = false;  ///< aclrtMemcpy2dAsync accepts device-to-device
  std::size_t max_row_bytes = SIZE_MAX;
  bool describes_foreign_memory =
      false;  ///< with real_limits: attributes of memory that is not the runtime's
  /// Refuses, with their codes, what only hardware refuses. Of the word real-limits, not of a table.
  bool real_limits = false;
};

inline constexpr std::size_t kMaxRows = 5'242'880;

/// Finds the profile of a list such as "ascend910b,cann8,real-limits". Every part may be missing.
Result<Profile> FindProfile(std::string_view names);

/// The accepted names, for messages.
std::string ProfileNames();

}  // namespace sampan::core
