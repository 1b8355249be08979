// Batches: their entries have no order among themselves, and are in flight one by one.
#include <vector>

#include "tests/check/scene.h"

namespace sampan::check_cases {
namespace {

/// The arrays of a batch in one direction.
struct Batch {
  aclrtMemcpyBatchAttr attribute = {};
  std::vector<void*> dsts, srcs;
  std::vector<std::size_t> sizes;
  std::size_t first = 0, failed = 0;

  explicit Batch(bool to_device) {
    attribute.dstLoc.type = to_device ? ACL_MEM_LOCATION_TYPE_DEVICE : ACL_MEM_LOCATION_TYPE_HOST;
    attribute.srcLoc.type = to_device ? ACL_MEM_LOCATION_TYPE_HOST : ACL_MEM_LOCATION_TYPE_DEVICE;
  }
  void Add(void* dst, void* src, std::size_t bytes) {
    dsts.push_back(dst);
    srcs.push_back(src);
    sizes.push_back(bytes);
  }
};

#define SUBMIT(batch, stream)                                                                            \
  OK(aclrtMemcpyBatchAsync(batch.dsts.data(), batch.sizes.data(), batch.srcs.data(), batch.sizes.data(), \
                           batch.sizes.size(), &batch.attribute, &batch.first, 1, &batch.failed, stream))

// Hazard 8: two entries write the same destination.
CASE(entries_with_one_destination) {
  char *blocks = s.Device(3 * kBytes), *fill = s.Pinned(3 * kBytes);
  Batch batch(true);
  batch.Add(blocks, fill, kBytes);
  batch.Add(blocks + kBytes, fill + kBytes, kBytes);
  batch.Add(right ? blocks + 2 * kBytes : blocks, fill + 2 * kBytes, kBytes);
  SUBMIT(batch, s.Stream());  //! 1+2 race
}

CASE(entries_that_overlap_by_a_byte) {
  char *blocks = s.Device(2 * kBytes), *fill = s.Pinned(2 * kBytes);
  Batch batch(true);
  batch.Add(blocks, fill, kBytes);
  batch.Add(blocks + kBytes - (right ? 0 : 1), fill + kBytes, 512);
  SUBMIT(batch, s.Stream());  //! 1+2 race
}

CASE(entries_with_one_source) {
  char *blocks = s.Device(2 * kBytes), *fill = s.Pinned();
  Batch batch(true);
  batch.Add(blocks, fill, kBytes);
  batch.Add(blocks + (right ? kBytes : 64), fill, 64);
  SUBMIT(batch, s.Stream());  //! 1+2 race
}

CASE(entries_far_apart_in_the_list) {
  constexpr std::size_t kEntries = 600;
  char *blocks = s.Device(kEntries * 64), *fill = s.Pinned(kEntries * 64);
  Batch batch(true);
  for (std::size_t i = 0; i < kEntries; ++i)
    batch.Add(blocks + (i == kEntries - 1 && !right ? 17 : i) * 64, fill + i * 64, 64);
  SUBMIT(batch, s.Stream());  //! 1+2 race
}

CASE(blocking_batch_with_one_destination) {
  char *blocks = s.Device(2 * kBytes), *fill = s.Pinned(2 * kBytes);
  Batch b(true);
  b.Add(blocks, fill, kBytes);
  b.Add(blocks + (right ? kBytes : 0), fill + kBytes, kBytes);
  OK(aclrtMemcpyBatch(b.dsts.data(), b.sizes.data(), b.srcs.data(), b.sizes.data(), 2, &b.attribute, &b.first,
                      1, &b.failed));  //! 1+2 race
}

CASE(two_batches_of_one_stream) {
  char *block = s.Device(), *fill = s.Pinned(2 * kBytes);
  aclrtStream a = s.Stream(), b = s.Stream();
  Batch one(true), other(true);
  one.Add(block, fill, kBytes);
  other.Add(block, fill + kBytes, kBytes);
  SUBMIT(one, a);                  //! 1 race
  SUBMIT(other, (right ? a : b));  //! 2 race
}

CASE(batch_against_a_copy_of_another_stream) {
  char *blocks = s.Device(4 * kBytes), *fill = s.Pinned(4 * kBytes), *back = s.Pinned();
  aclrtStream a = s.Stream(), b = s.Stream();
  Batch batch(true);
  for (std::size_t i = 0; i < 4; ++i)
    batch.Add(blocks + i * kBytes, fill + i * kBytes, kBytes);
  SUBMIT(batch, a);  //! 1 race
  if (right) After(b, a, s.Event());
  D2H(back, blocks + 2 * kBytes, kBytes, b);  //! 2 race
}

CASE(copy_in_a_gap_between_entries) {
  char *blocks = s.Device(2 * kBytes), *fill = s.Pinned(2 * kBytes), *back = s.Pinned();
  aclrtStream a = s.Stream(), b = s.Stream();
  Batch batch(true);
  for (std::size_t i = 0; i < 16; ++i)
    batch.Add(blocks + i * 512, fill + i * 512, 256);
  SUBMIT(batch, a);                                           //! 1 race
  D2H(back, blocks + 5 * 512 + (right ? 256 : 255), 256, b);  //! 2 race
}

CASE(batch_down_and_the_host) {
  char *blocks = s.Device(2 * kBytes), *back = s.Pinned(2 * kBytes);
  aclrtStream a = s.Stream();
  Batch batch(false);
  batch.Add(back, blocks, 1000);
  batch.Add(back + kBytes, blocks + kBytes, 1000);
  SUBMIT(batch, a);  //! 1 host-read-before-sync
  if (right) SYNC(a);
  READ(back + kBytes + 999);  //! 2 host-read-before-sync
}

CASE(host_between_the_entries_of_a_batch) {
  char *blocks = s.Device(kBytes), *staging = s.Pinned(kBytes);
  aclrtStream a = s.Stream();
  Batch batch(true);
  batch.Add(blocks, staging, 100);
  batch.Add(blocks + 200, staging + 200, 100);
  SUBMIT(batch, a);                      //! 1 host-write-in-flight
  WRITE(staging + (right ? 199 : 200));  //! 2 host-write-in-flight
}

}  // namespace
}  // namespace sampan::check_cases
