"""sampan run and sampan env: which library answers, endings and signals, programs without AscendCL."""

import os
import pathlib
import shutil
import signal
import subprocess
import tempfile
import time
import unittest

from tool import BUILD, PROGRAMS, SAMPAN, Terminal, environment, private_installation, sampan

NOTE = "did not use AscendCL"


class LibraryTest(unittest.TestCase):
    def test_programs_linked_with_either_library_run_on_sampan(self):
        for name in ("tool_linked", "tool_vendor_runpath", "tool_vendor_rpath"):
            with self.subTest(name):
                result = sampan("run", "--devices", "3", "--", PROGRAMS / name)
                self.assertEqual((result.returncode, result.stdout, result.stderr), (0, "devices 3\n", ""))

    def test_the_vendor_programs_would_use_the_vendors_library_without_us(self):
        for name in ("tool_vendor_runpath", "tool_vendor_rpath"):
            alone = subprocess.run([PROGRAMS / name], env=environment(), capture_output=True, text=True, check=True)
            self.assertEqual(alone.stdout, "devices 777\n")

    def test_a_vendors_library_in_the_search_path_comes_second(self):
        env = environment(LD_LIBRARY_PATH=f"{PROGRAMS}/vendor:{BUILD}/lib64")
        self.assertEqual(sampan("run", PROGRAMS / "tool_linked", env=env).stdout, "devices 8\n")
        self.assertEqual(sampan("run", PROGRAMS / "tool_vendor_runpath", env=env).stdout, "devices 8\n")
        self.assertEqual(sampan("info", env=env).returncode, 0)

    def test_a_plugin_that_leads_to_the_vendors_library_needs_preload(self):
        words = [PROGRAMS / "tool_plain", "plugin", PROGRAMS / "libtool_plugin.so"]
        with tempfile.TemporaryDirectory() as folder:
            plain = sampan("run", "--", *words, binary=private_installation(f"{folder}/sampan"))
        self.assertEqual((plain.returncode, plain.stdout), (0, "devices 777\n"))
        self.assertIn(NOTE, plain.stderr)
        self.assertIn("--preload", plain.stderr)
        preloaded = sampan("run", "--preload", "--", *words)
        self.assertEqual((preloaded.returncode, preloaded.stdout, preloaded.stderr), (0, "devices 8\n", ""))

    def test_an_interpreter_that_opens_the_library_by_name(self):
        script = "import ctypes; n = ctypes.c_uint(); l = ctypes.CDLL('libascendcl.so'); \
l.aclrtGetDeviceCount(ctypes.byref(n)); print(n.value)"
        result = sampan("run", "--devices", "5", "--", "python3", "-c", script)
        self.assertEqual((result.returncode, result.stdout, result.stderr), (0, "5\n", ""))

    def test_an_installation_whose_path_has_blanks(self):
        with tempfile.TemporaryDirectory() as folder:
            binary = private_installation(f"{folder}/with blanks")
            result = sampan("run", PROGRAMS / "tool_linked", binary=binary)
            self.assertEqual((result.returncode, result.stdout), (0, "devices 8\n"))
            # LD_PRELOAD cannot name it: that is said, instead of running on the vendor's library.
            result = sampan("run", PROGRAMS / "tool_vendor_rpath", binary=binary)
            self.assertEqual((result.returncode, result.stdout), (125, ""))
            self.assertIn("blanks", result.stderr)
            (binary.parent.parent / "lib64" / "libascendcl.so").unlink()
            result = sampan("run", "true", binary=binary)
            self.assertEqual(result.returncode, 125)
            self.assertIn("libascendcl.so is missing", result.stderr)

    def test_options_become_settings_and_beat_the_environment(self):
        result = sampan(
            "run", "--backend", "emulated", "--devices=2", "--profile", "cann9", "--schedule", "seed:7", "env",
            env=environment(SAMPAN_DEVICES="4", SAMPAN_ENGINES="1"),
        )
        lines = result.stdout.splitlines()
        for expected in ("SAMPAN_BACKEND=emulated", "SAMPAN_DEVICES=2", "SAMPAN_PROFILE=cann9", "SAMPAN_SCHEDULE=seed:7", "SAMPAN_ENGINES=1"):
            self.assertIn(expected, lines)


class NoAclTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        self.binary = private_installation(f"{self.folder}/sampan")

    def run_program(self, *words):
        return sampan("run", "--", *words, binary=self.binary)

    def test_a_program_that_never_calls_acl_is_named(self):
        result = self.run_program(PROGRAMS / "tool_plain", "4")
        self.assertEqual((result.returncode, result.stdout), (4, ""))
        self.assertIn(f"sampan: {PROGRAMS}/tool_plain {NOTE}", result.stderr)

    def test_a_static_program_is_named_with_the_reason(self):
        result = self.run_program(PROGRAMS / "tool_static")
        self.assertEqual(result.returncode, 3)
        self.assertIn(NOTE + ": it is linked statically", result.stderr)

    def test_a_program_with_rights_of_its_own_is_named_with_the_reason(self):
        program = shutil.copy(PROGRAMS / "tool_plain", self.folder)
        os.chmod(program, 0o4755)
        result = self.run_program(program)
        self.assertIn("rights of its own", result.stderr)

    def test_a_shell_whose_child_uses_acl_is_not_named(self):
        result = self.run_program("sh", "-c", f"{PROGRAMS}/tool_linked; exit 6")
        self.assertEqual((result.returncode, result.stdout, result.stderr), (6, "devices 8\n", ""))


class EndingTest(unittest.TestCase):
    def test_exit_statuses_pass_through(self):
        for status in (0, 1, 2, 77, 125, 255):
            self.assertEqual(sampan("run", PROGRAMS / "tool_linked", "copy", status).returncode, status)

    def test_arguments_pass_through_untouched(self):
        words = ["--", "--help", "", "a b", "[1,2]", "--devices", "3", "'\"$x"]
        result = sampan("run", "--", PROGRAMS / "tool_plain", "0", *words)
        self.assertEqual(result.stdout, "".join(f"<{word}>\n" for word in words))
        self.assertEqual(sampan("run", PROGRAMS / "tool_plain", "0", *words).stdout, result.stdout)

    def test_a_program_that_crashes(self):
        result = sampan("run", PROGRAMS / "tool_linked", "crash")
        self.assertEqual(result.returncode, -signal.SIGSEGV)
        self.assertIn("the host accessed device memory", result.stderr)

    def test_a_program_that_forks(self):
        result = sampan("run", PROGRAMS / "tool_linked", "fork")
        self.assertEqual((result.returncode, result.stderr), (5, ""))
        self.assertEqual(sorted(result.stdout.splitlines()), ["child devices 8", "parent devices 8"])

    def test_programs_that_cannot_be_run(self):
        with tempfile.TemporaryDirectory() as folder:
            text = pathlib.Path(folder) / "text"
            text.write_text("no program")
            lost = pathlib.Path(folder) / "lost"
            lost.write_text("#!/no/such/interpreter\n")
            lost.chmod(0o755)
            for word, status, named in [
                ("no-such-program", 127, "there is no program 'no-such-program' on the PATH"),
                (f"{folder}/none", 127, f"there is no file {folder}/none"),
                (text, 126, "may not be executed; 'chmod +x"),
                (folder, 126, "is a folder"),
                (lost, 127, "its interpreter or loader is missing"),
            ]:
                result = sampan("run", word)
                self.assertEqual((result.returncode, result.stdout), (status, ""), word)
                self.assertIn(named, result.stderr)

    def test_a_script_without_a_first_line_runs_in_the_shell(self):
        with tempfile.TemporaryDirectory() as folder:
            script = pathlib.Path(folder) / "script"
            script.write_text("exit 9\n")
            script.chmod(0o755)
            self.assertEqual(sampan("run", script).returncode, 9)


