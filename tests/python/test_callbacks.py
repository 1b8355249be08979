"""Python functions that streams call: on subscribed threads, on threads of the runtime, and when a task fails."""

import gc
import sys
import threading
import warnings
import weakref

import acl
import pytest
from constants import BLOCK, D2D, FREED_MEMORY, NO_BLOCK, REPORT_TIMEOUT, THREAD_NOT_SUBSCRIBED
from world import good

rt, util = acl.rt, acl.util


class Thing:
    """Something that a weak reference can watch."""


@pytest.fixture
def reporter(on_device):
    """A thread that runs the callbacks of the stream, as the samples of pyACL have it."""
    flag, context = [True], good(rt.get_context())

    def loop(arguments):
        good(rt.set_context(arguments[0]))
        while flag[0]:
            assert rt.process_report(50) in (0, REPORT_TIMEOUT, THREAD_NOT_SUBSCRIBED)

    thread, ret = util.start_thread(loop, [context])
    assert ret == 0
    good(rt.subscribe_report(thread, on_device.stream))
    yield thread
    flag[0] = False
    good(rt.unsubscribe_report(thread, on_device.stream))
    assert util.stop_thread(thread) == 0


@pytest.mark.parametrize("block", [NO_BLOCK, BLOCK])
def test_callback(on_device, reporter, block):
    seen, done = [], threading.Event()

    def callback(argument):
        seen.append((argument, threading.get_ident()))
        done.set()

    good(rt.launch_callback(callback, {"any": "object"}, block, on_device.stream))
    good(rt.synchronize_stream(on_device.stream))
    assert done.wait(60)
    assert seen == [({"any": "object"}, reporter)]


def test_callbacks_keep_the_order(on_device, reporter):
    seen = []
    for i in range(200):
        good(rt.launch_callback(seen.append, i, BLOCK, on_device.stream))
    good(rt.synchronize_stream(on_device.stream))
    assert seen == list(range(200))


def test_host_functions_keep_the_order(on_device):
    seen = []
    for i in range(200):
        good(rt.launch_host_func(on_device.stream, seen.append, i))
    good(rt.synchronize_stream(on_device.stream))
    assert seen == list(range(200))


def test_host_functions_of_many_streams(on_device):
    streams = [good(rt.create_stream()) for _ in range(8)]
    seen = {stream: [] for stream in streams}
    for i in range(100):
        for stream in streams:
            good(rt.launch_host_func(stream, seen[stream].append, i))
    for stream in streams:
        good(rt.synchronize_stream(stream))
    assert all(numbers == list(range(100)) for numbers in seen.values())


def test_a_host_function_stands_between_two_copies(on_device):
    """It sees the first copy done, and what it writes is copied by the second."""
    piece, seen = 64, []
    first = good(rt.malloc_host(piece))
    good(rt.memcpy(first, piece, on_device.pageable, piece, 0))

    def look(address):
        seen.append(util.ptr_to_bytes(address, piece))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            util.ptr_to_numpy(address, (piece,), 2)[:] = 0x5A

    into = good(rt.malloc_host(piece))
    good(rt.memcpy_async(on_device.device, piece, first, piece, 1, on_device.stream))
    good(rt.memcpy_async(into, piece, on_device.device, piece, 2, on_device.stream))
    good(rt.launch_host_func(on_device.stream, look, into))
    good(rt.memcpy_async(on_device.device2, piece, into, piece, 1, on_device.stream))
    good(rt.synchronize_stream(on_device.stream))
    assert seen == [on_device.contents[:piece]]
    assert on_device.read(on_device.device2, piece) == b"\x5a" * piece


@pytest.mark.parametrize("error", [ValueError("no such block"), KeyboardInterrupt(), SystemExit(3)])
def test_an_exception_is_reported_and_the_stream_goes_on(on_device, monkeypatch, error):
    reported, seen = [], []
    monkeypatch.setattr(sys, "unraisablehook", lambda hook: reported.append((hook.exc_value, hook.object)))

    def raises(_):
        raise error

    good(rt.launch_host_func(on_device.stream, raises, None))
    good(rt.launch_host_func(on_device.stream, seen.append, 1))
    assert rt.synchronize_stream(on_device.stream) == 0
    assert seen == [1] and reported == [(error, raises)]


