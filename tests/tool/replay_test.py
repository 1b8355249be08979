"""sampan replay: the same copies again, proved by the replay's own trace; and what it says when that is not possible."""

import collections
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import time
import unittest

import trace_file
from tool import PROGRAMS, SAMPAN, environment, sampan
from trace_check import Trace

HUGE = 1 << 50


def numbered(trace, name, key):
    """Numbers of the things that an event tells of, in the order of time: 0, 1, 2..."""
    told = sorted((event["ts"], event["args"][key]) for event in trace if event["name"] == name)
    return {number: at for at, (_, number) in enumerate(told)}


def end_of(copy, side, allocations):
    """Where a copy begins or ends, in words that two runs share."""
    end = copy.get(side)
    if end is None:
        return None
    # Of long batches the trace does not know the places.
    offset = None if "sizes" in copy else end.get("offset")
    return (end["place"], end.get("device"), allocations.get(end.get("allocation")), offset)


def signature(path):
    """What a replay must have in common with the original: for each stream its tasks in their order, for each thread
    its blocking copies, and how many threads there are."""
    trace = Trace(path).events
    allocations = numbered(trace, "Memory@allocate", "allocation")
    streams = numbered(trace, "Stream@create", "Stream Id")
    submitters = {event["id"]: event["tid"] for event in trace if event["ph"] == "s"}
    tasks = collections.defaultdict(list)
    for task in sorted(trace_file.tasks(trace), key=lambda task: (task["args"].get("Task Id", 0), task["args"]["submitted"])):
        args = task["args"]
        thread = submitters[str(args["connection_id"])]
        pieces = [[allocations[piece[0]], piece[1], allocations[piece[2]], *piece[3:]] for piece in args.get("pieces", [])]
        tasks[streams.get(args.get("Stream Id")), "Task Id" in args, None if "Task Id" in args else thread].append(
            (task["name"], args.get("operation"), args.get("form"), args.get("size(B)"), json.dumps(args.get("rows")),
             args.get("entries"), json.dumps(args.get("sizes")), json.dumps(pieces), args.get("Event Id"),
             end_of(args, "dst", allocations), end_of(args, "src", allocations)))
    # Threads have other numbers in another run.
    blocking = sorted(tuple(each) for (_, queued, _), each in tasks.items() if not queued)
    queued = {stream: each for (stream, is_queued, _), each in tasks.items() if is_queued}
    waits = collections.Counter(event["args"]["waits"] for event in trace if "waits" in event.get("args", {}))
    return queued, blocking, waits, len(set(submitters.values()))


class ReplayCase(trace_file.RecordedCase):
    rounds, rest_ms = 5, 60

    def changed(self, name, change):
        """A trace like the original, each event changed by a function."""
        path = self.folder / name
        events = [json.dumps(change(json.loads(json.dumps(event))), separators=(",", ":")) for event in trace_file.events(self.original)]
        path.write_text("[\n" + "\n,".join(events) + "\n]\n")
        return path


