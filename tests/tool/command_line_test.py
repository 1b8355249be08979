"""The sampan command: help, version, bad arguments, outputs that cannot be written."""

import re
import unittest

from tool import Terminal, environment, sampan

COMMANDS = ["run", "env", "info", "bench", "report", "replay", "completion", "man"]


class CommandLineTest(unittest.TestCase):
    def test_version(self):
        result = sampan("--version")
        self.assertEqual(result.returncode, 0)
        self.assertRegex(result.stdout, r"^sampan \d+\.\d+\.\d+\n$")

    def test_help_lists_every_command(self):
        for words in (["--help"], ["-h"], ["help"]):
            result = sampan(*words)
            self.assertEqual((result.returncode, result.stderr), (0, ""))
            for command in COMMANDS:
                self.assertRegex(result.stdout, rf"(?m)^  {command}\s+\w")

    def test_every_command_has_help_with_examples_and_statuses(self):
        for command in COMMANDS:
            result = sampan(command, "--help")
            self.assertEqual((result.returncode, result.stderr), (0, ""), command)
            self.assertEqual(result.stdout, sampan("help", command).stdout)
            self.assertTrue(result.stdout.startswith(f"Usage: sampan {command}"))
            self.assertRegex(result.stdout, rf"Examples:\n  .*sampan {command}")
            self.assertIn("Exit status:\n", result.stdout)
            self.assertLessEqual(max(map(len, result.stdout.splitlines())), 100)

    def test_no_arguments_show_help_on_standard_error(self):
        result = sampan()
        self.assertEqual((result.returncode, result.stdout), (2, ""))
        self.assertIn("Usage: sampan", result.stderr)

    def test_bad_arguments_are_named_with_what_to_do(self):
        for words, status, named in [
            (["fly"], 2, "'fly' is not a command"),
            (["help", "fly"], 2, "'fly' is not a command"),
            (["--fly"], 2, "'--fly' is not a command"),
            (["info", "--fly"], 2, "--fly"),
            (["info", "extra"], 2, "extra"),
            (["info", "--devices"], 2, "--devices"),
            (["bench", "sideways"], 2, "sideways"),
            (["bench", "linear", "2d"], 2, "WHAT: At Most 1"),
            (["bench", "--format", "xml"], 2, "xml"),
            (["bench", "--sizes", "4Q"], 2, "'4Q' is not a number of bytes"),
            (["bench", "--sizes", "0"], 2, "'0' is not a number of bytes"),
            (["bench", "--sizes", "1K,,2K"], 2, "'' is not a number of bytes"),
            (["bench", "--sizes", "99999999999G"], 2, "is not a number of bytes"),
            (["bench", "--time", "soon"], 2, "'soon' is not a number of seconds"),
            (["bench", "--time", "-1"], 2, "-1"),
            (["bench", "--time", "nan"], 2, "'nan' is not a number of seconds"),
            (["completion"], 2, "SHELL is missing"),
            (["completion", "tcsh"], 2, "tcsh"),
            (["run"], 125, "no program to run"),
            (["run", "--"], 125, "no program to run"),
            (["run", "--fly", "--", "true"], 125, "--fly"),
            (["run", "--devices", "0", "--", "true"], 125, "SAMPAN_DEVICES='0' is not valid; accepted: 1 to 64"),
            (["run", "--schedule", "never", "--", "true"], 125, "SAMPAN_SCHEDULE='never'"),
            (["env", "--profile", "ascend1"], 125, "SAMPAN_PROFILE='ascend1'"),
        ]:
            with self.subTest(words=words):
                result = sampan(*words)
                self.assertEqual((result.returncode, result.stdout), (status, ""))
                self.assertIn(named, result.stderr)
                self.assertTrue(result.stderr.startswith("sampan: "))
                self.assertEqual(result.stderr.count("\n"), 1)

    def test_settings_that_the_runtime_refuses(self):
        for name, value in [("SAMPAN_DEVICES", "0"), ("SAMPAN_FLY", "1")]:
            for words in (["info"], ["bench", "linear"]):
                result = sampan(*words, env=environment(**{name: value}))
                self.assertEqual((result.returncode, result.stdout), (1, ""))
                self.assertIn(name, result.stderr)

    def test_full_output_is_an_error(self):
        for words in (["--help"], ["env"], ["man"], ["info", "--json"], ["bench", "desc", "--sizes", "4K", "--time", "0.01"]):
            with open("/dev/full", "w", encoding="ascii") as full:
                result = sampan(*words, stdout=full)
            self.assertEqual(result.returncode, 3, words)
            self.assertIn("standard output could not be written: No space left on device", result.stderr)

    def test_colours_only_on_a_terminal_and_not_with_no_color(self):
        self.assertNotIn("\033[", sampan("info").stdout)
        for variables, coloured in [({}, True), ({"NO_COLOR": "1"}, False), ({"NO_COLOR": ""}, True), ({"TERM": "dumb"}, False)]:
            terminal = Terminal("info", env=environment(**variables))
            self.assertEqual(terminal.end(), 0)
            self.assertEqual(bool(re.search(r"\033\[\d*m", terminal.shown)), coloured, variables)


if __name__ == "__main__":
    unittest.main()
