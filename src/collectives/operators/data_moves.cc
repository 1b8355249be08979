// How the bytes of collectives travel: reductions in one pass, and copies to several places.
#include "collectives/operators/data_moves.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>

#include "base/platform_bridge.h"
#include "base/reduce/reduce_kernels.h"
#include "collectives/board/region.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace sampan::collectives {
namespace {

/// A block stays in the first cache while it is combined and stored.
constexpr u64 kBlockBytes = 16384;
/// Shorter, so that the next block can come into the cache while this one leaves it.
constexpr u64 kStreamedBlockBytes = 2048;

#if defined(__x86_64__)
/// Whole lines past the caches. Shorter stores are several times as slow.
bool CanStoreLines() {
  static const bool can = __builtin_cpu_supports("avx512f");
  return can;
}
/// Fetches a line of each other place, from `fetched_at` on, with each line that it stores.
__attribute__((target("avx512f"))) void StoreLines(std::byte* to, const std::byte* from, u64 bytes,
                                                   ConstPlaces fetched, u64 fetched_at) {
  for (u64 at = 0; at < bytes; at += kLineBytes) {
    for (const std::byte* const each : fetched)
      __builtin_prefetch(each + fetched_at + at);
    _mm512_stream_si512(reinterpret_cast<__m512i*>(to + at), _mm512_loadu_si512(from + at));
  }
}
void EndStoringLines() {
  _mm_sfence();  // before another thread is told
}
#else
bool CanStoreLines() {
  return false;
}
void StoreLines(std::byte*, const std::byte*, u64, ConstPlaces, u64) {}
void EndStoringLines() {}
#endif

/// Stores blocks into several places.
class BlockWriter {
 public:
  BlockWriter(Places places, bool past_caches)
      : places_(places), past_caches_(past_caches), stores_lines_(past_caches && CanStoreLines()) {
    for (const std::byte* place : places)
      stores_lines_ = stores_lines_ && reinterpret_cast<std::uintptr_t>(place) % kLineBytes == 0;
  }
  ~BlockWriter() {
    if (stores_lines_) EndStoringLines();
  }
  BlockWriter(const BlockWriter&) = delete;
  BlockWriter& operator=(const BlockWriter&) = delete;

  u64 block_bytes() const { return stores_lines_ ? kStreamedBlockBytes : kBlockBytes; }

  /// Stores the block at the offset of all places. Behind it, `inputs` are needed next.
  void Store(const std::byte* block, u64 offset, u64 bytes, ConstPlaces inputs) const {
    for (std::byte* const place : places_) {
      std::byte* const to = place + offset;
      if (to == block) continue;
      if (stores_lines_ && bytes % kLineBytes == 0) {
        StoreLines(to, block, bytes, inputs, offset + bytes);
        inputs = {};
      } else if (past_caches_) {
        sampanCopyHere(to, block, bytes, true);
      } else {
        std::memmove(to, block, bytes);
      }
    }
  }

 private:
  const Places places_;
  const bool past_caches_;
  bool stores_lines_;
};

}  // namespace

void Combine(ConstPlaces inputs, Places outputs, u64 count, Combination how, bool past_caches) {
  alignas(kLineBytes) std::array<std::byte, kBlockBytes> block;
  const BlockWriter writer(outputs, past_caches);
  const u64 unit = ElementBytes(how.element), all = count * unit;
  for (u64 offset = 0; offset < all; offset += writer.block_bytes()) {
    const u64 bytes = std::min(writer.block_bytes(), all - offset);
    std::memcpy(block.data(), inputs[0] + offset, bytes);
    for (const std::byte* input : inputs.subspan(1))
      Reduce({block.data(), input + offset, bytes / unit}, how.operation, how.element);
    writer.Store(block.data(), offset, bytes, inputs);
  }
}

void CopyToAll(const std::byte* source, Places places, u64 bytes, bool past_caches) {
  if (places.size() == 1) {  // a single copy may overlap
    if (places[0] == source) return;
    if (past_caches)
      sampanCopyHere(places[0], source, bytes, true);
    else
      std::memmove(places[0], source, bytes);
    return;
  }
  const BlockWriter writer(places, past_caches);
  for (u64 offset = 0; offset < bytes; offset += writer.block_bytes()) {
    writer.Store(source + offset, offset, std::min(writer.block_bytes(), bytes - offset),
                 ConstPlaces(&source, 1));
  }
}

Share ShareOf(u64 count, u64 element_bytes, u32 rank, u32 size) {
  const u64 per_line = std::max<u64>(kLineBytes / element_bytes, 1);
  const u64 lines = (count + per_line - 1) / per_line;
  const u64 share = (lines + size - 1) / size * per_line;
  return {std::min(count, share * rank), std::min(count, share * (rank + 1))};
}

}  // namespace sampan::collectives
