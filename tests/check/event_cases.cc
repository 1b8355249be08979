// Events, notifies and words that are recorded too early, again, elsewhere, or not at all.
#include "tests/check/scene.h"

namespace sampan::check_cases {
namespace {

constexpr std::uint32_t kAtLeast = 0;

CASE(event_recorded_before_the_copy) {
  char *block = s.Device(), *fill = s.Pinned(), *back = s.Pinned();
  aclrtStream a = s.Stream(), b = s.Stream();
  aclrtEvent event = s.Event();
  if (!right) OK(aclrtRecordEvent(event, a));
  H2D(block, fill, kBytes, a);  //! 1 race
  if (right) OK(aclrtRecordEvent(event, a));
  OK(aclrtStreamWaitEvent(b, event));
  D2H(back, block, kBytes, b);  //! 2 race
}

CASE(event_recorded_in_another_stream) {
  char *block = s.Device(), *fill = s.Pinned(), *back = s.Pinned();
  aclrtStream a = s.Stream(), b = s.Stream(), other = s.Stream();
  H2D(block, fill, kBytes, a);  //! 1 race
  After(b, right ? a : other, s.Event());
  D2H(back, block, kBytes, b);  //! 2 race
}

CASE(event_waited_for_by_another_stream) {
  char *block = s.Device(), *fill = s.Pinned(), *back = s.Pinned();
  aclrtStream a = s.Stream(), b = s.Stream(), other = s.Stream();
  H2D(block, fill, kBytes, a);  //! 1 race
  After(right ? b : other, a, s.Event());
  D2H(back, block, kBytes, b);  //! 2 race
}

CASE(event_waited_for_before_its_second_record) {
  char *block = s.Device(), *fill = s.Pinned(), *back = s.Pinned();
  aclrtStream a = s.Stream(), b = s.Stream();
  aclrtEvent event = s.Event();
  OK(aclrtRecordEvent(event, a));
  if (!right) OK(aclrtStreamWaitEvent(b, event));
  H2D(block, fill, kBytes, a);  //! 1 race
  OK(aclrtRecordEvent(event, a));
  if (right) OK(aclrtStreamWaitEvent(b, event));
  D2H(back, block, kBytes, b);  //! 2 race
}

CASE(event_recorded_again_elsewhere) {
  char *block = s.Device(), *fill = s.Pinned(), *back = s.Pinned();
  aclrtStream a = s.Stream(), b = s.Stream(), other = s.Stream();
  aclrtEvent event = s.Event();
  H2D(block, fill, kBytes, a);  //! 1 race
  OK(aclrtRecordEvent(event, a));
  if (!right) OK(aclrtRecordEvent(event, other));
  OK(aclrtStreamWaitEvent(b, event));
  D2H(back, block, kBytes, b);  //! 2 race
}

CASE(event_recorded_again_after_its_wait) {
  char *block = s.Device(), *fill = s.Pinned(), *back = s.Pinned();
  aclrtStream a = s.Stream(), b = s.Stream(), other = s.Stream();
  aclrtEvent event = s.Event();
  H2D(block, fill, kBytes, a);  //! 1 race
  OK(aclrtRecordEvent(event, right ? a : other));
  OK(aclrtStreamWaitEvent(b, event));
  OK(aclrtRecordEvent(event, right ? other : a));
  D2H(back, block, kBytes, b);  //! 2 race
}

// Hazard 13: the wait waits for nothing.
CASE(event_never_recorded) {
  aclrtStream a = s.Stream();
  aclrtEvent event = s.Event();
  if (right) OK(aclrtRecordEvent(event, s.Stream()));
  OK(aclrtStreamWaitEvent(a, event));  //! 1 wait-without-record
}

CASE(event_recorded_after_its_wait) {
  char *block = s.Device(), *fill = s.Pinned(), *back = s.Pinned();
  aclrtStream a = s.Stream(), b = s.Stream();
  aclrtEvent event = s.Event();
  H2D(block, fill, kBytes, a);  //! 1 race
  if (right) OK(aclrtRecordEvent(event, a));
  OK(aclrtStreamWaitEvent(b, event));  //! 1 wait-without-record
  OK(aclrtRecordEvent(event, a));
  D2H(back, block, kBytes, b);  //! 2 race
}

CASE(host_waits_for_an_older_record) {
  char *block = s.Device(), *back = s.Pinned();
  aclrtStream a = s.Stream();
  aclrtEvent event = s.Event();
  OK(aclrtRecordEvent(event, a));
  D2H(back, block, kBytes, a);  //! 1 host-read-before-sync
  if (right) OK(aclrtRecordEvent(event, a));
  OK(aclrtSynchronizeEvent(event));
  READ(back);  //! 2 host-read-before-sync
}

// Hazard 13: a notify is binary, so the second signal takes the place of the first.
CASE(notify_recorded_twice) {
  aclrtStream a = s.Stream(), b = s.Stream();
  aclrtNotify notify = s.Notify();
  OK(aclrtRecordNotify(notify, a));  //! 1 lost-signal
  if (right) OK(aclrtWaitAndResetNotify(notify, b, 0));
  if (right) After(a, b, s.Event());
  OK(aclrtRecordNotify(notify, a));  //! 2 lost-signal
  OK(aclrtWaitAndResetNotify(notify, b, 0));
}

CASE(notify_recorded_by_two_streams) {
  aclrtStream a = s.Stream(), b = s.Stream(), c = s.Stream();
  aclrtNotify notify = s.Notify();
  OK(aclrtRecordNotify(notify, a));  //! 1 lost-signal
  if (right) OK(aclrtWaitAndResetNotify(notify, c, 0));
  if (right) After(b, c, s.Event());
  OK(aclrtRecordNotify(notify, b));  //! 2 lost-signal
  OK(aclrtWaitAndResetNotify(notify, c, 0));
}

CASE(notify_for_the_round_before) {
  char *block = s.Device(), *fill = s.Pinned(), *back = s.Pinned();
  aclrtStream a = s.Stream(), b = s.Stream();
  aclrtNotify notify = s.Notify();
  OK(aclrtRecordNotify(notify, a));
  if (right) OK(aclrtWaitAndResetNotify(notify, b, 0));
  if (right) After(a, b, s.Event());
  H2D(block, fill, kBytes, a);  //! 1 race
  if (right) OK(aclrtRecordNotify(notify, a));
  OK(aclrtWaitAndResetNotify(notify, b, 0));
  D2H(back, block, kBytes, b);  //! 2 race
}

CASE(notify_in_both_directions) {
  char *block = s.Device(), *one = s.Pinned(), *other = s.Pinned();
  aclrtStream a = s.Stream(), b = s.Stream();
  aclrtNotify full = s.Notify(), empty = s.Notify();
  H2D(block, one, kBytes, a);
  OK(aclrtRecordNotify(full, a));
  OK(aclrtWaitAndResetNotify(full, b, 0));
  if (!right) OK(aclrtRecordNotify(empty, b));
  D2H(other, block, kBytes, b);  //! 1 race
  if (right) OK(aclrtRecordNotify(empty, b));
  OK(aclrtWaitAndResetNotify(empty, a, 0));
  H2D(block, one, kBytes, a);  //! 2 race
}

CASE(word_that_counts_rounds) {
  char *block = s.Device(), *fill = s.Pinned(), *back = s.Pinned();
  std::uint64_t* word = s.Word();
  aclrtStream a = s.Stream(), b = s.Stream();
  OK(aclrtValueWrite(word, 1, 0, a));
  H2D(block, fill, kBytes, a);  //! 1 race
  OK(aclrtValueWrite(word, 2, 0, a));
  OK(aclrtValueWait(word, right ? 2 : 1, kAtLeast, b));
  D2H(back, block, kBytes, b);  //! 2 race
}

CASE(host_opens_the_gate_of_a_stream) {
  char *block = s.Device(), *staging = s.Pinned();
  aclrtStream a = s.Stream(), opener = s.Stream();
  aclrtNotify gate = s.Notify();
  if (right) OK(aclrtWaitAndResetNotify(gate, a, 0));
  H2D(block, staging, kBytes, a);  //! 1 host-write-in-flight
  WRITE(staging + 7);              //! 2 host-write-in-flight
  OK(aclrtRecordNotify(gate, opener));
  if (!right) OK(aclrtWaitAndResetNotify(gate, a, 0));
}

CASE(host_opens_the_gate_too_early) {
  char *block = s.Device(), *staging = s.Pinned();
  aclrtStream a = s.Stream(), opener = s.Stream();
  std::uint64_t* gate = s.Word();
  OK(aclrtValueWait(gate, 1, kAtLeast, a));
  H2D(block, staging, kBytes, a);  //! 1 host-write-in-flight
  if (right) WRITE(staging + 7);
  OK(aclrtValueWrite(gate, 1, 0, opener));
  if (!right) WRITE(staging + 7);  //! 2 host-write-in-flight
}

}  // namespace
}  // namespace sampan::check_cases
