"""sampan tune: arguments, machines without a GPU, files that cannot be written; with a GPU, the table and its use."""

import os
import pathlib
import subprocess
import tempfile
import unittest

from tool import BUILD, PROGRAMS, environment, sampan

HIDDEN = environment(CUDA_VISIBLE_DEVICES="-1")  # no GPU, whatever the machine has


def has_gpu():
    present = subprocess.run([BUILD / "tests" / "gpu" / "gpu_present"], env=environment(SAMPAN_BACKEND="cuda"),
                             stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False)
    return present.returncode == 0


class ArgumentsTest(unittest.TestCase):
    def test_bad_arguments(self):
        for words, said in ((["--time", "soon"], "'soon' is not a number of seconds between 0 and 60"),
                            (["--time", "0"], "'0' is not a number of seconds"),
                            (["--time", "61"], "'61' is not a number of seconds"),
                            (["--path", "kernel"], "--path"),
                            (["everything"], "everything")):
            result = sampan("tune", *words, env=HIDDEN)
            self.assertEqual((result.returncode, result.stdout), (2, ""), words)
            self.assertIn(said, result.stderr)

    def test_help_says_what_a_table_looks_like(self):
        text = " ".join(sampan("tune", "--help").stdout.split())
        self.assertIn("A table begins with 'gpu NAME'", text)
        self.assertIn("SAMPAN_COPY_TABLE", text)


class WithoutGpuTest(unittest.TestCase):
    def test_says_what_is_missing(self):
        result = sampan("tune", env=HIDDEN)
        self.assertEqual((result.returncode, result.stdout), (1, ""))
        self.assertRegex(result.stderr, r"^sampan: .*(libcuda\.so\.1|no CUDA-capable|GPU)")

    def test_leaves_no_file(self):
        with tempfile.TemporaryDirectory() as folder:
            result = sampan("tune", "--output", pathlib.Path(folder) / "limits.txt", env={**HIDDEN, "TMPDIR": folder})
            self.assertEqual(result.returncode, 1)
            self.assertEqual(os.listdir(folder), [])

    def test_a_folder_that_is_not_there_is_noticed_first(self):
        result = sampan("tune", "-o", "/nowhere/limits.txt", env=HIDDEN)
        self.assertEqual((result.returncode, result.stdout), (3, ""))
        self.assertIn("/nowhere/limits.txt", result.stderr)


class TableFileTest(unittest.TestCase):
    """The runtime reads the file whatever makes its devices real, so that mistakes show everywhere."""

    def start(self, contents):
        with tempfile.NamedTemporaryFile("w", suffix=".txt") as file:
            file.write(contents)
            file.flush()
            env = environment(SAMPAN_COPY_TABLE=file.name)
            return sampan("bench", "desc", "--sizes", "4K", "--time", "0.01", env=env), file.name

    def test_wrong_files_are_refused_with_line_and_value(self):
        result, name = self.start("gpu H200\n\nlink_blocks lots\n")
        self.assertEqual(result.returncode, 1)
        self.assertIn(f"SAMPAN_COPY_TABLE: {name}:3: link_blocks is 'lots', it must be a number from 1 to 1024", result.stderr)


@unittest.skipUnless(has_gpu(), "needs a GPU")
class OnGpuTest(unittest.TestCase):
    def test_the_table_is_whole_and_taken(self):
        with tempfile.TemporaryDirectory() as folder:
            file = pathlib.Path(folder) / "limits.txt"
            result = sampan("tune", "--time", "0.001", "-o", file, env=environment(TMPDIR=folder))
            self.assertEqual((result.returncode, result.stdout), (0, ""), result.stderr)
            self.assertEqual(os.listdir(folder), ["limits.txt"])
            lines = [line for line in file.read_text().splitlines() if line and not line.startswith("#")]
            self.assertRegex(lines[0], "^gpu .*[A-Z]")
            limits = dict(line.split() for line in lines[1:])
            for limit in ("link_blocks", "staging_threads"):
                self.assertGreaterEqual(int(limits[limit]), 1)
            env = environment(SAMPAN_COPY_TABLE=str(file), SAMPAN_BACKEND="cuda")
            self.assertEqual(subprocess.run([PROGRAMS / "tool_copies"], env=env, check=False).returncode, 0)
            bench = sampan("bench", "batch", "--sizes", "64K", "--time", "0.01", env=env)
            self.assertEqual(bench.returncode, 0, bench.stderr)


if __name__ == "__main__":
    unittest.main()
