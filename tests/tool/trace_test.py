"""sampan run --trace: every kind of task, every way to end, every kind of file, read back and checked against the format."""

import collections
import gzip
import json
import os
import pathlib
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest
import zlib

from tool import BUILD, PROGRAMS, SAMPAN, environment, sampan
from trace_check import Trace, text_of
from trace_file import model_of
from traced import check_links

TRACEE = PROGRAMS / "tool_tracee"


def copied(result):
    """What the program says that it copied, by direction."""
    (line,) = [line for line in result.stdout.splitlines() if line.startswith("copied ")]
    return [int(word) for word in line.split()[1:]]


def members(data):
    """Where the members of a compressed file end."""
    ends, rest = [], data
    while rest:
        member = zlib.decompressobj(31)
        member.decompress(rest)
        rest = member.unused_data
        ends.append(len(data) - len(rest))
    return ends


def calls_read(path):
    """How many calls the command's own reader finds in a trace."""
    page = path.with_suffix(".html")
    result = sampan("report", path, "-o", page)
    assert result.returncode == 0, result.stderr
    return int(re.search(r"(\d+) calls in ", json.dumps(model_of(page)["summary"])).group(1))


class TraceTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.file = self.folder / "trace.json"

    def run_traced(self, *words, file=None, env=None, **options):
        return sampan("run", "--trace", file or self.file, "--", TRACEE, *words, env=env, **options)

    def start(self, *words):
        """The program in the background, once it has copied for a while; answers it and its process."""
        running = subprocess.Popen(
            [SAMPAN, "run", "--trace", self.file, "--", TRACEE, *words],
            env=environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        )
        word, process = running.stdout.readline().split()
        self.assertEqual(word, "ready")
        return running, int(process)

    def wait_until_written(self, size):
        """Returns when the file of a running program has so many bytes: however busy the machine is, it will."""
        give_up = time.monotonic() + 60
        while self.file.stat().st_size < size:
            self.assertLess(time.monotonic(), give_up, "the trace does not grow")
            time.sleep(0.005)