class SignalTest(unittest.TestCase):
    def start(self):
        command = subprocess.Popen(
            [SAMPAN, "run", "--", PROGRAMS / "tool_linked", "signals"],
            env=environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        )
        self.addCleanup(command.stdout.close)
        self.addCleanup(command.stderr.close)
        program = int(command.stdout.readline().split()[1])
        return command, program

    def test_signals_reach_the_program_and_it_decides(self):
        command, _ = self.start()
        for _ in range(2):
            command.send_signal(signal.SIGINT)
            self.assertEqual(command.stdout.readline(), "interrupted\n")
        command.send_signal(signal.SIGTERM)
        self.assertEqual(command.wait(timeout=30), 7)
        self.assertEqual(command.stdout.read(), "")

    def test_a_signal_that_ends_the_program_ends_us(self):
        for number in (signal.SIGHUP, signal.SIGUSR1, signal.SIGQUIT):
            command, _ = self.start()
            command.send_signal(number)
            self.assertEqual(command.wait(timeout=30), -number)

    def test_killing_us_leaves_nothing_behind(self):
        command, program = self.start()
        command.kill()
        command.wait(timeout=30)
        for _ in range(100):
            try:
                state = pathlib.Path(f"/proc/{program}/stat").read_text().rsplit(")")[1].split()[0]
            except FileNotFoundError:
                return
            if state == "Z":
                return
            time.sleep(0.05)
        self.fail("the program still runs")

    def test_a_stopped_program_stops_us_and_goes_on_with_us(self):
        command, program = self.start()
        os.kill(program, signal.SIGSTOP)
        _, status = os.waitpid(command.pid, os.WUNTRACED)
        self.assertTrue(os.WIFSTOPPED(status))
        os.kill(command.pid, signal.SIGCONT)
        command.send_signal(signal.SIGTERM)
        self.assertEqual(command.wait(timeout=30), 7)

    def test_ctrl_c_on_a_terminal_arrives_once(self):
        terminal = Terminal("run", "--", PROGRAMS / "tool_linked", "signals")
        terminal.read_until("ready")
        terminal.type("\x03")
        terminal.read_until("interrupted")
        time.sleep(0.3)  # for a second one
        os.kill(terminal.pid, signal.SIGTERM)
        status = terminal.end()
        self.assertEqual(terminal.shown.count("interrupted"), 1)
        self.assertEqual(os.waitstatus_to_exitcode(status), 7)

    def test_ctrl_c_ends_a_program_that_does_not_mind(self):
        terminal = Terminal("run", "--", PROGRAMS / "tool_linked", "wait")
        terminal.read_until("ready")
        terminal.type("\x03")
        self.assertEqual(os.waitstatus_to_exitcode(terminal.end()), -signal.SIGINT)


class EnvTest(unittest.TestCase):
    def variables(self, script, **more):
        names = "PATH LD_LIBRARY_PATH PYTHONPATH CMAKE_PREFIX_PATH PKG_CONFIG_PATH ASCEND_HOME_PATH ASCEND_TOOLKIT_HOME \
ASCEND_AICPU_PATH ASCEND_OPP_PATH TOOLCHAIN_HOME SAMPAN_DEVICES"
        show = "; ".join(f'printf "%s\\n" "{name}=${{{name}-unset}}"' for name in names.split())
        env = {"PATH": "/usr/bin:/bin", **more}
        result = subprocess.run(["sh", "-euc", f"{script}\n{show}"], env=env, capture_output=True, text=True, check=True)
        return result.stdout

    def test_exports_equal_set_env_sh(self):
        with tempfile.TemporaryDirectory() as folder:
            subprocess.run(["cmake", "--install", BUILD, "--prefix", f"{folder}/it's here"], check=True, capture_output=True)
            root = f"{folder}/it's here"
            by_command = self.variables(f'eval "$("{root}/bin/sampan" env)"', LD_LIBRARY_PATH="/kept")
            by_script = self.variables(f'. "{root}/set_env.sh"', LD_LIBRARY_PATH="/kept")
            self.assertEqual(by_command, by_script)
            self.assertIn(f"LD_LIBRARY_PATH={root}/lib64:/kept\n", by_command)

    def test_repeating_it_changes_nothing_more(self):
        once = self.variables(f'eval "$({SAMPAN} env --devices 2)"')
        twice = self.variables(f'eval "$({SAMPAN} env --devices 2)"; eval "$({SAMPAN} env)"')
        self.assertEqual(once, twice)
        self.assertIn("SAMPAN_DEVICES=2\n", once)

    def test_programs_started_from_that_shell_use_sampan(self):
        result = subprocess.run(
            ["sh", "-euc", f'eval "$({SAMPAN} env --devices 4)"; {PROGRAMS}/tool_linked'],
            env=environment(), capture_output=True, text=True, check=True,
        )
        self.assertEqual(result.stdout, "devices 4\n")


if __name__ == "__main__":
    unittest.main()
