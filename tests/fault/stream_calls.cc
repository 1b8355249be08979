// Streams, host functions and callbacks under failing memory.
#include <gtest/gtest.h>
#include <pthread.h>

#include "tests/fault/api_call.h"

namespace sampan::fault {
namespace {

void Count(void* world) {
  ++static_cast<World*>(world)->calls;
}

void NewStream(World& w) {
  EXPECT_EQ(aclrtCreateStream(&w.results.stream), ACL_SUCCESS);
}
void DropStream(World& w) {
  EXPECT_EQ(aclrtDestroyStream(w.results.stream), ACL_SUCCESS);
}
bool StreamWorks(World& w) {
  return aclrtSynchronizeStream(w.results.stream) == ACL_SUCCESS;
}
bool StreamReturned(World& w) {
  return w.results.stream != nullptr;
}
std::uint64_t ThisThread() {
  return pthread_self();
}

}  // namespace

std::vector<ApiCall> StreamCalls() {
  return {
      {.name = "aclrtCreateStream",
       .call = [](World& w) { return aclrtCreateStream(&w.results.stream); },
       .right = StreamWorks,
       .claims = StreamReturned,
       .undo = DropStream},
      {.name = "aclrtCreateStreamWithConfig",
       .call =
           [](World& w) { return aclrtCreateStreamWithConfig(&w.results.stream, 3, ACL_STREAM_FAST_SYNC); },
       .right = StreamWorks,
       .claims = StreamReturned,
       .undo = DropStream},
      {.name = "aclrtDestroyStream",
       .call = [](World& w) { return aclrtDestroyStream(w.results.stream); },
       .prepare = NewStream},
      {.name = "aclrtDestroyStreamForce",
       .call = [](World& w) { return aclrtDestroyStreamForce(w.results.stream); },
       .prepare = NewStream},
      {.name = "aclrtSynchronizeStream", .call = [](World& w) { return aclrtSynchronizeStream(w.stream); }},
      {.name = "aclrtSynchronizeStreamWithTimeout",
       .call = [](World& w) { return aclrtSynchronizeStreamWithTimeout(w.stream, 10000); }},
      {.name = "aclrtStreamQuery",
       .call =
           [](World& w) {
             aclrtStreamStatus status = ACL_STREAM_STATUS_RESERVED;
             const aclError code = aclrtStreamQuery(w.stream, &status);
             w.results.number = status;
             return code;
           },
       .right = [](World& w) { return w.results.number == ACL_STREAM_STATUS_COMPLETE; },
       .claims = [](World& w) { return w.results.number == ACL_STREAM_STATUS_COMPLETE; }},
      {.name = "aclrtStreamAbort",
       .call = [](World& w) { return aclrtStreamAbort(w.results.stream); },
       .prepare = NewStream,
       .undo = DropStream},
      {.name = "aclrtStreamStop",
       .call = [](World& w) { return aclrtStreamStop(w.results.stream); },
       .prepare = NewStream,
       .undo = DropStream},
      {.name = "aclrtStreamGetId",
       .call =
           [](World& w) {
             std::int32_t id = -1;
             const aclError code = aclrtStreamGetId(w.stream, &id);
             w.results.number = static_cast<std::uint64_t>(id + 1);
             return code;
           },
       .right = [](World& w) { return w.results.number != 0; }},
      {.name = "aclrtStreamGetPriority",
       .call =
           [](World& w) {
             std::uint32_t priority = 77;
             const aclError code = aclrtStreamGetPriority(w.stream, &priority);
             w.results.number = priority;
             return code;
           },
       .right = [](World& w) { return w.results.number <= 7; }},
      {.name = "aclrtStreamGetFlags",
       .call =
           [](World& w) {
             std::uint32_t flags = 77;
             const aclError code = aclrtStreamGetFlags(w.stream, &flags);
             w.results.number = flags;
             return code;
           },
       .right = [](World& w) { return w.results.number == 0; }},
      {.name = "aclrtSetStreamFailureMode",
       .call = [](World& w) { return aclrtSetStreamFailureMode(w.results.stream, ACL_STOP_ON_FAILURE); },
       .prepare = NewStream,
       .undo = DropStream},
      {.name = "aclrtSetStreamAttribute",
       .call =
           [](World& w) {
             aclrtStreamAttrValue value = {};
             value.failureMode = ACL_STOP_ON_FAILURE;
             return aclrtSetStreamAttribute(w.results.stream, ACL_STREAM_ATTR_FAILURE_MODE, &value);
           },
       .prepare = NewStream,
       .undo = DropStream},
      {.name = "aclrtGetStreamAttribute",
       .call =
           [](World& w) {
             aclrtStreamAttrValue value = {};
             return aclrtGetStreamAttribute(w.stream, ACL_STREAM_ATTR_FAILURE_MODE, &value);
           }},
      {.name = "aclrtGetStreamAvailableNum",
       .call =
           [](World& w) {
             std::uint32_t count = 0;
             const aclError code = aclrtGetStreamAvailableNum(&count);
             w.results.number = count;
             return code;
           },
       .right = [](World& w) { return w.results.number != 0; }},
      {.name = "aclrtLaunchHostFunc",
       .call = [](World& w) { return aclrtLaunchHostFunc(w.stream, &Count, &w); },
       .prepare = [](World& w) { w.calls = 0; },
       .right = [](World& w) { return w.Drained() && w.calls == 1; },
       .claims = [](World& w) { return w.Drained() && w.calls != 0; }},
      {.name = "aclrtSubscribeReport",
       .call = [](World& w) { return aclrtSubscribeReport(ThisThread(), w.stream); },
       .undo = [](World& w) { EXPECT_EQ(aclrtUnSubscribeReport(ThisThread(), w.stream), ACL_SUCCESS); }},
      {.name = "aclrtUnSubscribeReport",
       .call = [](World& w) { return aclrtUnSubscribeReport(ThisThread(), w.stream); },
       .prepare = [](World& w) { EXPECT_EQ(aclrtSubscribeReport(ThisThread(), w.stream), ACL_SUCCESS); }},
      {.name = "aclrtLaunchCallback",
       .call = [](World& w) { return aclrtLaunchCallback(&Count, &w, ACL_CALLBACK_BLOCK, w.stream); },
       .prepare =
           [](World& w) {
             w.calls = 0;
             EXPECT_EQ(aclrtSubscribeReport(ThisThread(), w.stream), ACL_SUCCESS);
           },
       .right =
           [](World& w) { return aclrtProcessReport(10000) == ACL_SUCCESS && w.Drained() && w.calls == 1; },
       .undo = [](World& w) { EXPECT_EQ(aclrtUnSubscribeReport(ThisThread(), w.stream), ACL_SUCCESS); }},
      {.name = "aclrtProcessReport",
       .call = [](World&) { return aclrtProcessReport(10000); },
       .prepare =
           [](World& w) {
             w.calls = 0;
             EXPECT_EQ(aclrtSubscribeReport(ThisThread(), w.stream), ACL_SUCCESS);
             EXPECT_EQ(aclrtLaunchCallback(&Count, &w, ACL_CALLBACK_BLOCK, w.stream), ACL_SUCCESS);
           },
       .right = [](World& w) { return w.Drained() && w.calls == 1; },
       .undo = [](World& w) { EXPECT_EQ(aclrtUnSubscribeReport(ThisThread(), w.stream), ACL_SUCCESS); }},
  };
}

}  // namespace sampan::fault
