"""Interpreters that exit with work queued, functions running and threads waiting: they exit, at once and cleanly."""

import pytest

PREPARE = """
import atexit, os, sys, threading, time, acl
from world import World, good
rt, w = acl.rt, World()
def blocked():
    good(rt.wait_and_reset_notify(good(rt.create_notify(0)), w.stream, 0))
"""

EXITS = {
    "nothing queued": "",
    "client-11: copies queued": "good(rt.memcpy_async(w.device, 64, w.pinned, 64, 1, w.stream))",
    "a function that can never run": "blocked(); good(rt.launch_host_func(w.stream, print, 'never'))",
    "many functions": "for i in range(1000): good(rt.launch_host_func(w.stream, lambda n: None, i))",
    "many streams": """
for _ in range(20):
    stream = good(rt.create_stream())
    for i in range(50): good(rt.launch_host_func(stream, lambda n: sum(range(1000)), i))
""",
    # The C library's exit handler runs behind the interpreter's end, and waits for the function's turn.
    "a function whose turn comes behind the end": """
import ctypes
libc, runtime = ctypes.CDLL(None), ctypes.CDLL("libacl_rt.so")
good(rt.wait_and_reset_notify(good(rt.create_notify(0)), w.stream, 1))
good(rt.launch_host_func(w.stream, print, 'never'))
libc.__cxa_atexit(ctypes.cast(runtime.aclrtSynchronizeDevice, ctypes.c_void_p), None, None)
""",
    "a daemon thread in process_report": """
good(rt.subscribe_report(threading.get_ident(), w.stream))
threading.Thread(target=rt.process_report, args=(100000,), daemon=True).start()
""",
    "a daemon thread in short calls": """
def loop():
    good(rt.set_device(0))
    while True: rt.synchronize_device()
threading.Thread(target=loop, daemon=True).start()
""",
    "a daemon thread in synchronize_stream": """
blocked()
context = good(rt.get_context())
def wait():
    rt.set_context(context)
    rt.synchronize_stream(w.stream)
threading.Thread(target=wait, daemon=True).start()
""",
    "a thread of start_thread": """
def loop(arguments):
    rt.set_context(arguments[0])
    while True: rt.process_report(5)
thread, _ = acl.util.start_thread(loop, [good(rt.get_context())])
good(rt.subscribe_report(thread, w.stream))
good(rt.launch_callback(lambda n: None, 0, 0, w.stream))
""",
    "a function for failures": "good(rt.set_exception_info_callback(lambda info: None))",
    "queued by a function at the exit": "atexit.register(lambda: rt.launch_host_func(w.stream, print, 'late'))",
    "queued by a destructor": """
class Late:
    def __del__(self): rt.launch_host_func(w.stream, print, 'late')
kept = Late()
sys.modules['kept'] = kept
""",
    "an exception in a function": "good(rt.launch_host_func(w.stream, lambda n: n[3], 1))",
}


@pytest.mark.parametrize("what", EXITS)
def test_exit(run_script, what):
    ran = run_script(PREPARE + EXITS[what] + "\nprint('end', flush=True)")
    assert "end" in ran.stdout and "never" not in ran.stdout
    assert "Fatal" not in ran.stderr and "terminate" not in ran.stderr, ran.stderr


@pytest.mark.parametrize("end, code", [("sys.exit(5)", 5), ("os._exit(6)", 6), ("raise RuntimeError('why')", 1)])
def test_exit_status(run_script, end, code):
    run_script(PREPARE + "blocked(); good(rt.launch_host_func(w.stream, print, 'never'))\n" + end, code=code)


def test_a_running_function_is_awaited(run_script):
    """It finishes, although the program has ended."""
    ran = run_script(PREPARE + """
begun = threading.Event()
def slow(_):
    begun.set()
    time.sleep(0.3)
    os.write(1, b'finished')
good(rt.launch_host_func(w.stream, slow, None))
begun.wait()
""")
    assert ran.stdout == "finished"


def test_functions_left_over_are_logged(run_script):
    ran = run_script(PREPARE + "blocked()\nfor i in range(3): good(rt.launch_host_func(w.stream, print, i))\n",
                     ASCEND_GLOBAL_LOG_LEVEL="2", ASCEND_SLOG_PRINT_TO_STDOUT="1")
    assert "3 Python functions" in ran.stdout + ran.stderr


def test_a_forked_child_exits(run_script):
    """share-7: the child cannot use the runtime; its interpreter exits all the same."""
    run_script(PREPARE + """
begun, go = threading.Event(), threading.Event()
def held(_):
    begun.set()
    go.wait()
good(rt.launch_host_func(w.stream, held, None))
begun.wait()
child = os.fork()
if child == 0:
    sys.exit(rt.set_device(0) == 507033)
_, status = os.waitpid(child, 0)
go.set()
sys.exit(os.waitstatus_to_exitcode(status) - 1)
""")
