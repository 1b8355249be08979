"""The table for streams, events, notifies, words and callbacks."""

import threading

import acl
from case import Case, fails, gives
from constants import *  # noqa: F403
from world import good

rt = acl.rt
NOWHERE = 64  # a handle that is none

STREAMS = [
    Case("create", rt.create_stream, lambda w: (), gives(lambda w, s: s != 0 and good_end(s))),
    Case("create with flags", rt.create_stream_with_config, lambda w: (0, 3), gives(lambda w, s: good_end(s))),
    Case("destroy", rt.destroy_stream, lambda w: (w.other_stream,), OK),
    Case("destroy by force", rt.destroy_stream_force, lambda w: (w.other_stream,), OK),
    Case("destroy no handle", rt.destroy_stream, lambda w: (NOWHERE,), INVALID_HANDLE),
    Case("destroy twice", rt.destroy_stream, lambda w: (w.dead_stream(),), INVALID_HANDLE),
    Case("abort", rt.stream_abort, lambda w: (w.other_stream,), OK),
    Case("abort no handle", rt.stream_abort, lambda w: (NOWHERE,), INVALID_HANDLE),
    Case("synchronize", rt.synchronize_stream, lambda w: (w.stream,), OK),
    Case("synchronize the default stream", rt.synchronize_stream, lambda w: (0,), OK),
    Case("synchronize no handle", rt.synchronize_stream, lambda w: (NOWHERE,), INVALID_HANDLE),
    Case("synchronize with a limit", rt.synchronize_stream_with_timeout, lambda w: (w.stream, 1000), OK),
    Case("a limit that runs out", rt.synchronize_stream_with_timeout, lambda w: (blocked(w), 1), STREAM_SYNC_TIMEOUT),
    Case("query", rt.stream_query, lambda w: (w.stream,), gives(lambda w, status: status == 0)),
    Case("query a stream that waits", rt.stream_query, lambda w: (blocked(w),), gives(lambda w, status: status == 1)),
    Case("query no handle", rt.stream_query, lambda w: (NOWHERE,), lambda f, w: f[1] == INVALID_HANDLE),
    Case("its number", rt.stream_get_id, lambda w: (w.stream,), gives(lambda w, number: number >= 0)),
    Case("how many are left", rt.get_stream_available_num, lambda w: (), gives(lambda w, count: count > 0)),
    Case("stop at a failure", rt.set_stream_failure_mode, lambda w: (w.stream, 1), OK),
    Case("the mode of no stream", rt.set_stream_failure_mode, lambda w: (NOWHERE, 1), INVALID_HANDLE),
    Case("an attribute is set", rt.set_stream_attribute, lambda w: (w.stream, 1, {"failureMode": 1}),
         lambda f, w: f == OK and rt.get_stream_attribute(w.stream, 1)[0]["failureMode"] == 1),
    Case("missing keys are 0", rt.set_stream_attribute, lambda w: (w.stream, 1, {}),
         lambda f, w: f == OK and rt.get_stream_attribute(w.stream, 1)[0]["failureMode"] == 0),
    Case("a tag", rt.set_stream_attribute, lambda w: (w.stream, 3, {"userCustomTag": 77}),
         lambda f, w: f == OK and rt.get_stream_attribute(w.stream, 3)[0]["userCustomTag"] == 77),
    Case("the fields of an attribute", rt.get_stream_attribute, lambda w: (w.stream, 1),
         gives(lambda w, v: set(v) == {"failureMode", "overflowSwitch", "userCustomTag", "reserved"})),
    Case("an attribute that is none", rt.get_stream_attribute, lambda w: (w.stream, 77), lambda f, w: f[1] != OK),
    Case("a value that is no dict", rt.set_stream_attribute, lambda w: (w.stream, 1, 1), TypeError),
    Case("a value of the wrong kind", rt.set_stream_attribute, lambda w: (w.stream, 1, {"failureMode": "1"}), TypeError),
]


def good_end(stream):
    good(rt.destroy_stream(stream))
    return True


def blocked(w):
    """A stream that waits for a notify, which the end of the test drops."""
    notify = good(rt.create_notify(0))
    good(rt.wait_and_reset_notify(notify, w.other_stream, 0))
    return w.other_stream


