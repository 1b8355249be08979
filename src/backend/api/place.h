// Where bytes live.
#pragma once

#include <cstdint>
#include <string>

#include "base/error/text.h"

namespace sampan {

enum class PlaceKind : std::uint8_t {
  kPageable,  ///< ordinary host memory, unknown to the runtime
  kPinned,    ///< host memory that devices can access: allocated by or registered with the runtime
  kDevice,    ///< memory of device `device`
};

struct Place {
  PlaceKind kind = PlaceKind::kPageable;
  std::int32_t device = 0;  ///< user id; meaningful for kDevice

  bool on_device() const { return kind == PlaceKind::kDevice; }
  bool operator==(const Place&) const = default;
};

inline std::string Describe(const Place& place) {
  switch (place.kind) {
    case PlaceKind::kPageable:
      return "pageable host memory";
    case PlaceKind::kPinned:
      return "pinned host memory";
    case PlaceKind::kDevice:
      return Text("memory of device ", place.device);
  }
  return "memory";
}

}  // namespace sampan
