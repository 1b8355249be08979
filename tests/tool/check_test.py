"""sampan check: reports, filters, exit statuses, runs under several schedules; what programs of every kind leave behind."""

import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import unittest

import raw_findings as raw
from tool import PROGRAMS, SAMPAN, SANITIZED, environment, private_installation, sampan

KINDS = ["race", "host-read-before-sync", "host-write-in-flight", "freed-in-flight", "stale-descriptor", "pageable-async", "deadlock", "lost-signal",
         "wait-without-record", "out-of-bounds", "use-after-free", "uninitialised-read", "wrong-kind", "failed-task", "leak"]


class CheckTest(unittest.TestCase):
    """Programs that write what they are told, so that each test has the findings that it needs."""

    @classmethod
    def setUpClass(cls):
        symbols = raw.symbols()
        cls.inlined, cls.main = [0, symbols["place_inlined"]], [0, symbols["place_main"]]

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def file(self, name, text):
        path = self.folder / name
        path.write_text(text)
        return path

    def program(self, *lines):
        """A command line that writes these raw lines."""
        path = self.file("lines.json", json.dumps([raw.program("app", "x"), raw.module(), *lines]))
        return ["--", sys.executable, "-B", raw.HERE, path]

    def early_read(self, number=1, **more):
        return raw.finding(number, [raw.access([self.inlined, self.main]), raw.host([self.main])], of=raw.buffer([self.main]), **more)

    def check(self, *words, env=None):
        return sampan("check", *words, env=env)

    def report(self, *lines, words=()):
        path = self.folder / "report.json"
        result = self.check("--json", path, *words, *self.program(*lines))
        return result, json.loads(path.read_text())