def unfinished(w):
    """An event whose recording stands behind a wait."""
    event = good(rt.create_event_with_flag(0x8))
    good(rt.record_event(event, blocked(w)))
    return event


EVENTS = [
    Case("create", rt.create_event, lambda w: (), gives(lambda w, e: good_event(e))),
    Case("create with a flag", rt.create_event_with_flag, lambda w: (8,), gives(lambda w, e: good_event(e))),
    Case("create for repeated use", rt.create_event_ex_with_flag, lambda w: (1,), gives(lambda w, e: good_event(e))),
    Case("a flag of 0 for repeated use", rt.create_event_ex_with_flag, lambda w: (0,), lambda f, w: f[1] != OK),
    Case("destroy no event", rt.destroy_event, lambda w: (0,), INVALID_PARAM),
    Case("destroy twice", rt.destroy_event, lambda w: (w.dead_event(),), lambda f, w: f != OK),
    Case("record", rt.record_event, lambda w: (w.event, w.stream), OK),
    Case("record no event", rt.record_event, lambda w: (0, w.stream), INVALID_PARAM),
    Case("record in no stream", rt.record_event, lambda w: (w.event, NOWHERE), INVALID_HANDLE),
    Case("wait in a stream", rt.stream_wait_event, lambda w: (w.stream, w.recorded), OK),
    Case("event-2: wait for what was never recorded", rt.stream_wait_event, lambda w: (w.stream, w.event), OK),
    Case("wait for no event", rt.stream_wait_event, lambda w: (w.stream, 0), INVALID_PARAM),
    Case("reset", rt.reset_event, lambda w: (w.recorded, w.stream), OK),
    Case("synchronize", rt.synchronize_event, lambda w: (w.recorded,), OK),
    Case("synchronize no event", rt.synchronize_event, lambda w: (0,), INVALID_PARAM),
    Case("synchronize with a limit", rt.synchronize_event_with_timeout, lambda w: (w.recorded, 1000), OK),
    Case("a limit that runs out", rt.synchronize_event_with_timeout, lambda w: (unfinished(w), 1),
         EVENT_SYNC_TIMEOUT),
    Case("query the recording", rt.query_event_status, lambda w: (w.recorded,), gives(lambda w, s: s == COMPLETE)),
    Case("query one that waits", rt.query_event_status, lambda w: (unfinished(w),), gives(lambda w, s: s == NOT_READY)),
    Case("query, older form", rt.query_event, lambda w: (w.recorded,), gives(lambda w, s: s == 0)),
    Case("query the waits", rt.query_event_wait_status, lambda w: (w.recorded,), gives(lambda w, s: s == 0)),
    Case("query no event", rt.query_event_status, lambda w: (0,), fails(INVALID_PARAM)),
    Case("the time between", rt.event_elapsed_time, lambda w: (w.recorded, w.later),
         gives(lambda w, ms: isinstance(ms, float) and ms >= 0)),
    Case("the time of none", rt.event_elapsed_time, lambda w: (w.recorded, 0), fails(INVALID_PARAM)),
    Case("when it was recorded", rt.event_get_timestamp, lambda w: (w.recorded,), gives(lambda w, us: us > 0)),
    Case("its number", rt.get_event_id, lambda w: (w.event,), gives(lambda w, number: number >= 0)),
    Case("how many are left", rt.get_event_avail_num, lambda w: (), gives(lambda w, count: count > 0)),
]


def good_event(event):
    good(rt.destroy_event(event))
    return True


