// Descriptors and offset cells that queued work reads when it runs, and words that it waits for.
#include "tests/check/scene.h"

namespace sampan::check_cases {
namespace {

constexpr aclrtMemcpyKind kInner = ACL_MEMCPY_INNER_DEVICE_TO_DEVICE;

// Hazard 12: the descriptor is changed before the copy that uses it has run.
CASE(descriptor_changed_before_its_copy) {
  char *from = s.Device(), *to = s.Device(), *other = s.Device();
  void* descriptor = s.Descriptor();
  aclrtStream a = s.Stream();
  OK(aclrtSetMemcpyDesc(descriptor, kInner, from, to, kBytes, nullptr));
  OK(aclrtMemcpyAsyncWithDesc(descriptor, kInner, a));  //! 1 stale-descriptor
  if (right) SYNC(a);
  OK(aclrtSetMemcpyDesc(descriptor, kInner, from, other, kBytes, nullptr));  //! 2 stale-descriptor
}

CASE(descriptor_freed_before_its_copy) {
  char *from = s.Device(), *to = s.Device();
  void* descriptor = s.Descriptor();
  aclrtStream a = s.Stream();
  OK(aclrtSetMemcpyDesc(descriptor, kInner, from, to, kBytes, nullptr));
  OK(aclrtMemcpyAsyncWithDesc(descriptor, kInner, a));  //! 1 freed-in-flight
  if (right) SYNC(a);
  s.Forget(descriptor);
  OK(aclrtFree(descriptor));  //! 2 freed-in-flight
}

CASE(descriptor_overwritten_by_another_stream) {
  char *from = s.Device(), *to = s.Device(), *fill = s.Pinned();
  void* descriptor = s.Descriptor();
  aclrtStream a = s.Stream(), b = s.Stream();
  OK(aclrtSetMemcpyDesc(descriptor, kInner, from, to, kBytes, nullptr));
  OK(aclrtMemcpy(fill, 32, descriptor, 32, ACL_MEMCPY_DEVICE_TO_HOST));
  OK(aclrtMemcpyAsyncWithDesc(descriptor, kInner, a));  //! 1 stale-descriptor
  if (right) After(b, a, s.Event());
  H2D(descriptor, fill, 32, b);  //! 2 stale-descriptor
}

/// Two cells in device memory that hold the addresses of an offset copy.
void** Cells(Scene& s, char* dst, char* src) {
  void** const cells = reinterpret_cast<void**>(s.Word());
  void* const addresses[] = {dst, src};
  OK(aclrtMemcpy(cells, sizeof addresses, addresses, sizeof addresses, ACL_MEMCPY_HOST_TO_DEVICE));
  return cells;
}

CASE(cell_changed_before_its_copy) {
  char *from = s.Device(), *to = s.Device(), *other = s.Device();
  void** cells = Cells(s, to, from);
  aclrtStream a = s.Stream();
  OK(aclrtMemcpyAsyncWithOffset(cells, kBytes, 0, const_cast<const void**>(cells + 1), 64, 0, kInner,
                                a));  //! 1 stale-descriptor
  if (right) SYNC(a);
  OK(aclrtMemcpy(cells, sizeof other, &other, sizeof other,
                 ACL_MEMCPY_HOST_TO_DEVICE));  //! 2 stale-descriptor
}

CASE(word_freed_before_its_wait) {
  std::uint64_t *word = s.Word(), *other = s.Word();
  aclrtStream a = s.Stream(), opener = s.Stream();
  OK(aclrtValueWait(word, 1, 0, a));  //! 1 freed-in-flight
  if (right) OK(aclrtValueWrite(word, 1, 0, opener));
  if (right) SYNC(a);
  if (right) SYNC(opener);
  s.Forget(word);
  OK(aclrtFree(word));  //! 2 freed-in-flight
  if (!right) OK(aclrtStreamAbort(a));
  OK(aclrtValueWrite(other, 1, 0, opener));
}

CASE(word_freed_before_its_write) {
  std::uint64_t* word = s.Word();
  aclrtStream a = s.Stream();
  OK(aclrtValueWrite(word, 1, 0, a));  //! 1 freed-in-flight
  if (right) SYNC(a);
  s.Forget(word);
  OK(aclrtFree(word));  //! 2 freed-in-flight
}

}  // namespace
}  // namespace sampan::check_cases
