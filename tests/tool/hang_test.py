"""A program that hangs: the unfinished calls, and what each stream waits for, in the report of a signal, the trace, the summary
and the page. The signal does to the program what it does without the runtime."""

import os
import pathlib
import re
import signal
import subprocess
import tempfile
import time
import unittest

import trace_file
from browser import CHROMIUM, Browser
from tool import PROGRAMS, SAMPAN, environment, sampan
from trace_check import Trace

TRACEE = PROGRAMS / "tool_tracee"
LONG = 0.5  # seconds after which the trace has what is not finished


def wait_until_it_hangs(process):
    """Returns when the threads of the program sleep, and not only for a moment: however busy the machine is, they will."""
    give_up, asleep = time.monotonic() + 60, 0
    while asleep < 10:
        states = []
        for task in pathlib.Path(f"/proc/{process}/task").iterdir():
            name, state = (task / "stat").read_text().rsplit(")", 1)
            if "(sampan-" not in name:
                states.append(state.split()[0])
        asleep = asleep + 1 if states and set(states) == {"S"} else 0
        assert time.monotonic() < give_up, states
        time.sleep(0.02)


class HangTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.file = self.folder / "hang.json"

    def hang(self, how, file=None, **more):
        """Starts the program of five waits, sends the signal to it when it hangs, and answers how it ended."""
        words = ["--trace", file, "--summary"] if file else []
        running = subprocess.Popen([SAMPAN, "run", *words, "--", TRACEE, "hanging"], env=environment(**more),
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        word, process = running.stdout.readline().split()
        self.assertEqual(word, "ready")
        wait_until_it_hangs(process)
        os.kill(int(process), how)
        _, errors = running.communicate(timeout=60)
        self.assertEqual(running.returncode, -how, errors)
        return errors

    def check_report(self, text, name):
        self.assertIn(f"Sampan: {name} while 5 streams have work left:\n", text)
        lines = [line.strip() for line in text.splitlines() if line.startswith("Sampan:   ")]
        self.assertEqual(len(lines), 5, text)
        event, notify, value, function, full = [line.removeprefix("Sampan:   ") for line in lines]
        self.assertRegex(event, r"^stream 1 of device 0 stands at task 1 of 3: a wait for event \d+; "
                                r"task 3 of stream 2 of device 0 records it; that stream stands at task 2$")
        self.assertRegex(notify, r"^stream 2 of device 0 stands at task 2 of 3: a wait for notify \d+; no queued task of this process "
                                 r"records notify \d+: .*aclrtRecordNotify")
        self.assertRegex(value, r"^stream 3 of device 0 stands at task 1 of 1: a wait for the word at 0x[0-9a-f]+ to be at least 0x7, "
                                r"it is 0x0; no queued task of this process writes to 0x")
        self.assertRegex(function, r"^stream 4 of device 0 stands at task 1 of 1: host function .*tool_tracee\+0x[0-9a-f]+\), "
                                   r"which runs on thread \d+ and has to return$")
        self.assertRegex(full, r"^stream 5 of device 0 stands at task 1 of 1792: a wait for notify \d+; .*; its queue is full "
                               r"\(1792 tasks\): calls that submit to it wait for this$")

    def test_each_signal_says_what_streams_wait_for_and_ends_the_program(self):
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGQUIT):
            with self.subTest(number.name):
                self.check_report(self.hang(number), number.name)

    def test_the_report_can_be_turned_off(self):
        self.assertNotIn("Sampan:", self.hang(signal.SIGTERM, SAMPAN_SIGNAL_REPORT="0"))

    def check_trace(self, state, with_reasons):
        trace = Trace(self.file, killed=True, drained=False)
        self.assertEqual(trace.state, state)
        calls = {call["name"]: call for call in trace.calls + trace.waits if call["args"].get("unfinished")}
        self.assertEqual(calls.keys(), {"AscendCL@aclrtSynchronizeStream", "AscendCL@aclrtMemcpyAsync", "Wait@queue full"})
        self.assertEqual(calls["AscendCL@aclrtSynchronizeStream"]["args"]["Stream Id"], 1)
        self.assertEqual(calls["Wait@queue full"]["args"]["Stream Id"], 5)
        tasks = {task["tid"]: task for task in trace.tasks if task["args"].get("unfinished")}
        self.assertEqual({row: task["name"] for row, task in tasks.items()},
                         {1: "EVENT_WAIT", 2: "NOTIFY_WAIT", 3: "VALUE_WAIT", 4: "HOST_FUNC", 5: "NOTIFY_WAIT"})
        self.assertEqual([tasks[row]["args"]["queued behind"] for row in range(1, 6)], [2, 1, 0, 0, 1791])
        for slice_ in [*calls.values(), *tasks.values()]:
            self.assertGreater(slice_["dur"], 0.1e6 if state == "stopped" else LONG * 1e6, slice_)
            self.assertNotIn("bandwidth(GB/s)", slice_["args"])
        self.assertEqual(all("waits for" in task["args"] for task in tasks.values()), with_reasons)
        return tasks

    def test_a_signal_leaves_what_is_unfinished_in_trace_and_summary(self):
        text = self.hang(signal.SIGTERM, self.file)
        self.check_report(text, "SIGTERM")
        tasks = self.check_trace("stopped", with_reasons=True)
        self.assertIn("records notify", tasks[2]["args"]["waits for"])
        summary = text[text.index("Sampan summary"):]
        unfinished = [line.strip() for line in summary.splitlines() if line.startswith("  unfinished: ")]
        self.assertEqual(len(unfinished), 8)
        self.assertRegex(summary, r"unfinished: aclrtSynchronizeStream on thread \d+, which waits for stream 1 of device 0, for ")
        self.assertRegex(summary, r"unfinished: Wait@queue full on thread \d+, which waits for stream 5 of device 0, for ")
        self.assertRegex(summary, r"unfinished: EVENT_WAIT of event \d+, task 1 of stream 1 of device 0, for .*, with 2 tasks behind it: a wait ")
        self.assertRegex(summary, r"the host waited .*: .* [1-9]\S* \S+ for room in full queues")
        # The trace tells the same.
        result = sampan("report", self.file, "-o", self.folder / "page.html")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn("A signal ended the program", result.stderr)
        model = trace_file.model_of(self.folder / "page.html")
        shown = [line for line in model["summary"]["lines"] if line.startswith("unfinished: ")]
        self.assertEqual([re.sub(r"(: a wait|: host).*", "", line) for line in shown],
                         [re.sub(r"(: a wait|: host).*", "", line) for line in unfinished])
        self.assertEqual(dict(model["facts"])["Unfinished"], 8)

    def test_a_program_that_is_killed_leaves_what_is_unfinished_in_its_trace(self):
        for name in ("hang.json", "hang.json.gz"):
            with self.subTest(name):
                self.file = self.folder / name
                running = subprocess.Popen([SAMPAN, "run", "--trace", self.file, "--", TRACEE, "hanging"], env=environment(),
                                           stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
                process = int(running.stdout.readline().split()[1])
                time.sleep(LONG + 0.5)
                give_up = time.monotonic() + 60
                while self.count_unfinished() < 8:
                    self.assertLess(time.monotonic(), give_up, "the trace never has what is unfinished")
                    time.sleep(0.1)
                os.kill(process, signal.SIGKILL)
                running.communicate(timeout=60)
                self.check_trace("running", with_reasons=False)

    def count_unfinished(self):
        """In the trace of a program that still writes it."""
        page = self.folder / "now.html"
        if sampan("report", self.file, "-o", page).returncode != 0:
            return 0  # read in the middle of a write
        return dict(trace_file.model_of(page)["facts"]).get("Unfinished", 0)

    def test_a_call_that_returns_after_all_is_finished_in_the_trace(self):
        result = sampan("run", "--trace", self.file, "--", TRACEE, "slow")
        self.assertEqual(result.returncode, 0, result.stderr)
        trace = Trace(self.file)
        self.assertEqual(trace.state, "ended")
        self.assertFalse(any("unfinished" in each["args"] for each in trace.slices))
        call, = [call for call in trace.calls if call["name"] == "AscendCL@aclrtSynchronizeStream"]
        self.assertGreater(call["dur"], 1.4e6)

    def test_a_replay_leaves_it_out(self):
        self.hang(signal.SIGTERM, self.file)
        result = sampan("replay", self.file, "--speed", "asap")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn("left out: 5 tasks that had not ended", result.stderr)

    def test_a_program_that_only_works_is_ended_without_a_word(self):
        running = subprocess.Popen([SAMPAN, "run", "--", TRACEE, "steady"], env=environment(),
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        process = int(running.stdout.readline().split()[1])
        os.kill(process, signal.SIGTERM)
        self.assertEqual(running.communicate(timeout=60)[1], "")
        self.assertEqual(running.returncode, -signal.SIGTERM)

    @unittest.skipIf(CHROMIUM is None, "there is no Chromium")
    def test_the_page_shows_it(self):
        self.hang(signal.SIGTERM, self.file)
        page = self.folder / "page.html"
        self.assertEqual(sampan("report", self.file, "-o", page).returncode, 0)
        with Browser(1366, 768) as browser:
            browser.open(page)
            self.assertEqual(browser.text("#facts [data-fact=Unfinished] dd"), "8")
            browser.evaluate("document.getElementById('query').focus()")
            browser.type("unfinished")
            browser.frame()
            self.assertEqual(browser.text("#found"), "8 matches")
            browser.evaluate("document.getElementById('query').select()")
            browser.type("unfinished notify_wait stream:2")
            browser.frame()
            browser.press("Enter")
            browser.frame()
            chosen = browser.text("#panel-selection")
            self.assertIn("unfinished when the trace ended", chosen)
            self.assertIn("no queued task of this process records notify", chosen)
            if "HANG_PICTURE" in os.environ:
                browser.screenshot(os.environ["HANG_PICTURE"])


if __name__ == "__main__":
    unittest.main()