NOTIFIES = [
    Case("create", rt.create_notify, lambda w: (0,), gives(lambda w, n: n != 0)),
    Case("record and wait", rt.wait_and_reset_notify, lambda w: (recorded_notify(w), w.stream, 0),
         lambda f, w: f == OK and rt.synchronize_stream(w.stream) == OK),
    Case("notify-2: a wait that runs out", rt.wait_and_reset_notify, lambda w: (good(rt.create_notify(0)), w.stream, 1),
         lambda f, w: f == OK and rt.synchronize_stream(w.stream) == WAIT_TIMEOUT),
    Case("record no notify", rt.record_notify, lambda w: (0, w.stream), INVALID_PARAM),
    Case("destroy no notify", rt.destroy_notify, lambda w: (0,), INVALID_PARAM),
    Case("its number", rt.get_notify_id, lambda w: (good(rt.create_notify(0)),), gives(lambda w, number: number >= 0)),
    Case("reset many", rt.notify_batch_reset, lambda w: ([recorded_notify(w), recorded_notify(w)],), OK),
    Case("reset no list", rt.notify_batch_reset, lambda w: (0,), ValueError),
    Case("a key", rt.notify_get_export_key, lambda w: (good(rt.create_notify(0)), 65, 0),
         gives(lambda w, key: 0 < len(key) < 65)),
    Case("import a malformed key", rt.notify_import_by_key, lambda w: ("nonsense", 0), fails(RT_PARAM_INVALID)),
    Case("pids", rt.notify_set_import_pid, lambda w: (exported_notify(), [1]), OK),
]


def exported_notify():
    notify = good(rt.create_notify(0))
    good(rt.notify_get_export_key(notify, 65, 0))
    return notify


def recorded_notify(w):
    notify = good(rt.create_notify(0))
    good(rt.record_notify(notify, w.stream))
    good(rt.synchronize_stream(w.stream))
    return notify


WORDS = [
    Case("write", rt.value_write, lambda w: (w.device, 2**40 + 3, 0, w.stream),
         lambda f, w: f == OK and rt.synchronize_stream(w.stream) == OK and
         w.read(w.device, 8) == (2**40 + 3).to_bytes(8, "little")),
    Case("write at an odd address", rt.value_write, lambda w: (w.device + 1, 1, 0, w.stream), lambda f, w: f != OK),
    Case("write to NULL", rt.value_write, lambda w: (0, 1, 0, w.stream), lambda f, w: f != OK),
    Case("a wait that passes", rt.value_wait, lambda w: (written(w), 5, 1, w.stream),
         lambda f, w: f == OK and rt.synchronize_stream(w.stream) == OK),
    Case("a condition that is none", rt.value_wait, lambda w: (w.device, 0, 9, w.stream), lambda f, w: f != OK),
]

def written(w):
    """A word of the device that is 5."""
    good(rt.value_write(w.device, 5, 0, w.stream))
    return w.device


CALLBACKS = [
    Case("subscribe", rt.subscribe_report, lambda w: (threading.get_ident(), w.stream), OK),
    Case("unsubscribe what is not subscribed", rt.unsubscribe_report, lambda w: (threading.get_ident(), w.stream),
         lambda f, w: f != OK),
    Case("launch without a thread", rt.launch_callback, lambda w: (print, None, BLOCK, w.stream), lambda f, w: f != OK),
    Case("what cannot be called", rt.launch_callback, lambda w: (None, None, BLOCK, w.stream), TypeError),
    Case("a type that is none", rt.launch_callback, lambda w: (print, None, 2, w.stream), INVALID_PARAM),
    Case("a stream that is none", rt.launch_callback, lambda w: (print, None, 0, NOWHERE), INVALID_HANDLE),
    Case("callback-1: without a subscription", rt.process_report, lambda w: (1,), THREAD_NOT_SUBSCRIBED),
    Case("a limit of 0", rt.process_report, lambda w: (0,), INVALID_PARAM),
    Case("a host function that cannot be called", rt.launch_host_func, lambda w: (w.stream, 3, None), TypeError),
    Case("a host function for no stream", rt.launch_host_func, lambda w: (NOWHERE, print, None), INVALID_HANDLE),
    Case("no function for failures", rt.set_exception_info_callback, lambda w: (), OK),
    Case("None for failures", rt.set_exception_info_callback, lambda w: (None,), OK),
    Case("a number for failures", rt.set_exception_info_callback, lambda w: (3,), TypeError),
    Case("the task of no failure", rt.get_task_id_from_exception_info, lambda w: (0,), 0xFFFFFFFF),
    Case("the code of no failure", rt.get_error_code_from_exception_info, lambda w: (0,), 0xFFFFFFFF),
]

CASES = STREAMS + EVENTS + NOTIFIES + WORDS + CALLBACKS