class ReportTest(CheckTest):
    def test_json_has_the_documented_fields_in_their_order(self):
        result, report = self.report(self.early_read(), raw.count(1, 5), raw.count(1, 17), raw.END)
        self.assertEqual(result.returncode, 99)
        self.assertEqual(list(report), ["version", "program", "errors", "warnings", "findings"])
        self.assertEqual((report["version"], report["errors"], report["warnings"]), (1, 1, 0))
        self.assertEqual(report["program"][-1], str(self.folder / "lines.json"))
        (finding,) = report["findings"]
        self.assertEqual(list(finding), ["id", "kind", "severity", "count", "message", "fix", "buffer", "overlap", "accesses"])
        self.assertRegex(finding["id"], "^[0-9a-f]{8}$")
        self.assertEqual((finding["kind"], finding["severity"], finding["count"]), ("host-read-before-sync", "error", 17))
        main, inlined = raw.line_of("main"), raw.line_of("inlined")
        self.assertEqual(finding["message"], f"the host reads in line {main} of check_subject.cc what the copy of line {inlined} of check_subject.cc writes")
        self.assertEqual(finding["fix"], f"call aclrtSynchronizeStream(stream) before line {main} of check_subject.cc")
        self.assertEqual(list(finding["buffer"]), ["what", "device", "address", "bytes", "call", "stack"])
        self.assertEqual(finding["overlap"], {"begin": 128, "end": 132})
        copy, read = finding["accesses"]
        self.assertEqual(list(copy), ["call", "does", "device", "stream", "entry", "thread", "begin", "end", "stack"])
        self.assertEqual([copy[name] for name in ("call", "does", "device", "stream", "entry", "thread", "begin", "end")],
                         ["aclrtMemcpyAsync", "write", 0, 3, None, 1, 0, 4096])
        self.assertEqual([read[name] for name in ("call", "does", "device", "stream")], [None, "read", None, None])

    def test_inlined_calls_are_frames(self):
        _, report = self.report(self.early_read())
        stack = report["findings"][0]["accesses"][0]["stack"]
        self.assertEqual([(frame["function"], frame["line"]) for frame in stack],
                         [("Touch", raw.line_of("inlined")), ("pool::Pool::Refill<char>", raw.line_of("caller")), ("main", raw.line_of("main"))])
        for frame in stack:
            self.assertEqual(list(frame), ["function", "file", "line", "module", "offset"])
            self.assertEqual((frame["file"], frame["module"]), (str(raw.SOURCE), str(raw.SUBJECT)))
        self.assertEqual([frame["offset"] for frame in stack], [self.inlined[1], self.inlined[1], self.main[1]])

    def test_without_debug_information_module_and_offset_are_there(self):
        bare = self.folder / "bare"
        subprocess.run(["strip", "-o", bare, raw.SUBJECT], check=True)
        frames = [[1, self.main[1]], [2, 64], [3, 32], [-1, 4096]]
        _, report = self.report(raw.module(bare, number=1), raw.module("/no/such/file", number=2), raw.module(build_id="00ff", number=3),
                                raw.finding(1, [raw.access([frame]) for frame in frames]))
        stacks = [access["stack"] for access in report["findings"][0]["accesses"]]
        self.assertEqual([(stack[0]["file"], stack[0]["line"]) for stack in stacks], [(None, None)] * 4)
        self.assertEqual([stack[0]["module"] for stack in stacks], [str(bare), "/no/such/file", str(raw.SUBJECT), ""])
        self.assertEqual([stack[0]["offset"] for stack in stacks], [self.main[1], 64, 32, 4096])

    def test_frames_of_libraries_around_the_program_are_left_out(self):
        libc = next(line.split()[-1] for line in pathlib.Path("/proc/self/maps").read_text().splitlines() if "libc.so" in line)
        ours = SAMPAN.parent.parent / "lib64" / "libacl_rt.so"
        _, report = self.report(raw.module(libc, number=1), raw.module(ours, number=2), raw.finding(1, [raw.host([[1, 4096], [2, 64], self.main, [2, 32], [1, 8192]])]))
        self.assertEqual([frame["function"] for frame in report["findings"][0]["accesses"][0]["stack"]], ["main"])

    def test_calls_without_bytes_name_none(self):
        result, _ = self.report(raw.finding(1, [raw.access([self.main], "aclrtCreateStream", begin=0, end=0)], kind="leak", overlap=None))
        self.assertIn("1  aclrtCreateStream, stream 3 of device 0, thread 1\n", result.stderr)

    def test_text_is_told_while_the_program_runs(self):
        lines = self.program(self.early_read(), {"until": str(self.folder / "go")}, raw.finding(2, [], kind="leak", severity="warning", message="one"), raw.count(1, 3))
        command = subprocess.Popen([SAMPAN, "check", *lines], env=environment(), stderr=subprocess.PIPE, text=True)
        self.addCleanup(command.stderr.close)
        shown = command.stderr.readline()
        self.assertRegex(shown, r"^sampan: error: host-read-before-sync [0-9a-f]{8}: the host reads in line \d+ of check_subject.cc what")
        self.assertIsNone(command.poll())
        (self.folder / "go").touch()
        rest = command.stderr.read().splitlines()
        self.assertEqual(command.wait(60), 99)
        text = "\n".join(rest)
        for part in ("1  aclrtMemcpyAsync writes bytes 0 to 4095, stream 3 of device 0, thread 1", f"Touch at {raw.SOURCE}:{raw.line_of('inlined')}",
                     "2  the host reads bytes 128 to 131, thread 1", "bytes 128 to 131 of pinned host memory: 4096 bytes at 0x7f0000001000, made by aclrtMallocHost",
                     "fix: call aclrtSynchronizeStream(stream) before line", "sampan: warning: leak"):
            self.assertIn(part, text)
        self.assertRegex(rest[-2], "^sampan: host-read-before-sync [0-9a-f]{8} was made 3 times$")
        self.assertEqual(rest[-1], "1 errors, 1 warnings")

    def test_findings_of_several_processes_are_one(self):
        other = {"pid": 1, "type": "program", "argv": ["child"]}
        result, report = self.report(self.early_read(), raw.count(1, 4), other, {"pid": 1, **raw.module()}, {"pid": 1, **self.early_read()}, {"pid": 1, **raw.count(1, 2)},
                                     self.early_read(2))
        self.assertEqual([finding["count"] for finding in report["findings"]], [4 + 2 + 1])
        self.assertEqual(result.stderr.count("sampan: error:"), 1)

    def test_lines_that_are_torn_or_make_no_sense_are_ignored(self):
        nonsense = ["\n", "{}\n", "[1]\n", "{\"type\": 5, \"pid\": 1}\n", "{\"type\":\"finding\",\"pid\":1}\n", "\xff\xfe\n", "{\"type\":\"count\",\"pid\":1,\"number\":9,\"count\":5}\n",
                    "[" * 5000 + "\n", json.dumps({"type": "finding", "pid": 1, "number": 1, "kind": 7, "accesses": [1, {"stack": [[0], ["a", 1], 5]}], "buffer": [], "overlap": 3}) + "\n"]
        result, report = self.report(*[{"text": text} for text in nonsense], self.early_read(2), {"text": json.dumps(self.early_read(3))})
        self.assertEqual([finding["kind"] for finding in report["findings"]], ["", "host-read-before-sync"])
        self.assertEqual(result.returncode, 99)

    def test_nothing_found(self):
        result, report = self.report(raw.END)
        self.assertEqual((result.returncode, result.stderr.splitlines()[-1]), (0, "0 errors, 0 warnings"))
        self.assertEqual((report["findings"], report["errors"], report["warnings"]), ([], 0, 0))

    def test_warnings_do_not_change_the_status(self):
        result, report = self.report(self.early_read(kind="pageable-async", severity="warning"))
        self.assertEqual((result.returncode, report["errors"], report["warnings"]), (0, 0, 1))

    def test_text_of_the_program_is_safe_for_the_terminal(self):
        result, _ = self.report(self.early_read(message="a \x1b[31mred\x07 word"))
        self.assertIn("a \\x1b[31mred\\x07 word", result.stderr)


