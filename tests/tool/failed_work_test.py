"""Failed and dropped tasks: shown as such in trace, summary, report and replay, counted apart, and in no rate."""

import pathlib
import re
import tempfile
import unittest

import trace_file
from browser import CHROMIUM, Browser
from tool import PROGRAMS, sampan
from trace_check import Trace

TRACEE = PROGRAMS / "tool_tracee"
FAILED = 50


class FailedWorkTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.folder = pathlib.Path(folder.name)
        cls.traces, cls.summaries = {}, {}
        for what, words in (("failing", ["failing", FAILED]), ("aborted", ["aborted"])):
            cls.traces[what] = cls.folder / f"{what}.json"
            ran = sampan("run", "--trace", cls.traces[what], "--summary", "--", TRACEE, *words)
            assert ran.returncode == 0, ran
            cls.summaries[what] = ran.stderr[ran.stderr.index("Sampan summary"):]

    def report(self, what):
        page = self.folder / f"{what}.html"
        result = sampan("report", self.traces[what], "-o", page)
        self.assertEqual(result.returncode, 0, result.stderr)
        return page

    def test_a_failed_copy_has_a_status_and_no_rate(self):
        trace = Trace(self.traces["failing"])
        failed = [task for task in trace.tasks if task["args"].get("status") == 507013]
        self.assertEqual(len(failed), FAILED)
        for task in failed:
            self.assertNotIn("bandwidth(GB/s)", task["args"])
            self.assertEqual(task["cname"], "terrible")  # red in viewers of Chrome traces
        for task in trace.tasks:
            self.assertEqual("cname" in task, "status" in task["args"])

    def test_the_summary_counts_them_apart(self):
        text = self.summaries["failing"]
        self.assertIn(f"  failed: {FAILED} tasks, among them {FAILED} copies of together {FAILED} MiB ({FAILED} with 507013); "
                      "in no rate\n", text)
        self.assertNotIn("host to device", text)
        self.assertRegex(text, r"device to host +engine +1 +8 KiB ")
        text = self.summaries["aborted"]
        self.assertRegex(text, r"  dropped: 1[01] tasks, among them 10 copies of together 80 KiB; in no rate\n")
        self.assertIn("nothing was copied", text)
        self.assertNotIn("failed: ", text)

    def test_the_report_counts_them_apart(self):
        model = trace_file.model_of(self.report("failing"))
        facts = dict(model["facts"])
        self.assertEqual((facts["Copies"], facts["Moved"], facts["Failed"]), (1, "8 KiB", FAILED))
        self.assertEqual(sum(dot["count"] for dot in model["rates"]), 1)
        tints = [model["tints"][tint] for tint in model["items"]["tint"]]
        device = [model["tracks"][track]["device"] for track in model["items"]["track"]]
        self.assertEqual(sum(tint == "failed" and of_device for tint, of_device in zip(tints, device)), FAILED)
        calls = [model["tracks"][track]["area"].startswith("CANN") for track in model["items"]["track"]]
        self.assertEqual(sum(tint == "failed" and of_host for tint, of_host in zip(tints, calls)), 1)  # that reports it
        self.assertEqual(sum(model["items"]["copy"]), 1)
        self.assertTrue(any(line.startswith(f"failed: {FAILED} tasks") for line in model["summary"]["lines"]))
        model = trace_file.model_of(self.report("aborted"))
        facts = dict(model["facts"])
        self.assertEqual(facts["Copies"], 0)
        self.assertGreaterEqual(facts["Dropped"], 10)
        self.assertNotIn("Failed", facts)
        self.assertIn("dropped", {model["tints"][tint] for tint in model["items"]["tint"]})

    def test_a_group_with_a_failure_in_it_is_shown_as_failed(self):
        """More slices than a page shows one by one; one in 1,000 fails."""
        lines = self.traces["failing"].read_text().splitlines(keepends=True)
        process = Trace(self.traces["failing"]).calls_area + 1
        many, every = 170_000, 1000
        trace = self.folder / "many.json"
        with open(trace, "w", encoding="ascii") as file:
            file.writelines(lines[:2])
            for i in range(many):
                outcome = '"status":507013' if i % every == 0 else '"bandwidth(GB/s)":10.24'
                file.write(',{"name":"MEMCPY_ASYNC","ph":"X","pid":%d,"tid":3,"ts":%d.500,"dur":0.400,"args":{"Stream Id":3,"Task Id":%d,'
                           '"connection_id":%d,"Task Type":"MEMCPY_ASYNC","submitted":%d.250,"size(B)":4096,%s,'
                           '"operation":"host to device","form":"linear","path":"engine"}}\n'
                           % (process, 10**9 + i, i + 1, i + 1, 10**9 + i, outcome))
            file.write("]\n")
        page = self.folder / "many.html"
        self.assertEqual(sampan("report", trace, "-o", page).returncode, 0)
        model = trace_file.model_of(page)
        self.assertEqual(dict(model["facts"])["Copies"], many - many // every)
        self.assertEqual(sum(dot["count"] for dot in model["rates"]), many - many // every)
        failed = model["tints"].index("failed")
        in_groups = {group["item"]: group["failed"] for group in model["groups"] if group["failed"] > 0}
        shown = {item for item, tint in enumerate(model["items"]["tint"]) if tint == failed}
        self.assertGreater(len(in_groups), 0)
        self.assertLessEqual(in_groups.keys(), shown)
        self.assertEqual(sum(in_groups.get(item, 1) for item in shown), many // every)

    def test_a_replay_leaves_them_out_and_says_so(self):
        result = sampan("replay", self.traces["failing"], "--speed", "asap")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn(f"left out: {FAILED} tasks that failed or were dropped", result.stderr)
        recorded, replayed = result.stdout.split("\nReplayed here")
        self.assertIn(f"failed: {FAILED} tasks", recorded)
        self.assertNotRegex(recorded, r"host to device .* GB/s")
        self.assertNotIn("failed: ", replayed)

    @unittest.skipIf(CHROMIUM is None, "there is no Chromium")
    def test_the_page_draws_them_in_red(self):
        with Browser(1366, 768) as browser:
            browser.open(self.report("failing"))
            # What a picture of the page has: pixels of that red in the timeline, and the figure at the top.
            red = browser.evaluate("""(() => {
                const canvas = document.getElementById('canvas');
                const {data} = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height);
                const wanted = getComputedStyle(document.documentElement).getPropertyValue('--failed').match(/[0-9a-f]{2}/gi).map((part) => parseInt(part, 16));
                let count = 0;
                for (let at = 0; at < data.length; at += 4) count += wanted.every((part, i) => Math.abs(part - data[at + i]) < 3);
                return count; })()""")
            self.assertGreater(red, 10)
            colour = browser.evaluate("getComputedStyle(document.querySelector('#facts [data-fact=Failed] dd')).color")
            self.assertEqual(colour, "rgb(196, 18, 47)")
            self.assertRegex(browser.text(".plain.failed"), rf"(?i)failed: {FAILED} tasks")
            browser.evaluate("document.getElementById('query').focus()")
            browser.type("failed")
            browser.frame()
            # With the call that reports it, and what engines did of it.
            self.assertIn(int(browser.text("#found").split()[0]), range(FAILED + 1, 2 * FAILED + 2))
            browser.press("Enter")
            browser.frame()
            chosen = browser.text("#panel-selection")
            self.assertIn("failed with 507013", chosen)
            self.assertNotIn("B/s", re.sub(r"bandwidth.*", "", chosen))


if __name__ == "__main__":
    unittest.main()
