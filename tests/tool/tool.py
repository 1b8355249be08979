"""What the tests of the sampan command share: where things are, a clean environment, a terminal."""

import os
import pathlib
import pty
import select
import shutil
import subprocess
import sys
import time

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "hosts"))
from two_hosts import CANNOT, TwoHosts  # noqa: E402

BUILD = pathlib.Path(os.environ["TOOL_TEST_BUILD"])
SAMPAN = BUILD / "bin" / "sampan"
SANITIZED = "TOOL_TEST_SANITIZED" in os.environ
OPTIMISED = "TOOL_TEST_OPTIMISED" in os.environ
PROGRAMS = BUILD / "tests" / "tool"


def environment(**more):
    """This process's environment without anything that would change what the command does."""
    kept = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("SAMPAN_", "ASCEND_", "LD_", "NO_COLOR"))
    }
    return {**kept, "TERM": "xterm", **more}


def sampan(*words, env=None, binary=SAMPAN, **options):
    """Runs the command to its end; answers what subprocess.run does, with texts."""
    return subprocess.run(
        [binary, *map(str, words)],
        env=environment() if env is None else env,
        stdin=subprocess.DEVNULL,
        stdout=options.pop("stdout", subprocess.PIPE),
        stderr=options.pop("stderr", subprocess.PIPE),
        text=True,
        timeout=120,
        check=False,
        **options,
    )


def private_installation(folder):
    """A copy of the command and its libraries that no other process uses; answers the command."""
    root = pathlib.Path(folder)
    (root / "bin").mkdir(parents=True)
    shutil.copytree(BUILD / "lib64", root / "lib64")
    return pathlib.Path(shutil.copy(SAMPAN, root / "bin"))


class Terminal:
    """The command on a terminal of its own, both outputs on it."""

    def __init__(self, *words, env=None):
        self.pid, self.master = pty.fork()
        if self.pid == 0:
            os.execve(SAMPAN, [str(SAMPAN), *map(str, words)], environment() if env is None else env)
        self.shown = ""

    def read_until(self, wanted, seconds=60):
        """Reads until the text appears, or to the end when none is wanted."""
        end = time.monotonic() + seconds
        while wanted is None or wanted not in self.shown:
            if time.monotonic() > end:
                raise AssertionError(f"{wanted!r} did not appear in {self.shown!r}")
            if not select.select([self.master], [], [], 0.2)[0]:
                continue
            try:
                part = os.read(self.master, 4096)
            except OSError:  # the other side is closed
                part = b""
            if not part:
                break
            self.shown += part.decode(errors="replace")
        return self.shown

    def type(self, text):
        os.write(self.master, text.encode())

    def end(self):
        """Waits for the command; answers its wait status."""
        self.read_until(None)
        _, status = os.waitpid(self.pid, 0)
        os.close(self.master)
        return status


def two_hosts(test):
    """The names of two network namespaces. Skips the test if they cannot be made."""
    if "TOOL_TEST_NETWORK" not in os.environ:
        test.skipTest("built without libfabric")
    hosts = TwoHosts()
    test.addCleanup(hosts.close)
    if not hosts.made:
        test.skipTest(CANNOT)
    return hosts.names