class IdTest(CheckTest):
    def build(self, folder):
        (self.folder / folder).mkdir()
        source = shutil.copy(raw.SOURCE, self.folder / folder)
        program = self.folder / folder / "app"
        subprocess.run(["c++", "-g", "-O2", "-o", program, source], check=True)
        return program

    def id_of(self, program, **more):
        symbols = raw.symbols(program)
        places = [[5, symbols["place_inlined"]], [5, symbols["place_main"]]]
        line = raw.finding(1, [raw.access([places[0]], **more), raw.host([places[1]])])
        return self.report(raw.module(program, number=5), line)[1]["findings"][0]["id"]

    def test_ids_do_not_depend_on_folders_addresses_streams_and_sizes(self):
        one, other = self.build("one"), self.build("quite another")
        self.assertEqual(self.id_of(one), self.id_of(other, stream=9, begin=64, end=512, thread=7))

    def test_ids_depend_on_kind_and_places(self):
        places = [self.inlined, self.main]
        lines = [raw.finding(number, [raw.access([a]), raw.host([b])], kind=kind, message=str(number))
                 for number, (a, b, kind) in enumerate([(a, b, kind) for a in places for b in places for kind in ("race", "host-read-before-sync")], start=1)]
        _, report = self.report(*lines)
        self.assertEqual(len({finding["id"] for finding in report["findings"]}), len(lines))