def test_an_exception_in_a_callback(on_device, reporter, monkeypatch):
    reported = []
    monkeypatch.setattr(sys, "unraisablehook", lambda hook: reported.append(str(hook.exc_value)))
    good(rt.launch_callback(lambda number: [][number], 5, BLOCK, on_device.stream))
    good(rt.synchronize_stream(on_device.stream))
    assert reported == ["list index out of range"]


def test_what_was_called_is_let_go(on_device):
    thing = Thing()
    watched = weakref.ref(thing)
    good(rt.launch_host_func(on_device.stream, lambda _: None, thing))
    del thing
    good(rt.synchronize_stream(on_device.stream))
    assert watched() is None


def test_what_is_refused_is_let_go(on_device):
    thing = Thing()
    watched = weakref.ref(thing)
    assert rt.launch_host_func(64, print, thing) != 0
    del thing
    assert watched() is None


@pytest.mark.parametrize("destroy", ["destroy_stream_force"])
def test_what_a_destroyed_stream_never_called_is_let_go(on_device, destroy):
    stream, seen = good(rt.create_stream()), []
    good(rt.wait_and_reset_notify(good(rt.create_notify(0)), stream, 0))
    thing = Thing()
    watched = weakref.ref(thing)
    good(rt.launch_host_func(stream, seen.append, thing))
    del thing
    assert watched() is not None
    good(getattr(rt, destroy)(stream))
    gc.collect()
    assert watched() is None and seen == []


def test_callables_of_every_kind(on_device):
    class Caller:
        def __init__(self):
            self.seen = []

        def __call__(self, argument):
            self.seen.append(argument)

        def method(self, argument):
            self.seen.append(-argument)

    caller = Caller()
    for function in (caller, caller.method):
        good(rt.launch_host_func(on_device.stream, function, 5))
    good(rt.synchronize_stream(on_device.stream))
    assert caller.seen == [5, -5]


def test_a_host_function_may_use_the_module(on_device):
    found = []

    def function(_):
        found.append(acl.get_soc_name())
        found.append(rt.get_device_count()[1])

    good(rt.launch_host_func(on_device.stream, function, None))
    good(rt.synchronize_stream(on_device.stream))
    assert found[0].startswith("Ascend") and found[1] == 0


def test_exception_info(on_device):
    infos, told = [], threading.Event()

    def failed(info):
        infos.append((rt.get_error_code_from_exception_info(info), rt.get_stream_id_from_exception_info(info),
                      rt.get_device_id_from_exception_info(info), rt.get_thread_id_from_exception_info(info),
                      rt.get_task_id_from_exception_info(info)))
        told.set()

    good(rt.set_exception_info_callback(failed))
    try:
        notify, memory = good(rt.create_notify(0)), good(rt.malloc(64, 0))
        good(rt.wait_and_reset_notify(notify, on_device.stream, 0))
        good(rt.memcpy_async(on_device.device, 64, memory, 64, D2D, on_device.stream))
        good(rt.free(memory))
        good(rt.record_notify(notify, on_device.other_stream))
        assert rt.synchronize_stream(on_device.stream) == FREED_MEMORY
        assert told.wait(60)
    finally:
        good(rt.set_exception_info_callback())
    code, stream, device, thread, _ = infos[0]
    assert (code, stream, device) == (FREED_MEMORY, good(rt.stream_get_id(on_device.stream)), 0) and thread > 0


def test_the_function_for_failures_is_let_go():
    thing = Thing()
    watched = weakref.ref(thing)
    good(rt.set_exception_info_callback(lambda info, kept=thing: kept))
    del thing
    assert watched() is not None
    good(rt.set_exception_info_callback(None))
    assert watched() is None


def test_threads():
    seen = []
    thread, ret = util.start_thread(seen.append, ["given"])
    assert ret == 0 and util.stop_thread(thread) == 0 and seen == [["given"]]
    thread, _ = util.start_thread(lambda: seen.append("called"), None)
    assert util.stop_thread(thread) == 0 and seen[1] == "called"
    assert util.stop_thread(thread) != 0  # it is not there any more


def test_the_exception_of_a_thread():
    def loses(_):
        raise KeyError("block 7")

    thread, _ = util.start_thread(loses, [])
    with pytest.raises(RuntimeError, match="block 7"):
        util.stop_thread(thread)