class ContentTest(TraceTest):
    def test_every_kind_of_task(self):
        result = self.run_traced("everything")
        self.assertEqual(result.returncode, 0, result.stderr)
        trace = Trace(self.file)
        self.assertEqual(trace.state, "ended")
        self.assertEqual(trace.bytes_by_operation(), copied(result))
        names = trace.task_names()
        self.assertEqual(names["EVENT_RECORD"], 1)
        self.assertEqual(names["EVENT_WAIT"], 1)
        self.assertEqual(names["NOTIFY_RECORD"], 1)
        self.assertEqual(names["NOTIFY_WAIT"], 1)
        self.assertEqual(names["HOST_FUNC"], 1)
        self.assertEqual(names["MEMSET_ASYNC"], 1)
        self.assertEqual(names["MEMCPY"], 41)
        forms = {task["args"].get("form") for task in trace.tasks}
        self.assertLessEqual({"linear", "rows", "batch", "descriptor", "fill"}, forms)
        paths = {task["args"].get("path") for task in trace.tasks}
        self.assertLessEqual({"at once", "engine", "shared", "blocking"}, paths)
        self.assertTrue(any(part["args"]["part"] == "whole" for part in trace.engine_parts))

    def test_calls_and_what_they_wait_for(self):
        self.run_traced("everything")
        trace = Trace(self.file)
        calls = {}
        for call in trace.calls:
            calls.setdefault(call["name"].removeprefix("AscendCL@"), []).append(call["args"])
        self.assertEqual(calls["aclInit"][0].get("code"), None)
        self.assertEqual(calls["aclrtMemcpyAsync"][-1]["code"], 107000)
        self.assertEqual(calls["aclrtSynchronizeStream"][0]["waits"], "stream")
        self.assertEqual(calls["aclrtSynchronizeEvent"][0]["waits"], "event")
        self.assertEqual(calls["aclrtSynchronizeDevice"][0]["waits"], "device")
        record = next(task for task in trace.tasks if task["name"] == "EVENT_RECORD")["args"]
        wait = next(task for task in trace.tasks if task["name"] == "EVENT_WAIT")["args"]
        self.assertEqual(record["Event Id"], wait["Event Id"])
        self.assertEqual(calls["aclrtSynchronizeEvent"][0]["Event Id"], record["Event Id"])
        self.assertNotEqual(record["Stream Id"], wait["Stream Id"])
        self.assertEqual([wait["name"] for wait in trace.waits], ["Wait@pageable"])
        # The pageable copy does not pretend to wait for its stream as a whole.
        self.assertFalse(any("waits" in args for args in calls["aclrtMemcpyAsync"]))

    def test_calls_of_hccl_and_what_goes_over_links(self):
        result = sampan("run", "--trace", self.file, "--summary", "--", BUILD / "tests" / "hccl" / "hccl_threads",
                        "--gtest_filter=Sizes/RingTest.EveryRankHasEverything/1")
        self.assertEqual(result.returncode, 0, result.stderr)
        trace = Trace(self.file)
        self.assertEqual(check_links(trace).keys(), {"MEMCPY_ASYNC", "NOTIFY_RECORD", "NOTIFY_WAIT"})
        calls = [call for call in trace.calls if call["args"]["level"] == "hccl"]
        self.assertEqual({call["args"]["remote_rank"] for call in calls if call["args"].get("link") == "HCCS"}, {0, 1})
        over = [task["args"] for task in trace.tasks if task["args"].get("link") == "HCCS"]
        moved = [args["size(B)"] for args in over if "size(B)" in args]
        self.assertIn(f"HCCL: {len(calls)} calls; over HCCS {len(moved)} copies, {sum(moved) // 1024} KiB in ", result.stderr)
        self.assertIn(f"and {len(over) - len(moved)} signals", result.stderr)

    def test_operators_over_their_copies(self):
        for size, algorithm in (("1K", "posted with the facts"), ("2M", "one pass, a chunk a rank")):
            with self.subTest(size=size):
                result = sampan("run", "--trace", self.file, "--", SAMPAN.parent / "hccl_bench", "all_reduce",
                                "-b", size, "-e", size, "-n", "3", "-w", "1", "-c", "0", "-p", "2")
                self.assertEqual(result.returncode, 0, result.stderr)
                trace = Trace(self.file)
                operators = [each for each in trace.operators if each["name"] == "HcclAllReduce"]
                # Those that are measured, and one before; of two ranks.
                self.assertEqual(collections.Counter(each["args"]["rank"] for each in operators), {0: 4, 1: 4})
                for each in operators:
                    args = each["args"]
                    self.assertEqual((args["algorithm"], args["ranks"]), (algorithm, 2))
                    self.assertEqual(args["size(B)"], 1024 if size == "1K" else 2 << 20)
                    self.assertIn(args["slowest rank"], (0, 1))
                    parts = trace.parts_of(each)
                    self.assertEqual([part["name"] for part in parts], [
                        "wait for the slowest rank", "copies", "wait for the end of all ranks"])
                    self.assertEqual(parts[0]["args"]["rank"], args["slowest rank"])
                    self.assertAlmostEqual(parts[0]["dur"], args["waited(us)"], places=3)
                    # The first of its tasks may have begun before it, and the last, an open wait, right behind. A short
                    # one is a task that its caller executes, and more for what is left if the other rank is late.
                    end = each["ts"] + each["dur"]
                    own = [task for task in trace.tasks if task["pid"] == each["pid"] and task["tid"] == args["Stream Id"]]
                    if size == "1K":
                        over = [task for task in own if task["ts"] < end and each["ts"] < task["ts"] + task["dur"]]
                        counts = range(1, 7)
                    else:
                        over = [task for task in own if each["ts"] <= task["ts"] <= end]
                        counts = range(3, 6)
                    self.assertIn([task["name"] for task in over], [["TASK"] * count for count in counts])
                self.file.unlink()

    def test_words_and_reductions(self):
        self.run_traced("words")
        trace = Trace(self.file)
        reduced, = [task["args"] for task in trace.tasks if task["name"] == "REDUCE_ASYNC"]
        self.assertEqual((reduced["reduction"], reduced["data_type"], reduced["size(B)"]), ("max", "fp16", 8192))
        written, = [task["args"] for task in trace.tasks if task["name"] == "VALUE_WRITE"]
        waited, = [task["args"] for task in trace.tasks if task["name"] == "VALUE_WAIT"]
        self.assertEqual(written["word"], waited["word"])
        self.assertEqual((written["value"], waited["value"], waited["condition"]), ("0xfedcba9876543210", "0x10", "and"))
        indirect = {task["args"]["form"]: task["args"] for task in trace.tasks if task["args"].get("form") in ("descriptor", "offset")}
        for form, bytes_, src_offset, dst_offset in (("descriptor", 4096, 0, 8 << 20), ("offset", 2048, 1 << 20, 9 << 20)):
            args = indirect[form]
            self.assertEqual((args["size(B)"], args["src"]["offset"], args["dst"]["offset"]), (bytes_, src_offset, dst_offset), form)

    def test_memory_streams_and_places_for_a_replay(self):
        self.run_traced("everything")
        trace = Trace(self.file)
        instants = [event for event in trace.events if event["ph"] == "i"]
        made = {event["args"]["allocation"]: event["args"] for event in instants if event["name"] == "Memory@allocate"}
        freed = {event["args"]["allocation"] for event in instants if event["name"] == "Memory@free"}
        self.assertEqual(made.keys(), freed)
        self.assertEqual(sorted(each["place"] for each in made.values()), ["device", "device", "pinned"])
        for task in trace.tasks:
            for side in ("dst", "src"):
                end = task["args"].get(side)
                if end is None or end["place"] == "pageable":
                    continue
                memory = made[end["allocation"]]
                self.assertEqual(end["place"], memory["place"])
                self.assertLessEqual(end["offset"], memory["size(B)"])
        rows = next(task for task in trace.tasks if task["args"].get("form") == "rows")["args"]
        self.assertEqual(rows["rows"], {"width": 500, "height": 100, "dst_pitch": 1024, "src_pitch": 512})
        small, large = [task["args"] for task in trace.tasks if task["args"].get("form") == "batch"]
        device, pinned = small["pieces"][0][0], small["pieces"][0][2]
        self.assertEqual(
            small["pieces"], [[device, 2 * i * 8192, pinned, 3 * i * 8192, 8192] for i in range(3)]
        )
        self.assertEqual(large["sizes"], [[8192, 1000]])
        self.assertEqual(large["dst_extent"], [device, 0, (2 * 999 + 1) * 8192])
        self.assertEqual(large["src_extent"], [pinned, 0, (3 * 999 + 1) * 8192])
        streams = [event["args"] for event in instants if event["name"] == "Stream@create"]
        self.assertEqual([stream["default"] for stream in streams], [True, False, False])
        self.assertEqual(sum(event["name"] == "Stream@destroy" for event in instants), 3)

    def test_a_full_queue_is_seen_as_such(self):
        result = self.run_traced("full")
        trace = Trace(self.file)
        self.assertEqual(trace.bytes_by_operation(), copied(result))
        # A task counts from the beginning of its call, when a place may not have been free yet.
        self.assertIn(trace.deepest, (1792, 1793))
        self.assertIn("Wait@queue full", {wait["name"] for wait in trace.waits})

    def test_tasks_that_were_dropped(self):
        result = self.run_traced("aborted")
        self.assertEqual(result.returncode, 0, result.stderr)
        dropped = [task for task in Trace(self.file).tasks if task["args"].get("discarded")]
        self.assertGreaterEqual(len(dropped), 10)

    def test_a_chosen_schedule(self):
        for schedule in ("early", "late", "seed:3"):
            with self.subTest(schedule):
                result = sampan("run", "--schedule", schedule, "--trace", self.file, "--", TRACEE, "everything")
                self.assertEqual(result.returncode, 0, result.stderr)
                self.assertEqual(Trace(self.file).bytes_by_operation(), copied(result))