class FilterTest(CheckTest):
    def kinds(self, *words):
        lines = [self.early_read(1), self.early_read(2, kind="race"), self.early_read(3, kind="leak", severity="warning")]
        result, report = self.report(*lines, words=words)
        return result, [finding["kind"] for finding in report["findings"]]

    def suppressed(self, text):
        return self.kinds("--suppress", self.file("known.txt", text))

    def test_only(self):
        self.assertEqual(self.kinds("--only", "race,leak")[1], ["race", "leak"])
        self.assertEqual(self.kinds("--only", "deadlock")[1], [])
        self.assertEqual(self.kinds("--only", "deadlock")[0].returncode, 0)
        result = self.check("--only", "race,rice", *self.program())
        self.assertEqual(result.returncode, 125)
        self.assertIn("there is no kind 'rice'", result.stderr)
        for kind in KINDS:
            self.assertIn(kind, result.stderr)

    def test_leaks(self):
        self.assertEqual(self.kinds("--leaks=no")[1], ["host-read-before-sync", "race"])
        self.assertEqual(self.kinds("--leaks", "yes")[1], ["host-read-before-sync", "race", "leak"])
        self.assertEqual(self.check("--leaks=maybe", *self.program()).returncode, 125)

    def test_suppressions(self):
        everything = ["host-read-before-sync", "race", "leak"]
        _, report = self.report(self.early_read())
        for text, kept in [
            ("# a comment\n\n   \n", everything),
            (f"{report['findings'][0]['id']}  # this one\n", everything[1:]),
            ("00000000\n", everything),
            ("kind:race\nkind:leak", everything[:1]),
            ("function:main", []),
            ("function:pool::Pool::Refill<char>", []),
            ("function:Refill<char>", []),
            ("function:efill<char>", everything),
            ("file:check_subject.cc", []),
            ("file:tool/check_subject.cc", []),
            (f"file:{raw.SOURCE}", []),
            ("file:subject.cc", everything),
            ("kind:race function:Touch", ["host-read-before-sync", "leak"]),
            ("kind:race function:none", everything),
            ("function:Touch file:check_subject.cc", []),
        ]:
            result, kinds = self.suppressed(text)
            self.assertEqual(kinds, kept, text)
            if len(kept) < 3:
                self.assertIn(f"{3 - len(kept)} findings were suppressed by", result.stderr)

    def test_mistakes_in_suppressions_name_file_and_line(self):
        for text, reason in [
            ("a1b2c3d4\nthread:main\n", ":2: 'thread:main' is neither an id of eight digits nor"),
            ("A1B2C3D4", ":1: 'A1B2C3D4' is neither"),
            ("\n\nkind:raze", ":3: there is no kind 'raze'"),
            ("function:", ":1: 'function:' has no name"),
            ("kind:race kind:leak", ":1: 'kind:race kind:leak' has two parts of the same sort"),
            ("kind:race file:a.cc function:b", "has 3 parts"),
        ]:
            marker = self.folder / "ran"
            path = self.file("known.txt", text)
            result = self.check("--suppress", path, "--", "touch", marker)
            self.assertEqual(result.returncode, 125, text)
            self.assertIn(str(path) + (reason if reason[0] == ":" else ":1: "), result.stderr)
            self.assertIn(reason, result.stderr)
            self.assertFalse(marker.exists())

    def test_suppressions_that_cannot_be_read(self):
        for path in (self.folder / "none.txt", self.folder):
            result = self.check("--suppress", path, "--", "true")
            self.assertEqual(result.returncode, 125)
            self.assertIn(f"the suppression file {path} cannot be read", result.stderr)


