// The chip and the CANN release that are imitated. All differences are rows of a table.
#include "core/objects/profile.h"

#include <array>

#include "base/error/text.h"

namespace sampan::core {
namespace {

/// The part that asks for the limits of hardware.
constexpr std::string_view kRealLimits = "real-limits";

constexpr DescriptorLayout kDescriptor32{.bytes = 32, .length_at = 12, .src_at = 16, .dst_at = 24};

constexpr std::array kChips = {
    Profile{.chip = "ascend910b",
            .soc_name = "Ascend910B1",
            .descriptor = kDescriptor32,
            .max_streams = 1984,
            .max_events = 65536,
            .ai_cores = 24,
            .vector_cores = 48,
            .ai_cpus = 6,
            .npu_arch = 2201,
            .l2_bytes = std::size_t{192} << 20,
            .memory_bytes = std::size_t{64} << 30},
    Profile{.chip = "ascend910c",
            .soc_name = "Ascend910_9391",
            .fabric = true,
            .descriptor = kDescriptor32,
            .max_streams = 1984,
            .max_events = 65536,
            .ai_cores = 24,
            .vector_cores = 48,
            .ai_cpus = 6,
            .npu_arch = 2201,
            .l2_bytes = std::size_t{192} << 20,
            .memory_bytes = std::size_t{64} << 30},
    Profile{.chip = "ascend310-rc",
            .soc_name = "Ascend310",
            .attached = false,
            .rows = false,
            .batch = false,
            .descriptors = false,
            .offsets = false,
            .sharing = false,
            .hbm = false,
            .modern_compute = false,
            .max_streams = 1024,
            .max_events = 1023,
            .max_notifies = 1024,
            .ai_cores = 2,
            .vector_cores = 0,
            .ai_cpus = 4,
            .npu_arch = 1001,
            .l2_bytes = std::size_t{8} << 20,
            .memory_bytes = std::size_t{8} << 30},
};

constexpr std::array kReleases = {
    Profile{.release = "cann8"},
    Profile{.release = "cann9",
            .rows_between_devices = true,
            .max_row_bytes = 5'000'000,
            .describes_foreign_memory = true},
};

}  // namespace

Result<Profile> FindProfile(std::string_view names) {
  const Profile* chip = nullptr;
  const Profile* release = nullptr;
  bool real_limits = false;
  while (!names.empty()) {
    const std::string_view name = names.substr(0, names.find(','));
    names.remove_prefix(std::min(names.size(), name.size() + 1));
    bool known = false;
    for (const Profile& each : kChips) {
      if (each.chip == name && chip == nullptr) chip = &each, known = true;
    }
    for (const Profile& each : kReleases) {
      if (each.release == name && release == nullptr) release = &each, known = true;
    }
    if (name == kRealLimits && !real_limits) real_limits = known = true;
    if (!known)
      return Error{Code::kDeviceSetupError,
                   Text("'", name, "' names no profile, or a second one of its kind")};
  }
  Profile profile = chip != nullptr ? *chip : kChips.front();
  const Profile& rules = release != nullptr ? *release : kReleases.front();
  profile.release = rules.release;
  profile.rows_between_devices = rules.rows_between_devices;
  profile.max_row_bytes = rules.max_row_bytes;
  profile.describes_foreign_memory = rules.describes_foreign_memory;
  profile.real_limits = real_limits;
  return profile;
}

std::string ProfileNames() {
  std::string text = "a chip (";
  for (const Profile& each : kChips)
    text += Text(&each == &kChips.front() ? "" : ", ", each.chip);
  text += ") and a release (";
  for (const Profile& each : kReleases)
    text += Text(&each == &kReleases.front() ? "" : ", ", each.release);
  return text + "), and " + std::string(kRealLimits) + ", joined by commas";
}

}  // namespace sampan::core
