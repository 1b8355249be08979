// The host reads and writes pinned and registered memory while copies are in flight.
#include <unistd.h>

#include <cstring>
#include <mutex>
#include <thread>

#include "tests/check/scene.h"

namespace sampan::check_cases {
namespace {

// Hazard 3: the host reads the destination before it synchronised.
CASE(destination_read_early) {
  char *block = s.Device(), *back = s.Pinned();
  aclrtStream a = s.Stream();
  D2H(back, block, kBytes, a);  //! 1 host-read-before-sync
  if (right) SYNC(a);
  READ(back + 128);  //! 2 host-read-before-sync
}

CASE(destination_read_after_another_streams_end) {
  char *block = s.Device(), *back = s.Pinned();
  aclrtStream a = s.Stream(), b = s.Stream();
  D2H(back, block, kBytes, a);  //! 1 host-read-before-sync
  SYNC(right ? a : b);
  READ(back);  //! 2 host-read-before-sync
}

CASE(destination_read_after_an_event) {
  char *block = s.Device(), *back = s.Pinned();
  aclrtStream a = s.Stream();
  aclrtEvent event = s.Event();
  D2H(back, block, kBytes, a);  //! 1 host-read-before-sync
  OK(aclrtRecordEvent(event, a));
  if (right) OK(aclrtSynchronizeEvent(event));
  READ(back);  //! 2 host-read-before-sync
}

CASE(destination_read_after_the_end_of_a_stream_that_waited) {
  char *block = s.Device(), *back = s.Pinned();
  aclrtStream a = s.Stream(), b = s.Stream();
  D2H(back, block, kBytes, a);  //! 1 host-read-before-sync
  if (right) After(b, a, s.Event());
  SYNC(b);
  READ(back);  //! 2 host-read-before-sync
}

CASE(destination_read_after_a_query) {
  char *block = s.Device(), *back = s.Pinned();
  aclrtStream a = s.Stream();
  D2H(back, block, kBytes, a);  //! 1 host-read-before-sync
  aclrtStreamStatus status = ACL_STREAM_STATUS_NOT_READY;
  while (right && status != ACL_STREAM_STATUS_COMPLETE)
    OK(aclrtStreamQuery(a, &status));
  READ(back);  //! 2 host-read-before-sync
}

CASE(destination_read_after_the_end_of_its_stream_while_another_stands) {
  char *block = s.Device(), *back = s.Pinned();
  std::uint64_t* gate = s.Word();
  aclrtStream a = nullptr, standing = s.Stream(), opener = s.Stream();
  OK(aclrtCreateStream(&a));
  OK(aclrtValueWait(gate, 1, 0, standing));
  D2H(back, block, kBytes, a);  //! 1 host-read-before-sync
  if (right) OK(aclrtDestroyStream(a));
  READ(back);  //! 2 host-read-before-sync
  if (!right) OK(aclrtDestroyStream(a));
  OK(aclrtValueWrite(gate, 1, 0, opener));
}

CASE(destination_read_after_the_device_within_a_limit) {
  char *block = s.Device(), *back = s.Pinned();
  D2H(back, block, kBytes, s.Stream());  //! 1 host-read-before-sync
  if (right) OK(aclrtSynchronizeDeviceWithTimeout(60'000));
  READ(back);  //! 2 host-read-before-sync
}

CASE(destination_read_after_a_query_of_the_waits) {
  char *block = s.Device(), *back = s.Pinned();
  aclrtStream a = s.Stream(), b = s.Stream();
  aclrtEvent event = s.Event();
  D2H(back, block, kBytes, a);  //! 1 host-read-before-sync
  After(b, a, event);
  aclrtEventWaitStatus status = ACL_EVENT_WAIT_STATUS_NOT_READY;
  while (right && status != ACL_EVENT_WAIT_STATUS_COMPLETE)
    OK(aclrtQueryEventWaitStatus(event, &status));
  READ(back);  //! 2 host-read-before-sync
}

CASE(destination_read_when_a_thread_has_said_so) {
  char *block = s.Device(), *back = s.Pinned();
  aclrtStream a = s.Stream();
  std::mutex mutex;
  bool is_over = false;
  std::thread copier([&] {
    OK(aclrtSetDevice(0));
    D2H(back, block, kBytes, a);  //! 1 host-read-before-sync
    if (right) SYNC(a);
    const std::lock_guard lock(mutex);
    is_over = true;
  });
  for (bool seen = false; !seen; std::this_thread::yield()) {
    const std::lock_guard lock(mutex);
    seen = is_over;
  }
  READ(back);  //! 2 host-read-before-sync
  copier.join();
}

CASE(destination_of_rows_read_early) {
  char *block = s.Device(), *back = s.Pinned();
  aclrtStream a = s.Stream();
  OK(aclrtMemcpy2dAsync(back, 128, block, 128, 64, 16, ACL_MEMCPY_DEVICE_TO_HOST,
                        a));  //! 1 host-read-before-sync
  if (right) SYNC(a);
  READ(back + 130);  //! 2 host-read-before-sync
}

CASE(destination_copied_by_memcpy_early) {
  char *block = s.Device(), *back = s.Pinned(), result[256];
  aclrtStream a = s.Stream();
  D2H(back, block, kBytes, a);  //! 1 host-read-before-sync
  if (right) SYNC(a);
  std::memcpy(result, back, sizeof result);  //! 2 host-read-before-sync
}

CASE(destination_copied_by_a_blocking_copy_early) {
  char *block = s.Device(), *back = s.Pinned(), *result = s.Pageable();
  aclrtStream a = s.Stream();
  D2H(back, block, kBytes, a);  //! 1 race
  if (right) SYNC(a);
  OK(aclrtMemcpy(result, kBytes, back, kBytes, ACL_MEMCPY_HOST_TO_HOST));  //! 2 race
}

CASE(destination_read_by_another_thread) {
  char *block = s.Device(), *back = s.Pinned();
  aclrtStream a = s.Stream();
  D2H(back, block, kBytes, a);  //! 1 host-read-before-sync
  if (right) SYNC(a);
  std::thread([&] {
    READ(back + 9);  //! 2 host-read-before-sync
  }).join();
}

CASE(another_thread_synchronises) {
  char *block = s.Device(), *back = s.Pinned();
  aclrtStream a = s.Stream();
  D2H(back, block, kBytes, a);  //! 1 host-read-before-sync
  std::thread([&] {
    OK(aclrtSetDevice(0));
    if (right) SYNC(a);
  }).join();
  READ(back);  //! 2 host-read-before-sync
}

CASE(destination_written_to_a_file_early) {
  char *block = s.Device(), *back = s.Pinned();
  aclrtStream a = s.Stream();
  int ends[2];
  if (::pipe(ends) != 0) return;
  D2H(back, block, kBytes, a);  //! 1 host-read-before-sync
  if (right) SYNC(a);
  const ssize_t written = ::write(ends[1], back, 100);  //! 2 host-read-before-sync
  Expect(written == 100 ? ACL_SUCCESS : ACL_ERROR_FAILURE, "write");
  ::close(ends[0]);
  ::close(ends[1]);
}

// Hazard 4: the host overwrites the pinned source of a copy in flight.
CASE(source_overwritten) {
  char *block = s.Device(), *staging = s.Pinned();
  aclrtStream a = s.Stream();
  H2D(block, staging, kBytes, a);  //! 1 host-write-in-flight
  if (right) SYNC(a);
  WRITE(staging + 40);  //! 2 host-write-in-flight
}

CASE(source_may_be_read) {
  char *block = s.Device(), *staging = s.Pinned();
  aclrtStream a = s.Stream();
  H2D(block, staging, kBytes, a);  //! 1 host-write-in-flight
  READ(staging + 40);
  if (!right) WRITE(staging + 40);  //! 2 host-write-in-flight
}

// Hazard 7: one staging buffer is refilled between two copies of the same stream.
CASE(staging_buffer_refilled) {
  char *first = s.Device(), *second = s.Device(), *staging = s.Pinned();
  aclrtStream a = s.Stream();
  std::memset(staging, 1, kBytes);
  H2D(first, staging, kBytes, a);  //! 1 host-write-in-flight
  if (right) SYNC(a);
  std::memset(staging, 2, kBytes);  //! 2 host-write-in-flight
  H2D(second, staging, kBytes, a);
}

CASE(staging_buffers_in_turns) {
  char *block = s.Device(), *staging = s.Pinned(2 * kBytes);
  aclrtStream a = s.Stream();
  aclrtEvent copied[] = {s.Event(), s.Event()};
  for (int round = 0; round < 6; ++round) {
    char* const half = staging + round % 2 * kBytes;
    if (right && round >= 2) OK(aclrtSynchronizeEvent(copied[round % 2]));
    WRITE(half + round);          //! 2 host-write-in-flight
    H2D(block, half, kBytes, a);  //! 1 host-write-in-flight
    OK(aclrtRecordEvent(copied[round % 2], a));
  }
}

CASE(destination_overwritten) {
  char *block = s.Device(), *back = s.Pinned();
  aclrtStream a = s.Stream();
  D2H(back, block, kBytes, a);  //! 1 host-write-in-flight
  if (right) SYNC(a);
  WRITE(back + 40);  //! 2 host-write-in-flight
}

CASE(host_memory_set_in_flight) {
  char *block = s.Device(), *staging = s.Pinned();
  aclrtStream a = s.Stream();
  H2D(block, staging, kBytes, a);  //! 1 host-write-in-flight
  if (right) SYNC(a);
  OK(aclrtMemset(staging, kBytes, 3, 64));  //! 2 host-write-in-flight
}

CASE(host_memory_set_in_a_stream_happens_at_once) {
  char *block = s.Device(), *staging = s.Pinned();
  aclrtStream a = s.Stream();
  H2D(block, staging, kBytes, a);  //! 1 host-write-in-flight
  if (right) SYNC(a);
  OK(aclrtMemsetAsync(staging, kBytes, 3, 64, a));  //! 2 host-write-in-flight
}

CASE(source_filled_from_a_file) {
  char *block = s.Device(), *staging = s.Pinned();
  aclrtStream a = s.Stream();
  int ends[2];
  if (::pipe(ends) != 0 || ::write(ends[1], "some text", 9) != 9) return;
  H2D(block, staging, kBytes, a);  //! 1 host-write-in-flight
  if (right) SYNC(a);
  const ssize_t got = ::read(ends[0], staging, 9);  //! 2 host-write-in-flight
  Expect(got == 9 ? ACL_SUCCESS : ACL_ERROR_FAILURE, "read");
  ::close(ends[0]);
  ::close(ends[1]);
}

CASE(source_read_during_the_call_may_be_overwritten) {
  char *block = s.Device(), *staging = s.Pinned();
  aclrtStream a = s.Stream();
  const aclrtMemcpyKind kind = right ? ACL_MEMCPY_HOST_TO_BUF_TO_DEVICE : ACL_MEMCPY_HOST_TO_DEVICE;
  OK(aclrtMemcpyAsync(block, kBytes, staging, kBytes, kind, a));  //! 1 host-write-in-flight
  WRITE(staging);                                                 //! 2 host-write-in-flight
}

CASE(host_function_reads_in_stream_order) {
  char *block = s.Device(), *back = s.Pinned();
  aclrtStream a = s.Stream(), b = s.Stream();
  const aclrtHostFunc read = [](void* memory) {
    READ(memory);  //! 2 host-read-before-sync
  };
  D2H(back, block, kBytes, a);  //! 1 host-read-before-sync
  OK(aclrtLaunchHostFunc(right ? a : b, read, back));
}

CASE(host_function_writes_in_stream_order) {
  char *block = s.Device(), *staging = s.Pinned();
  aclrtStream a = s.Stream(), b = s.Stream();
  const aclrtHostFunc write = [](void* memory) {
    WRITE(memory);  //! 2 host-write-in-flight
  };
  H2D(block, staging, kBytes, a);  //! 1 host-write-in-flight
  if (right) After(b, a, s.Event());
  OK(aclrtLaunchHostFunc(b, write, staging));
}

CASE(host_function_tells_the_host) {
  char *block = s.Device(), *back = s.Pinned();
  aclrtStream a = s.Stream();
  D2H(back, block, kBytes, a);  //! 1 host-read-before-sync
  const aclrtHostFunc nothing = [](void*) {};
  if (right) OK(aclrtLaunchHostFunc(a, nothing, nullptr));
  aclrtEvent event = s.Event();
  OK(aclrtRecordEvent(event, a));
  if (right) OK(aclrtSynchronizeEventWithTimeout(event, 60'000));
  READ(back + 1);  //! 2 host-read-before-sync
}

CASE(destination_read_by_a_thread_that_was_there_before) {
  char *block = s.Device(), *back = s.Pinned();
  aclrtStream a = s.Stream();
  aclrtEvent event = s.Event();
  D2H(back, block, kBytes, a);  //! 1 host-read-before-sync
  OK(aclrtRecordEvent(event, a));
  std::thread([&] {
    OK(aclrtSetDevice(0));
    if (right) OK(aclrtSynchronizeEvent(event));
    READ(back + 77);  //! 2 host-read-before-sync
  }).join();
}

}  // namespace
}  // namespace sampan::check_cases
