// Two streams and no order between them: every way to give one, present and missing.
#include "tests/check/scene.h"

namespace sampan::check_cases {
namespace {

constexpr std::uint32_t kEqual = 1;

// Hazard 1: the block is read back before the work that fills it.
CASE(read_back_without_an_event) {
  char *block = s.Device(), *fill = s.Pinned(), *back = s.Pinned();
  aclrtStream a = s.Stream(), b = s.Stream();
  H2D(block, fill, kBytes, a);  //! 1 race
  if (right) After(b, a, s.Event());
  D2H(back, block, kBytes, b);  //! 2 race
}

// Hazard 2: the block is overwritten while another stream still reads it.
CASE(block_overwritten_while_it_is_read) {
  char *block = s.Device(), *next = s.Pinned(), *back = s.Pinned();
  aclrtStream a = s.Stream(), b = s.Stream();
  D2H(back, block, kBytes, a);  //! 1 race
  if (right) After(b, a, s.Event());
  H2D(block, next, kBytes, b);  //! 2 race
}

CASE(two_streams_write_one_block) {
  char *block = s.Device(), *one = s.Pinned(), *other = s.Pinned();
  aclrtStream a = s.Stream(), b = s.Stream();
  H2D(block, one, kBytes, a);  //! 1 race
  if (right) After(b, a, s.Event());
  H2D(block, other, kBytes, b);  //! 2 race
}

CASE(copies_within_the_device) {
  char *from = s.Device(), *middle = s.Device(), *to = s.Device();
  aclrtStream a = s.Stream(), b = s.Stream();
  D2D(middle, from, kBytes, a);  //! 1 race
  if (right) After(b, a, s.Event());
  D2D(to, middle, kBytes, b);  //! 2 race
}

CASE(fill_against_a_copy) {
  char *block = s.Device(), *back = s.Pinned();
  aclrtStream a = s.Stream(), b = s.Stream();
  OK(aclrtMemsetAsync(block, kBytes, 7, kBytes, a));  //! 1 race
  if (right) After(b, a, s.Event());
  D2H(back, block, kBytes, b);  //! 2 race
}

CASE(fill_of_words_against_a_copy) {
  char *block = s.Device(), *back = s.Pinned();
  aclrtStream a = s.Stream(), b = s.Stream();
  D2H(back, block, kBytes, a);  //! 1 race
  if (right) After(b, a, s.Event());
  OK(aclrtMemsetD32Async(block, kBytes, 7, kBytes / 4, b));  //! 2 race
}

CASE(reduction_against_a_copy) {
  char *sum = s.Device(), *part = s.Device(), *back = s.Pinned();
  aclrtStream a = s.Stream(), b = s.Stream();
  OK(aclrtReduceAsync(sum, part, kBytes, ACL_RT_MEMCPY_SDMA_AUTOMATIC_SUM, ACL_INT32, a,
                      nullptr));  //! 1 race
  if (right) After(b, a, s.Event());
  D2H(back, sum, kBytes, b);  //! 2 race
}

CASE(reduction_reads_what_a_copy_writes) {
  char *sum = s.Device(), *part = s.Device(), *fill = s.Pinned();
  aclrtStream a = s.Stream(), b = s.Stream();
  H2D(part, fill, kBytes, a);  //! 1 race
  if (right) After(b, a, s.Event());
  OK(aclrtReduceAsync(sum, part, kBytes, ACL_RT_MEMCPY_SDMA_AUTOMATIC_SUM, ACL_INT32, b,
                      nullptr));  //! 2 race
}

CASE(pinned_memory_between_two_streams) {
  char *from = s.Device(), *to = s.Device(), *staging = s.Pinned();
  aclrtStream a = s.Stream(), b = s.Stream();
  D2H(staging, from, kBytes, a);  //! 1 race
  if (right) After(b, a, s.Event());
  H2D(to, staging, kBytes, b);  //! 2 race
}

CASE(registered_memory_between_two_streams) {
  char *from = s.Device(), *to = s.Device(), *staging = s.Registered();
  aclrtStream a = s.Stream(), b = s.Stream();
  D2H(staging, from, kBytes, a);  //! 1 race
  if (right) After(b, a, s.Event());
  H2D(to, staging, kBytes, b);  //! 2 race
}

CASE(default_stream_is_a_stream_like_others) {
  char *block = s.Device(), *fill = s.Pinned(), *back = s.Pinned();
  aclrtStream b = s.Stream();
  H2D(block, fill, kBytes, nullptr);  //! 1 race
  if (right) After(b, nullptr, s.Event());
  D2H(back, block, kBytes, b);  //! 2 race
}

CASE(host_waits_for_the_stream_in_between) {
  char *block = s.Device(), *fill = s.Pinned(), *back = s.Pinned();
  aclrtStream a = s.Stream(), b = s.Stream();
  H2D(block, fill, kBytes, a);  //! 1 race
  SYNC(right ? a : b);
  D2H(back, block, kBytes, b);  //! 2 race
}

CASE(host_waits_with_a_limit_in_between) {
  char *block = s.Device(), *fill = s.Pinned(), *back = s.Pinned();
  aclrtStream a = s.Stream(), b = s.Stream();
  H2D(block, fill, kBytes, a);  //! 1 race
  if (right) OK(aclrtSynchronizeStreamWithTimeout(a, 60'000));
  D2H(back, block, kBytes, b);  //! 2 race
}

CASE(host_waits_for_the_event_in_between) {
  char *block = s.Device(), *fill = s.Pinned(), *back = s.Pinned();
  aclrtStream a = s.Stream(), b = s.Stream();
  aclrtEvent event = s.Event();
  if (!right) OK(aclrtRecordEvent(event, a));
  H2D(block, fill, kBytes, a);  //! 1 race
  if (right) OK(aclrtRecordEvent(event, a));
  OK(aclrtSynchronizeEvent(event));
  D2H(back, block, kBytes, b);  //! 2 race
}

CASE(host_waits_for_the_device_in_between) {
  char *block = s.Device(), *fill = s.Pinned(), *back = s.Pinned();
  aclrtStream a = s.Stream(), b = s.Stream();
  H2D(block, fill, kBytes, a);  //! 1 race
  if (right) OK(aclrtSynchronizeDevice());
  D2H(back, block, kBytes, b);  //! 2 race
}

CASE(host_asks_the_stream_until_it_is_complete) {
  char *block = s.Device(), *fill = s.Pinned(), *back = s.Pinned();
  aclrtStream a = s.Stream(), b = s.Stream();
  H2D(block, fill, kBytes, a);  //! 1 race
  aclrtStreamStatus status = ACL_STREAM_STATUS_NOT_READY;
  while (right && status != ACL_STREAM_STATUS_COMPLETE)
    OK(aclrtStreamQuery(a, &status));
  D2H(back, block, kBytes, b);  //! 2 race
}

CASE(host_asks_the_event_until_it_is_complete) {
  char *block = s.Device(), *fill = s.Pinned(), *back = s.Pinned();
  aclrtStream a = s.Stream(), b = s.Stream();
  aclrtEvent event = s.Event();
  H2D(block, fill, kBytes, a);  //! 1 race
  OK(aclrtRecordEvent(event, a));
  aclrtEventRecordedStatus status = ACL_EVENT_RECORDED_STATUS_NOT_READY;
  while (right && status != ACL_EVENT_RECORDED_STATUS_COMPLETE)
    OK(aclrtQueryEventStatus(event, &status));
  D2H(back, block, kBytes, b);  //! 2 race
}

CASE(notify_between_two_streams) {
  char *block = s.Device(), *fill = s.Pinned(), *back = s.Pinned();
  aclrtStream a = s.Stream(), b = s.Stream();
  aclrtNotify notify = s.Notify();
  if (!right) OK(aclrtRecordNotify(notify, a));
  H2D(block, fill, kBytes, a);  //! 1 race
  if (right) OK(aclrtRecordNotify(notify, a));
  OK(aclrtWaitAndResetNotify(notify, b, 0));
  D2H(back, block, kBytes, b);  //! 2 race
}

CASE(word_between_two_streams) {
  char *block = s.Device(), *fill = s.Pinned(), *back = s.Pinned();
  std::uint64_t* word = s.Word();
  aclrtStream a = s.Stream(), b = s.Stream();
  if (!right) OK(aclrtValueWrite(word, 1, 0, a));
  H2D(block, fill, kBytes, a);  //! 1 race
  if (right) OK(aclrtValueWrite(word, 1, 0, a));
  OK(aclrtValueWait(word, 1, kEqual, b));
  D2H(back, block, kBytes, b);  //! 2 race
}

CASE(blocking_copy_against_a_stream) {
  char *block = s.Device(), *fill = s.Pinned(), *back = s.Pageable();
  aclrtStream a = s.Stream();
  H2D(block, fill, kBytes, a);  //! 1 race
  if (right) SYNC(a);
  OK(aclrtMemcpy(back, kBytes, block, kBytes, ACL_MEMCPY_DEVICE_TO_HOST));  //! 2 race
}

CASE(blocking_fill_against_a_stream) {
  char *block = s.Device(), *back = s.Pinned();
  aclrtStream a = s.Stream();
  D2H(back, block, kBytes, a);  //! 1 race
  if (right) SYNC(a);
  OK(aclrtMemset(block, kBytes, 1, kBytes));  //! 2 race
}

CASE(blocking_rows_against_a_stream) {
  char *block = s.Device(), *fill = s.Pinned(), *back = s.Pageable();
  aclrtStream a = s.Stream();
  H2D(block, fill, kBytes, a);  //! 1 race
  if (right) SYNC(a);
  OK(aclrtMemcpy2d(back, 64, block, 128, 64, 8, ACL_MEMCPY_DEVICE_TO_HOST));  //! 2 race
}

CASE(blocking_copy_before_the_submission) {
  char *block = s.Device(), *fill = s.Pageable(), *back = s.Pinned();
  aclrtStream a = s.Stream();
  if (right) OK(aclrtMemcpy(block, kBytes, fill, kBytes, ACL_MEMCPY_HOST_TO_DEVICE));
  D2H(back, block, kBytes, a);                                                          //! 1 race
  if (!right) OK(aclrtMemcpy(block, kBytes, fill, kBytes, ACL_MEMCPY_HOST_TO_DEVICE));  //! 2 race
}

CASE(event_is_destroyed_behind_its_wait) {
  char *block = s.Device(), *fill = s.Pinned(), *back = s.Pinned();
  aclrtStream a = s.Stream(), b = s.Stream();
  H2D(block, fill, kBytes, a);  //! 1 race
  aclrtEvent event = nullptr;
  OK(aclrtCreateEvent(&event));
  OK(aclrtRecordEvent(event, a));
  if (right) OK(aclrtStreamWaitEvent(b, event));
  OK(aclrtDestroyEvent(event));
  D2H(back, block, kBytes, b);  //! 2 race
}

CASE(three_streams_in_a_chain) {
  char *block = s.Device(), *fill = s.Pinned(), *back = s.Pinned();
  aclrtStream a = s.Stream(), b = s.Stream(), c = s.Stream();
  H2D(block, fill, kBytes, a);  //! 1 race
  After(b, a, s.Event());
  After(c, right ? b : s.Stream(), s.Event());
  D2H(back, block, kBytes, c);  //! 2 race
}

CASE(chain_in_the_wrong_sequence) {
  char *block = s.Device(), *fill = s.Pinned(), *back = s.Pinned();
  aclrtStream a = s.Stream(), b = s.Stream(), c = s.Stream();
  H2D(block, fill, kBytes, a);  //! 1 race
  if (right) After(b, a, s.Event());
  After(c, b, s.Event());
  if (!right) After(b, a, s.Event());
  D2H(back, block, kBytes, c);  //! 2 race
}

CASE(chain_of_two_sorts_of_signals) {
  char *block = s.Device(), *fill = s.Pinned(), *back = s.Pinned();
  std::uint64_t* word = s.Word();
  aclrtStream a = s.Stream(), b = s.Stream(), c = s.Stream();
  H2D(block, fill, kBytes, a);  //! 1 race
  if (right) OK(aclrtValueWrite(word, 1, 0, a));
  if (!right) OK(aclrtValueWrite(word, 1, 0, c));
  OK(aclrtValueWait(word, 1, kEqual, b));
  After(c, b, s.Event());
  D2H(back, block, kBytes, c);  //! 2 race
}

CASE(many_readers_and_one_writer) {
  char *block = s.Device(), *next = s.Pinned();
  aclrtStream writer = s.Stream();
  for (int i = 0; i < 4; ++i) {
    aclrtStream reader = s.Stream();
    D2H(s.Pinned(), block, kBytes, reader);  //! 1 race
    if (right || i != 2) After(writer, reader, s.Event());
  }
  H2D(block, next, kBytes, writer);  //! 2 race
}

CASE(two_buffers_in_turns) {
  char *block = s.Device(2 * kBytes), *fill = s.Pinned(), *back = s.Pinned();
  aclrtStream in = s.Stream(), out = s.Stream();
  aclrtEvent filled = s.Event(), drained[] = {s.Event(), s.Event()};
  for (int round = 0; round < 6; ++round) {
    char* const half = block + round % 2 * kBytes;
    if (right && round >= 2) OK(aclrtStreamWaitEvent(in, drained[round % 2]));
    H2D(half, fill, kBytes, in);  //! 2 race
    After(out, in, filled);
    D2H(back, half, kBytes, out);  //! 1 race
    OK(aclrtRecordEvent(drained[round % 2], out));
  }
}

CASE(destination_read_after_the_abort_of_its_device) {
  char *block = s.Device(), *back = s.Pinned();
  aclrtStream a = s.Stream();
  D2H(back, block, kBytes, a);  //! 1 host-read-before-sync
  if (right) OK(aclrtDeviceTaskAbort(0, 0));
  READ(back);  //! 2 host-read-before-sync
}

// The wait is dropped, and so is the copy that it was for.
CASE(copy_dropped_together_with_its_wait) {
  char *block = s.Device(), *fill = s.Pinned(), *back = s.Pinned();
  std::uint64_t* gate = s.Word();
  aclrtStream a = s.Stream(), b = s.Stream(), opener = s.Stream();
  H2D(block, fill, kBytes, a);  //! 1 race
  OK(aclrtValueWait(gate, 1, 0, a));
  if (right) After(b, a, s.Event());
  D2H(back, block, kBytes, b);  //! 2 race
  OK(aclrtStreamAbort(b));
  OK(aclrtValueWrite(gate, 1, 0, opener));
}

}  // namespace
}  // namespace sampan::check_cases
