"""The observer changes nothing: with and without a trace or a summary, the same program's copies take the same ways."""

import pathlib
import subprocess
import tempfile
import unittest

from tool import BUILD, PROGRAMS, environment
from trace_file import events, tasks


class ObserverTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.trace = pathlib.Path(folder.name) / "trace.json"

    def observe(self, **settings):
        """What the program saw: (case, copies made, whether one was not over on return), in order."""
        ran = subprocess.run(
            [PROGRAMS / "tool_observed"],
            env=environment(LD_LIBRARY_PATH=str(BUILD / "lib64"), **settings),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            timeout=120,
            check=False,
        )
        self.assertEqual(ran.returncode, 0, ran.stderr)
        lines = [line.split() for line in ran.stdout.splitlines() if line.count(" ") == 2]
        return [(case, int(copies), outcome) for case, copies, outcome in lines]

    def test_copies_are_over_on_return_or_not_with_every_observer(self):
        plain = {case: outcome for case, _, outcome in self.observe()}
        self.assertEqual(len(plain), 138)
        self.assertEqual(plain["linear:1:64"], "over")
        self.assertEqual(plain["linear:1:4194304"], "later")
        for settings in (
            {"SAMPAN_TRACE": str(self.trace)},
            {"SAMPAN_SUMMARY": "1"},
            {"SAMPAN_TRACE": str(self.trace), "SAMPAN_SUMMARY": "1"},
        ):
            with self.subTest(settings=settings):
                observed = {case: outcome for case, _, outcome in self.observe(**settings)}
                self.assertEqual(observed, plain)

    def test_the_path_in_the_trace_is_the_one_that_an_untraced_program_sees(self):
        plain = {case: outcome for case, _, outcome in self.observe()}
        traced = self.observe(SAMPAN_TRACE=str(self.trace))
        copies = [task["args"] for task in tasks(events(self.trace)) if "form" in task["args"]]
        copies = [copy for copy in copies if copy["path"] != "blocking"]
        copies.sort(key=lambda copy: copy["Task Id"])
        self.assertEqual(len(copies), sum(count for _, count, _ in traced))
        for case, count, _ in traced:
            form, _, size = case.split(":")
            for copy in copies[:count]:
                with self.subTest(case=case):
                    self.assertEqual(copy["form"], form)
                    self.assertEqual(copy["path"] == "at once", plain[case] == "over", copy)
                    if plain[case] == "over":
                        self.assertEqual(copy["executed by"], "caller")
            del copies[:count]


if __name__ == "__main__":
    unittest.main()
