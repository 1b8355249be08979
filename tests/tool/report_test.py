"""sampan report: what it reads, what it refuses, and where it writes."""

import gzip
import json
import os
import re
import resource
import shutil
import signal
import subprocess
import time
import unittest

import trace_file
from tool import OPTIMISED, PROGRAMS, SAMPAN, Terminal, environment, sampan
from trace_file import RecordedCase, model_of


class ReportCase(RecordedCase):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.lines = cls.original.read_text().splitlines(keepends=True)

    def report(self, trace, *words):
        page = self.folder / "page.html"
        page.unlink(missing_ok=True)
        return sampan("report", trace, "-o", page, *words), page

    def written(self, name, contents):
        path = self.folder / name
        path.write_bytes(contents if isinstance(contents, bytes) else contents.encode())
        return path


class ReadingTest(ReportCase):
    def test_the_page_holds_every_slice_and_copy(self):
        trace = trace_file.events(self.original)
        result, page = self.report(self.original)
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        self.assertRegex(result.stdout, rf"^{re.escape(str(page))}: [\d.]+ KiB, ")
        model = model_of(page)
        self.assertEqual(len(model["items"]["track"]), len(trace_file.slices(trace)))
        self.assertEqual(model["groups"], [])
        self.assertEqual(model["notes"], [])
        self.assertEqual(sum(dot["count"] for dot in model["rates"]),
                         sum("bandwidth(GB/s)" in copy["args"] for copy in trace_file.copies(trace)))
        # Every task is led to by its call.
        self.assertEqual(len(model["flows"]) // 2, sum(event["ph"] == "s" for event in trace))

    def test_compressed_traces(self):
        expected = model_of(self.report(self.original)[1])
        text = "".join(self.lines).encode()
        members = b"".join(gzip.compress(text[at : at + 5000]) for at in range(0, len(text), 5000))
        for name, contents in (("one.json.gz", gzip.compress(text)), ("many.json.gz", members), ("misnamed.json", members)):
            result, page = self.report(self.written(name, contents))
            self.assertEqual((result.returncode, result.stderr), (0, ""), name)
            self.assertEqual({**model_of(page), "file": "original.json", "command": expected["command"]}, expected)

    def test_a_trace_that_the_runtime_compressed(self):
        path = self.folder / "recorded.json.gz"
        trace_file.record(path)
        result, page = self.report(path)
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        self.assertEqual(len(model_of(page)["items"]["track"]), len(trace_file.slices(trace_file.events(path))))

    def test_traces_that_break_off_are_shown_with_a_note(self):
        text = "".join(self.lines).encode()
        shown = len(model_of(self.report(self.original)[1])["items"]["track"])
        for name, contents, said in [
            ("no_bracket.json", "".join(self.lines[:-1]), "The closing bracket is missing"),
            ("cut_line.json", "".join(self.lines[:-1])[:-20], f"Line {len(self.lines) - 1} breaks off and is left out."),
            ("cut.json.gz", gzip.compress(text)[:-200], "The compressed file breaks off"),
            ("cut_member.json.gz", gzip.compress(text[:-5000]) + gzip.compress(text[-5000:])[:300], "The compressed file breaks off"),
            ("running.json", text.replace(b'"state":"ended"', b'"state":"running"'), "did not end regularly"),
            ("full.json", text.replace(b'"state":"ended"', b'"state":"cut"'), "could not be written to its end"),
        ]:
            with self.subTest(name):
                result, page = self.report(self.written(name, contents))
                self.assertEqual(result.returncode, 0, result.stderr)
                self.assertIn(said, result.stderr)
                model = model_of(page)
                self.assertIn(said, " ".join(model["notes"]))
                self.assertIn(len(model["items"]["track"]), range(1, shown + 1))

    def test_what_cannot_be_read_is_named_with_its_line(self):
        lines = self.lines

        def changed(number, line):
            return "".join(lines[: number - 1]) + line + "".join(lines[number:])

        text = "".join(lines).encode()
        damaged = bytearray(gzip.compress(text))
        damaged[-8] ^= 0xFF  # the checksum: the text before it is whole
        event = '"pid":1,"tid":1'
        for name, contents, said in [
            ("empty.json", "", "empty.json is empty"),
            ("blank.json", "\n\n", "blank.json is empty"),
            ("bracket.json", "[\n", "bracket.json ends before its first event"),
            ("no_event.json", "[\n]\n", ":2: the trace has no event"),
            ("no_trace.json", "{}", ":1: a trace begins with '['"),
            ("other.json", '[\n{"name":"x","ph":"M","pid":1,"tid":1}\n]\n', ':2: the first event is not "sampan_trace"'),
            ("later.json", text.replace(b'"format":1', b'"format":2'), ":2: the trace has format 2"),
            ("not_json.json", changed(7, ",{nonsense\n"), ":7: this is not JSON"),
            ("no_comma.json", changed(7, "{}\n"), ":7: the line does not begin with a comma"),
            ("number.json", changed(7, ",7\n"), ":7: this is not an event"),
            ("no_name.json", changed(7, f',{{"ph":"X",{event}}}\n'), ':7: the event has no "name"'),
            ("phase.json", changed(7, f',{{"name":"x","ph":"Q",{event}}}\n'), ":7: \"ph\" is 'Q'"),
            ("no_time.json", changed(7, f',{{"name":"x","ph":"X",{event}}}\n'), ':7: the event has no "ts"'),
            ("time.json", changed(7, f',{{"name":"x","ph":"X","ts":-1,"dur":1,{event}}}\n'), ':7: "ts" is not a number of microseconds'),
            ("no_length.json", changed(7, f',{{"name":"x","ph":"X","ts":1,{event}}}\n'), ':7: the event has no "dur"'),
            ("process.json", changed(7, ',{"name":"x","ph":"M","pid":"1","tid":1}\n'), ':7: "pid" is not a whole number'),
            ("arguments.json", changed(7, f',{{"name":"x","ph":"i","ts":1,{event},"args":[]}}\n'), ':7: "args" is not an object'),
            ("argument.json", changed(7, f',{{"name":"x","ph":"X","ts":1,"dur":1,{event},"args":{{"Stream Id":"one"}}}}\n'),
             ':7: the argument "Stream Id" is not a whole number'),
            ("behind.json", text + b",{}\n", f":{len(lines) + 1}: there is something behind the closing bracket"),
            ("long.json", "[\n" + "x" * 3_000_000, ": line 2 is longer than any of a trace"),
            ("damaged.json.gz", bytes(damaged), ": damaged behind line "),
        ]:
            with self.subTest(name):
                path = self.written(name, contents)
                result, page = self.report(path)
                self.assertEqual((result.returncode, result.stdout), (4, ""))
                self.assertTrue(result.stderr.startswith(f"sampan: {path}"), result.stderr)
                self.assertIn(said, result.stderr)
                self.assertEqual(result.stderr.count("\n"), 1)
                self.assertFalse(page.exists())

    def test_files_that_cannot_be_opened(self):
        for path, said in [(self.folder / "nowhere.json", "cannot be opened: No such file or directory"),
                           (self.folder, "is a folder")]:
            result, _ = self.report(path)
            self.assertEqual(result.returncode, 4)
            self.assertIn(f"{path} {said}", result.stderr)

    def test_kernels_of_copies_are_counted_in_multiprocessor_milliseconds(self):
        """Two kernels of 2 and 132 multiprocessors for 0.4 ms, one whose time is unknown, and a copy by an engine."""
        pattern = ',{"name":"MEMCPY_ASYNC","ph":"X","pid":%d,"tid":3,"ts":%d.500,"dur":%d.000,"args":{"Stream Id":3,"Task Id":%d,' \
                  '"connection_id":%d,"Task Type":"MEMCPY_ASYNC","submitted":%d.250,"executed by":"driver","size(B)":4096,%s' \
                  '"operation":"host to device","form":"batch","path":"%s","reason":"short"%s}}\n'
        process = json.loads(self.lines[1])["pid"] + 1
        start = 10**9
        rate = '"bandwidth(GB/s)":0.010,'
        cases = [(400, rate, "kernel", ',"multiprocessors":2'), (400, rate, "kernel", ',"multiprocessors":132'),
                 (0, "", "kernel", ',"multiprocessors":3'), (400, rate, "batch", "")]
        tasks = [pattern % (process, start + 1000 * i, duration, i + 1, i + 1, start + 1000 * i, bandwidth, path, kernel)
                 for i, (duration, bandwidth, path, kernel) in enumerate(cases)]
        result, page = self.report(self.written("kernels.json", "".join(self.lines[:2]) + "".join(tasks) + "]\n"))
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        lines = model_of(page)["summary"]["lines"]
        self.assertIn("kernels of 2 copies took at most 53.6 multiprocessor-milliseconds of GPUs", [line.strip() for line in lines])

    def test_long_traces_are_shown_in_groups_that_count_everything(self):
        """More slices than a page shows one by one: recorded lines again and again, each a little later."""
        row = 3000003
        pattern = ',{"name":"MEMCPY_ASYNC","ph":"X","pid":%d,"tid":%d,"ts":%d.500,"dur":0.400,"args":{"Stream Id":3,"Task Id":%d,' \
                  '"connection_id":%d,"Task Type":"MEMCPY_ASYNC","submitted":%d.250,"size(B)":4096,"bandwidth(GB/s)":10.24,' \
                  '"operation":"host to device","form":"linear","path":"engine"}}\n'
        process = json.loads(self.lines[1])["pid"] + 1
        start = 10**9
        many = 200_000
        path = self.folder / "long.json.gz"
        with gzip.open(path, "wt", compresslevel=1) as file:
            file.writelines(self.lines[:2])
            for i in range(many):
                file.write(pattern % (process, row, start + i, i, i + 1, start + i))
            file.write("]\n")
        result, page = self.report(path)
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        model = model_of(page)
        self.assertIn(f"The trace has {many} slices.", model["notes"][0])
        self.assertLess(len(model["items"]["track"]), many)
        grouped = sum(group["count"] for group in model["groups"])
        self.assertEqual(len(model["items"]["track"]) - len(model["groups"]) + grouped, many)
        self.assertEqual({group["bytes"] for group in model["groups"] if group["count"] == 2}, {8192})
        self.assertEqual([dot["count"] for dot in model["rates"]], [many])
        self.assertEqual(dict(model["facts"])["Copies"], many)
        self.assertEqual(model["tracks"][0]["slices"], many)


    @unittest.skipUnless(OPTIMISED, "its time is that of an optimised build")
    def test_half_a_million_copies_take_little_time(self):
        copies, most_s = 500_000, 20
        path = self.folder / "half_a_million.json.gz"
        result = sampan("run", "--trace", path, "--", PROGRAMS / "tool_tracee", "many", copies)
        self.assertEqual(result.returncode, 0, result.stderr)
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        result, page = self.report(path)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        self.assertLess(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, most_s, "CPU seconds")
        queued = copies // 1000  # the program queues some to wait for them
        self.assertEqual(dict(model_of(page)["facts"])["Copies"], copies + queued)


class WritingTest(ReportCase):
    def test_the_page_lies_beside_the_trace(self):
        for name, page in (("a.json", "a.html"), ("b.json.gz", "b.html"), ("c.trace", "c.html")):
            trace = self.folder / name
            shutil.copy(self.original, trace)
            result = sampan("report", trace)
            self.assertEqual((result.returncode, result.stderr), (0, ""))
            self.assertTrue((self.folder / page).read_text().startswith("<!doctype html>"))

    def test_bad_arguments(self):
        for words, said in [([], "TRACE is missing"), ([self.original, "--from", "soon"], "--from 'soon' is not a time"), ([self.original, "--to", "3"], "--to '3' is not a time"),
                            ([self.original, "--from", "2s", "--to", "1s"], "--from 2s is not before --to 1s"),
                            ([self.original, "--output"], "--output"), ([self.original, "--fast"], "--fast")]:
            result = sampan("report", *words)
            self.assertEqual((result.returncode, result.stdout), (2, ""))
            self.assertIn(said, result.stderr)

    def test_pages_that_cannot_be_written(self):
        for path, said in [("/proc/page.html", "cannot be written"), (self.folder, "Is a directory"),
                           (self.folder / "none" / "page.html", "No such file or directory")]:
            result = sampan("report", self.original, "-o", path)
            self.assertEqual((result.returncode, result.stdout), (3, ""))
            self.assertIn(said, result.stderr)
        with open("/dev/full", "w", encoding="ascii") as full:
            self.assertEqual(sampan("report", self.original, stdout=full).returncode, 3)

    def test_a_range_counts_only_what_lies_in_it(self):
        trace = trace_file.events(self.original)
        begin = min(trace_file.nanoseconds(event["ts"]) for event in trace if "ts" in event)
        starts = sorted(trace_file.nanoseconds(event["ts"]) - begin for event in trace_file.slices(trace))
        first, last = starts[len(starts) // 4], starts[len(starts) // 2]
        inside = [event for event in trace_file.slices(trace) if trace_file.nanoseconds(event["ts"]) - begin <= last
                  and trace_file.nanoseconds(event["ts"]) + trace_file.nanoseconds(event.get("dur", 0)) - begin >= first]
        result, page = self.report(self.original, "--from", f"{first}ns", "--to", f"{last}ns")
        self.assertEqual(result.returncode, 0, result.stderr)
        model = model_of(page)
        self.assertEqual(sum(track["slices"] for track in model["tracks"]), len(inside))
        self.assertEqual(dict(model["facts"])["Copies"], len(trace_file.copies(inside)))

    def test_a_progress_line_on_a_terminal(self):
        long = self.folder / "long.json"
        long.write_text("".join(self.lines[:2]) + self.lines[6] * 20_000 + "]\n")
        terminal = Terminal("report", long, "-o", self.folder / "page.html")
        self.assertEqual(os.waitstatus_to_exitcode(terminal.end()), 0)
        self.assertRegex(terminal.shown, r"\[[#.]+\] \d+/100 reading long\.json")

    def test_a_full_disk_leaves_nothing_behind(self):
        disk = self.folder / "disk"
        disk.mkdir()
        mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=16k", "tmpfs", disk], capture_output=True, text=True, check=False)
        if mounted.returncode != 0:
            self.skipTest(f"a small file system cannot be mounted: {mounted.stderr.strip()}")
        try:
            result = sampan("report", self.original, "-o", disk / "page.html")
            self.assertEqual(result.returncode, 3)
            self.assertIn("page.html cannot be written: No space left on device", result.stderr)
            self.assertEqual(list(disk.iterdir()), [])
        finally:
            subprocess.run(["umount", disk], check=True)

    def test_ctrl_c_in_the_middle_leaves_nothing_behind(self):
        folder = self.folder / "interrupted"
        folder.mkdir()
        pipe = folder / "trace.json"
        os.mkfifo(pipe)  # a trace that never ends
        command = subprocess.Popen([SAMPAN, "report", pipe], env=environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        line = self.lines[6].encode()
        with open(pipe, "wb", buffering=0) as writer:
            writer.write("".join(self.lines[:6]).encode())
            for _ in range(200):
                writer.write(line)
            self.assertEqual(len(list(folder.iterdir())), 2)  # the pipe, and the page to be
            command.send_signal(signal.SIGINT)
            end = time.monotonic() + 30
            try:
                while command.poll() is None and time.monotonic() < end:
                    writer.write(line * 1000)
            except BrokenPipeError:
                pass
        output, errors = command.communicate(timeout=30)
        self.assertEqual((command.returncode, output, errors), (-signal.SIGINT, b"", b""))
        self.assertEqual(list(folder.iterdir()), [pipe])


if __name__ == "__main__":
    unittest.main()
