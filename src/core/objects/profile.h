// Which chip and which CANN release is imitated: differences are rows of a table, nothing else.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/error/status.h"

namespace sampan {

/// Where a memory-copy descriptor keeps its operands.
struct DescriptorLayout {
  std::uint32_t bytes, length_at, src_at, dst_at;
};

/// One imitated combination. Immutable data.
struct Profile {
  // The chip.
  std::string_view chip;
  std::string_view soc_name;
  bool attached = true;  ///< a card in a host (EP); otherwise host and device are one (RC)
  bool rows = true;      ///< 2D copies
  bool batch = true;
  bool descriptors = true;
  bool offsets = true;
  bool sharing = true;  ///< notifies, memory and events between processes, mapped memory, pools, values
  bool hbm = true;      ///< memory is HBM, otherwise DDR
  DescriptorLayout descriptor{};
  std::uint32_t max_streams = 0;
  std::uint64_t queue_depth = 1792;  ///< tasks that a stream holds
  std::uint32_t max_events = 0;
  std::uint32_t max_notifies = 8192;
  std::uint32_t ai_cores = 0;
  std::uint32_t vector_cores = 0;
  std::uint32_t ai_cpus = 0;
  std::uint32_t npu_arch = 0;
  std::size_t l2_bytes = 0;
  // The release.
  std::string_view release;
  bool rows_between_devices = false;  ///< aclrtMemcpy2dAsync takes device-to-device
  std::size_t max_row_bytes = SIZE_MAX;
};

inline constexpr std::size_t kMaxRows = 5'242'880;

/// The profile that a list such as "ascend910b,cann8" names; either part may be left out.
Result<Profile> FindProfile(std::string_view names);

/// The accepted names, for messages.
std::string ProfileNames();

}  // namespace sampan
