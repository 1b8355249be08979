"""sampan report and sampan replay on traces that were made to harm them, and what they leave behind when killed."""

import json
import os
import pathlib
import resource
import signal
import subprocess
import time
import unittest

import trace_file
from tool import SAMPAN, SANITIZED, environment, sampan
from trace_file import RecordedCase, model_of

HEAD = {"name": "sampan_trace", "ph": "M", "pid": 0, "tid": 0,
        "args": {"format": 1, "program": "p", "version": "1", "backend": "emulated", "profile": "ascend910b,cann8", "state": "whole"}}
# Reports once became slow above 320,000 rows. The sanitizers look at memory, which needs fewer.
ROWS = 40_000 if SANITIZED else 340_000
GROUPED_ROWS = max(ROWS, 170_000)  # a page shows up to 160,000 slices one by one
FAR = 9_000_000_000_000_000 - 2  # microseconds: 285 years


def copy(**changes):
    """A copy of 64 bytes on a stream, as the runtime writes it, with other arguments."""
    arguments = {"Task Type": "MEMCPY_ASYNC", "Stream Id": 3, "Task Id": 1, "connection_id": 7, "operation": "host to device",
                 "form": "linear", "size(B)": 64, "bandwidth(GB/s)": 1.0, "submitted": 1.0,
                 "dst": {"place": "device", "address": "0x12c000000000", "allocation": 1, "offset": 0},
                 "src": {"place": "pinned", "address": "0x7f0000000000", "allocation": 2, "offset": 0}}
    event = {"name": "MEMCPY_ASYNC", "ph": "X", "pid": 1, "tid": 3, "ts": 2.0, "dur": 1.0}
    arguments.update(changes.pop("args", {}))
    return {**event, **changes, "args": arguments}


class HostileCase(RecordedCase):
    def trace(self, *events):
        path = self.folder / "hostile.json"
        lines = [event if isinstance(event, str) else json.dumps(event) for event in (HEAD, *events)]
        path.write_text("[\n" + "\n,".join(lines) + "\n]\n")
        return path

    def both(self, trace):
        """Both commands end by themselves, with a message if they refuse the trace; answers their results."""
        results = [sampan("report", trace, "-o", self.folder / "page.html"), sampan("replay", trace, "--speed", "asap")]
        for result in results:
            self.assertIn(result.returncode, (0, 1, 4), result.stderr)
            self.assertEqual(result.returncode == 0, "sampan: " not in result.stderr.replace("sampan: left out", ""), result.stderr)
        return results


class ContentTest(HostileCase):
    def test_deep_nesting_is_refused(self):
        for opening, closing in (("[", "]"), ('{"a":', "}")):
            depth = 1_000_000 // (len(opening) + 1)
            nested = opening * depth + "0" + closing * depth
            event = json.dumps(copy(args={"note": 0}))
            for result in self.both(self.trace(event.replace('"note": 0', '"note": ' + nested))):
                self.assertEqual(result.returncode, 4)
                self.assertIn("hostile.json:3: the event is nested deeper than 32 levels", result.stderr)

    def test_brackets_in_texts_are_no_nesting(self):
        result = sampan("report", self.trace(copy(args={"note": '[{"' * 1000})), "-o", self.folder / "page.html")
        self.assertEqual((result.returncode, result.stderr), (0, ""))

    def test_numbers_that_cannot_be(self):
        for name in ("Stream Id", "Task Id", "connection_id", "size(B)", "entries"):
            for number in (-1, -5, -(2**31), -(2**63)):
                results = self.both(self.trace(copy(args={name: number})))
                for result in results:
                    self.assertEqual(result.returncode, 4, (name, number))
                    self.assertIn(f'hostile.json:3: the argument "{name}" is {number}', result.stderr)
        for name in ("Stream Id", "Task Id", "connection_id", "size(B)", "entries", "height", "width", "dst pitch", "src pitch"):
            # 2 GiB is a size that there can be, and a replay would really copy it.
            for number in (2**44 if name == "size(B)" else 2**31, 2**63 - 1, 2**63, 2**64 - 1):
                self.both(self.trace(copy(args={name: number})))
        for place in ({"device": -1}, {"device": 2**31}, {"offset": -1}, {"offset": 2**63 - 1}, {"allocation": -1}, {"bytes": -1}):
            self.both(self.trace(copy(args={"dst": {"place": "device", "address": "0x12c000000000", "allocation": 1, "offset": 0, **place}})))

    def test_times_whose_sum_overflows(self):
        for changes in ({"ts": FAR, "dur": FAR}, {"dur": FAR}, {"ts": 2.0, "dur": 4e15}):
            trace = self.trace(*[copy(**changes, args={"Task Id": number}) for number in range(4)])
            for result in self.both(trace):
                self.assertEqual(result.returncode, 4)
                self.assertRegex(result.stderr, r"hostile\.json:\d+: .*(microseconds|years)")
        for submitted in (-FAR, FAR, 1e300, -1e300):
            self.both(self.trace(copy(args={"submitted": submitted})))

    def test_sizes_whose_sum_overflows(self):
        trace = self.trace(*[copy(args={"Task Id": number, "size(B)": 2**62}) for number in range(5)])
        for result in self.both(trace):
            self.assertEqual(result.returncode, 4)
            self.assertIn("the copies so far have more bytes than 2^62", result.stderr)

    def test_no_control_characters_reach_the_terminal(self):
        bad = "\033]0;owned\007\033[2J\u009b31m\rhidden"
        head = {**HEAD, "args": {**HEAD["args"], "program": bad, "backend": bad, "profile": bad}}
        cases = [
            (json.dumps(head), json.dumps(copy(args={"link": bad}))),
            (json.dumps(HEAD), json.dumps({**copy(), "ph": bad})),
            (json.dumps(HEAD), json.dumps(copy(args={"operation": bad, "form": bad}))),
        ]
        for lines in cases:
            path = self.folder / "terminal.json"
            path.write_text("[\n" + "\n,".join(lines) + "\n]\n")
            for command in (("report", path, "-o", self.folder / "page.html"), ("replay", path, "--speed", "asap")):
                result = sampan(*command)
                shown = result.stdout + result.stderr
                self.assertNotRegex(shown, "[\000-\010\013-\037\177-\237]", command)
        odd = self.folder / "\033[31mred.json"
        self.assertNotIn("\033", sampan("report", odd).stderr)


