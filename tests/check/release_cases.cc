// Memory that is freed, unregistered or unmapped while work uses it, or used when it is gone.
#include <acl/acl_rt_memory_soma.h>
#include <sys/mman.h>

#include "tests/check/scene.h"

namespace sampan::check_cases {
namespace {

constexpr std::size_t kChunk = std::size_t{2} << 20;

// Hazard 5: the staging buffer is freed before the copy ends.
CASE(pinned_memory_freed_in_flight) {
  char *block = s.Device(), *staging = s.Pinned();
  aclrtStream a = s.Stream();
  H2D(block, staging, kBytes, a);  //! 1 freed-in-flight
  if (right) SYNC(a);
  s.Forget(staging);
  OK(aclrtFreeHost(staging));  //! 2 freed-in-flight
}

CASE(device_memory_freed_in_flight) {
  char *block = s.Device(), *fill = s.Pinned();
  aclrtStream a = s.Stream();
  H2D(block, fill, kBytes, a);  //! 1 freed-in-flight
  if (right) SYNC(a);
  s.Forget(block);
  OK(aclrtFree(block));  //! 2 freed-in-flight
}

CASE(device_memory_freed_with_a_synchronisation) {
  char *block = s.Device(), *fill = s.Pinned();
  aclrtStream a = s.Stream();
  H2D(block, fill, kBytes, a);  //! 1 freed-in-flight
  s.Forget(block);
  if (right) OK(aclrtFreeWithDevSync(block));
  if (!right) OK(aclrtFree(block));  //! 2 freed-in-flight
}

CASE(pinned_memory_freed_with_a_synchronisation) {
  char *block = s.Device(), *back = s.Pinned();
  aclrtStream a = s.Stream();
  D2H(back, block, kBytes, a);  //! 1 freed-in-flight
  s.Forget(back);
  if (right) OK(aclrtFreeHostWithDevSync(back));
  if (!right) OK(aclrtFreeHost(back));  //! 2 freed-in-flight
}

CASE(device_memory_freed_in_stream_order) {
  char *block = s.Device(), *fill = s.Pinned();
  aclrtStream a = s.Stream();
  H2D(block, fill, kBytes, a);  //! 1 freed-in-flight
  s.Forget(block);
  if (right) OK(aclrtMemPoolFreeAsync(block, a));
  if (!right) OK(aclrtFree(block));  //! 2 freed-in-flight
}

CASE(memory_freed_when_another_stream_is_over) {
  char *block = s.Device(), *fill = s.Pinned();
  aclrtStream a = s.Stream(), b = s.Stream();
  H2D(block, fill, kBytes, a);  //! 1 freed-in-flight
  if (right) After(b, a, s.Event());
  SYNC(b);
  s.Forget(block);
  OK(aclrtFree(block));  //! 2 freed-in-flight
}

CASE(neighbour_of_memory_in_flight_freed) {
  char *block = s.Device(), *other = s.Device(), *fill = s.Pinned();
  aclrtStream a = s.Stream();
  H2D(block, fill, kBytes, a);  //! 1 freed-in-flight
  char* const freed = right ? other : block;
  s.Forget(freed);
  OK(aclrtFree(freed));  //! 2 freed-in-flight
}

CASE(memory_of_a_fill_freed) {
  char* block = s.Device();
  aclrtStream a = s.Stream();
  OK(aclrtMemsetAsync(block, kBytes, 1, kBytes, a));  //! 1 freed-in-flight
  if (right) SYNC(a);
  s.Forget(block);
  OK(aclrtFree(block));  //! 2 freed-in-flight
}

// Hazard 9: registered memory is given up while the device uses it.
CASE(registration_ended_in_flight) {
  char *block = s.Device(), *staging = s.Registered();
  aclrtStream a = s.Stream();
  H2D(block, staging, kBytes, a);  //! 1 freed-in-flight
  if (right) SYNC(a);
  s.Forget(staging);
  OK(aclrtHostUnregister(staging));  //! 2 freed-in-flight
  aclrtSynchronizeStream(a);
  ::munmap(staging, kBytes);
}

CASE(mapping_ended_in_flight) {
  aclrtPhysicalMemProp prop = {};
  prop.handleType = ACL_MEM_HANDLE_TYPE_NONE;
  prop.allocationType = ACL_MEM_ALLOCATION_TYPE_PINNED;
  prop.memAttr = ACL_HBM_MEM_HUGE;
  prop.location.type = ACL_MEM_LOCATION_TYPE_DEVICE;
  aclrtDrvMemHandle handle = nullptr;
  void* block = nullptr;
  aclrtStream a = s.Stream();
  OK(aclrtMallocPhysical(&handle, kChunk, &prop, 0));
  OK(aclrtReserveMemAddress(&block, kChunk, 0, nullptr, 0));
  OK(aclrtMapMem(block, kChunk, 0, handle, 0));
  H2D(block, s.Pinned(), kBytes, a);  //! 1 freed-in-flight
  if (right) SYNC(a);
  OK(aclrtUnmapMem(block));  //! 2 freed-in-flight
  aclrtSynchronizeStream(a);
  aclrtReleaseMemAddress(block);
  aclrtFreePhysical(handle);
}

CASE(copy_of_freed_device_memory) {
  char *block = s.Device(), *back = s.Pinned();
  s.Forget(block);
  if (!right) OK(aclrtFree(block));  //! 1 use-after-free
  const aclError code = aclrtMemcpyAsync(back, kBytes, block, kBytes, ACL_MEMCPY_DEVICE_TO_HOST,
                                         s.Stream());  //! 2 use-after-free
  OK(aclrtSynchronizeDevice());
  if (right) OK(aclrtFree(block));
  Expect((code == ACL_SUCCESS) == right ? ACL_SUCCESS : ACL_ERROR_FAILURE, "a copy of freed memory");
}

CASE(fill_of_freed_device_memory) {
  char* block = s.Device();
  s.Forget(block);
  if (!right) OK(aclrtFree(block));       //! 1 use-after-free
  aclrtMemset(block, kBytes, 1, kBytes);  //! 2 use-after-free
  if (right) OK(aclrtFree(block));
}

CASE_ALONE(host_reads_freed_pinned_memory) {
  char* staging = s.Pinned();
  s.Forget(staging);
  READ(staging);
  OK(aclrtFreeHost(staging));  //! 1 use-after-free
  if (!right) READ(staging);   //! 2 use-after-free
}

CASE_ALONE(host_writes_freed_pinned_memory) {
  char* staging = s.Pinned();
  s.Forget(staging);
  OK(aclrtFreeHost(staging));       //! 1 use-after-free
  if (!right) WRITE(staging + 99);  //! 2 use-after-free
}

}  // namespace
}  // namespace sampan::check_cases
