// How the bytes of collectives travel: reductions in one pass, and copies to several places.
#include "collectives/operators/data_moves.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "base/platform_bridge.h"
#include "base/reduce/reduce_kernels.h"
#include "collectives/board/region.h"

namespace sampan::collectives {
namespace {

/// A block stays in the first cache while it is combined and stored.
constexpr u64 kBlockBytes = 16384;

void Copy(std::byte* to, const std::byte* from, u64 bytes, bool past_caches) {
  if (to == from) return;
  if (past_caches)
    sampanCopyHere(to, from, bytes, true);
  else
    std::memmove(to, from, bytes);
}

}  // namespace

void Combine(ConstPlaces inputs, Places outputs, u64 count, Combination how, bool past_caches) {
  alignas(kLineBytes) std::array<std::byte, kBlockBytes> block;
  const u64 unit = ElementBytes(how.element);
  const u64 per_block = kBlockBytes / unit;
  for (u64 first = 0; first < count; first += per_block) {
    const u64 elements = std::min(per_block, count - first);
    const u64 offset = first * unit, bytes = elements * unit;
    std::memcpy(block.data(), inputs[0] + offset, bytes);
    for (const std::byte* input : inputs.subspan(1))
      Reduce({block.data(), input + offset, elements}, how.operation, how.element);
    for (std::byte* output : outputs)
      Copy(output + offset, block.data(), bytes, past_caches);
  }
}

void CopyToAll(const std::byte* source, Places places, u64 bytes, bool past_caches) {
  if (places.size() == 1) return Copy(places[0], source, bytes, past_caches);
  for (u64 offset = 0; offset < bytes; offset += kBlockBytes) {
    const u64 part = std::min(kBlockBytes, bytes - offset);
    for (std::byte* place : places)
      Copy(place + offset, source + offset, part, past_caches);
  }
}

Share ShareOf(u64 count, u64 element_bytes, u32 rank, u32 size) {
  const u64 per_line = std::max<u64>(kLineBytes / element_bytes, 1);
  const u64 lines = (count + per_line - 1) / per_line;
  const u64 share = (lines + size - 1) / size * per_line;
  return {std::min(count, share * rank), std::min(count, share * (rank + 1))};
}

}  // namespace sampan::collectives
