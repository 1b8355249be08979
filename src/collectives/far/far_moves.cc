// How the bytes of operators travel if memory of other hosts takes part.
#include "collectives/far/far_moves.h"

#include <algorithm>
#include <cstring>

#include "base/error/text.h"
#include "base/platform_bridge.h"
#include "base/reduce/reduce_kernels.h"

namespace sampan::collectives {
namespace {

/// A frame of the network on a quick path.
constexpr u64 kFarBlockBytes = u64{4} << 20;

std::unique_ptr<std::byte[]> MakeRoom(u64 bytes) {
  return std::unique_ptr<std::byte[]>(new std::byte[std::min(bytes, kFarBlockBytes)]);
}

}  // namespace

FarMoves::FarMoves(aclrtContext context, std::span<const KeyedMemoryUse> far) : far_(far) {
  sampanEnterContext(context, scope_);  // the threads that execute streams have none
}

bool FarMoves::IsFar(const std::byte* place) const {
  return std::any_of(far_.begin(), far_.end(),
                     [&](const KeyedMemoryUse& memory) { return memory->Holds(place); });
}

Status FarMoves::Copy(std::byte* to, const std::byte* from, u64 bytes) const {
  if (!IsFar(to) && !IsFar(from)) {
    std::memmove(to, from, bytes);
    return {};
  }
  if (sampanCopyAtOnce(to, bytes, from, bytes) == ACL_SUCCESS) return {};
  const char* const message = aclGetRecentErrMsg();
  return {Code::kTaskTimeout, Text("memory of another host: ", message != nullptr ? message : "no answer")};
}

Status FarMoves::Combine(ConstPlaces inputs, Places outputs, u64 count, Combination how) const {
  const u64 unit = ElementBytes(how.element), all = count * unit;
  const auto sum = MakeRoom(all), next = MakeRoom(all);
  for (u64 offset = 0; offset < all; offset += kFarBlockBytes) {
    const u64 bytes = std::min(kFarBlockBytes, all - offset);
    Status status = Copy(sum.get(), inputs[0] + offset, bytes);
    for (const std::byte* const input : inputs.subspan(1)) {
      const std::byte* from = input + offset;
      if (status.ok() && IsFar(from)) {
        status = Copy(next.get(), from, bytes);
        from = next.get();
      }
      if (!status.ok()) return status;
      Reduce({sum.get(), from, bytes / unit}, how.operation, how.element);
    }
    for (std::byte* const output : outputs) {
      if (status.ok()) status = Copy(output + offset, sum.get(), bytes);
    }
    if (!status.ok()) return status;
  }
  return {};
}

Status FarMoves::CopyToAll(const std::byte* source, Places places, u64 bytes) const {
  if (std::none_of(places.begin(), places.end(), [&](const std::byte* place) { return IsFar(place); }) &&
      places.size() == 1)
    return places[0] == source ? Status() : Copy(places[0], source, bytes);  // a single copy may overlap
  const auto room = MakeRoom(bytes);
  for (u64 offset = 0; offset < bytes; offset += kFarBlockBytes) {
    const u64 part = std::min(kFarBlockBytes, bytes - offset);
    Status status = Copy(room.get(), source + offset, part);
    for (std::byte* const place : places) {
      if (status.ok() && place != source) status = Copy(place + offset, room.get(), part);
    }
    if (!status.ok()) return status;
  }
  return {};
}

}  // namespace sampan::collectives
