"""The table for devices, contexts, options, and acl itself."""

import os

import acl
import numpy
from case import Case, fails, gives
from constants import *  # noqa: F403
from world import good

rt = acl.rt

DEVICES = [
    Case("set", rt.set_device, lambda w: (0,), OK),
    Case("a device that is none", rt.set_device, lambda w: (99,), INVALID_DEVICE),
    Case("a negative device", rt.set_device, lambda w: (-1,), INVALID_DEVICE),
    Case("a device that is no int", rt.set_device, lambda w: ("0",), TypeError),
    Case("a device that does not fit", rt.set_device, lambda w: (1 << 32,), ValueError),
    Case("a device that does not fit, either", rt.set_device, lambda w: (1 << 70,), ValueError),
    Case("True is an int", rt.set_device, lambda w: (False,), OK),
    *[Case("numbers of numpy are ints", rt.set_device, lambda w, kind=kind: (kind(0),), OK) for kind in (
        numpy.int64, numpy.int32, numpy.uint8)],
    Case("a number of numpy that is no device", rt.set_device, lambda w: (numpy.int64(99),), INVALID_DEVICE),
    Case("a number of numpy that does not fit", rt.set_device, lambda w: (numpy.int64(1 << 32),), ValueError),
    Case("a float of numpy is no int", rt.set_device, lambda w: (numpy.float32(0),), TypeError),
    Case("which", rt.get_device, lambda w: (), (0, OK)),
    Case("how many", rt.get_device_count, lambda w: (), gives(lambda w, count: count >= 1)),
    Case("the program runs on the host", rt.get_run_mode, lambda w: (), (1, OK)),
    Case("reset a device that is none", rt.reset_device, lambda w: (99,), INVALID_DEVICE),
    Case("its memory, above 2 GiB too", rt.get_device_info, lambda w: (0, 301), gives(lambda w, b: b == acl.rt.get_mem_info(1)[1])),
    Case("an attribute that is none", rt.get_device_info, lambda w: (0, 7777), lambda f, w: f[1] != OK),
    Case("how busy", rt.get_device_utilization_rate, lambda w: (0,), gives(lambda w, u: set(u) == {
        "cube_utilization", "vector_utilization", "aicpu_utilization", "memory_utilization", "utilization_extend"})),
    Case("its status", rt.query_device_status, lambda w: (0,), (0, OK)),
    Case("the status of none", rt.query_device_status, lambda w: (99,), lambda f, w: f[1] == INVALID_DEVICE),
    Case("itself is no peer", rt.device_can_access_peer, lambda w: (0, 0), lambda f, w: f == (0, OK) or f[1] != OK),
    Case("a peer that is none", rt.device_can_access_peer, lambda w: (0, 99), lambda f, w: f[1] == INVALID_DEVICE),
    Case("access to a peer that is none", rt.device_enable_peer_access, lambda w: (99, 0), INVALID_DEVICE),
    Case("flags for a peer", rt.device_enable_peer_access, lambda w: (0, 5), lambda f, w: f != OK),
    Case("no more access to none", rt.device_disable_peer_access, lambda w: (99,), INVALID_DEVICE),
    Case("access to none", rt.device_peer_access_status, lambda w: (0, 99), lambda f, w: f[1] == INVALID_DEVICE),
    Case("the process", rt.device_get_bare_tgid, lambda w: (), (os.getpid(), OK)),
    Case("a uuid", rt.device_get_uuid, lambda w: (0,), gives(lambda w, u: len(u["bytes"]) == 16 and max(u["bytes"]) < 256)),
    Case("priorities", rt.device_get_stream_priority_range, lambda w: (), gives(lambda w, a, b: a >= b, 2)),
    *[Case("numbers of a device are the same", call, lambda w: (0,), (0, OK)) for call in (
        rt.get_logic_dev_id_by_user_dev_id, rt.get_user_dev_id_by_logic_dev_id, rt.get_logic_dev_id_by_phy_dev_id,
        rt.get_phy_dev_id_by_logic_dev_id)],
    Case("how two are linked", rt.get_devices_topo, lambda w: (0, 99), lambda f, w: f[1] != OK),
    Case("abort nothing", rt.device_task_abort, lambda w: (0, 1000), OK),
    Case("abort on none", rt.device_task_abort, lambda w: (99, 1000), INVALID_DEVICE),
    Case("synchronize", rt.synchronize_device, lambda w: (), OK),
    Case("synchronize with a limit", rt.synchronize_device_with_timeout, lambda w: (1000,), OK),
    Case("a limit that is none", rt.synchronize_device_with_timeout, lambda w: (-5,), lambda f, w: f != OK),
    Case("too many arguments", rt.synchronize_device, lambda w: (1,), TypeError),
]

