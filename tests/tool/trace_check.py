"""Holds a trace against docs/TRACE.md: what a reader may rely on is checked, event by event."""

import collections
import json
import pathlib
import zlib

PATHS = {"engine", "shared", "at once", "blocking", "batch", "kernel", "staged", "dense", "network"}
OPERATIONS = {"host to host", "host to device", "device to host", "device to device", "fill"}
FORMS = {"linear", "rows", "batch", "descriptor", "offset", "captured", "fill", "reduce"}
TASKS = {
    "MEMCPY_ASYNC", "MEMCPY", "MEMSET_ASYNC", "MEMSET", "REDUCE_ASYNC", "EVENT_RECORD", "EVENT_WAIT", "EVENT_RESET",
    "NOTIFY_RECORD", "NOTIFY_WAIT", "VALUE_WRITE", "VALUE_WAIT", "HOST_FUNC", "TASK",
}
REDUCTIONS = {"sum", "product", "max", "min"}
ELEMENTS = {"int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "fp16", "bf16", "fp32", "fp64"}
CONDITIONS = {"at least", "equal", "and", "nor"}
LINKS = {"ONCHIP", "HCCS", "PCIE", "ROCE", "SIO", "HCCS_SW", "STANDARD_ROCE", "UB"}
ENGINE_ROW, BLOCKING_ROW, OPERATOR_ROW, LANE = 1_000_000, 2_000_000, 3_000_000, 10_000_000
OPERATOR_PARTS = ("wait for the slowest rank", "copies", "wait for the end of all ranks")


def nanoseconds(microseconds):
    return round(microseconds * 1000)


def end_of(event):
    return nanoseconds(event["ts"]) + nanoseconds(event["dur"])


def text_of(path):
    """The file's text; of a compressed file that a kill has cut, the lines that are whole."""
    data = pathlib.Path(path).read_bytes()
    if not str(path).endswith(".gz"):
        return data.decode()
    text = b""
    while data:
        member = zlib.decompressobj(31)
        part = member.decompress(data)
        if not member.eof:
            return (text + part[:part.rfind(b"\n") + 1]).decode()
        text += part
        data = member.unused_data
    return text.decode()


class Trace:
    """A trace that fits the format; anything else is an AssertionError."""

    def __init__(self, path, killed=False, drained=True):
        """killed: the end may be missing; drained: the program waited for all its work."""
        text = text_of(path)
        if killed and not text.rstrip().endswith("]"):
            text += "]"
        self.events = json.loads(text)
        lines = text.splitlines()
        assert lines[0] == "[", lines[0]
        assert all(line.lstrip().startswith(",{") for line in lines[2:] if line.strip() != "]"), "a line without comma"
        assert max(map(len, lines)) < 4096
        head = self.events[0]
        assert head["name"] == "sampan_trace" and head["args"]["format"] == 1, head
        self.head = head["args"]
        self.state = self.head["state"]
        self.process = self.head["process"]
        self.calls_area = self.process * 128
        self.slices = [event for event in self.events if event["ph"] == "X"]
        self.calls = [e for e in self.slices if e["pid"] == self.calls_area and e["args"]["level"] != "wait"]
        self.waits = [e for e in self.slices if e["pid"] == self.calls_area and e["args"]["level"] == "wait"]
        on_devices = [e for e in self.slices if e["pid"] > self.calls_area]
        of_operators = [e for e in on_devices if OPERATOR_ROW <= e["tid"] < LANE]
        self.operators = [e for e in of_operators if "operator" not in e["args"]]
        self.operator_parts = [e for e in of_operators if "operator" in e["args"]]
        self.tasks = [e for e in on_devices if e["tid"] % LANE < OPERATOR_ROW and "part" not in e["args"]]
        self.engine_parts = [e for e in self.slices if "part" in e["args"]]
        self.check_names()
        self.check_rows()
        self.check_tasks()
        self.check_operators()
        self.check_flows()
        self.check_counters(drained)

    def check_names(self):
        areas, rows = {}, {}
        for event in self.events:
            if event["ph"] == "M":
                if event["name"] == "process_name":
                    areas[event["pid"]] = event["args"]["name"]
                elif event["name"] == "thread_name":
                    rows[event["pid"], event["tid"]] = event["args"]["name"]
                continue
            assert event["pid"] in areas, event
            if event["ph"] in "Xi":
                assert (event["pid"], event["tid"]) in rows, event
        for area, name in areas.items():
            assert name == ("CANN" if area == self.calls_area else "Ascend Hardware"), (area, name)
            assert 0 <= area - self.calls_area <= 64
        self.rows = rows
        for event in self.calls:
            area, _ = event["name"].split("@")
            assert (area, event["args"]["level"]) in {("AscendCL", "acl"), ("HCCL", "hccl")}, event
            assert event["args"]["Thread Id"] == event["tid"], event
            assert area == "HCCL" or not {"link", "remote_rank"} & event["args"].keys(), event

    def check_rows(self):
        """Slices of a row do not overlap; on a host thread and on a row of operators they nest."""
        rows = collections.defaultdict(list)
        for event in self.slices:
            begin = nanoseconds(event["ts"])
            rows[event["pid"], event["tid"]].append((begin, -(begin + nanoseconds(event["dur"])), event))
        for (area, row), slices in rows.items():
            slices.sort(key=lambda each: each[:2])
            open_ends = []
            for begin, minus_end, event in slices:
                while open_ends and open_ends[-1] <= begin:
                    open_ends.pop()
                if open_ends:
                    assert area == self.calls_area or OPERATOR_ROW <= row < LANE, ("overlap", event)
                    assert -minus_end <= open_ends[-1], ("not nested", event)
                open_ends.append(-minus_end)

    def check_tasks(self):
        connections = set()
        for event in self.tasks:
            args = event["args"]
            assert args["Task Type"] == event["name"] and event["name"] in TASKS, event
            assert args["connection_id"] not in connections, event
            connections.add(args["connection_id"])
            assert args["submitted"] <= event["ts"], event
            unfinished = args.get("unfinished", False)
            assert unfinished == ("executed by" not in args) == ("queued behind" in args), event
            assert unfinished or args["executed by"] in {"engine", "caller", "watch", "driver"}, event
            if event["name"].startswith("MEM") or event["name"] == "REDUCE_ASYNC":
                assert args["path"] in PATHS and args["form"] in FORMS and args["operation"] in OPERATIONS, event
                assert args["reason"] and args["size(B)"] >= 0, event
                if args.get("executed by") != "driver":
                    assert ("bandwidth(GB/s)" in args) != bool({"discarded", "status", "unfinished"} & args.keys()), event
                if event["dur"] > 0 and "bandwidth(GB/s)" in args:
                    rate = args["size(B)"] / event["dur"] / 1000
                    assert abs(args["bandwidth(GB/s)"] - rate) <= 0.002 + rate / 100, event
            if event["name"] == "MEMCPY" or event["name"] == "MEMSET":
                assert event["tid"] % LANE == BLOCKING_ROW, event
            else:
                assert event["tid"] == args["Stream Id"] and args["Task Id"] > 0, event
            if args.get("form") == "batch":
                self.check_batch(event)
            if args.get("form") == "reduce":
                assert args["reduction"] in REDUCTIONS and args["data_type"] in ELEMENTS, event
            if event["name"].startswith("VALUE"):
                assert args["word"]["place"] == "device" and int(args["value"], 16) >= 0, event
                assert (event["name"] == "VALUE_WAIT") == (args.get("condition") in CONDITIONS), event
            if "link" in args:
                assert args["link"] in LINKS and args["remote_rank"] >= -1, event
        for event in self.engine_parts:
            assert ENGINE_ROW <= event["tid"] < BLOCKING_ROW and event["args"]["part"] in {"whole", "share"}, event

    def parts_of(self, operator):
        """The three parts of an operator, in their order."""
        begin, end = nanoseconds(operator["ts"]), end_of(operator)
        parts = [e for e in self.operator_parts if (e["pid"], e["tid"]) == (operator["pid"], operator["tid"])
                 and begin <= nanoseconds(e["ts"]) and end_of(e) <= end]
        return sorted(parts, key=lambda e: (nanoseconds(e["ts"]), OPERATOR_PARTS.index(e["name"])))

    def check_operators(self):
        assert len(self.operator_parts) == 3 * len(self.operators)
        for event in self.operators:
            args = event["args"]
            assert event["tid"] == OPERATOR_ROW + args["Stream Id"], event
            assert args["algorithm"] and args["rank"] < args["ranks"] > args["slowest rank"], event
            assert args["waited(us)"] <= event["dur"] + 0.001, event

    def check_batch(self, event):
        args = event["args"]
        if args["entries"] <= 32:
            assert len(args["pieces"]) == args["entries"], event
            assert sum(piece[4] for piece in args["pieces"]) == args["size(B)"], event
        else:
            assert sum(count for _, count in args["sizes"]) == args["entries"], event
            if len(args["sizes"]) < 32:
                assert sum(size * count for size, count in args["sizes"]) == args["size(B)"], event
            for side in ("dst_extent", "src_extent"):
                allocation, first, end = args[side]
                assert first < end, event

    def check_flows(self):
        """Each task has an arrow, which begins in a call of the thread that submitted it."""
        begins, ends = {}, {}
        for event in self.events:
            if event["ph"] in "sf":
                assert event["cat"] == "HostToDevice" and event["name"] == "HostToDevice" + event["id"], event
                side = begins if event["ph"] == "s" else ends
                assert event["id"] not in side, event
                side[event["id"]] = event
        connections = {str(e["args"]["connection_id"]) for e in self.tasks}
        if self.state != "ended":  # the last one may have been cut short
            assert len(begins.keys() ^ ends.keys()) <= 1 and len(ends.keys() ^ connections) <= 1
        else:
            assert begins.keys() == ends.keys() == connections
        calls = collections.defaultdict(list)
        for call in self.calls:
            calls[call["tid"]].append((nanoseconds(call["ts"]), end_of(call)))
        # The last call of a thread may not have returned before the end.
        first_open = {thread: max(end for _, end in ranges) for thread, ranges in calls.items()}
        for thread, ranges in calls.items():
            ranges.sort()
        threads = collections.defaultdict(list)
        for event in begins.values():
            assert event["pid"] == self.calls_area, event
            threads[event["tid"]].append(nanoseconds(event["ts"]))
        for thread, times in threads.items():
            at = 0
            ranges = calls[thread]
            for time in sorted(times):
                while at + 1 < len(ranges) and ranges[at + 1][0] <= time:
                    at += 1
                inside = ranges and ranges[at][0] <= time <= ranges[at][1]
                assert inside or time >= first_open.get(thread, 1 << 63), ("no call around", thread, time)
        self.check_arrows_by_order(first_open)
        for task in self.tasks:
            end = ends.get(str(task["args"]["connection_id"]))
            if end is None:
                continue  # the one that was cut short
            assert (end["pid"], end["tid"], end["ts"]) == (task["pid"], task["tid"], task["ts"]), (task, end)
            begin = min(nanoseconds(task["args"]["submitted"]) + 1, nanoseconds(task["ts"]))
            assert nanoseconds(begins[end["id"]]["ts"]) == begin, task

    def check_arrows_by_order(self, first_open):
        """Perfetto sorts events by time, equal ones as they stand in the file, and ties the end of an arrow to the slice
        that began last on its row; that one stays open until the next one of the row begins."""
        open_slices, begun = collections.defaultdict(list), set()
        for event in sorted((e for e in self.events if e["ph"] in "Xsf"), key=lambda e: nanoseconds(e["ts"])):
            stack = open_slices[event["pid"], event["tid"]]
            begin = nanoseconds(event["ts"])
            if event["ph"] == "X":
                while stack and end_of(stack[-1]) <= begin:
                    stack.pop()
                assert not stack or end_of(event) <= end_of(stack[-1]), ("around one that is before it", event, stack)
                stack.append(event)
            elif event["ph"] == "f":
                assert event["id"] in begun, ("arrow without a beginning", event)
                assert stack and str(stack[-1]["args"]["connection_id"]) == event["id"], ("arrow to another task", event, stack)
            else:
                begun.add(event["id"])
                calls = [each for each in stack if each["args"]["level"] != "wait"]
                inside = calls and begin <= end_of(calls[-1])
                assert inside or begin >= first_open.get(event["tid"], 1 << 63), ("arrow from another call", event, stack)

    def check_counters(self, drained):
        counters = collections.defaultdict(list)
        for event in self.events:
            if event["ph"] == "C":
                (value,) = event["args"].values()
                counters[event["pid"], event["name"]].append((event["ts"], value))
        self.deepest = 0
        for (_, name), samples in counters.items():
            times = [time for time, _ in samples]
            assert times == sorted(times), name
            assert min(value for _, value in samples) >= 0, name
            if name.endswith("queue depth"):
                self.deepest = max(self.deepest, *(value for _, value in samples))
            if drained and self.state == "ended":
                assert samples[-1][1] == 0, (name, samples[-1])
        self.counters = counters

    def bytes_by_operation(self):
        moved = collections.Counter()
        for task in self.tasks:
            lost = {"discarded", "status", "unfinished"} & task["args"].keys()
            if task["name"] in ("MEMCPY", "MEMCPY_ASYNC") and not lost:
                moved[task["args"]["operation"]] += task["args"]["size(B)"]
        return [moved[each] for each in ("host to device", "device to host", "device to device")]

    def task_names(self):
        return collections.Counter(task["name"] for task in self.tasks)


if __name__ == "__main__":
    import sys

    for name in sys.argv[1:]:
        trace = Trace(name, killed=True)
        print(f"{name}: {len(trace.events)} events, {trace.state}, {trace.bytes_by_operation()}")
