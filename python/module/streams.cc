// The table of `acl.rt`: streams, events, notifies, words in device memory.
#include "callbacks.h"
#include "tables.h"

#include <array>

namespace sampan::python {
namespace {

/// A Python callable that the destroyed stream never called is given back.
aclError DestroyStream(aclrtStream stream) {
  const std::vector<std::uint64_t> calls = PythonCalls::The().Of(stream);
  const aclError code = aclrtDestroyStream(stream);
  if (code == ACL_SUCCESS) PythonCalls::The().Drop(calls);
  return code;
}

aclError DestroyStreamForce(aclrtStream stream) {
  const std::vector<std::uint64_t> calls = PythonCalls::The().Of(stream);
  const aclError code = aclrtDestroyStreamForce(stream);
  if (code == ACL_SUCCESS) PythonCalls::The().Drop(calls);
  return code;
}

aclError SetStreamAttribute(aclrtStream stream, aclrtStreamAttr attribute, StreamAttribute& fields) {
  aclrtStreamAttrValue value = {};
  switch (attribute) {
    case ACL_STREAM_ATTR_FAILURE_MODE:
      value.failureMode = fields.failure_mode;
      break;
    case ACL_STREAM_ATTR_FLOAT_OVERFLOW_CHECK:
      value.overflowSwitch = static_cast<std::uint32_t>(fields.overflow_switch);
      break;
    case ACL_STREAM_ATTR_USER_CUSTOM_TAG:
      value.userCustomTag = static_cast<std::uint32_t>(fields.custom_tag);
      break;
    default:  // pyACL has no key for the others; the C function answers
      break;
  }
  return aclrtSetStreamAttribute(stream, attribute, &value);
}

aclError NotifyExportKey(aclrtNotify notify, size_t length, uint64_t flags, Text* key) {
  std::vector<char> text(length + 1);
  const aclError code = aclrtNotifyGetExportKey(notify, text.data(), length, flags);
  if (code == ACL_SUCCESS) key->value = text.data();
  return code;
}

aclError NotifyImportPids(aclrtNotify notify, std::vector<int32_t>& pids) {
  return aclrtNotifySetImportPid(notify, pids.data(), pids.size());
}

aclError NotifyBatchReset(std::vector<void*>& notifies) {
  return aclrtNotifyBatchReset(notifies.data(), notifies.size());
}

}  // namespace

Rows StreamRows() {
  return {
      Row<"create_stream", aclrtCreateStream, "">(),
      Row<"create_stream_with_config", aclrtCreateStreamWithConfig, "priority flag">(),
      Row<"destroy_stream", DestroyStream, "stream">(),
      Row<"destroy_stream_force", DestroyStreamForce, "stream">(),
      Row<"stream_abort", aclrtStreamAbort, "stream">(),
      Row<"synchronize_stream", aclrtSynchronizeStream, "stream">(),
      Row<"synchronize_stream_with_timeout", aclrtSynchronizeStreamWithTimeout, "stream timeout">(),
      Row<"stream_query", aclrtStreamQuery, "stream">(),
      Row<"stream_wait_event", aclrtStreamWaitEvent, "stream event">(),
      Query<"stream_get_id", aclrtStreamGetId, "stream">(),
      Query<"get_stream_available_num", aclrtGetStreamAvailableNum, "">(),
      Row<"set_stream_attribute", SetStreamAttribute, "stream attr value">(),
      Query<"get_stream_attribute", aclrtGetStreamAttribute, "stream attr">(),
      Row<"set_stream_failure_mode", aclrtSetStreamFailureMode, "stream mode">(),
      Row<"value_write", aclrtValueWrite, "ptr value flag stream">(),
      Row<"value_wait", aclrtValueWait, "ptr value flag stream">(),
      Row<"create_event", aclrtCreateEvent, "">(),
      Row<"create_event_with_flag", aclrtCreateEventWithFlag, "flag">(),
      Row<"create_event_ex_with_flag", aclrtCreateEventExWithFlag, "flag">(),
      Row<"destroy_event", aclrtDestroyEvent, "event">(),
      Row<"record_event", aclrtRecordEvent, "event stream">(),
      Row<"reset_event", aclrtResetEvent, "event stream">(),
      Row<"synchronize_event", aclrtSynchronizeEvent, "event">(),
      Row<"synchronize_event_with_timeout", aclrtSynchronizeEventWithTimeout, "event timeout">(),
      Row<"query_event", aclrtQueryEvent, "event">(),
      Row<"query_event_status", aclrtQueryEventStatus, "event">(),
      Row<"query_event_wait_status", aclrtQueryEventWaitStatus, "event">(),
      Query<"event_elapsed_time", aclrtEventElapsedTime, "start end">(),
      Query<"event_get_timestamp", aclrtEventGetTimestamp, "event">(),
      Query<"get_event_id", aclrtGetEventId, "event">(),
      Query<"get_event_avail_num", aclrtGetEventAvailNum, "">(),
      Row<"create_notify", aclrtCreateNotify, "flag">(),
      Row<"destroy_notify", aclrtDestroyNotify, "notify">(),
      Row<"record_notify", aclrtRecordNotify, "notify stream">(),
      Row<"wait_and_reset_notify", aclrtWaitAndResetNotify, "notify stream timeout">(),
      Query<"get_notify_id", aclrtGetNotifyId, "notify">(),
      Row<"notify_batch_reset", NotifyBatchReset, "notifies">(),
      Row<"notify_get_export_key", NotifyExportKey, "notify len flag">(),
      Row<"notify_import_by_key", aclrtNotifyImportByKey, "key flag">(),
      Row<"notify_set_import_pid", NotifyImportPids, "notify pids">(),
  };
}

}  // namespace sampan::python