class StatusTest(CheckTest):
    def test_the_programs_status_comes_first(self):
        result, report = self.report(self.early_read(), {"status": 7})
        self.assertEqual((result.returncode, report["errors"]), (7, 1))
        result, _ = self.report(self.early_read(), {"status": 7}, words=["--error-exitcode", "5"])
        self.assertEqual(result.returncode, 7)

    def test_error_exitcode(self):
        for status in (0, 5, 255):
            self.assertEqual(self.report(self.early_read(), words=["--error-exitcode", status])[0].returncode, status)
        for wrong in ("256", "-1", "x", "", "5x"):
            result = self.check("--error-exitcode", wrong, *self.program())
            self.assertEqual(result.returncode, 125, wrong)
            self.assertIn("--error-exitcode", result.stderr)

    def test_a_program_that_a_finding_ends(self):
        ended = {"type": "end", "reason": "deadlock"}
        self.assertEqual(self.report(self.early_read(kind="deadlock"), ended, {"status": 99})[0].returncode, 99)
        self.assertEqual(self.report(self.early_read(kind="deadlock"), ended, {"status": 99}, words=["--error-exitcode", "5"])[0].returncode, 5)
        # A suppressed finding ends it all the same.
        known = self.file("known.txt", "kind:deadlock")
        self.assertEqual(self.report(self.early_read(kind="deadlock"), ended, {"status": 99}, words=["--suppress", known])[0].returncode, 99)

    def test_a_program_that_is_killed(self):
        for number in (signal.SIGSEGV, signal.SIGKILL, signal.SIGTERM):
            result, report = self.report(self.early_read(), raw.count(1, 2), {"signal": int(number)})
            self.assertEqual(result.returncode, -number)
            self.assertEqual((report["errors"], report["findings"][0]["count"]), (1, 2))
            self.assertIn(f"the program was ended by signal {int(number)} ({signal.strsignal(number)}); the report has what was found until then", result.stderr)
            self.assertEqual(result.stderr.splitlines()[-1], "1 errors, 0 warnings")

    def test_a_program_that_ends_without_a_word(self):
        result, report = self.report(self.early_read())
        self.assertEqual(report["errors"], 1)
        self.assertRegex(result.stderr, r"app \(process \d+\) ended by _exit or a signal; its leaks were not looked for")
        self.assertNotIn("_exit", self.report(self.early_read(), raw.END)[0].stderr)

    def test_a_killed_command_takes_the_program_along_and_writes_what_was_found(self):
        report = self.folder / "report.json"
        command = subprocess.Popen([SAMPAN, "check", "--json", report, *self.program(self.early_read(), {"until": str(self.folder / "never")})],
                                   env=environment(), stderr=subprocess.PIPE, text=True)
        self.addCleanup(command.stderr.close)
        command.stderr.readline()
        command.send_signal(signal.SIGTERM)
        self.assertEqual(command.wait(60), -signal.SIGTERM)
        self.assertEqual(json.loads(report.read_text())["errors"], 1)

    def test_programs_that_cannot_be_run(self):
        self.assertEqual(self.check("no-such-program").returncode, 127)
        self.assertEqual(self.check("--", self.folder).returncode, 126)
        self.assertEqual(self.check().returncode, 125)

    def test_a_program_without_ascendcl_is_named(self):
        result = sampan("check", "--", "true", binary=private_installation(self.folder / "sampan"))
        self.assertEqual(result.returncode, 0)
        self.assertIn("true did not use AscendCL", result.stderr)
        self.assertEqual(result.stderr.splitlines()[-1], "0 errors, 0 warnings")

    def test_no_file_is_left(self):
        for lines in ([self.early_read()], [{"signal": int(signal.SIGKILL)}]):
            (self.folder / "tmp").mkdir(exist_ok=True)
            self.check(*self.program(*lines), env=environment(TMPDIR=str(self.folder / "tmp")))
            self.assertEqual(os.listdir(self.folder / "tmp"), [])


class FileTest(CheckTest):
    def test_reports_that_cannot_be_written_stop_before_the_program(self):
        link = self.folder / "link"
        link.symlink_to("/tmp/nowhere")
        for option in ("--json", "--sarif", "--html"):
            for path in (self.folder, self.folder / "none" / "report", link):
                marker = self.folder / "ran"
                result = self.check(option, path, "--", "touch", marker)
                self.assertEqual(result.returncode, 125)
                self.assertIn(f"check: {path} cannot be written", result.stderr)
                self.assertFalse(marker.exists())

    def test_a_full_disk(self):
        result = self.check("--json", "/dev/full", *self.program(self.early_read()))
        self.assertEqual(result.returncode, 125)
        self.assertIn("/dev/full cannot be written", result.stderr)
        self.assertIn("1 errors, 0 warnings", result.stderr)

    def test_standard_output(self):
        result = self.check("--json", "-", *self.program(self.early_read()))
        self.assertEqual(json.loads(result.stdout)["errors"], 1)

    def test_sarif(self):
        path = self.folder / "report.sarif"
        result = self.check("--sarif", path, *self.program(self.early_read(), self.early_read(2, kind="leak", severity="warning"), raw.count(1, 3)))
        self.assertEqual(result.returncode, 99)
        log = json.loads(path.read_text())
        self.assertEqual((log["version"], log["$schema"].rsplit("/", 1)[1]), ("2.1.0", "sarif-schema-2.1.0.json"))
        (run,) = log["runs"]
        rules = run["tool"]["driver"]["rules"]
        self.assertEqual([rule["id"] for rule in rules], KINDS)
        self.assertEqual(run["invocations"][0]["exitCode"], 99)
        error, leak = run["results"]
        self.assertEqual((error["level"], leak["level"]), ("error", "warning"))
        for one in run["results"]:
            self.assertEqual(rules[one["ruleIndex"]]["id"], one["ruleId"])
        self.assertEqual((error["occurrenceCount"], leak["occurrenceCount"]), (3, 1))
        place = error["locations"][0]["physicalLocation"]
        self.assertEqual(place["artifactLocation"]["uri"], raw.SOURCE.as_uri())
        self.assertEqual(place["region"]["startLine"], raw.line_of("main"))
        self.assertEqual([len(stack["frames"]) for stack in error["stacks"]], [3, 1, 1])
        self.assertEqual([related["physicalLocation"]["region"]["startLine"] for related in error["relatedLocations"]],
                         [raw.line_of("inlined"), raw.line_of("main"), raw.line_of("main")])
        self.assertRegex(error["partialFingerprints"]["sampanFindingId/v1"], "^[0-9a-f]{8}$")


