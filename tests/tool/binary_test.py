"""sampan info --binary: what a program needs, with an exit status for scripts."""

import json
import pathlib
import shutil
import tempfile
import unittest

from tool import PROGRAMS, SANITIZED, environment, sampan

NEEDY = PROGRAMS / "tool_needy"


LAYERED = PROGRAMS / "tool_layered"


def binary(file, **more):
    result = sampan("info", "--json", "--binary", file, **more)
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
        self.assertIn("needs 3 functions of AscendCL and HCCL: 1 works, 1 is refused, 1 is absent", result.stdout)

    def test_a_program_that_needs_none(self):
        result, needs = binary(PROGRAMS / "tool_plain")
        self.assertEqual((result.returncode, needs["complete"], needs["working"]), (0, True, []))

    def test_libraries_of_the_program_count(self):
        """RUNPATH of the program, RPATH of a library, LD_LIBRARY_PATH. What a library defines is no need."""
        result, needs = binary(LAYERED, env=environment(LD_LIBRARY_PATH=PROGRAMS / "layered/operator"))
        self.assertEqual(result.returncode, 1)
        self.assertEqual(needs["working"], ["HcclGetRankSize", "aclrtFree", "aclrtMallocHost"])
        self.assertEqual(needs["refused"], ["aclrtLaunchKernel"])
        self.assertEqual(needs["absent"], ["HcclCreateComResource"])
        self.assertEqual([pathlib.Path(library).name for library in needs["libraries"]],
                         ["liblayered_kernel.so", "liblayered_memory.so"])
        self.assertEqual(needs["missing_libraries"], [])

    def test_a_library_that_is_not_found(self):
        _, needs = binary(LAYERED)
        self.assertEqual(needs["missing_libraries"], ["libcust_opapi.so"])
        self.assertIn("aclnnMyOperator", needs["absent"])
        text = sampan("info", "--binary", LAYERED).stdout
        self.assertIn("libcust_opapi.so: this library was not found", text)
        self.assertRegex(text.splitlines()[-1], r"tool_layered \+ .*liblayered_kernel.so \+ .* need 6 functions of AscendCL and HCCL: "
                                                r"3 work, 1 is refused, 2 are absent")

    def test_the_folder_of_the_program_counts(self):
        with tempfile.TemporaryDirectory() as folder:
            for file in (LAYERED, *(PROGRAMS / "layered").glob("*/*.so")):
                shutil.copy(file, folder)
            _, needs = binary(pathlib.Path(folder) / LAYERED.name)
            self.assertEqual((needs["refused"], needs["missing_libraries"]), (["aclrtLaunchKernel"], []))

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
