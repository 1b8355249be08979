"""However a program ends, its summary and what it left are told: by itself, or by the command that started it (process-9)."""

import json
import os
import pathlib
import signal
import subprocess
import tempfile
import time
import unittest

from summary_test import rows
from tool import PROGRAMS, SAMPAN, SANITIZED, environment, sampan

PROGRAM = PROGRAMS / "tool_ending"
STATUS = 7
# How the program ends, and how 'sampan run' has to end then. The system call of its own is not among them.
ENDINGS = {
    "exit": STATUS, "_exit": STATUS, "_Exit": STATUS, "quick_exit": STATUS, "handler": STATUS, "abort": -signal.SIGABRT, "fault": -signal.SIGSEGV,
    **{f"signal {int(number)}": -number for number in (signal.SIGHUP, signal.SIGINT, signal.SIGQUIT, signal.SIGTERM, signal.SIGFPE, signal.SIGUSR1, signal.SIGPIPE, signal.SIGALRM)},
}


class EndingTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def environment(self, **more):
        return environment(TMPDIR=str(self.folder), ASCEND_GLOBAL_LOG_LEVEL="4", **more)

    def wait_for_kept(self, text):
        """Until a file of the command's folder has the text."""
        give_up = time.monotonic() + 60
        while not any(text in file.read_bytes() for file in self.folder.glob("sampan-run-*/*")):
            self.assertLess(time.monotonic(), give_up, "nothing is kept")
            time.sleep(0.01)

    def nothing_is_left(self):
        self.assertEqual(os.listdir(self.folder), [])


class SummaryTest(EndingTest):
    def check_summary(self, text, copies=5, times=1):
        self.assertEqual(text.count("Sampan summary: "), times, text)
        table = rows(text[text.index("Sampan summary: "):])
        counted = sum(int(row[0]) for (operation, _), row in table.items() if operation == "host to device")
        self.assertEqual(counted, copies, text)

    @unittest.skipIf(SANITIZED, "the sanitizers take _exit and the signals of crashes")
    def test_the_program_tells_it_at_each_end(self):
        for how, status in ENDINGS.items():
            with self.subTest(how):
                result = sampan("run", "--summary", "--", PROGRAM, *how.split(), env=self.environment())
                self.assertEqual(result.returncode, status, result.stderr)
                self.check_summary(result.stderr)
                self.assertNotIn("could not tell", result.stderr)
                self.nothing_is_left()

    @unittest.skipIf(SANITIZED, "the sanitizers take _exit and the signals of crashes")
    def test_without_the_command(self):
        for how in ("_exit", "abort", "fault", "signal 1"):
            with self.subTest(how):
                result = subprocess.run([PROGRAM, *how.split()], capture_output=True, text=True, timeout=60, check=False,
                                        env=self.environment(SAMPAN_SUMMARY="1", LD_LIBRARY_PATH=str(SAMPAN.parents[1] / "lib64")))
                self.assertEqual(result.returncode, ENDINGS[how], result.stderr)
                self.check_summary(result.stderr)

    def test_a_killed_program_has_one_from_the_command(self):
        for number in (signal.SIGKILL, signal.SIGSYS):
            with self.subTest(number.name):
                running = subprocess.Popen([SAMPAN, "run", "--summary", "--", PROGRAM, "wait"], env=self.environment(),
                                           stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
                self.assertEqual(running.stdout.readline(), "ready\n")
                self.wait_for_kept(b"host to device")
                (kept,) = self.folder.glob("sampan-run-*/*")
                process = int(kept.name.split(".")[0])
                os.kill(process, number)
                _, text = running.communicate(timeout=60)
                self.assertEqual(running.returncode, -number, text)
                self.assertIn(f"tool_ending (process {process}) could not tell its summary at its end", text)
                self.check_summary(text)
                self.nothing_is_left()

    def test_a_system_call_of_the_programs_own_ends_it(self):
        result = sampan("run", "--summary", "--", PROGRAM, "system", env=self.environment())
        self.assertEqual(result.returncode, STATUS)
        self.assertLessEqual(result.stderr.count("Sampan summary: "), 1)  # kept only if the program lasted for 50 ms
        self.nothing_is_left()

    def test_what_an_executed_program_left_behind(self):
        running = subprocess.Popen([SAMPAN, "run", "--summary", "--", PROGRAM, "again"], env=self.environment(), stdin=subprocess.PIPE,
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.assertEqual(running.stdout.readline(), "ready\n")
        self.wait_for_kept(b"host to device")
        _, text = running.communicate("\n", timeout=60)
        self.assertEqual(running.returncode, STATUS, text)
        self.assertEqual(text.count("could not tell"), 1, text)
        self.check_summary(text, times=2)

    @unittest.skipIf(SANITIZED, "a forked child of a sanitized program has the sanitizer's own end")
    def test_forked_children_tell_nothing(self):
        result = sampan("run", "--summary", "--", PROGRAM, "children", env=self.environment())
        self.assertEqual(result.returncode, STATUS, result.stderr)
        self.check_summary(result.stderr)

    def test_handlers_can_be_turned_off(self):
        result = sampan("run", "--summary", "--", PROGRAM, "exit", env=self.environment(SAMPAN_SIGNAL_REPORT="0"))
        self.check_summary(result.stderr)

    def test_a_trace_is_complete_too(self):
        if SANITIZED:
            self.skipTest("the sanitizers take _exit")
        trace = self.folder / "trace.json"
        result = sampan("run", "--summary", "--trace", trace, "--", PROGRAM, "_exit", env=self.environment())
        self.check_summary(result.stderr)
        events = json.loads(trace.read_text())
        self.assertEqual(events[0]["args"]["state"], "stopped")
        self.assertEqual(sum(event["name"] == "AscendCL@aclrtMemcpyAsync" for event in events), 5)


@unittest.skipIf(SANITIZED, "the sanitizers watch the pages and signals that the checker takes")
class LeakTest(EndingTest):
    def findings(self, *words):
        report = self.folder / "report.json"
        result = sampan("check", "--json", report, "--", PROGRAM, *words, env=self.environment())
        found = json.loads(report.read_text())["findings"]
        report.unlink()
        self.nothing_is_left()
        return result, {each["buffer"]["call"] if each["buffer"] else "aclrtCreateStream": each["count"] for each in found if each["kind"] == "leak"}

    def test_leaks_at_each_end(self):
        for how, status in {**ENDINGS, "system": STATUS, "signal 9": -signal.SIGKILL}.items():
            with self.subTest(how):
                result, leaks = self.findings(*how.split())
                self.assertEqual(result.returncode, status, result.stderr)
                self.assertEqual(leaks, {"aclrtMallocHost": 1, "aclrtMalloc": 3, "aclrtCreateStream": 1}, result.stderr)

    def test_what_a_reset_has_ended_is_no_leak(self):
        result, leaks = self.findings("reset")
        self.assertEqual(leaks, {"aclrtMallocHost": 1}, result.stderr)

    def test_they_can_be_left_out(self):
        result = sampan("check", "--leaks=no", "--", PROGRAM, "_exit", env=self.environment())
        self.assertEqual(result.stderr.splitlines()[-1], "0 errors, 0 warnings")

    def test_the_report_says_how_it_knows(self):
        self.assertRegex(self.findings("_exit")[0].stderr, r"tool_ending \(process \d+\) ended by _exit or a signal; what it held then counts as left")


del EndingTest

if __name__ == "__main__":
    unittest.main()
