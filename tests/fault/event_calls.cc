// Events under failing memory.
#include <gtest/gtest.h>

#include "tests/fault/api_call.h"

namespace sampan::fault {
namespace {

bool EventWorks(World& w) {
  return aclrtRecordEvent(w.results.event, w.stream) == ACL_SUCCESS && w.Drained();
}
bool EventReturned(World& w) {
  return w.results.event != nullptr;
}
void NewEvent(World& w) {
  EXPECT_EQ(aclrtCreateEvent(&w.results.event), ACL_SUCCESS);
}
bool Recorded(World& w) {
  aclrtEventRecordedStatus status = ACL_EVENT_RECORDED_STATUS_NOT_READY;
  return w.Drained() && aclrtQueryEventStatus(w.results.event, &status) == ACL_SUCCESS &&
         status == ACL_EVENT_RECORDED_STATUS_COMPLETE;
}
bool Drained(World& w) {
  return w.Drained();
}

}  // namespace

std::vector<ApiCall> EventCalls() {
  return {
      {.name = "aclrtCreateEvent",
       .call = [](World& w) { return aclrtCreateEvent(&w.results.event); },
       .right = EventWorks,
       .claims = EventReturned,
       .undo = DropEvent},
      {.name = "aclrtCreateEventWithFlag",
       .call = [](World& w) { return aclrtCreateEventWithFlag(&w.results.event, ACL_EVENT_SYNC); },
       .right = EventWorks,
       .claims = EventReturned,
       .undo = DropEvent},
      {.name = "aclrtCreateEventExWithFlag",
       .call = [](World& w) { return aclrtCreateEventExWithFlag(&w.results.event, ACL_EVENT_SYNC); },
       .right = EventWorks,
       .claims = EventReturned,
       .undo = DropEvent},
      {.name = "aclrtDestroyEvent",
       .call = [](World& w) { return aclrtDestroyEvent(w.results.event); },
       .prepare = NewEvent},
      {.name = "aclrtRecordEvent",
       .call = [](World& w) { return aclrtRecordEvent(w.results.event, w.stream); },
       .prepare = NewEvent,
       .right = Recorded,
       .claims = Recorded,
       .undo = DropEvent},
      {.name = "aclrtRecordEventWithFlag",
       .call =
           [](World& w) {
             return aclrtRecordEventWithFlag(w.results.event, w.stream, ACL_EVENT_RECORD_DEFAULT);
           },
       .prepare = NewEvent,
       .right = Recorded,
       .claims = Recorded,
       .undo = DropEvent},
      {.name = "aclrtResetEvent",
       .call = [](World& w) { return aclrtResetEvent(w.results.event, w.stream); },
       .prepare =
           [](World& w) {
             NewEvent(w);
             EXPECT_EQ(aclrtRecordEvent(w.results.event, w.stream), ACL_SUCCESS);
             EXPECT_TRUE(w.Drained());
           },
       .right = Drained,
       .undo = DropEvent},
      {.name = "aclrtQueryEvent",
       .call =
           [](World& w) {
             aclrtEventStatus status = ACL_EVENT_STATUS_RESERVED;
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
             const aclError code = aclrtQueryEvent(w.legacy_event, &status);
#pragma GCC diagnostic pop
             w.results.number = status;
             return code;
           },
       .right = [](World& w) { return w.results.number == ACL_EVENT_STATUS_COMPLETE; }},
      {.name = "aclrtQueryEventStatus",
       .call =
           [](World& w) {
             aclrtEventRecordedStatus status = ACL_EVENT_RECORDED_STATUS_NOT_READY;
             const aclError code = aclrtQueryEventStatus(w.event, &status);
             w.results.number = status;
             return code;
           },
       .right = [](World& w) { return w.results.number == ACL_EVENT_RECORDED_STATUS_COMPLETE; }},
      {.name = "aclrtQueryEventWaitStatus",
       .call =
           [](World& w) {
             aclrtEventWaitStatus status = ACL_EVENT_WAIT_STATUS_RESERVED;
             const aclError code = aclrtQueryEventWaitStatus(w.legacy_event, &status);
             w.results.number = status;
             return code;
           },
       .right = [](World& w) { return w.results.number != ACL_EVENT_WAIT_STATUS_RESERVED; }},
      {.name = "aclrtSynchronizeEvent", .call = [](World& w) { return aclrtSynchronizeEvent(w.event); }},
      {.name = "aclrtSynchronizeEventWithTimeout",
       .call = [](World& w) { return aclrtSynchronizeEventWithTimeout(w.event, 10000); }},
      {.name = "aclrtEventElapsedTime",
       .call =
           [](World& w) {
             float ms = 0;
             return aclrtEventElapsedTime(&ms, w.legacy_event, w.event);
           }},
      {.name = "aclrtEventGetTimestamp",
       .call = [](World& w) { return aclrtEventGetTimestamp(w.legacy_event, &w.results.number); },
       .right = [](World& w) { return w.results.number != 0; },
       .claims = [](World& w) { return w.results.number != 0; }},
      {.name = "aclrtStreamWaitEvent",
       .call = [](World& w) { return aclrtStreamWaitEvent(w.stream, w.event); },
       .right = Drained},
      {.name = "aclrtStreamWaitEventWithFlag",
       .call =
           [](World& w) {
             return aclrtStreamWaitEventWithFlag(w.stream, w.event, 0, ACL_EVENT_WAIT_DEFAULT);
           },
       .right = Drained},
      {.name = "aclrtStreamWaitEventWithTimeout",
       .call = [](World& w) { return aclrtStreamWaitEventWithTimeout(w.stream, w.event, 10); },
       .right = Drained},
      {.name = "aclrtGetEventId",
       .call =
           [](World& w) {
             std::uint32_t id = 0;
             return aclrtGetEventId(w.legacy_event, &id);
           }},
      {.name = "aclrtGetEventAvailNum",
       .call =
           [](World& w) {
             std::uint32_t count = 0;
             const aclError code = aclrtGetEventAvailNum(&count);
             w.results.number = count;
             return code;
           },
       .right = [](World& w) { return w.results.number != 0; }},
  };
}

}  // namespace sampan::fault
