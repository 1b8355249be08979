#!/usr/bin/env python3
"""What a call costs from Python: the module acl, and ctypes, against the same call in a C loop.

    python_calls.py C_LOOPS RUNTIME [CALLS]     paths of libbench_python_loops.so and libacl_rt.so

All three run in turn, round for round, in one process. A row shows the medians, and what Python adds to the C call. The
loop of Python itself, about 20 ns, counts as Python's. A second table has another thread that computes in Python: then a
call that releases the GIL has to get it back.
"""

import ctypes
import statistics
import sys
import threading
import time

import acl

ROUNDS, BYTES, LIMIT_NS = 15, 64, 1000
HOST_TO_DEVICE = 1


def check(code):
    if code != 0:
        raise SystemExit(f"a call failed with {code}: {acl.get_recent_err_msg()}")


class Case:
    """One call: its C loop, its function in acl, its function in ctypes, and the arguments."""

    def __init__(self, name, loop, loop_arguments, call, arguments, foreign, foreign_arguments):
        self.name, self.call, self.arguments = name, call, arguments
        self.foreign, self.foreign_arguments = foreign, foreign_arguments
        loop.restype = ctypes.c_double
        self.loop = lambda count: loop(ctypes.c_int(count), *loop_arguments)

    def measure(self, count, drain):
        """Nanoseconds for each call: in C, with acl, with ctypes."""
        found = [self.loop(count)]
        drain()
        for call, arguments in ((self.call, self.arguments), (self.foreign, self.foreign_arguments)):
            numbers = range(count)
            begin = time.perf_counter_ns()
            for _ in numbers:
                call(*arguments)
            found.append((time.perf_counter_ns() - begin) / count)
            drain()
        return found


def cases(loops, runtime, stream, event, device, host):
    size, pointer = ctypes.c_size_t, ctypes.c_void_p
    runtime.aclrtMemcpy.argtypes = [pointer, size, pointer, size, ctypes.c_int]
    runtime.aclrtMemcpyAsync.argtypes = [pointer, size, pointer, size, ctypes.c_int, pointer]
    runtime.aclrtMemcpy2d.argtypes = [pointer, size, pointer, size, size, size, ctypes.c_int]
    runtime.aclrtRecordEvent.argtypes = [pointer, pointer]
    runtime.aclrtSynchronizeStream.argtypes = [pointer]
    runtime.aclrtStreamQuery.argtypes = [pointer, pointer]

    def get_device():  # with ctypes a caller has to do what acl does
        out = ctypes.c_int()
        code = runtime.aclrtGetDevice(ctypes.byref(out))
        return out.value, code

    def stream_query(handle):
        out = ctypes.c_int()
        code = runtime.aclrtStreamQuery(handle, ctypes.byref(out))
        return out.value, code

    copy = (device, BYTES, host, BYTES, HOST_TO_DEVICE)
    rows = (device, BYTES, host, BYTES, BYTES, 1, HOST_TO_DEVICE)
    ends = (pointer(device), pointer(host), size(BYTES))
    return [
        Case("get_device", loops.LoopGetDevice, (), acl.rt.get_device, (), get_device, ()),
        Case("stream_query", loops.LoopStreamQuery, (pointer(stream),), acl.rt.stream_query, (stream,), stream_query,
             (stream,)),
        Case("memcpy, 64 bytes", loops.LoopMemcpy, ends, acl.rt.memcpy, copy, runtime.aclrtMemcpy, copy),
        Case("memcpy2d, 64 bytes", loops.LoopMemcpy2d, ends, acl.rt.memcpy2d, rows, runtime.aclrtMemcpy2d, rows),
        Case("memcpy_async, 64 bytes", loops.LoopMemcpyAsync, (*ends, pointer(stream)), acl.rt.memcpy_async,
             (*copy, stream), runtime.aclrtMemcpyAsync, (*copy, stream)),
        Case("record_event", loops.LoopRecordEvent, (pointer(event), pointer(stream)), acl.rt.record_event,
             (event, stream), runtime.aclrtRecordEvent, (event, stream)),
        Case("synchronize_stream, idle", loops.LoopSynchronize, (pointer(stream),), acl.rt.synchronize_stream, (stream,),
             runtime.aclrtSynchronizeStream, (stream,)),
    ]


def table(title, found, count, drain):
    print(title)
    print(f"  {'call':26} {'C':>8} {'acl':>8} {'ctypes':>8} {'acl - C':>9} {'ctypes - C':>11}   (ns)")
    added = []
    for case in found:
        case.measure(count // 10 + 1, drain)
        rounds = [case.measure(count, drain) for _ in range(ROUNDS)]
        if min(c for c, _, _ in rounds) < 0:
            raise SystemExit(f"{case.name}: the C call failed")
        in_c, ours, foreign = (statistics.median(column) for column in zip(*rounds))
        ours_more, foreign_more = (statistics.median(row[i] - row[0] for row in rounds) for i in (1, 2))
        added.append(ours_more)
        print(f"  {case.name:26} {in_c:8.0f} {ours:8.0f} {foreign:8.0f} {ours_more:9.0f} {foreign_more:11.0f}")
    return max(added)


def main():
    if len(sys.argv) not in (3, 4):
        raise SystemExit(__doc__)
    loops, runtime = ctypes.CDLL(sys.argv[1]), ctypes.CDLL(sys.argv[2])
    count = int(sys.argv[3]) if len(sys.argv) == 4 else 2000
    check(acl.rt.set_device(0))
    stream, ret = acl.rt.create_stream()
    check(ret)
    event, ret = acl.rt.create_event()
    check(ret)
    device, ret = acl.rt.malloc(BYTES, 0)
    check(ret)
    host, ret = acl.rt.malloc_host(BYTES)
    check(ret)

    def drain():
        check(acl.rt.synchronize_stream(stream))

    found = cases(loops, runtime, stream, event, device, host)
    largest = table(f"one thread, medians of {ROUNDS} rounds of {count} calls", found, count, drain)

    running = True

    def compute():
        while running:
            sum(range(100))

    thread = threading.Thread(target=compute)
    thread.start()
    table("a second thread computes in Python", found, max(count // 100, 1), drain)
    running = False
    thread.join()
    verdict = "within" if largest <= LIMIT_NS else "ABOVE"
    print(f"acl adds at most {largest:.0f} ns to a C call of one thread: {verdict} the limit of {LIMIT_NS} ns")


if __name__ == "__main__":
    main()
