// Near misses: accesses that touch by a byte, or do not quite.
#include <cstring>

#include "tests/check/scene.h"

namespace sampan::check_cases {
namespace {

constexpr std::size_t kHalf = kBytes / 2;

CASE(halves_and_one_byte_more) {
  char *block = s.Device(), *fill = s.Pinned(), *back = s.Pinned();
  aclrtStream a = s.Stream(), b = s.Stream();
  H2D(block, fill, right ? kHalf : kHalf + 1, a);  //! 1 race
  D2H(back, block + kHalf, kHalf, b);              //! 2 race
}

CASE(last_byte_of_a_block) {
  char *block = s.Device(), *fill = s.Pinned(), *back = s.Pinned();
  aclrtStream a = s.Stream(), b = s.Stream();
  H2D(block, fill, kBytes, a);  //! 1 race
  if (right) H2D(s.Device() + kBytes - 1, fill, 1, b);
  if (!right) D2H(back + kBytes - 1, block + kBytes - 1, 1, b);  //! 2 race
}

CASE(two_readers_do_not_race) {
  char *block = s.Device(), *other = s.Device(), *back = s.Pinned();
  aclrtStream a = s.Stream(), b = s.Stream();
  D2H(back, block, kBytes, a);  //! 1 race
  if (right) D2D(other, block, kBytes, b);
  if (!right) D2D(block, other, kBytes, b);  //! 2 race
}

CASE(rows_in_one_anothers_gaps) {
  char *block = s.Device(), *fill = s.Pinned();
  aclrtStream a = s.Stream(), b = s.Stream();
  OK(aclrtMemcpy2dAsync(block, 128, fill, 128, 64, 16, ACL_MEMCPY_HOST_TO_DEVICE, a));  //! 1 race
  char* const gaps = block + (right ? 64 : 63);
  OK(aclrtMemcpy2dAsync(gaps, 128, fill + 64, 128, 64, 16, ACL_MEMCPY_HOST_TO_DEVICE, b));  //! 2 race
}

CASE(rows_of_two_pitches) {
  char *block = s.Device(), *fill = s.Pinned();
  aclrtStream a = s.Stream(), b = s.Stream();
  // Rows of 16 bytes at 0, 96, 192, ... and at 32, 160, 288, ...: they meet first at 288.
  OK(aclrtMemcpy2dAsync(block, 96, fill, 96, 16, 8, ACL_MEMCPY_HOST_TO_DEVICE, a));  //! 1 race
  const std::size_t rows = right ? 2 : 3;
  OK(aclrtMemcpy2dAsync(block + 32, 128, fill + kHalf, 128, 16, rows, ACL_MEMCPY_HOST_TO_DEVICE,
                        b));  //! 2 race
}

CASE(short_copy_in_a_gap_between_rows) {
  char *block = s.Device(), *fill = s.Pinned(), *back = s.Pinned();
  aclrtStream a = s.Stream(), b = s.Stream();
  OK(aclrtMemcpy2dAsync(block, 256, fill, 256, 200, 8, ACL_MEMCPY_HOST_TO_DEVICE, a));  //! 1 race
  D2H(back, block + 256 + (right ? 200 : 199), 40, b);                                  //! 2 race
}

CASE(one_row_is_a_plain_range) {
  char *block = s.Device(), *fill = s.Pinned(), *back = s.Pinned();
  aclrtStream a = s.Stream(), b = s.Stream();
  OK(aclrtMemcpy2dAsync(block, kBytes, fill, kBytes, 100, 1, ACL_MEMCPY_HOST_TO_DEVICE, a));  //! 1 race
  D2H(back, block + (right ? 100 : 99), 50, b);                                               //! 2 race
}

CASE(host_reads_behind_the_rows_of_a_copy) {
  char *block = s.Device(), *back = s.Pinned();
  aclrtStream a = s.Stream();
  OK(aclrtMemcpy2dAsync(back, 128, block, 128, 64, 16, ACL_MEMCPY_DEVICE_TO_HOST,
                        a));       //! 1 host-read-before-sync
  READ(back + (right ? 64 : 63));  //! 2 host-read-before-sync
}

CASE(host_reads_other_bytes_of_the_page) {
  char *block = s.Device(), *back = s.Pinned();
  aclrtStream a = s.Stream();
  D2H(back + 64, block, 128, a);  //! 1 host-read-before-sync
  READ(back + 63), READ(back + 192);
  if (!right) READ(back + 191);  //! 2 host-read-before-sync
}

CASE(host_writes_other_bytes_of_the_page) {
  char *block = s.Device(), *staging = s.Pinned();
  aclrtStream a = s.Stream();
  H2D(block, staging, 100, a);  //! 1 host-write-in-flight
  std::memset(staging + 100, 1, kBytes - 100);
  if (!right) WRITE(staging + 99);  //! 2 host-write-in-flight
}

CASE(host_uses_the_page_behind_the_copy) {
  char *block = s.Device(2 * kBytes), *staging = s.Pinned(2 * kBytes);
  aclrtStream a = s.Stream();
  H2D(block, staging, kBytes + (right ? 0 : 1), a);  //! 1 host-write-in-flight
  WRITE(staging + kBytes);                           //! 2 host-write-in-flight
}

CASE(host_writes_between_two_copies_of_a_page) {
  char *block = s.Device(), *staging = s.Pinned();
  aclrtStream a = s.Stream();
  H2D(block, staging, 64, a);
  H2D(block + 128, staging + 128, 64, a);  //! 1 host-write-in-flight
  WRITE(staging + (right ? 127 : 128));    //! 2 host-write-in-flight
}

CASE(access_across_the_edge_of_a_copy) {
  char *block = s.Device(), *back = s.Pinned();
  aclrtStream a = s.Stream();
  D2H(back + 64, block, 64, a);  //! 1 host-read-before-sync
  // Eight bytes; the last four belong to the copy.
  const char* const at = back + (right ? 56 : 60);
  static_cast<void>(*reinterpret_cast<const volatile std::uint64_t*>(at));  //! 2 host-read-before-sync
}

CASE(fill_beside_a_copy) {
  char *block = s.Device(), *back = s.Pinned();
  aclrtStream a = s.Stream(), b = s.Stream();
  OK(aclrtMemsetAsync(block, kBytes, 1, right ? 1000 : 1001, a));  //! 1 race
  D2H(back, block + 1000, 24, b);                                  //! 2 race
}

CASE(words_beside_a_copy) {
  char *block = s.Device(), *back = s.Pinned();
  aclrtStream a = s.Stream(), b = s.Stream();
  OK(aclrtMemsetD32Async(block, kBytes, 1, right ? 250 : 251, a));  //! 1 race
  D2H(back, block + 1000, 24, b);                                   //! 2 race
}

CASE(neighbours_in_a_large_block) {
  constexpr std::size_t kLarge = std::size_t{8} << 20;
  char *block = s.Device(2 * kLarge), *fill = s.Pinned(kLarge), *back = s.Pinned();
  aclrtStream a = s.Stream(), b = s.Stream();
  H2D(block, fill, kLarge, a);                         //! 1 race
  D2H(back, block + kLarge - (right ? 0 : 1), 16, b);  //! 2 race
}

CASE(copies_of_no_bytes) {
  char *block = s.Device(), *fill = s.Pinned(), *back = s.Pinned();
  aclrtStream a = s.Stream(), b = s.Stream();
  H2D(block, fill, kBytes, a);             //! 1 race
  D2H(back, block + 8, right ? 0 : 1, b);  //! 2 race
}

CASE(ordered_part_and_free_part) {
  char *block = s.Device(), *fill = s.Pinned(), *back = s.Pinned();
  aclrtStream a = s.Stream(), b = s.Stream();
  H2D(block, fill, kHalf, a);
  After(b, a, s.Event());
  H2D(block + kHalf, fill + kHalf, kHalf, a);      //! 1 race
  D2H(back, block, right ? kHalf : kHalf + 8, b);  //! 2 race
}

CASE(an_older_write_below_a_newer_one) {
  char *block = s.Device(), *fill = s.Pinned(), *back = s.Pinned();
  aclrtStream a = s.Stream(), b = s.Stream(), c = s.Stream();
  H2D(block, fill, kBytes, a);  //! 1 race
  if (right) After(b, a, s.Event());
  H2D(block + 64, fill + 64, 64, right ? b : a);
  After(c, right ? b : s.Stream(), s.Event());
  D2H(back, block, 64, c);  //! 2 race
}

}  // namespace
}  // namespace sampan::check_cases