class SameCopiesTest(ReplayCase):
    def test_the_replay_has_the_same_copies_in_the_same_order(self):
        expected = signature(self.original)
        self.assertEqual(len(expected[0]), 3)
        self.assertEqual(expected[3], 2)
        for words in ([], ["--speed", "asap"], ["--speed", "asap", "--schedule", "seed:7"], ["--speed", "asap", "--devices", "1"]):
            with self.subTest(words):
                again = self.folder / "again.json"
                result = sampan("replay", self.original, "--trace", again, *words)
                self.assertEqual((result.returncode, result.stderr), (0, ""))
                self.assertEqual(signature(again), (*expected[:2], self.with_frees(expected[2], again), expected[3]))

    def with_frees(self, waits, again):
        """A replay waits for its streams before it ends; otherwise for the same things."""
        found = collections.Counter(event["args"]["waits"] for event in trace_file.events(again) if "waits" in event.get("args", {}))
        for kind, count in waits.items():
            self.assertGreaterEqual(found[kind], count, kind)
        self.assertLessEqual(sum(found.values()), sum(waits.values()) + 5)
        return found

    def test_a_replay_can_be_replayed_and_compressed(self):
        first, second = self.folder / "first.json.gz", self.folder / "second.json.gz"
        self.assertEqual(sampan("replay", self.original, "--trace", first, "--speed", "asap").returncode, 0)
        self.assertEqual(sampan("replay", first, "--trace", second, "--speed", "asap").returncode, 0)
        self.assertEqual(signature(second)[:2], signature(self.original)[:2])

    @staticmethod
    def span(trace):
        """Seconds from the first copy to the last one."""
        begins = [copy["ts"] for copy in trace_file.copies(trace_file.events(trace))]
        return (max(begins) - min(begins)) / 1e6

    def test_times_are_kept_or_not(self):
        """The program rests for 5 times 60 ms."""
        for words, kept in ([], True), (["--speed", "asap"], False):
            again = self.folder / "timed.json"
            begin = time.monotonic()
            self.assertEqual(sampan("replay", self.original, "--trace", again, *words).returncode, 0)
            whole = time.monotonic() - begin
            if kept:  # on a busy machine the first copy may come late, also in the original; the last one does not come early
                self.assertGreaterEqual(whole, min(0.24, 0.9 * self.span(self.original)))
            else:
                self.assertLess(self.span(again), 0.24)

    def test_both_summaries_are_printed(self):
        result = sampan("replay", self.original)
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        recorded, replayed = result.stdout.split("\n\n")
        self.assertEqual(recorded.split("\n", 1)[1].rstrip(), self.summary.rstrip())
        copies = trace_file.tasks(trace_file.events(self.original))
        moved = [copy for copy in copies if "operation" in copy["args"]]
        self.assertRegex(replayed, rf"^Replayed here, at the recorded times: {len(moved)} copies and fills, [\d.]+ MiB\nSampan summary: ")
        count = sum(int(number) for number in re.findall(r"(?m)^  \w+(?: to \w+)?\s{2,}\w+(?: once)?\s+(\d+) ", replayed))
        self.assertEqual(count, len(moved))

    def test_everything_that_a_trace_knows(self):
        trace, again = self.folder / "everything.json", self.folder / "everything_again.json"
        self.assertEqual(sampan("run", "--trace", trace, "--", PROGRAMS / "tool_tracee", "everything").returncode, 0)
        result = sampan("replay", trace, "--trace", again, "--speed", "asap")
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        self.assertEqual(Trace(again).task_names(), Trace(trace).task_names())
        self.assertEqual(signature(again)[0], signature(trace)[0])

    def record(self, name, what):
        trace = self.folder / f"{name}.json"
        self.assertEqual(sampan("run", "--trace", trace, "--", PROGRAMS / "tool_tracee", what).returncode, 0)
        return trace

    def test_operands_words_reductions_and_functions(self):
        trace, again = self.record("words", "words"), self.folder / "words_again.json"
        result = sampan("replay", trace, "--trace", again, "--speed", "asap")
        self.assertEqual((result.returncode, result.stderr), (0, ""))

        def told(path):
            """Tasks without numbers, which may be others; the cells of the offset copy are written in another way."""
            tasks = [task for task in Trace(path).tasks if task["args"].get("value", "").lower() in ("", "0x10", "0xfedcba9876543210")]
            return sorted((task["name"], *(str(task["args"].get(key)) for key in (
                "Stream Id", "form", "size(B)", "reduction", "data_type", "value", "condition"))) for task in tasks)

        self.assertEqual(told(again), told(trace))
        # The second stream waits for the first one again, and the function takes as long.
        for path in (trace, again):
            tasks = {(task["name"], task["args"].get("form")): task for task in Trace(path).tasks}
            function, wait = tasks["HOST_FUNC", None], tasks["VALUE_WAIT", None]
            self.assertGreaterEqual(function["dur"], 19000)
            self.assertGreaterEqual(wait["ts"] + wait["dur"], function["ts"] + function["dur"])
            self.assertGreaterEqual(tasks["MEMCPY_ASYNC", "descriptor"]["ts"], wait["ts"] + wait["dur"] - 0.001)

    def test_a_wait_that_nothing_explains_is_left_out(self):
        trace = self.record("unexplained", "words")
        for change in (("0xfedcba9876543210", "0xfedcba9876543200"), ("\"VALUE_WRITE\"", "\"NO_TASK\"")):
            path = self.folder / "changed.json"
            path.write_text(trace.read_text().replace(*change))
            result = sampan("replay", path, "--speed", "asap")
            self.assertEqual(result.returncode, 0, result.stderr)
            self.assertIn("left out: 1 waits for words that no write of the trace explains\n", result.stderr)

    def test_reductions_that_only_hccl_has(self):
        trace, again = self.record("vector", "words"), self.folder / "vector_again.json"
        text = trace.read_text().replace('"reduction":"max"', '"reduction":"product"').replace('"data_type":"fp16"', '"data_type":"int64"')
        trace.write_text(text)
        result = sampan("replay", trace, "--trace", again, "--speed", "asap")
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        reduced, = [task["args"] for task in Trace(again).tasks if task["name"] == "REDUCE_ASYNC"]
        self.assertEqual((reduced["reduction"], reduced["data_type"], reduced["size(B)"]), ("product", "int64", 8192))

    def test_copies_that_were_dropped_are_left_out(self):
        trace = self.folder / "aborted.json"
        self.assertEqual(sampan("run", "--trace", trace, "--", PROGRAMS / "tool_tracee", "aborted").returncode, 0)
        result = sampan("replay", trace)
        self.assertEqual((result.returncode, result.stdout), (4, ""))
        self.assertRegex(result.stderr, r"left out: 1\d tasks that failed or were dropped\n")
        self.assertIn("there are no copies in this trace that could be made again", result.stderr)

    def test_a_trace_without_its_beginning(self):
        """Streams and memory that nothing tells of are made when they are needed."""
        path = self.folder / "headless.json"
        kept = [event for event in trace_file.events(self.original) if not event["name"].startswith(("Memory@", "Stream@"))]
        path.write_text("[\n" + "\n,".join(json.dumps(event) for event in kept) + "\n]\n")
        again = self.folder / "headless_again.json"
        result = sampan("replay", path, "--trace", again, "--speed", "asap")
        self.assertEqual((result.returncode, result.stderr), (0, ""))

        def sizes(trace):
            return sorted((copy["args"]["operation"], copy["args"]["size(B)"]) for copy in trace_file.copies(trace_file.events(trace)))

        self.assertEqual(sizes(again), sizes(self.original))