class AmountTest(HostileCase):
    def test_a_row_for_each_slice(self):
        """Eight times as many rows take about eight times the CPU time; sixty-four times would be quadratic."""
        def cpu_s():
            times = resource.getrusage(resource.RUSAGE_CHILDREN)
            return times.ru_utime + times.ru_stime

        def seconds(count):
            trace = self.folder / "rows.json"
            with open(trace, "w", encoding="ascii") as file:
                file.write("[\n" + json.dumps(HEAD))
                for number in range(count):
                    file.write(f'\n,{{"name":"a","ph":"X","pid":1,"tid":{number},"ts":{number}.0,"dur":1.0,"args":{{}}}}')
                file.write("\n]\n")
            begin = cpu_s()
            result = sampan("report", trace, "-o", self.folder / "rows.html")
            self.assertEqual((result.returncode, result.stderr), (0, ""))
            return cpu_s() - begin
        eighth = min(seconds(ROWS // 8) for _ in range(3))
        self.assertLess(seconds(ROWS), 24 * eighth, "CPU seconds of all rows, and of an eighth of them")
        model = model_of(self.folder / "rows.html")
        self.assertLessEqual(len(model["tracks"]), 4001)
        self.assertEqual(sum(track["slices"] for track in model["tracks"]), ROWS)

    def test_a_name_for_each_slice(self):
        trace = self.folder / "names.json"
        with open(trace, "w", encoding="ascii") as file:
            file.write("[\n" + json.dumps(HEAD))
            for number in range(GROUPED_ROWS):
                file.write(f'\n,{{"name":"n{number}","ph":"X","pid":1,"tid":1,"ts":1.0,"dur":0.0005,"args":{{}}}}')
            file.write("\n]\n")
        result = sampan("report", trace, "-o", self.folder / "names.html")
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        groups = model_of(self.folder / "names.html")["groups"]
        self.assertTrue(groups)
        for group in groups:
            self.assertEqual(sum(group["names"][1::2]), group["count"])


class LeftoverTest(HostileCase):
    rounds, rest_ms = 3, 1500  # a replay at the recorded speed takes some seconds

    def start(self, folder):
        """A replay that has begun to copy; answers it and its child."""
        command = subprocess.Popen([SAMPAN, "replay", self.original], env={**environment(), "TMPDIR": str(folder)},
                                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.addCleanup(command.wait)
        self.addCleanup(command.kill)
        end = time.monotonic() + 60
        children = pathlib.Path(f"/proc/{command.pid}/task/{command.pid}/children")
        while time.monotonic() < end and command.poll() is None:
            for child in children.read_text().split():
                # The runtime's threads are there: it writes its trace.
                if len(os.listdir(f"/proc/{child}/task")) > 1:
                    return command, int(child)
            time.sleep(0.005)
        self.fail("the replay did not begin")

    def test_a_killed_replay_leaves_no_child_and_no_files(self):
        folder = self.folder / "temporary"
        folder.mkdir(exist_ok=True)
        command, child = self.start(folder)
        end = time.monotonic() + 1
        while os.listdir(folder) and time.monotonic() < end:
            time.sleep(0.01)
        self.assertIsNone(command.poll(), "the replay is over already")
        command.kill()
        command.wait()
        end = time.monotonic() + 1
        while time.monotonic() < end:
            try:
                os.kill(child, 0)
                if pathlib.Path(f"/proc/{child}/stat").read_text().rsplit(")", 1)[1].split()[0] == "Z":
                    break
            except (ProcessLookupError, FileNotFoundError):
                break
            time.sleep(0.01)
        else:
            os.kill(child, signal.SIGKILL)
            self.fail("the child went on")
        self.assertEqual(os.listdir(folder), [])

    def test_a_child_that_crashes_leaves_no_files(self):
        folder = self.folder / "crashed"
        folder.mkdir(exist_ok=True)
        command, child = self.start(folder)
        os.kill(child, signal.SIGSEGV)
        command.wait(timeout=60)
        self.assertNotEqual(command.returncode, 0)
        self.assertEqual(os.listdir(folder), [])


if __name__ == "__main__":
    unittest.main()
