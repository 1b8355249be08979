// Offloading a paged key-value cache: thousands of scattered pages leave the device and return in one batch.
//
// The made-up cache has 61 layers. Each layer has two pools of equal numbers of pages: 32 KiB pages for the
// latent part and 4 KiB pages for the rotary part. Offloading one cache page therefore means 122 separate
// copies.
#include "check.h"

#include <algorithm>
#include <chrono>
#include <functional>
#include <vector>

namespace {

constexpr std::size_t kLayers = 61;
constexpr std::size_t kPageBytes[2] = {32 << 10, 4 << 10};
constexpr std::size_t kPages = 80;   // in each pool
constexpr std::size_t kChosen = 60;  // pages that move
constexpr std::size_t kEntries = kLayers * 2 * kChosen;
constexpr std::size_t kPoolPairBytes = kPages * (kPageBytes[0] + kPageBytes[1]);
constexpr std::size_t kCacheBytes = kLayers * kPoolPairBytes;
constexpr std::size_t kMovedBytes = kLayers * kChosen * (kPageBytes[0] + kPageBytes[1]);

/// Where a page lies in the cache, as an offset: layer after layer, the big pages before the small ones.
std::size_t PageOffset(std::size_t layer, int part, std::size_t page) {
  return layer * kPoolPairBytes + (part == 0 ? 0 : kPages * kPageBytes[0]) + page * kPageBytes[part];
}

/// One copy: where the page lies in the cache, where in the packed buffer.
struct Entry {
  std::size_t cache_offset, packed_offset, bytes;
};

std::vector<Entry> EntriesOf(const std::vector<std::size_t>& pages) {
  std::vector<Entry> entries;
  std::size_t packed = 0;
  for (const std::size_t page : pages) {
    for (std::size_t layer = 0; layer < kLayers; ++layer) {
      for (int part = 0; part < 2; ++part) {
        entries.push_back({PageOffset(layer, part, page), packed, kPageBytes[part]});
        packed += kPageBytes[part];
      }
    }
  }
  return entries;
}

std::vector<std::size_t> RandomPages(std::mt19937_64& random) {
  std::vector<std::size_t> pages(kPages);
  for (std::size_t i = 0; i < kPages; ++i)
    pages[i] = i;
  std::shuffle(pages.begin(), pages.end(), random);
  pages.resize(kChosen);
  return pages;
}

enum class Direction { kToHost, kToDevice };

/// The arrays that aclrtMemcpyBatchAsync takes. They are read during the call and may die right after it.
struct Batch {
  std::vector<void*> to, from;
  std::vector<std::size_t> sizes;
  aclrtMemcpyBatchAttr attribute{};

  Batch(void* cache, void* packed, const std::vector<Entry>& entries, Direction direction) {
    for (const Entry& entry : entries) {
      void* page = example::At(cache, entry.cache_offset);
      void* piece = example::At(packed, entry.packed_offset);
      to.push_back(direction == Direction::kToHost ? piece : page);
      from.push_back(direction == Direction::kToHost ? page : piece);
      sizes.push_back(entry.bytes);
    }
    const aclrtMemLocation host = {0, ACL_MEM_LOCATION_TYPE_HOST};
    const aclrtMemLocation device = {0, ACL_MEM_LOCATION_TYPE_DEVICE};
    attribute.dstLoc = direction == Direction::kToHost ? host : device;
    attribute.srcLoc = direction == Direction::kToHost ? device : host;
  }

  void CopyAsBatch(aclrtStream stream) {
    std::size_t first_entry_of_attribute = 0;
    std::size_t refused_entry = 0;
    CHECK_ACL(aclrtMemcpyBatchAsync(to.data(), sizes.data(), from.data(), sizes.data(), sizes.size(),
                                    &attribute, &first_entry_of_attribute, 1, &refused_entry, stream));
    CHECK_ACL(aclrtSynchronizeStream(stream));
  }

  void CopyOneByOne(aclrtMemcpyKind kind, aclrtStream stream) {
    for (std::size_t i = 0; i < sizes.size(); ++i) {
      CHECK_ACL(aclrtMemcpyAsync(to[i], sizes[i], from[i], sizes[i], kind, stream));
    }
    CHECK_ACL(aclrtSynchronizeStream(stream));
  }
};

/// Median GB/s of several runs. What `prepare` and `check` do before and after each run is not measured.
struct Measurement {
  std::function<void()> prepare, copy, check;

  double Median(int runs) const {
    std::vector<double> rates;
    for (int run = 0; run < runs; ++run) {
      prepare();
      const auto begin = std::chrono::steady_clock::now();
      copy();
      const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - begin;
      rates.push_back(static_cast<double>(kMovedBytes) / seconds.count() / 1e9);
      check();
    }
    std::sort(rates.begin(), rates.end());
    return rates[rates.size() / 2];
  }
};

void PrintRow(const char* what, double batch, double loop, double plain) {
  std::printf("%-16s %11.2f GB/s %11.2f GB/s %11.2f GB/s   batch is %.1fx the loop, %.1fx plain memcpy\n",
              what, batch, loop, plain, batch / loop, batch / plain);
}

}  // namespace