class FailureTest(ReplayCase):
    def replay(self, trace, *words, **options):
        return sampan("replay", trace, "--speed", "asap", *words, **options)

    def test_bad_arguments(self):
        for words, said in [([], "TRACE is missing"), ([self.original, "--speed", "slow"], "slow"), ([self.original, "--fly"], "--fly")]:
            result = sampan("replay", *words)
            self.assertEqual((result.returncode, result.stdout), (2, ""))
            self.assertIn(said, result.stderr)

    def test_traces_that_cannot_be_read(self):
        broken = self.folder / "broken.json"
        lines = self.original.read_text().splitlines()
        broken.write_text("\n".join([*lines[:9], ",{", *lines[10:]]))
        empty = self.folder / "empty.json"
        empty.touch()
        for path, said in [(broken, f"{broken}:10: this is not JSON"), (empty, "is empty"), (self.folder / "none", "cannot be opened")]:
            result = self.replay(path)
            self.assertEqual((result.returncode, result.stdout), (4, ""))
            self.assertIn(said, result.stderr)

    def test_a_trace_that_breaks_off(self):
        cut = self.folder / "cut.json"
        lines = self.original.read_text().splitlines()
        cut.write_text("\n".join(lines[:-20]).rstrip()[:-10])
        result = self.replay(cut)
        self.assertEqual(result.returncode, 0)
        self.assertIn("breaks off and is left out", result.stderr)

    def test_more_memory_than_there_is(self):
        def swollen(event):
            if event["name"] == "Memory@allocate" and event["args"]["place"] == "device":
                event["args"]["size(B)"] = HUGE
            return event

        result = self.replay(self.changed("swollen.json", swollen))
        self.assertEqual(result.returncode, 4)
        self.assertRegex(result.stderr, r"allocation \d+ of the trace, 1024 TiB of device 0, cannot be made here \(207001\): ")

    def test_more_devices_than_there_are(self):
        process = trace_file.events(self.original)[0]["pid"]

        def moved(event):
            event["pid"] += 5 * (event["pid"] == process + 1)
            for part in (event.get("args", {}), *(event.get("args", {}).get(side, {}) for side in ("dst", "src"))):
                for key in ("Device Id", "device"):
                    if key in part:
                        part[key] = 5
            return event

        trace = self.changed("moved.json", moved)
        result = self.replay(trace, "--devices", "2")
        self.assertEqual(result.returncode, 4)
        self.assertIn("the trace uses 6 devices and there are 2; try --devices 6", result.stderr)
        again = self.folder / "moved_again.json"
        self.assertEqual(self.replay(trace, "--devices", "6", "--trace", again).returncode, 0)
        self.assertEqual({event["pid"] - trace_file.events(again)[0]["pid"] for event in trace_file.tasks(trace_file.events(again))}, {6})

    def test_what_the_runtime_refuses(self):
        result = self.replay(self.original, "--profile", "ascend310-rc")
        self.assertEqual(result.returncode, 4)
        [line] = re.findall(r"line (\d+) of the trace cannot be done again: the copy failed \(207000\): ", result.stderr)
        refused = json.loads(self.original.read_text().splitlines()[int(line) - 1].strip(" ,"))
        self.assertIn(refused["args"]["form"], ("rows", "batch"))
        result = self.replay(self.original, "--devices", "0")
        self.assertEqual(result.returncode, 1)
        self.assertIn("SAMPAN_DEVICES", result.stderr)

    def test_outputs_that_cannot_be_written(self):
        with open("/dev/full", "w", encoding="ascii") as full:
            self.assertEqual(self.replay(self.original, stdout=full).returncode, 3)
        for path in (self.folder, self.folder / "none" / "trace.json", "/dev/full"):
            result = self.replay(self.original, "--trace", path)
            self.assertEqual(result.returncode, 3, result.stderr)
        result = self.replay(self.original, env=environment(TMPDIR=str(self.folder / "none")))
        self.assertEqual(result.returncode, 3)

    def test_a_full_disk_for_the_replays_own_trace(self):
        disk = self.folder / "disk"
        disk.mkdir()
        mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=8k", "tmpfs", disk], capture_output=True, text=True, check=False)
        if mounted.returncode != 0:
            self.skipTest(f"a small file system cannot be mounted: {mounted.stderr.strip()}")
        try:
            result = self.replay(self.original, env=environment(TMPDIR=str(disk)))
            self.assertIn("the replay's own trace: The trace could not be written to its end", result.stderr)
            self.assertEqual(list(disk.iterdir()), [])
        finally:
            subprocess.run(["umount", disk], check=True)

    def test_ctrl_c_in_the_middle(self):
        def slowed(event):
            for key in ("ts", "dur"):
                if key in event:
                    event[key] *= 1000
            if "submitted" in event.get("args", {}):
                event["args"]["submitted"] *= 1000
            return event

        trace = self.changed("slow.json", slowed)
        passing = self.folder / "passing"
        passing.mkdir()
        for send in (lambda process: process.send_signal(signal.SIGINT), lambda process: os.killpg(process.pid, signal.SIGINT)):
            command = subprocess.Popen([SAMPAN, "replay", trace], env=environment(TMPDIR=str(passing)), text=True,
                                       stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True)
            children = pathlib.Path(f"/proc/{command.pid}/task/{command.pid}/children")
            # It has begun when its child has the runtime's threads; the trace has a name until then only.
            while not any(len(os.listdir(f"/proc/{child}/task")) > 1 for child in children.read_text().split()):
                self.assertIsNone(command.poll())
                time.sleep(0.01)
            begin = time.monotonic()
            send(command)
            output, errors = command.communicate(timeout=30)
            self.assertLess(time.monotonic() - begin, 5)
            self.assertEqual((command.returncode, errors), (-signal.SIGINT, ""))
            self.assertNotIn("Replayed", output)
            self.assertEqual(list(passing.iterdir()), [])
        shutil.rmtree(passing)


if __name__ == "__main__":
    unittest.main()