class SeedsTest(CheckTest):
    def test_all_schedules_run_when_nothing_is_found(self):
        result = self.check("--seeds", "4", *self.program({"say": "schedule"}, raw.END))
        self.assertEqual((result.returncode, result.stdout.split()), (0, ["late", "early", "seed:1", "seed:2"]))
        self.assertIn("the program ran under 4 schedules: late, early and seed:1 to seed:2", result.stderr)
        self.assertEqual(result.stderr.splitlines()[-1], "0 errors, 0 warnings")

    def test_the_first_run_with_a_finding_is_the_last_and_can_be_repeated(self):
        words = self.program({"say": "schedule"}, {"only_under": "seed:1"}, self.early_read(), raw.END)
        result = self.check("--seeds", "9", "--only", "race,host-read-before-sync", *words)
        self.assertEqual((result.returncode, result.stdout.split()), (99, ["late", "early", "seed:1"]))
        command = result.stderr.split("to repeat exactly this run: ")[1].splitlines()[0]
        self.assertIn("sampan check --schedule seed:1 --only race,host-read-before-sync -- ", command)
        again = subprocess.run(["sh", "-c", command.replace("sampan", str(SAMPAN), 1)], env=environment(), capture_output=True, text=True, check=False)
        self.assertEqual((again.returncode, again.stdout), (99, "seed:1\n"))

    def test_a_failed_program_stops_it_too(self):
        result = self.check("--seeds", "5", *self.program({"say": "schedule"}, {"only_under": "early"}, {"status": 4}))
        self.assertEqual((result.returncode, result.stdout.split()), (4, ["late", "early"]))
        self.assertIn("the program failed under the schedule early; to repeat exactly this run: sampan check --schedule early", result.stderr)

    def test_suppressed_findings_do_not_stop_it(self):
        known = self.file("known.txt", "kind:host-read-before-sync")
        result = self.check("--seeds", "3", "--suppress", known, *self.program({"say": "schedule"}, self.early_read(), raw.END))
        self.assertEqual((result.returncode, len(result.stdout.split())), (0, 3))

    def test_arguments_with_blanks_are_quoted(self):
        result = self.check("--seeds", "1", "--", "sh", "-c", "exit 3 # it's")
        self.assertIn("sampan check --schedule late -- sh -c 'exit 3 # it'\\''s'", result.stderr)

    def test_contradictions(self):
        for words in (["--schedule", "late"], ["--backend", "cuda"]):
            self.assertEqual(self.check("--seeds", "2", *words, "--", "true").returncode, 125)
        for wrong in ("0", "-1", "many"):
            self.assertEqual(self.check("--seeds", wrong, "--", "true").returncode, 125)


@unittest.skipIf(SANITIZED, "the sanitizers watch the pages and signals that the checker takes")
class RealProgramTest(CheckTest):
    def test_a_program_that_is_right(self):
        result = self.check("--leaks=no", "--", PROGRAMS / "tool_linked", "copy", "0")
        self.assertEqual((result.returncode, result.stdout, result.stderr), (0, "devices 8\n", "0 errors, 0 warnings\n"))

    def test_a_program_that_leaves_memory(self):
        result = self.check("--", PROGRAMS / "tool_linked", "copy", "0")
        self.assertEqual((result.returncode, result.stdout, result.stderr.splitlines()[-1]), (0, "devices 8\n", "0 errors, 1 warnings"))
        self.assertIn("sampan: warning: leak", result.stderr)

    def test_settings_and_statuses_pass_through(self):
        result = self.check("--devices", "3", "--", PROGRAMS / "tool_linked", "copy", "77")
        self.assertEqual((result.returncode, result.stdout), (77, "devices 3\n"))


if __name__ == "__main__":
    unittest.main()
