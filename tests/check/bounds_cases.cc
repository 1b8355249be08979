// Copies that leave their memory, read what nothing wrote, or are given memory or a kind that does not fit.
#include <acl/acl_rt_memory_soma.h>

#include "tests/check/scene.h"

namespace sampan::check_cases {
namespace {

// Hazard 11: an index that is one too large.
CASE(copy_past_the_end) {
  char *blocks = s.Device(4 * kBytes), *fill = s.Pinned();
  const std::size_t index = right ? 3 : 4;
  aclrtMemcpyAsync(blocks + index * kBytes, kBytes, fill, kBytes, ACL_MEMCPY_HOST_TO_DEVICE,
                   s.Stream());  //! 1 out-of-bounds
}

CASE(copy_behind_a_block_that_has_a_neighbour) {
  char *block = s.Device(), *fill = s.Pinned();
  s.Device();
  aclrtMemcpyAsync(block + (right ? 0 : kBytes), kBytes, fill, kBytes, ACL_MEMCPY_HOST_TO_DEVICE,
                   s.Stream());  //! 1 out-of-bounds
}

CASE(copy_past_the_end_of_its_source) {
  char *block = s.Device(2 * kBytes), *fill = s.Pinned();
  const std::size_t bytes = right ? kBytes : kBytes + 64;
  aclrtMemcpyAsync(block, 2 * kBytes, fill, bytes, ACL_MEMCPY_HOST_TO_DEVICE,
                   s.Stream());  //! 1 out-of-bounds
}

CASE(blocking_copy_past_the_end) {
  char *block = s.Device(), *fill = s.Pageable(2 * kBytes);
  aclrtMemcpy(block, 2 * kBytes, fill, right ? kBytes : kBytes + 100,
              ACL_MEMCPY_HOST_TO_DEVICE);  //! 1 out-of-bounds
}

CASE(last_row_past_the_end) {
  char *block = s.Device(), *fill = s.Pinned(2 * kBytes);
  const std::size_t rows = right ? 32 : 33;
  aclrtMemcpy2dAsync(block, 128, fill, 128, 128, rows, ACL_MEMCPY_HOST_TO_DEVICE,
                     s.Stream());  //! 1 out-of-bounds
}

CASE(fill_past_the_end) {
  char* block = s.Device();
  aclrtMemsetAsync(block, 2 * kBytes, 1, right ? kBytes : kBytes + 33, s.Stream());  //! 1 out-of-bounds
}

CASE(batch_entry_past_the_end) {
  char *block = s.Device(), *fill = s.Pinned();
  void* dsts[] = {block, block + kBytes / 2};
  void* srcs[] = {fill, fill + kBytes / 2};
  std::size_t sizes[] = {kBytes / 2, right ? kBytes / 2 : kBytes}, first = 0, failed = 0;
  aclrtMemcpyBatchAttr attribute = {};
  attribute.dstLoc.type = ACL_MEM_LOCATION_TYPE_DEVICE;
  aclrtMemcpyBatchAsync(dsts, sizes, srcs, sizes, 2, &attribute, &first, 1, &failed,
                        s.Stream());  //! 1 out-of-bounds
}

/// Two pieces of a pool, one behind the other.
struct TwoPieces {
  explicit TwoPieces(aclrtStream of_pieces) : stream(of_pieces) {
    aclrtMemPoolProps props = {};
    props.allocType = ACL_MEM_ALLOCATION_TYPE_PINNED;
    props.location.type = ACL_MEM_LOCATION_TYPE_DEVICE;
    OK(aclrtMemPoolCreate(&pool, &props));
    OK(aclrtMemPoolMallocAsync(&one, kBytes, pool, stream));
    OK(aclrtMemPoolMallocAsync(&other, kBytes, pool, stream));
  }
  ~TwoPieces() {
    OK(aclrtMemPoolFreeAsync(one, stream));
    OK(aclrtMemPoolFreeAsync(other, stream));
    SYNC(stream);
    OK(aclrtMemPoolDestroy(pool));
  }
  TwoPieces(const TwoPieces&) = delete;
  TwoPieces& operator=(const TwoPieces&) = delete;

