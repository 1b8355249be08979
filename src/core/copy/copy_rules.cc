// The rules for the kind of a copy and the places of its memory.
#include "core/copy/copy_rules.h"

#include <array>

#include "base/error/text.h"

namespace sampan::core {
namespace {

constexpr unsigned Accepts(std::initializer_list<CopyKind> kinds) {
  unsigned mask = 0;
  for (const CopyKind kind : kinds)
    mask |= 1U << static_cast<unsigned>(kind);
  return mask;
}

/// A row of the resolution table for copies with pageable memory. If the runtime knows both sides, it accepts
/// every kind and uses the real direction.
struct Row {
  PlaceKind src, dst;
  unsigned accepted;
};

using enum CopyKind;
constexpr std::array kRows = {
    Row{PlaceKind::kPageable, PlaceKind::kDevice, Accepts({kHostToDevice, kDeviceToDevice, kDefault})},
    Row{PlaceKind::kDevice, PlaceKind::kPageable, Accepts({kDeviceToHost, kDeviceToDevice, kDefault})},
    Row{PlaceKind::kPinned, PlaceKind::kPageable, Accepts({kHostToHost, kHostToDevice, kDefault})},
    Row{PlaceKind::kPageable, PlaceKind::kPinned, Accepts({kHostToHost, kDeviceToHost, kDefault})},
    Row{PlaceKind::kPageable, PlaceKind::kPageable,
        Accepts({kHostToHost, kHostToDevice, kDeviceToHost, kDeviceToDevice, kDefault})},
};

}  // namespace

std::string Describe(CopyKind kind) {
  constexpr std::array<std::string_view, 8> kNames = {
      "HOST_TO_HOST", "HOST_TO_DEVICE",        "DEVICE_TO_HOST",         "DEVICE_TO_DEVICE",
      "DEFAULT",      "HOST_TO_BUF_TO_DEVICE", "INNER_DEVICE_TO_DEVICE", "INTER_DEVICE_TO_DEVICE"};
  const auto value = static_cast<std::size_t>(kind);
  return value < kNames.size() ? Text("ACL_MEMCPY_", kNames[value]) : Text(static_cast<int>(kind));
}

CopyKind ResolvePageableKind(CopyKind kind, const Place& src, const Place& dst) {
  const CopyKind real = KindOf(DirectionBetween(src, dst));
  for (const Row& row : kRows) {
    if (row.src != src.kind || row.dst != dst.kind) continue;
    if ((row.accepted & (1U << static_cast<unsigned>(kind))) == 0) return kContradiction;
    return kind == kDefault ? real : kind;
  }
  return real;
}

}  // namespace sampan::core
