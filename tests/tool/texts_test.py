"""Manual page and shell completion: made from the same text as the help, and working."""

import re
import shutil
import subprocess
import unittest

from tool import BUILD, SAMPAN, environment, sampan

COMMANDS = ["run", "env", "info", "bench", "completion", "man"]


def options_of(command):
    return set(re.findall(r"(?m)^  (--[a-z-]+)", sampan(command, "--help").stdout))


def complete(*words):
    """What bash offers for the last word."""
    line = " ".join(words)
    quoted = " ".join(f"'{word}'" for word in words)
    script = f"""eval "$({SAMPAN} completion bash)"
COMP_WORDS=({quoted}) COMP_CWORD={len(words) - 1} COMP_LINE='{line}' COMP_POINT={len(line)}
_sampan sampan
printf '%s\\n' "${{COMPREPLY[@]}}" """
    result = subprocess.run(["bash", "-c", script], env=environment(), capture_output=True, text=True, check=True)
    assert result.stderr == "", result.stderr
    return set(result.stdout.split())


class CompletionTest(unittest.TestCase):
    def test_commands(self):
        self.assertEqual(complete("sampan", ""), {*COMMANDS, "help", "--help", "--version"})
        self.assertEqual(complete("sampan", "b"), {"bench"})
        self.assertEqual(complete("sampan", "help", "in"), {"info"})

    def test_options_are_those_of_the_help(self):
        for command in COMMANDS:
            self.assertEqual(complete("sampan", command, "--"), options_of(command), command)

    def test_values(self):
        self.assertEqual(complete("sampan", "bench", "--format", ""), {"table", "json", "csv"})
        self.assertEqual(complete("sampan", "run", "--backend", "c"), {"cuda"})
        self.assertEqual(complete("sampan", "bench", "2"), {"2d"})
        self.assertEqual(complete("sampan", "run", "--devices", ""), set())
        self.assertIn("/usr", complete("sampan", "bench", "--plot", "/us"))

    def test_programs_and_their_arguments(self):
        self.assertIn("bash", complete("sampan", "run", "bas"))
        self.assertIn("bash", complete("sampan", "run", "--", "bas"))
        self.assertIn("/usr", complete("sampan", "run", "--", "bash", "/us"))
        self.assertEqual(complete("sampan", "run", "--pre"), {"--preload"})


class ManualTest(unittest.TestCase):
    def setUp(self):
        self.page = sampan("man").stdout

    def test_everything_of_the_help_is_in_it(self):
        text = re.sub(r"\\f[BIR]", "", self.page).replace("\\-", "-").replace("\\e", "\\")
        words = " ".join(text.split())
        for command in COMMANDS:
            shown = sampan(command, "--help").stdout
            for line in shown.splitlines():
                sentence = line.strip()
                if sentence and not sentence.endswith(":") and "show this text" not in line:
                    for part in re.split(r"\s{2,}|Usage: ", sentence):
                        self.assertIn(part, words, command)

    def test_the_formatter_has_nothing_against_it(self):
        if shutil.which("groff") is None:
            self.skipTest("there is no groff")
        result = subprocess.run(["groff", "-man", "-Tutf8", "-ww", "-z"], input=self.page, capture_output=True, text=True, check=True)
        self.assertEqual(result.stderr, "")

    def test_installed_texts_are_the_commands_own(self):
        self.assertEqual((BUILD / "install_files" / "sampan.1").read_text(), self.page)
        self.assertEqual((BUILD / "install_files" / "sampan.bash").read_text(), sampan("completion", "bash").stdout)


if __name__ == "__main__":
    unittest.main()