int main(int argc, char** argv) {
  std::mt19937_64 random(example::Seed(argc, argv));
  const int runs = example::Runs(argc, argv);
  CHECK_ACL(aclInit(nullptr));
  CHECK_ACL(aclrtSetDevice(0));
  aclrtStream stream = nullptr;
  CHECK_ACL(aclrtCreateStreamWithConfig(&stream, 0, ACL_STREAM_FAST_LAUNCH | ACL_STREAM_FAST_SYNC));

  std::vector<unsigned char> original(kCacheBytes);  // what the cache holds, in ordinary host memory
  example::FillRandom(original.data(), kCacheBytes, random);
  void* cache = example::DeviceMemory(kCacheBytes);
  CHECK_ACL(aclrtMemcpy(cache, kCacheBytes, original.data(), kCacheBytes, ACL_MEMCPY_HOST_TO_DEVICE));

  const std::vector<std::size_t> evicted = RandomPages(random);   // these pages leave the device
  const std::vector<std::size_t> restored = RandomPages(random);  // and come back to these places
  const std::vector<Entry> out = EntriesOf(evicted);
  const std::vector<Entry> in = EntriesOf(restored);
  void* pinned = example::PinnedMemory(kMovedBytes);
  std::vector<unsigned char> plain(kMovedBytes);
  std::printf("%zu copies of 32 KiB and 4 KiB, %.1f MB a run, medians of %d runs\n", kEntries,
              static_cast<double>(kMovedBytes) / 1e6, runs);

  // The cache after the pages have come back, computed by plain C++.
  std::vector<unsigned char> expected = original;
  for (std::size_t i = 0; i < kEntries; ++i) {
    std::memcpy(&expected[in[i].cache_offset], &original[out[i].cache_offset], in[i].bytes);
  }

  // The pages in a packed buffer: the pinned one, or the one of the plain memcpy.
  const auto wipe_packed = [](void* packed) { return [=] { std::memset(packed, 0, kMovedBytes); }; };
  const auto check_packed = [&](void* packed) {
    return [&, packed] {
      for (const Entry& entry : out) {
        example::ExpectSameBytes(example::At(packed, entry.packed_offset), &original[entry.cache_offset],
                                 entry.bytes, "the offloaded pages");
      }
    };
  };

  std::printf("%-16s %16s %16s %16s\n", "", "one batch", "loop of copies", "plain memcpy");
  Batch offload(cache, pinned, out, Direction::kToHost);
  const auto offload_plainly = [&] {
    for (const Entry& entry : out) {
      std::memcpy(&plain[entry.packed_offset], &original[entry.cache_offset], entry.bytes);
    }
  };
  const double offload_batch =
      Measurement{wipe_packed(pinned), [&] { offload.CopyAsBatch(stream); }, check_packed(pinned)}.Median(
          runs);
  const double offload_loop =
      Measurement{wipe_packed(pinned), [&] { offload.CopyOneByOne(ACL_MEMCPY_DEVICE_TO_HOST, stream); },
                  check_packed(pinned)}
          .Median(runs);
  const double offload_plain =
      Measurement{wipe_packed(plain.data()), offload_plainly, check_packed(plain.data())}.Median(runs);
  PrintRow("device to host", offload_batch, offload_loop, offload_plain);

  // The whole cache: on the device, or a copy of it in ordinary memory.
  std::vector<unsigned char> actual(kCacheBytes);
  const auto reset_cache = [&] {
    CHECK_ACL(aclrtMemcpy(cache, kCacheBytes, original.data(), kCacheBytes, ACL_MEMCPY_HOST_TO_DEVICE));
  };
  const auto reset_actual = [&] { actual = original; };
  const auto check_actual = [&] {
    example::ExpectSameBytes(actual.data(), expected.data(), kCacheBytes, "the cache with its pages back");
  };
  const auto check_cache = [&] {
    CHECK_ACL(aclrtMemcpy(actual.data(), kCacheBytes, cache, kCacheBytes, ACL_MEMCPY_DEVICE_TO_HOST));
    check_actual();
  };

  Batch restore(cache, pinned, in, Direction::kToDevice);
  const auto restore_plainly = [&] {
    for (const Entry& entry : in) {
      std::memcpy(&actual[entry.cache_offset], &plain[entry.packed_offset], entry.bytes);
    }
  };
  const double restore_batch =
      Measurement{reset_cache, [&] { restore.CopyAsBatch(stream); }, check_cache}.Median(runs);
  const double restore_loop =
      Measurement{reset_cache, [&] { restore.CopyOneByOne(ACL_MEMCPY_HOST_TO_DEVICE, stream); }, check_cache}
          .Median(runs);
  const double restore_plain = Measurement{reset_actual, restore_plainly, check_actual}.Median(runs);
  PrintRow("host to device", restore_batch, restore_loop, restore_plain);

  CHECK_ACL(aclrtFree(cache));
  CHECK_ACL(aclrtFreeHost(pinned));
  CHECK_ACL(aclrtDestroyStream(stream));
  CHECK_ACL(aclrtResetDevice(0));
  CHECK_ACL(aclFinalize());
  char shown[120];
  std::snprintf(shown, sizeof shown,
                "%zu scattered cache pages a batch, out at %.1f GB/s and back at %.1f GB/s", kEntries,
                offload_batch, restore_batch);
  return example::Done(shown);
}