CONTEXTS = [
    Case("create and destroy", rt.create_context, lambda w: (0,), gives(lambda w, c: good_context(w, c))),
    Case("create on none", rt.create_context, lambda w: (99,), fails(INVALID_DEVICE)),
    Case("destroy none", rt.destroy_context, lambda w: (0,), INVALID_PARAM),
    Case("which", rt.get_context, lambda w: (), gives(lambda w, c: c != 0 and rt.set_context(c) == OK)),
    Case("set none", rt.set_context, lambda w: (0,), INVALID_PARAM),
    Case("the default stream", rt.ctx_get_current_default_stream, lambda w: (), gives(lambda w, s: s != 0)),
    Case("active, then flags", rt.get_primary_ctx_state, lambda w: (0,), (1, 0, OK)),
    Case("the state of none", rt.get_primary_ctx_state, lambda w: (99,), lambda f, w: f[2] == INVALID_DEVICE),
    Case("an option", rt.set_sys_param_opt, lambda w: (0, 1), lambda f, w: f == OK and rt.get_sys_param_opt(0) == (1, OK)),
    Case("an option of the context", rt.ctx_set_sys_param_opt, lambda w: (2, 1),
         lambda f, w: f == OK and rt.ctx_get_sys_param_opt(2) == (1, OK)),
    Case("an option that is none", rt.get_sys_param_opt, lambda w: (77,), lambda f, w: f[1] != OK),
    Case("the last error", rt.peek_at_last_error, lambda w: (failed_once(),), lambda f, w: f == INVALID_DEVICE),
    Case("the last error, cleared", rt.get_last_error, lambda w: (failed_once(),),
         lambda f, w: f == INVALID_DEVICE and rt.get_last_error(0) == OK),
]


def good_context(w, context):
    good(rt.destroy_context(context))
    good(rt.set_device(0))
    return True


def failed_once():
    """Leaves an error behind, and gives the level to ask at."""
    rt.set_device(99)
    return 0


ITSELF = [
    Case("client-2: initialised twice", lambda: (acl.init(), acl.init(), acl.finalize()), lambda w: (),
         lambda f, w: f[1] == REPEAT_INITIALIZE and f[2] == OK),
    Case("counted", lambda: (acl.init(), acl.finalize_reference()), lambda w: (), (OK, (0, OK))),
    Case("a path that is no text", acl.init, lambda w: (None,), TypeError),
    Case("two paths", acl.init, lambda w: ("a", "b"), TypeError),
    Case("a file that is not there", acl.init, lambda w: ("/nowhere/acl.json",), lambda f, w: f != OK),
    Case("the version of the interface", acl.get_version, lambda w: (), gives(lambda w, a, b, c: a == 1, 3)),
    Case("the chip", acl.get_soc_name, lambda w: (), lambda f, w: f.startswith("Ascend")),
    Case("the last message", acl.get_recent_err_msg, lambda w: () if failed_once() == 0 else None,
         lambda f, w: "99" in f),
    Case("the release", acl.get_cann_version, lambda w: (1,), lambda f, w: set(f[0]) == {
        "version", "major_version", "minor_version", "release_version", "patch_version", "reserved"}),
    Case("the release of none", acl.get_cann_version, lambda w: (77,), lambda f, w: f[1] != OK),
    Case("the release of a package", acl.get_version_str, lambda w: ("nonsense",), lambda f, w: f[0] == "" and f[1] != OK),
    Case("a buffer", acl.create_data_buffer, lambda w: (w.device, 64),
         lambda f, w: acl.get_data_buffer_addr(f) == w.device and acl.get_data_buffer_size(f) == 64 and
         acl.get_data_buffer_size_v2(f) == 64 and acl.update_data_buffer(f, w.device2, 32) == OK and
         acl.get_data_buffer_addr(f) == w.device2 and acl.destroy_data_buffer(f) == OK),
    Case("no buffer", acl.destroy_data_buffer, lambda w: (0,), INVALID_PARAM),
    Case("bytes of a float", acl.data_type_size, lambda w: (FLOAT,), 4),
    Case("bytes of an int8", acl.data_type_size, lambda w: (INT8,), 1),
    Case("bytes of none", acl.data_type_size, lambda w: (-1,), 0),
    Case("half to float", acl.float16_to_float, lambda w: (0x3C00,), 1.0),
    Case("float to half", acl.float_to_float16, lambda w: (-2.0,), 0xC000),
    Case("an int is a float", acl.float_to_float16, lambda w: (1,), 0x3C00),
    Case("text is no float", acl.float_to_float16, lambda w: ("1",), TypeError),
    Case("a half that does not fit", acl.float16_to_float, lambda w: (65536,), ValueError),
    Case("a line in the log", acl.app_log, lambda w: (0, "100 %s of nothing"), None),
    Case("a line that is no text", acl.app_log, lambda w: (0, 5), TypeError),
]

