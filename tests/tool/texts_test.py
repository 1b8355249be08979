"""Manual page and shell completion: made from the same text as the help, and working."""

import os
import pathlib
import pty
import re
import select
import shutil
import signal
import subprocess
import tempfile
import time
import unittest

from tool import BUILD, SAMPAN, environment, sampan

COMMANDS = ["run", "check", "env", "info", "hosts", "bench", "report", "replay", "completion", "man"]


def options_of(command):
    return set(re.findall(r"(?m)^  (?:-[a-z], )?(--[a-z-]+)", sampan(command, "--help").stdout))


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


    def test_files(self):
        for words in (["report"], ["report", "-o"], ["report", "--output"]):
            self.assertIn("/usr", complete("sampan", *words, "/us"))


@unittest.skipIf(shutil.which("fish") is None, "there is no fish")
class FishCompletionTest(unittest.TestCase):
    def complete(self, line):
        """What fish offers for the last word."""
        script = f"{SAMPAN} completion fish | source; complete -C '{line}'"
        result = subprocess.run(["fish", "--no-config", "-c", script], env=environment(HOME="/nonexistent"),
                                capture_output=True, text=True, check=True)
        self.assertEqual(result.stderr, "")
        return {offered.split("\t")[0] for offered in result.stdout.splitlines()}

    def test_commands_options_values_and_files(self):
        self.assertEqual(self.complete("sampan "), {*COMMANDS, "help"})
        self.assertEqual(self.complete("sampan help in"), {"info"})
        for command in COMMANDS:
            self.assertEqual(self.complete(f"sampan {command} --"), options_of(command), command)
        self.assertEqual(self.complete("sampan bench --format "), {"table", "json", "csv"})
        self.assertEqual(self.complete("sampan bench 2"), {"2d"})
        self.assertEqual(self.complete("sampan completion "), {"bash", "zsh", "fish"})
        self.assertEqual(self.complete("sampan run --backend c"), {"cuda"})
        self.assertIn("/usr/", self.complete("sampan report /us"))
        self.assertIn("/usr/", self.complete("sampan report trace.json -o /us"))
        self.assertIn("bash", self.complete("sampan run -- bas"))


@unittest.skipIf(shutil.which("zsh") is None, "there is no zsh")
class ZshCompletionTest(unittest.TestCase):
    SCRIPT = """PS1= PS2=; setopt no_beep; autoload -Uz compinit; compinit -D -u
source <({sampan} completion zsh)
compadd() {{
  # What only filters goes through; what offers is written down.
  [[ " $* " == *" -"[OAD]" "* ]] && {{ builtin compadd "$@"; return }}
  local -a offered; builtin compadd -A offered "$@"; print -rl -- $offered >>{found}
  builtin compadd "$@"
}}
tell() {{ print -r -- done >>{found}; exit }}; comppostfuncs=(tell); bindkey '^I' complete-word; print ready
"""

    def complete(self, line):
        """What zsh offers for the last word, on a terminal of its own."""
        with tempfile.TemporaryDirectory() as folder:
            found = pathlib.Path(folder) / "found"
            found.touch()
            script = pathlib.Path(folder) / "script"
            script.write_text(self.SCRIPT.format(sampan=SAMPAN, found=found))
            pid, master = pty.fork()
            if pid == 0:
                os.execvpe("zsh", ["zsh", "-f", "-i"], environment(HOME=folder, TERM="dumb"))
            try:
                os.write(master, f". {script}\n".encode())
                shown = b""
                while b"ready" not in shown:
                    shown += os.read(master, 4096)
                os.write(master, f"{line}\t".encode())
                end = time.monotonic() + 20
                while "done" not in found.read_text().splitlines():
                    self.assertLess(time.monotonic(), end, shown)
                    if select.select([master], [], [], 0.02)[0]:
                        shown += os.read(master, 4096)
            finally:
                os.kill(pid, signal.SIGKILL)
                os.waitpid(pid, 0)
                os.close(master)
            return set(found.read_text().splitlines()) - {"done", ""}

    def test_commands_options_values_and_files(self):
        self.assertLessEqual({*COMMANDS, "help"}, self.complete("sampan "))
        self.assertEqual(self.complete("sampan help in"), {"info"})
        for command in ("run", "bench", "report"):
            self.assertLessEqual(options_of(command), self.complete(f"sampan {command} --"), command)
        self.assertEqual(self.complete("sampan bench --format "), {"table", "json", "csv"})
        self.assertEqual(self.complete("sampan bench 2"), {"2d"})
        self.assertIn("usr", self.complete("sampan report /us"))
        self.assertIn("usr", self.complete("sampan report trace.json -o /us"))
        self.assertIn("bash", self.complete("sampan run -- bas"))


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
        for shell in ("bash", "zsh", "fish"):
            self.assertEqual((BUILD / "install_files" / f"sampan.{shell}").read_text(), sampan("completion", shell).stdout)


if __name__ == "__main__":
    unittest.main()
