"""sampan info --binary: what a program needs, with an exit status for scripts."""

import json
import pathlib
import tempfile
import unittest

from tool import PROGRAMS, SANITIZED, sampan

NEEDY = PROGRAMS / "tool_needy"


def binary(file):
    result = sampan("info", "--json", "--binary", file)
    return result, json.loads(result.stdout)


class BinaryTest(unittest.TestCase):
    def test_a_program_that_runs_here(self):
        result, needs = binary(PROGRAMS / "tool_copies")
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        self.assertTrue(needs["complete"])
        self.assertIn("aclrtMemcpyAsync", needs["working"])
        self.assertEqual((needs["refused"], needs["absent"]), ([], []))

    def test_what_is_refused_and_what_is_absent(self):
        result, needs = binary(NEEDY)
        self.assertEqual(result.returncode, 1)
        self.assertFalse(needs["complete"])
        self.assertEqual(needs["working"], ["aclrtMalloc"])
        self.assertEqual(needs["refused"], ["aclrtLaunchKernel"])
        self.assertEqual(needs["absent"], ["aclNoSuchFunction"], "a weak symbol is none")

    def test_as_text(self):
        result = sampan("info", "--binary", NEEDY)
        self.assertEqual(result.returncode, 1)
        lines = [line.split() for line in result.stdout.splitlines()]
        self.assertIn(["works", "aclrtMalloc"], lines)
        self.assertIn(["refused", "aclrtLaunchKernel"], lines)
        self.assertIn(["absent", "aclNoSuchFunction"], lines)
        self.assertIn("needs 3 functions of AscendCL: 1 work, 1 are refused, 1 are absent", result.stdout)

    def test_a_program_that_needs_none(self):
        result, needs = binary(PROGRAMS / "tool_plain")
        self.assertEqual((result.returncode, needs["complete"], needs["working"]), (0, True, []))

    def test_what_is_no_such_file(self):
        self.assertEqual(sampan("info", "--binary", "/no/such/file").returncode, 127)
        self.assertEqual(sampan("info", "--binary", PROGRAMS).returncode, 127)
        text = sampan("info", "--binary", __file__)
        self.assertEqual(text.returncode, 1)
        self.assertIn("no 64-bit program", text.stderr)
        if not SANITIZED:
            static = sampan("info", "--binary", PROGRAMS / "tool_static")
            self.assertEqual(static.returncode, 1)
            self.assertIn("no table of dynamic symbols", static.stderr)

    def test_run_names_what_is_absent(self):
        result = sampan("run", "--", NEEDY)
        self.assertEqual((result.returncode, result.stdout), (0, "started\n"))
        self.assertIn("needs aclNoSuchFunction that Sampan does not have", result.stderr)
        self.assertNotIn("does not have", sampan("run", "--", PROGRAMS / "tool_linked").stderr)

    def test_broken_files(self):
        whole = NEEDY.read_bytes()
        with tempfile.TemporaryDirectory() as folder:
            file = pathlib.Path(folder) / "broken"
            for length in (0, 3, 16, 63, 64, 65, len(whole) // 2, len(whole) - 1):
                file.write_bytes(whole[:length])
                self.assertIn(sampan("info", "--binary", file).returncode, (0, 1), length)
            for at in range(0x20, 0x40):  # offsets and counts of the header
                file.write_bytes(whole[:at] + b"\xff" + whole[at + 1 :])
                self.assertIn(sampan("info", "--binary", file).returncode, (0, 1), at)


if __name__ == "__main__":
    unittest.main()