CUBE, VECTOR = 0, 1
FIGURES = [
    Case("bfloat16 on 910B", acl.get_cann_attribute, lambda w: (1,), (1, OK)),
    Case("an attribute that is none", acl.get_cann_attribute, lambda w: (77,), fails(INVALID_PARAM)),
    Case("all attributes", acl.get_cann_attribute_list, lambda w: (), ([0, 1, 2], 3, OK)),
    Case("cores of 910B1", acl.get_device_capability, lambda w: (0, 0), (24, OK)),
    Case("vector cores of 910B1", acl.get_device_capability, lambda w: (0, 1), (48, OK)),
    Case("cores of none", acl.get_device_capability, lambda w: (99, 0), fails(INVALID_PARAM)),
    Case("a hint", rt.cmo_async, lambda w: (w.device, 64, 0, w.stream), OK),
    Case("a hint for NULL", rt.cmo_async, lambda w: (0, 64, 0, w.stream), INVALID_PARAM),
    Case("a limit for waits", rt.set_op_wait_timeout, lambda w: (0,), OK),
    Case("a limit for operators", rt.set_op_execute_time_out, lambda w: (547,), OK),
    Case("a limit in intervals", rt.set_op_execute_timeout_v2, lambda w: (1,),
         gives(lambda w, actual: actual == rt.get_op_timeout_interval()[0])),
    Case("the interval", rt.get_op_timeout_interval, lambda w: (), gives(lambda w, us: us > 0)),
    Case("the limit", rt.get_op_execute_timeout, lambda w: (), gives(lambda w, ms: ms > 0)),
    Case("saturation", rt.set_device_sat_mode, lambda w: (1,), lambda f, w: f == OK and rt.get_device_sat_mode() == (1, OK)),
    Case("a mode that is none", rt.set_device_sat_mode, lambda w: (7,), RT_PARAM_INVALID),
    Case("its getter", rt.get_device_sat_mode, lambda w: (), gives(lambda w, mode: mode in (0, 1))),
    Case("overflow", rt.set_stream_overflow_switch, lambda w: (w.stream, 1),
         lambda f, w: f == OK and rt.get_stream_overflow_switch(w.stream) == (1, OK)),
    Case("a switch that is none", rt.set_stream_overflow_switch, lambda w: (w.stream, 5), INVALID_PARAM),
    Case("a new stream's switch", rt.get_stream_overflow_switch, lambda w: (w.stream,), (0, OK)),
    Case("a limit of cores", rt.set_device_res_limit, lambda w: (0, CUBE, 8),
         lambda f, w: f == OK and rt.get_device_res_limit(0, CUBE) == (8, OK) and rt.reset_device_res_limit(0) == OK and
         rt.get_device_res_limit(0, CUBE) == (24, OK)),
    Case("more cores than there are", rt.set_device_res_limit, lambda w: (0, CUBE, 25), RT_PARAM_INVALID),
    Case("vector cores", rt.get_device_res_limit, lambda w: (0, VECTOR), (48, OK)),
    Case("a limit of none", rt.reset_device_res_limit, lambda w: (99,), INVALID_DEVICE),
    Case("a stream's limit", rt.set_stream_res_limit, lambda w: (w.stream, CUBE, 5),
         lambda f, w: f == OK and rt.get_stream_res_limit(w.stream, CUBE) == (5, OK) and
         rt.use_stream_res_in_current_thread(w.stream) == OK and rt.get_res_in_current_thread(CUBE) == (5, OK) and
         rt.unuse_stream_res_in_current_thread(w.stream) == OK and rt.get_res_in_current_thread(CUBE) == (24, OK)),
    Case("a stream without a limit", rt.get_stream_res_limit, lambda w: (w.stream, CUBE), (24, OK)),
    Case("a stream's limit is gone", rt.reset_stream_res_limit, lambda w: (w.stream,), OK),
    Case("use a stream's limits", rt.use_stream_res_in_current_thread, lambda w: (64,), INVALID_HANDLE),
    Case("use them no more", rt.unuse_stream_res_in_current_thread, lambda w: (64,), INVALID_HANDLE),
    Case("a limit of no kind", rt.get_res_in_current_thread, lambda w: (9,), fails(RT_PARAM_INVALID)),
]

CASES = DEVICES + CONTEXTS + ITSELF + FIGURES
