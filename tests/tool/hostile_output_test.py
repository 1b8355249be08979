"""Where results are written: devices, pipes, links and files of others are not replaced, edited or followed."""

import os
import pathlib
import signal
import stat
import tempfile
import threading
import unittest

from tool import sampan
from trace_file import RecordedCase

QUICK = ("bench", "desc", "--sizes", "4K", "--time", "0.001")


class OutputPlaceTest(RecordedCase):
    """Each of the two commands that write a named file."""

    def commands(self, path):
        return (("report", self.original, "-o", path), (*QUICK, "--plot", path))

    def test_a_pipe_is_written_into(self):
        pipe = self.folder / "pipe"
        for place in range(2):
            os.mkfifo(pipe)
            read = []
            reader = threading.Thread(target=lambda: read.append(pipe.read_text()), daemon=True)
            reader.start()
            result = sampan(*self.commands(pipe)[place])
            self.assertEqual(result.returncode, 0, result.stderr)
            self.assertTrue(stat.S_ISFIFO(pipe.lstat().st_mode), "the pipe was replaced")
            reader.join(30)
            self.assertRegex(read[0][:20], r"^<(!doctype html|svg )")
            pipe.unlink()

    def device_like(self, minor):
        """A node of the folder's own, so that a mistake does not damage the machine's."""
        if os.geteuid() != 0:
            self.skipTest("only root can make a device node")
        device = self.folder / f"device{minor}"
        try:
            os.mknod(device, 0o666 | stat.S_IFCHR, os.makedev(1, minor))
            with open(device, "wb"):
                pass
        except OSError as error:
            self.skipTest(f"device nodes cannot be used here: {error}")
        return device

    def test_a_device_is_written_into(self):
        device = self.device_like(3)  # null
        for command in self.commands(device):
            result = sampan(*command)
            self.assertEqual(result.returncode, 0, result.stderr)
            self.assertTrue(stat.S_ISCHR(device.lstat().st_mode), "the device node was replaced")

    def test_a_full_device_is_an_error(self):
        device = self.device_like(7)  # full
        for command in self.commands(device):
            result = sampan(*command)
            self.assertEqual(result.returncode, 3)
            self.assertIn(f"{device} cannot be written: No space left on device", result.stderr)
            self.assertTrue(stat.S_ISCHR(device.lstat().st_mode))

    def test_a_symbolic_link_is_refused(self):
        target, link = self.folder / "target", self.folder / "link"
        target.write_text("of another user")
        for link_to in (target, self.folder / "not there"):
            link.symlink_to(link_to)
            for command in self.commands(link):
                result = sampan(*command)
                self.assertEqual(result.returncode, 3)
                self.assertIn("link cannot be written: it is a symbolic link; name the file that it leads to", result.stderr)
            self.assertTrue(link.is_symlink(), "the link was replaced")
            link.unlink()
        self.assertEqual(target.read_text(), "of another user")

    def test_a_page_does_not_replace_its_trace(self):
        trace = self.folder / "trace.html"
        trace.write_bytes(self.original.read_bytes())
        same = self.folder / "same"
        os.link(trace, same)
        for output in (("-o", trace), ("-o", same), ()):
            result = sampan("report", self.original, trace, *output) if output else sampan("report", trace)
            self.assertEqual(result.returncode, 2)
            self.assertIn(f"the page would replace the trace {trace}; name another file with -o", result.stderr)
        self.assertEqual(trace.read_bytes(), self.original.read_bytes())

    def test_a_file_keeps_its_mode(self):
        page = self.folder / "private.html"
        for mode in (0o600, 0o664):
            page.touch()
            page.chmod(mode)
            self.assertEqual(sampan("report", self.original, "-o", page).returncode, 0)
            self.assertEqual(stat.S_IMODE(page.stat().st_mode), mode)
            self.assertTrue(page.read_text().startswith("<!doctype html>"))

    def test_a_dash_is_standard_output(self):
        with tempfile.TemporaryDirectory() as folder:
            result = sampan("report", self.original, "-o", "-", cwd=folder)
            self.assertEqual(result.returncode, 0)
            self.assertTrue(result.stdout.startswith("<!doctype html>"))
            self.assertTrue(result.stdout.rstrip().endswith("</html>"), "nothing else goes there")
            self.assertEqual(os.listdir(folder), [])


class TraceEndTest(unittest.TestCase):
    """After a crash, 'sampan run --trace' completes a trace; anything else at that name is left alone."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def crash(self, trace, script):
        """Runs a program that puts something in the trace's place and is killed."""
        return sampan("run", "--trace", trace, "--", "/bin/sh", "-c", script + "; kill -KILL $$")

    def test_a_file_that_is_no_trace_is_left_alone(self):
        for name in ("notes.json", "notes.json.gz"):
            trace = self.folder / name
            result = self.crash(trace, f"printf 'my notes, no line end' > {trace}")
            self.assertEqual(result.returncode, -signal.SIGKILL)
            self.assertEqual(trace.read_text(), "my notes, no line end")

    def test_a_link_is_not_followed(self):
        other = self.folder / "other.json"
        trace = self.folder / "trace.json"
        text = '[\n{"name":"sampan_trace","ph":"M","pid":1,"tid":0,"args":{"format":1}}\n,{"name":"cut'
        other.write_text(text)
        result = self.crash(trace, f"ln -s {other} {trace}")
        self.assertEqual(result.returncode, -signal.SIGKILL)
        self.assertEqual(other.read_text(), text)

    @unittest.skipUnless(os.geteuid() == 0, "only root can give a file away")
    def test_the_file_of_another_user_is_left_alone(self):
        trace = self.folder / "trace.json"
        text = '[\n{"name":"sampan_trace","ph":"M","pid":1,"tid":0,"args":{"format":1}}\n,{"name":"cut'
        result = self.crash(trace, f"printf '%s' '{text}' > {trace}; chown 65534 {trace}")
        self.assertEqual(result.returncode, -signal.SIGKILL)
        self.assertEqual(trace.read_text(), text)

    def test_a_pipe_does_not_hang(self):
        trace = self.folder / "trace.json"
        result = self.crash(trace, f"mkfifo {trace}")
        self.assertEqual(result.returncode, -signal.SIGKILL)

    def test_our_own_trace_is_completed(self):
        trace = self.folder / "trace.json"
        text = '[\n{"name":"sampan_trace","ph":"M","pid":1,"tid":0,"args":{"format":1}}\n,{"name":"cut'
        self.crash(trace, f"printf '%s' '{text}' > {trace}")
        self.assertTrue(trace.read_text().endswith('}}\n]\n'), trace.read_text())


if __name__ == "__main__":
    unittest.main()