class EndingTest(TraceTest):
    def test_exit_without_tidying_up(self):
        result = self.run_traced("exit")
        self.assertEqual(result.returncode, 0, result.stderr)
        trace = Trace(self.file)
        self.assertEqual(trace.state, "ended")
        self.assertEqual(trace.bytes_by_operation(), copied(result))  # with the copy of the exit handler

    def test_crashes(self):
        for how, number in (("crash", signal.SIGSEGV), ("abort", signal.SIGABRT)):
            with self.subTest(how):
                result = self.run_traced(how)
                self.assertEqual(result.returncode, -number)
                json.loads(text_of(self.file))  # strictly
                trace = Trace(self.file)
                self.assertEqual(trace.state, "running")
                self.assertEqual(trace.bytes_by_operation(), copied(result))

    def test_interrupted(self):
        # Many: the writer writes without a pause, so that a signal hits it in the middle.
        for how in ("steady", "many", "many", "many"):
            running, _ = self.start(how)
            self.wait_until_written(2 << 20)
            running.send_signal(signal.SIGINT)
            running.communicate()
            self.assertEqual(running.returncode, -signal.SIGINT)
            self.assertGreater(len(Trace(self.file).tasks), 1000)

    def test_killed_at_any_moment(self):
        for name, how in [("trace.json", "steady"), ("trace.json.gz", "steady"),
                          ("trace.json", "many"), ("trace.json.gz", "many")] * 2:
            self.file = self.folder / name
            running, process = self.start(how)
            if how == "steady":
                self.wait_until_written(8192)
            time.sleep(random.uniform(0, 0.06 if how == "steady" else 0.01))
            os.kill(process, signal.SIGKILL)
            running.communicate()
            trace = Trace(self.file)
            self.assertEqual(trace.state, "running")
            if how == "steady":
                self.assertGreater(len(trace.tasks), 0)
            self.assertEqual(calls_read(self.file), len(trace.calls))
            if name.endswith(".gz"):
                self.assertEqual(subprocess.run(["gzip", "-t", self.file], check=False).returncode, 0)

    def end_like(self, data):
        """What 'sampan run' makes of a program that leaves these bytes as its trace when a signal ends it."""
        left = self.folder / "left"
        left.write_bytes(data)
        result = sampan("run", "--trace", self.file, "--", "sh", "-c", f"cp {left} {self.file}; kill -9 $$")
        self.assertEqual(result.returncode, -signal.SIGKILL)
        return self.file.read_bytes()

    def test_a_text_without_its_end_gets_one(self):
        self.run_traced("many", 4000)
        data = self.file.read_bytes()
        self.assertEqual(self.end_like(data), data)
        for page in random.sample(range(1, len(data) // 4096), 5):
            self.assertEqual(self.end_like(data[:page * 4096]), data[:page * 4096] + b"]\n")
        elsewhere = data[:data.rindex(b"\n,") + 30]  # no file system is known to cut there
        self.assertEqual(self.end_like(elsewhere), elsewhere[:elsewhere.rindex(b"\n") + 1] + b"]\n")

    def test_a_text_that_another_process_still_writes_is_its_own(self):
        data = b'[\n{"name":"sampan_trace"}\n'
        program = self.folder / "program.py"
        program.write_text(
            "import fcntl, os, signal, sys\n"
            f"file = open({str(self.file)!r}, 'wb')\n"
            f"file.write({data!r}); file.flush()\n"
            "ready, say = os.pipe()\n"
            "if os.fork() == 0:\n"
            "    if sys.argv[1] == 'locks': fcntl.lockf(file, fcntl.LOCK_EX)\n"
            "    os.write(say, b'.'); signal.pause()\n"
            "os.read(ready, 1)\n"
            "os.kill(os.getpid(), signal.SIGKILL)\n"
        )
        for how, after in (("locks", data), ("reads", data + b"]\n")):
            running = subprocess.Popen([SAMPAN, "run", "--trace", self.file, "--", sys.executable, program, how],
                                       env=environment(), start_new_session=True, stderr=subprocess.DEVNULL)
            self.assertEqual(running.wait(), -signal.SIGKILL)
            os.killpg(running.pid, signal.SIGKILL)
            self.assertEqual(self.file.read_bytes(), after)

    def test_members_without_their_end_get_one(self):
        self.file = self.folder / "trace.json.gz"
        self.run_traced("steady", 12000)
        data = self.file.read_bytes()
        self.assertEqual(self.end_like(data), data)
        ends = members(data)
        tail = data[ends[-2]:]
        # Behind a member, in its beginning (where the rest of the old tail is left), and anywhere.
        lefts = [(end, b"") for end in ends[:3]] + [(ends[1] + i, tail[i:]) for i in (5, 11, 15, 21)]
        lefts += [(cut, b"") for cut in random.sample(range(ends[1] + len(tail), ends[-2]), 5)]
        for cut, rest in lefts:
            before = max([0] + [end for end in ends if end <= cut])
            mended = self.end_like(data[:cut] + rest)
            self.assertTrue(mended.startswith(data[:before]) and mended.endswith(tail), cut)
            text, whole = gzip.decompress(mended), gzip.decompress(data)
            lines = text.removesuffix(b"]\n")
            self.assertTrue(whole.startswith(lines), cut)
            self.assertGreaterEqual(len(lines), len(gzip.decompress(data[:before])))
            json.loads(text)

    def test_a_write_that_ends_at_any_page_leaves_whole_events(self):
        self.run_traced("many", 4000)
        data = self.file.read_bytes()
        pages = range(4096, len(data), 4096)
        self.assertGreater(len(pages), 400)
        for end in pages:
            self.assertEqual(data[end - 4096:end].rstrip()[-1:], b"}", end)
        cut = self.folder / "cut.json"
        for end in (pages[0], *random.sample(pages, 3), pages[-1]):
            cut.write_bytes(data[:end])
            events = json.loads(text_of(cut) + "]")
            self.assertEqual(calls_read(cut), sum(event.get("args", {}).get("level") == "acl" for event in events))

    def test_a_compressed_write_that_ends_anywhere_leaves_what_was_before(self):
        file = self.folder / "trace.json.gz"
        self.run_traced("steady", 12000, file=file)
        data = file.read_bytes()
        ends = members(data)
        self.assertGreater(len(ends), 4)
        cut = self.folder / "cut.json.gz"
        for end in random.sample(range(ends[0] + 1, len(data)), 8):
            cut.write_bytes(data[:end])
            self.assertEqual(calls_read(cut), text_of(cut).count('"level":"acl"'), end)

    def test_little_is_lost_by_a_kill(self):
        running, process = self.start("steady")
        time.sleep(1.5)
        os.kill(process, signal.SIGKILL)
        killed = time.clock_gettime(time.CLOCK_MONOTONIC)
        running.communicate()
        last = max(call["ts"] + call["dur"] for call in Trace(self.file).calls) / 1e6
        self.assertLess(killed - last, 1)  # 0.1 on a machine that is not crowded

    def test_forks_have_files_of_their_own(self):
        # Locks that the parent's other threads hold have no owner in a child.
        leaks_are_none = os.environ.get("ASAN_OPTIONS", "") + ":detect_leaks=0"
        result = self.run_traced("fork", env=environment(ASAN_OPTIONS=leaks_are_none))
        self.assertEqual(result.returncode, 0, result.stderr)
        files = sorted(self.folder.iterdir())
        self.assertEqual(len(files), 3)
        self.assertIn(self.file, files)
        traces = {path: Trace(path, killed=True) for path in files}
        for path, trace in traces.items():
            if path != self.file:
                self.assertEqual(path.name, f"trace.{trace.process}.json")
        self.assertEqual(len({trace.process for trace in traces.values()}), 3)
        ended = sorted(sum(trace.bytes_by_operation()) for trace in traces.values() if trace.state == "ended")
        self.assertEqual(ended, sorted(int(line.split()[1]) for line in result.stdout.splitlines() if "copied" in line))


class FileTest(TraceTest):
    def test_compressed(self):
        file = self.folder / "trace.json.gz"
        result = self.run_traced("everything", file=file)
        self.assertEqual(gzip.decompress(file.read_bytes())[:2], b"[\n")
        self.assertEqual(subprocess.run(["gzip", "-t", file], check=False).returncode, 0)
        trace = Trace(file)
        self.assertEqual(trace.state, "ended")
        self.assertEqual(trace.bytes_by_operation(), copied(result))

    def test_a_name_with_the_process(self):
        self.run_traced("everything", file=self.folder / "of-%p.json.gz")
        (file,) = self.folder.iterdir()
        self.assertEqual(file.name, f"of-{Trace(file).process}.json.gz")

    def test_an_earlier_trace_is_replaced_and_nothing_else(self):
        for _ in range(2):
            self.assertEqual(self.run_traced("everything").returncode, 0)
        self.assertEqual(list(self.folder.iterdir()), [self.file])
        Trace(self.file)
        self.file.write_text("dear diary")
        refused = self.run_traced("everything")
        self.assertEqual(refused.returncode, 125)
        self.assertIn("no trace", refused.stderr)
        self.assertEqual(self.file.read_text(), "dear diary")

    def test_a_relative_name_means_the_folder_of_the_command(self):
        result = sampan("run", "--trace", "here.json", "--", "sh", "-c", f"cd / && {TRACEE} everything", cwd=self.folder)
        self.assertEqual(result.returncode, 0, result.stderr)
        Trace(self.folder / "here.json")

    def test_a_place_where_none_can_be_made(self):
        result = self.run_traced("everything", file=self.folder / "missing" / "trace.json")
        self.assertEqual((result.returncode, result.stdout), (125, ""))
        self.assertIn("cannot be made: No such file", result.stderr)
        # Without the command, the runtime itself says so.
        env = environment(SAMPAN_TRACE=str(self.folder / "missing" / "trace.json"), LD_LIBRARY_PATH=str(SAMPAN.parent.parent / "lib64"))
        alone = subprocess.run([TRACEE, "everything"], env=env, capture_output=True, text=True, check=False)
        self.assertEqual(alone.returncode, 90)
        self.assertIn("507033", alone.stderr)
        self.assertIn("cannot be made: No such file", alone.stderr)

    def check_cut(self, result, file, named=None):
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertTrue(result.stdout.splitlines()[-1].startswith("copied"))
        warnings = [line for line in result.stderr.splitlines() if "ends here" in line]
        self.assertEqual(len(warnings), 1, result.stderr)
        self.assertIn(str(named or file), warnings[0])
        json.loads(text_of(file))
        trace = Trace(file)
        self.assertEqual(trace.state, "cut")
        self.assertGreater(len(trace.tasks), 0)

    def test_a_limit_on_the_size_of_files(self):
        for name, limit in (("trace.json", 3 << 20), ("trace.json.gz", 100 << 10)):
            with self.subTest(name):
                file = self.folder / name
                result = subprocess.run(
                    [SAMPAN, "run", "--trace", file, "--", TRACEE, "limited", str(limit), "50000"],
                    env=environment(), capture_output=True, text=True, check=False, timeout=120,
                )
                self.check_cut(result, file)
                self.assertLessEqual(file.stat().st_size, limit)

    def test_a_full_disk(self):  # process-3
        mount = self.folder / "disk"
        mount.mkdir()
        unshare = shutil.which("unshare")
        probe = unshare and subprocess.run(
            [unshare, "-rm", "mount", "-t", "tmpfs", "tmpfs", mount], capture_output=True, check=False
        )
        if not probe or probe.returncode != 0:
            self.skipTest("no file system of its own can be mounted here")

        def on_disk(script):
            return subprocess.run(
                [unshare, "-rm", "sh", "-c", f"mount -t tmpfs -o size=1M tmpfs {mount} && {script}"],
                env=environment(), capture_output=True, text=True, check=False, timeout=120,
            )

        traced = f"{SAMPAN} run --trace {mount}/trace.json -- {TRACEE} many 50000"
        result = on_disk(f"{traced}; code=$?; cp {mount}/trace.json {self.file}; exit $code")
        self.assertIn("No space left", result.stderr)
        self.check_cut(result, self.file, mount / "trace.json")
        # One that is full from the beginning.
        result = on_disk(f"head -c 1M /dev/zero > {mount}/much; {traced} && test ! -e {mount}/trace.json")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn("goes on without it", result.stderr)


class AmountTest(TraceTest):
    def test_many_events_without_loss(self):
        # By hand with TRACE_TEST_COPIES=2500000: ten million events.
        copies = int(os.environ.get("TRACE_TEST_COPIES", "30000"))
        file = self.folder / "trace.json.gz"
        result = sampan("run", "--trace", file, "--summary", "--", TRACEE, "many", copies)
        self.assertEqual(result.returncode, 0, result.stderr)
        events = tasks = calls = 0
        with gzip.open(file, "rt") as lines:
            for line in lines:
                if line.startswith(",{"):
                    events += 1
                    tasks += '"name":"MEMCPY_ASYNC","ph":"X"' in line and '"submitted"' in line
                    calls += '"name":"AscendCL@aclrtMemcpyAsync"' in line
        queued = (copies + 999) // 1000
        self.assertEqual((tasks, calls), (copies + queued, copies + queued))
        self.assertGreater(events, 4 * copies)
        self.assertIn("host to device", result.stderr)
        if copies <= 100000:
            self.assertEqual(Trace(file).bytes_by_operation(), copied(result))


if __name__ == "__main__":
    unittest.main()
