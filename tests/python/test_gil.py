"""Blocking calls release the GIL: each of these hangs if its call keeps it, because a Python function has to run first."""

import pytest

PREPARE = """
import threading, acl
from world import World, good
rt, w = acl.rt, World()
seen = []
def queue(stream):
    good(rt.launch_host_func(stream, seen.append, 1))
"""

# What waits for the function in w.stream.
WAITS = {
    "synchronize_stream": "good(rt.synchronize_stream(w.stream))",
    "synchronize_stream_with_timeout": "good(rt.synchronize_stream_with_timeout(w.stream, 100000))",
    "synchronize_device": "good(rt.synchronize_device())",
    "synchronize_device_with_timeout": "good(rt.synchronize_device_with_timeout(100000))",
    "synchronize_event": "e = good(rt.create_event()); good(rt.record_event(e, w.stream)); good(rt.synchronize_event(e))",
    "synchronize_event_with_timeout":
        "e = good(rt.create_event()); good(rt.record_event(e, w.stream)); good(rt.synchronize_event_with_timeout(e, 100000))",
    "memcpy_async of pageable memory": "good(rt.memcpy_async(w.device, 64, w.pageable, 64, 1, w.stream))",
    "memcpy2d_async of pageable memory": "good(rt.memcpy2d_async(w.device, 64, w.pageable, 64, 64, 2, 1, w.stream))",
    "destroy_stream": "good(rt.destroy_stream(w.stream))",
    "a full stream": "[good(rt.launch_host_func(w.stream, seen.append, 1)) for _ in range(4000)]; good(rt.synchronize_stream(w.stream))",
}


@pytest.mark.parametrize("call", WAITS)
def test_released(run_script, call):
    ran = run_script(f"{PREPARE}\nqueue(w.stream)\n{WAITS[call]}\nassert seen\nw.close()\nprint('done')")
    assert ran.stdout == "done\n"


def test_process_report_releases_it(run_script):
    """The other thread queues what the call waits for. Only a call that lets go of the GIL lets it run."""
    run_script(PREPARE + """
import sys
sys.setswitchinterval(1000)
context = good(rt.get_context())
good(rt.subscribe_report(threading.get_ident(), w.stream))
def launch():
    good(rt.set_context(context))
    good(rt.launch_callback(seen.append, 2, 1, w.stream))
thread = threading.Thread(target=launch)
thread.start()
while not seen:
    assert rt.process_report(100000) == 0
thread.join()
good(rt.unsubscribe_report(threading.get_ident(), w.stream))
w.close()
""")


def test_other_threads_run_while_one_waits(run_script):
    """A stream waits for a notify that another Python thread records."""
    run_script(PREPARE + """
import sys
sys.setswitchinterval(1000)
notify = good(rt.create_notify(0))
good(rt.wait_and_reset_notify(notify, w.stream, 0))
context = good(rt.get_context())
def record():
    good(rt.set_context(context))
    good(rt.record_notify(notify, w.other_stream))
thread = threading.Thread(target=record)
thread.start()
good(rt.synchronize_stream(w.stream))
thread.join()
w.close()
""")


def test_many_threads(run_script):
    run_script(PREPARE + """
import os
context = good(rt.get_context())
failures = []
def work():
    try:
        good(rt.set_context(context))
        stream = good(rt.create_stream())
        for _ in range(50):
            data = os.urandom(512)
            device, host = good(rt.malloc(512, 0)), good(rt.malloc_host(512))
            good(rt.memcpy_async(device, 512, acl.util.bytes_to_ptr(data), 512, 1, stream))
            good(rt.launch_host_func(stream, seen.append, 1))
            good(rt.memcpy_async(host, 512, device, 512, 2, stream))
            good(rt.synchronize_stream(stream))
            assert acl.util.ptr_to_bytes(host, 512) == data
            good(rt.free(device)); good(rt.free_host(host))
        good(rt.destroy_stream(stream))
    except BaseException as error:
        failures.append(error)
threads = [threading.Thread(target=work) for _ in range(6)]
for thread in threads: thread.start()
for thread in threads: thread.join()
assert failures == [] and len(seen) == 300, failures
w.close()
""")
