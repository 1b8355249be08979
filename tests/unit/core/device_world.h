// An emulated device with all that it needs, for tests of single classes of core.
#pragma once

#include <cstddef>
#include <memory>
#include <utility>

#include "backend/emulated/emulated_backend.h"
#include "base/error/fault.h"
#include "core/objects/device.h"
#include "core/streams/stream.h"
#include "core/streams/stream_roster.h"

namespace sampan::core {

struct DeviceWorld {
  explicit DeviceWorld(const char* chip = "ascend910b") : profile(*FindProfile(chip)) {}

  std::shared_ptr<Stream> MakeStream() { return *device.CreateStream(std::make_shared<StickyFailure>(), {}); }

  FaultPlan faults;
  const std::unique_ptr<Backend> backend = std::move(*emulated::EmulatedBackend::Create(
      {.devices = 1, .device_bytes = std::size_t{4} << 20, .engines = 1, .schedule = {}, .faults = &faults}));
  FailureReports reports;
  StreamRoster roster;
  MemoryRegistry memory{false};
  const Profile profile;
  Device device{*backend, 0, 0, profile, reports, roster, memory};
};

}  // namespace sampan::core