  aclrtStream stream;
  aclrtMemPool pool = nullptr;
  void *one = nullptr, *other = nullptr;
};

CASE(pools_piece_and_its_neighbour) {
  const TwoPieces pieces(s.Stream());
  const std::size_t bytes = right ? kBytes : kBytes + 512;
  aclrtMemcpyAsync(pieces.one, 2 * kBytes, s.Pinned(2 * kBytes), bytes, ACL_MEMCPY_HOST_TO_DEVICE,
                   pieces.stream);  //! 1 out-of-bounds
}

CASE(copy_into_the_next_piece_of_a_pool) {
  const TwoPieces pieces(s.Stream());
  char* const block = static_cast<char*>(pieces.one) + (right ? 0 : kBytes);
  aclrtMemcpyAsync(block, kBytes, s.Pinned(), kBytes, ACL_MEMCPY_HOST_TO_DEVICE,
                   pieces.stream);  //! 1 out-of-bounds
}

CASE(read_of_fresh_memory) {
  char *block = s.Fresh(), *back = s.Pinned();
  aclrtStream a = s.Stream();
  if (right) OK(aclrtMemsetAsync(block, kBytes, 0, kBytes, a));
  D2H(back, block, kBytes, a);  //! 1 uninitialised-read
}

CASE(other_part_was_never_written) {
  char *block = s.Fresh(), *fill = s.Pinned(), *back = s.Pinned();
  aclrtStream a = s.Stream();
  H2D(block, fill, kBytes / 2, a);
  D2H(back, block + (right ? 0 : kBytes / 2), kBytes / 2, a);  //! 1 uninitialised-read
}

CASE(fresh_memory_copied_within_the_device) {
  char *block = s.Fresh(), *to = s.Device(), *fill = s.Pinned();
  aclrtStream a = s.Stream();
  if (right) H2D(block, fill, kBytes, a);
  D2D(to, block, kBytes, a);  //! 1 uninitialised-read
}

CASE(blocking_read_of_fresh_memory) {
  char *block = s.Fresh(), *back = s.Pageable();
  if (right) OK(aclrtMemset(block, kBytes, 0, kBytes));
  OK(aclrtMemcpy(back, kBytes, block, kBytes, ACL_MEMCPY_DEVICE_TO_HOST));  //! 1 uninitialised-read
}

CASE(memory_is_fresh_again_when_it_comes_back) {
  char *fill = s.Pinned(), *back = s.Pinned();
  aclrtStream a = s.Stream();
  void* block = nullptr;
  for (int round = 0; round < 2; ++round) {
    OK(aclrtMalloc(&block, kBytes, ACL_MEM_MALLOC_HUGE_FIRST));
    if (round == 0 || right) H2D(block, fill, kBytes, a);
    D2H(back, block, kBytes, a);  //! 1 uninitialised-read
    SYNC(a);
    OK(aclrtFree(block));
  }
}

CASE(gap_between_written_rows) {
  char *block = s.Fresh(), *fill = s.Pinned(), *back = s.Pinned();
  aclrtStream a = s.Stream();
  OK(aclrtMemcpy2dAsync(block, 1024, fill, 1024, 256, 4, ACL_MEMCPY_HOST_TO_DEVICE, a));
  D2H(back, block + 1024 + (right ? 0 : 256), 64, a);  //! 1 uninitialised-read
}

// Hazard 6: a local array is the source of an asynchronous copy.
CASE(local_array_as_a_source) {
  char *block = s.Device(), *pinned = s.Pinned(), local[256] = {1};
  H2D(block, (right ? pinned : local), sizeof local, s.Stream());  //! 1 pageable-async
}

CASE(heap_memory_as_a_destination) {
  char *block = s.Device(), *back = right ? s.Pinned() : s.Pageable();
  aclrtStream a = s.Stream();
  D2H(back, block, kBytes, a);  //! 1 pageable-async
  SYNC(a);
}

CASE(rows_of_pageable_memory) {
  char *block = s.Device(), *fill = right ? s.Registered() : s.Pageable();
  OK(aclrtMemcpy2dAsync(block, 128, fill, 128, 64, 8, ACL_MEMCPY_HOST_TO_DEVICE,
                        s.Stream()));  //! 1 pageable-async
}

CASE(batch_of_pageable_memory) {
  char *block = s.Device(), *fill = right ? s.Pinned() : s.Pageable();
  void *dsts[] = {block, block + 512}, *srcs[] = {fill, fill + 512};
  std::size_t sizes[] = {512, 512}, first = 0, failed = 0;
  aclrtMemcpyBatchAttr attribute = {};
  attribute.dstLoc.type = ACL_MEM_LOCATION_TYPE_DEVICE;
  OK(aclrtMemcpyBatchAsync(dsts, sizes, srcs, sizes, 2, &attribute, &first, 1, &failed,
                           s.Stream()));  //! 1 pageable-async
}

CASE(kind_of_the_other_direction) {
  char *block = s.Device(), *fill = s.Pinned();
  const aclrtMemcpyKind kind = right ? ACL_MEMCPY_HOST_TO_DEVICE : ACL_MEMCPY_DEVICE_TO_HOST;
  OK(aclrtMemcpyAsync(block, kBytes, fill, kBytes, kind, s.Stream()));  //! 1 wrong-kind
}

CASE(kind_within_the_device_for_host_memory) {
  char *block = s.Device(), *back = s.Pinned();
  const aclrtMemcpyKind kind = right ? ACL_MEMCPY_DEVICE_TO_HOST : ACL_MEMCPY_DEVICE_TO_DEVICE;
  OK(aclrtMemcpyAsync(back, kBytes, block, kBytes, kind, s.Stream()));  //! 1 wrong-kind
}

CASE(kind_of_a_blocking_copy) {
  char *block = s.Device(), *fill = s.Pageable();
  const aclrtMemcpyKind kind = right ? ACL_MEMCPY_HOST_TO_DEVICE : ACL_MEMCPY_DEVICE_TO_HOST;
  OK(aclrtMemcpy(block, kBytes, fill, kBytes, kind));  //! 1 wrong-kind
}

CASE(kind_that_leaves_it_to_the_runtime) {
  char *block = s.Device(), *fill = s.Pinned();
  const aclrtMemcpyKind kind = right ? ACL_MEMCPY_DEFAULT : ACL_MEMCPY_DEVICE_TO_DEVICE;
  OK(aclrtMemcpyAsync(block, kBytes, fill, kBytes, kind, s.Stream()));  //! 1 wrong-kind
}

}  // namespace
}  // namespace sampan::check_cases
