// What ends a program or is found at its end: deadlocks, failed work that no call reported, leaks.
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <thread>

#include "tests/check/scene.h"

namespace sampan::check_cases {
namespace {

constexpr std::uint32_t kAtLeast = 0;

// Hazard 10: the thread that would give the signal waits for it itself.
CASE_ALONE(host_waits_for_its_own_signal) {
  std::uint64_t* word = s.Word();
  aclrtStream a = s.Stream(), b = s.Stream();
  OK(aclrtValueWait(word, 1, kAtLeast, a));  //! 1 deadlock
  if (!right) SYNC(a);                       //! 2 deadlock
  OK(aclrtValueWrite(word, 1, 0, b));
}

// Hazard 10: the queue is full, and the thread that would open its gate waits for room.
CASE_ALONE(full_queue_behind_a_gate) {
  constexpr int kMoreThanAQueueHolds = 5000;
  char *block = s.Device(), *fill = s.Pinned();
  std::uint64_t* word = s.Word();
  aclrtStream a = s.Stream(), b = s.Stream();
  OK(aclrtValueWait(word, 1, kAtLeast, a));  //! 1 deadlock
  if (right) OK(aclrtValueWrite(word, 1, 0, b));
  for (int i = 0; i < kMoreThanAQueueHolds; ++i) {
    H2D(block, fill, kBytes, a);  //! 2 deadlock
  }
  if (!right) OK(aclrtValueWrite(word, 1, 0, b));
}

CASE_ALONE(notify_that_nothing_records) {
  aclrtNotify notify = s.Notify();
  aclrtStream a = s.Stream();
  if (right) OK(aclrtRecordNotify(notify, s.Stream()));
  OK(aclrtWaitAndResetNotify(notify, a, 0));  //! 1 deadlock
  SYNC(a);                                    //! 2 deadlock
}

// Hazard 13: two streams, each waiting for what the other records behind its own wait.
CASE_ALONE(two_streams_wait_for_each_other) {
  aclrtNotify one = s.Notify(), other = s.Notify();
  aclrtStream a = s.Stream(), b = s.Stream();
  if (right) OK(aclrtRecordNotify(other, b));
  OK(aclrtWaitAndResetNotify(other, a, 0));  //! 1 deadlock
  OK(aclrtRecordNotify(one, a));
  OK(aclrtWaitAndResetNotify(one, b, 0));  //! 2 deadlock
  if (!right) OK(aclrtRecordNotify(other, b));
  SYNC(a);  //! 3 deadlock
}

// The report has room for the call that waits.
CASE_ALONE(many_streams_and_a_host_that_waits) {
  constexpr int kStreams = 18;
  std::uint64_t* word = s.Word();
  aclrtStream last = nullptr;
  for (int i = 0; i < kStreams; ++i) {
    last = s.Stream();
    OK(aclrtValueWait(word, 1, kAtLeast, last));  //! 1+2+3+4+5+6+7+8+9+10+11+12+13+14+15+16+17+18 deadlock
  }
  if (right) OK(aclrtValueWrite(word, 1, 0, s.Stream()));
  SYNC(last);  //! 19 deadlock
}

CASE_ALONE(failed_copy_that_no_call_reported) {
  char *block = s.Device(), *back = s.Pinned();
  aclrtStream a = nullptr, gate_opener = s.Stream();
  std::uint64_t* gate = s.Word();
  OK(aclrtCreateStream(&a));
  OK(aclrtValueWait(gate, 1, kAtLeast, a));
  D2H(back, block, kBytes, a);  //! 1 failed-task
  if (right) OK(aclrtValueWrite(gate, 1, 0, gate_opener));
  if (right) SYNC(a);
  s.Forget(block);
  OK(aclrtFree(block));
  if (!right) OK(aclrtValueWrite(gate, 1, 0, gate_opener));
  OK(aclrtDestroyStream(a));
}

CASE_ALONE(failed_copy_that_a_callback_tells) {
  static std::atomic<int> told{0};
  char *block = s.Device(), *back = s.Pinned();
  aclrtStream a = nullptr, gate_opener = s.Stream();
  std::uint64_t* gate = s.Word();
  if (right) OK(aclrtExceptionInfoCallbackRegister([](aclrtExceptionInfo*) { ++told; }));
  OK(aclrtCreateStream(&a));
  OK(aclrtValueWait(gate, 1, kAtLeast, a));
  D2H(back, block, kBytes, a);  //! 1 failed-task
  s.Forget(block);
  OK(aclrtFree(block));
  OK(aclrtValueWrite(gate, 1, 0, gate_opener));
  OK(aclrtDestroyStream(a));
  while (right && told == 0)
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
}

// As programs do that want no files of the process that started them. The next file gets the first number.
CASE_ALONE(program_that_closes_all_files) {
  char *block = s.Device(), *back = s.Pinned();
  aclrtStream a = s.Stream();
  for (int file = 3; file < 1000; ++file) {
    struct stat facts = {};
    if (::fstat(file, &facts) == 0 && S_ISREG(facts.st_mode)) ::close(file);
  }
  std::FILE* const own = std::tmpfile();
  if (own == nullptr) std::abort();
  D2H(back, block, kBytes, a);  //! 1 host-read-before-sync
  if (right) SYNC(a);
  READ(back);  //! 2 host-read-before-sync
  SYNC(a);
  struct stat facts = {};
  const bool is_empty = ::fstat(::fileno(own), &facts) == 0 && facts.st_size == 0;
  Expect(is_empty ? ACL_SUCCESS : ACL_ERROR_FAILURE, "the program's own file has nothing of others");
  std::fclose(own);
}

CASE_ALONE(device_memory_left) {
  void* memory = nullptr;
  OK(aclrtMalloc(&memory, kBytes, ACL_MEM_MALLOC_HUGE_FIRST));  //! 0 leak
  if (right) OK(aclrtFree(memory));
}

CASE_ALONE(pinned_memory_left) {
  void* memory = nullptr;
  OK(aclrtMallocHost(&memory, kBytes));  //! 0 leak
  if (right) OK(aclrtFreeHost(memory));
}

CASE_ALONE(registration_left) {
  void* const memory = ::mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  void* seen_by_device = nullptr;
  OK(aclrtHostRegister(memory, kBytes, ACL_HOST_REGISTER_MAPPED, &seen_by_device));  //! 0 leak
  if (right) OK(aclrtHostUnregister(memory));
}

CASE_ALONE(stream_left) {
  aclrtStream stream = nullptr;
  OK(aclrtCreateStream(&stream));  //! 0 leak
  if (right) OK(aclrtDestroyStream(stream));
}

CASE_ALONE(event_left) {
  aclrtEvent event = nullptr;
  OK(aclrtCreateEvent(&event));  //! 0 leak
  if (right) OK(aclrtDestroyEvent(event));
}

CASE_ALONE(event_with_a_flag_left) {
  aclrtEvent event = nullptr;
  OK(aclrtCreateEventExWithFlag(&event, ACL_EVENT_SYNC));  //! 0 leak
  if (right) OK(aclrtDestroyEvent(event));
}

CASE_ALONE(context_left) {
  aclrtContext context = nullptr;
  OK(aclrtCreateContext(&context, 0));  //! 0 leak
  if (right) OK(aclrtDestroyContext(context));
}

CASE_ALONE(context_ends_with_its_events_and_streams) {
  aclrtContext context = nullptr;
  aclrtEvent event = nullptr;
  aclrtStream stream = nullptr;
  OK(aclrtCreateContext(&context, 0));  //! 0 leak/context
  OK(aclrtCreateEvent(&event));         //! 0 leak/event
  OK(aclrtCreateStream(&stream));       //! 0 leak/stream
  if (right) OK(aclrtDestroyContext(context));
}

CASE_ALONE(what_a_reset_ends_is_no_leak) {
  void* memory = nullptr;
  if (!right) OK(aclrtMalloc(&memory, 64, ACL_MEM_MALLOC_HUGE_FIRST));  //! 0 leak
  if (right) {
    OK(aclrtSetDevice(1));
    OK(aclrtMalloc(&memory, 64, ACL_MEM_MALLOC_HUGE_FIRST));
    OK(aclrtResetDevice(1));
    OK(aclrtSetDevice(0));
  }
}

}  // namespace
}  // namespace sampan::check_cases
