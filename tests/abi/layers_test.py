"""The check of the layers finds each kind of mistake in a copy of the sources."""

import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

SOURCE = pathlib.Path(__file__).resolve().parents[2]
FOLDERS = ("src", "include", "examples", "bench", "python", "tools", "tests")


class LayersTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.root = pathlib.Path(folder.name)
        for name in FOLDERS:
            shutil.copytree(SOURCE / name, cls.root / name, ignore=shutil.ignore_patterns("corpus", "*.json", "*.png"))
        shutil.copy(SOURCE / "CONTRIBUTING.md", cls.root)

    def write(self, path, text):
        """Writes a file of the copy until the end of the test."""
        file = self.root / path
        before = file.read_text(encoding="utf-8")
        self.addCleanup(file.write_text, before, encoding="utf-8")
        file.write_text(text, encoding="utf-8")

    def append(self, path, text):
        self.write(path, (self.root / path).read_text(encoding="utf-8") + text)

    def replace(self, path, old, new):
        self.write(path, (self.root / path).read_text(encoding="utf-8").replace(old, new))

    def findings(self):
        script = SOURCE / "scripts/check_layers.py"
        ran = subprocess.run([sys.executable, "-B", script, "--root", self.root], capture_output=True, text=True, check=False)
        self.assertEqual(ran.returncode, 1 if ran.stdout else 0, ran.stderr)
        return ran.stdout.splitlines()

    def expect(self, path, text):
        found = self.findings()
        self.assertEqual(len(found), 1, found)
        self.assertTrue(found[0].startswith(f"{path}:"), found[0])
        self.assertIn(text, found[0])

    def test_sources_as_they_are(self):
        self.assertEqual(self.findings(), [])

    def test_include_of_a_layer(self):
        self.append("src/base/system/environment.cc", '#include "core/objects/profile.h"\n')
        self.expect("src/base/system/environment.cc", "layer base must not include")

    def test_include_of_a_test(self):
        self.append("tests/conformance/memory_test.cc", '#include "core/objects/profile.h"\n')
        self.expect("tests/conformance/memory_test.cc", "tests/conformance must not include src/core/objects/profile.h of core")

    def test_include_of_a_tool(self):
        self.append("tools/hccl_bench/main.cc", '#include "process/process.h"\n')
        self.expect("tools/hccl_bench/main.cc", "tools/hccl_bench must not include src/process/process.h of process")

    def test_folder_without_a_row(self):
        (self.root / "tests/new").mkdir()
        self.addCleanup(shutil.rmtree, self.root / "tests/new")
        (self.root / "tests/new/one_test.cc").write_text("// A test.\n")
        self.expect("tests/new/one_test.cc", "has no row")

    def test_unit_test_in_a_folder_of_its_own(self):
        folder = self.root / "tests/unit/core/rooms"
        folder.mkdir()
        self.addCleanup(shutil.rmtree, folder)
        (folder / "room_test.cc").write_text("// A test.\n", encoding="utf-8")
        self.expect("tests/unit/core/rooms/room_test.cc", "there is no src/core/rooms")

    def test_entry_that_nothing_needs(self):
        for path in (self.root / "tests/fault").glob("*.cc"):
            self.replace(path.relative_to(self.root), '#include "process/', '#include "not/')
        [found] = self.findings()
        self.assertIn("lets tests/fault include process, which no file does", found)

    def test_mutable_globals(self):
        self.append("src/core/objects/profile.cc", "int one = 0;\nstatic std::atomic<int> two{0};\nvoid F() {\n  static Table& three = *new Table;\n"
                    "}\ninline constinit std::vector<int> four;\nstatic const char* five = nullptr;\nstruct sigaction six;\n"
                    "std::array<int, 3> seven{};\n")
        found = [line.split("'")[1] for line in self.findings()]
        self.assertEqual(found, ["one", "two", "three", "four", "five", "six", "seven"])

    def test_exceptions_are_of_one_file(self):
        (self.root / "src/core/copy/stream.cc").write_text("// A file with the name of another one.\nstatic int last_queue = 0;\n")
        self.addCleanup((self.root / "src/core/copy/stream.cc").unlink)
        self.expect("src/core/copy/stream.cc", "'last_queue' is state of the process")

    def test_thread_locals(self):
        self.append("tools/sampan/main.cc", "void F() {\n  thread_local const int number = 1;\n}\n")
        self.expect("tools/sampan/main.cc", "'number' is state of the process or of a thread")

    def test_what_is_no_state(self):
        self.append("src/core/objects/profile.cc", "constexpr int kOne = 1;\nstatic const char* const kTwo = nullptr;\nconst int kThree = 3;\n"
                    "struct Four {\n  int four = 4;\n};\nvoid Five(int six = 6);\nclass Seven;\nstatic int Eight() {\n  int nine = 9;\n}\n")
        self.append("src/process/process.cc", "int allowed_here = 0;\n")
        self.assertEqual(self.findings(), [])

    def test_exception_that_nothing_needs(self):
        self.replace("src/hccl/platform_state.cc", "constinit Platform the_platform", "const Platform the_platform")
        [found] = self.findings()
        self.assertIn("a reason for 'the_platform' in src/hccl/platform_state.cc, which has no such global", found)

    def test_table_of_contributing(self):
        self.replace("CONTRIBUTING.md", "| `summary` | `base`, `observe` |", "| `summary` | nothing of ours |")
        self.expect("CONTRIBUTING.md", "--table prints")


if __name__ == "__main__":
    unittest.main()
