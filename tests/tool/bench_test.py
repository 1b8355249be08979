"""sampan bench: formats, verified data, the picture, a full disk, interrupts, progress."""

import csv
import io
import json
import os
import pathlib
import pty
import re
import signal
import subprocess
import tempfile
import time
import unittest
import xml.etree.ElementTree

from tool import BUILD, PROGRAMS, SAMPAN, Terminal, environment, private_installation, sampan

QUICK = ["--sizes", "4K,1M", "--time", "0.01"]
SVG = "{http://www.w3.org/2000/svg}"


class FormatTest(unittest.TestCase):
    def test_json_of_everything(self):
        result = sampan("bench", *QUICK, "--format", "json")
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        run = json.loads(result.stdout)
        self.assertFalse(run["interrupted"])
        self.assertEqual({entry["group"] for entry in run["results"]}, {"linear", "2d", "batch", "desc", "hccl"})
        self.assertEqual({entry["bytes"] for entry in run["results"]}, {0, 4096, 1 << 20})
        for entry in run["results"]:
            self.assertEqual(entry["status"], "verified")
            self.assertGreaterEqual(entry["rounds"], 7)
            self.assertEqual(entry["bytes"] == 0, entry["call"] == "Transport::PostReady")
            for side in ("sampan", "memcpy"):
                times = entry[side]
                self.assertGreater(times["lower_quartile_seconds"], 0)
                self.assertLessEqual(times["lower_quartile_seconds"], times["median_seconds"])
                self.assertLessEqual(times["median_seconds"], times["upper_quartile_seconds"])
                self.assertAlmostEqual(times.get("median_gb_per_s", 0) * times["median_seconds"] * 1e9, entry["bytes"], delta=1)
            self.assertAlmostEqual(entry["ratio"] * entry["sampan"]["median_seconds"], entry["memcpy"]["median_seconds"])

    def test_each_group_alone(self):
        for group, call, pieces in (("linear", "aclrtMemcpyAsync", 1), ("2d", "aclrtMemcpy2dAsync", 64),
                                    ("batch", "aclrtMemcpyBatchAsync", 16), ("desc", "aclrtMemcpyAsyncWithDesc", 1)):
            run = json.loads(sampan("bench", group, "--sizes", "64K", "--time", "0.01", "--format", "json").stdout)
            self.assertEqual({(entry["group"], entry["call"], entry["pieces"]) for entry in run["results"]}, {(group, call, pieces)})

    def test_ranks(self):
        result = sampan("bench", "hccl", "--sizes", "1003,64K", "--time", "0.01", "--format", "json")
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        cases = [(entry["call"], entry["path"], entry["bytes"], entry["status"]) for entry in json.loads(result.stdout)["results"]]
        copies = [("HcclD2DMemcpyAsync", path, size, "verified") for path in ("within a rank", "rank to rank") for size in (1003, 65536)]
        self.assertEqual(cases, [*copies, ("Transport::PostReady", "rank to rank", 0, "verified")])

    def test_signals_have_times_and_no_rates(self):
        result = sampan("bench", "hccl", "--sizes", "4K", "--time", "0.01", "--format", "csv")
        (signal_row,) = [row for row in csv.DictReader(io.StringIO(result.stdout)) if row["bytes"] == "0"]
        self.assertEqual((signal_row["gb_per_s"], signal_row["memcpy_gb_per_s"], signal_row["status"]), ("", "", "verified"))
        self.assertGreater(float(signal_row["memcpy_seconds"]), 0)
        table = sampan("bench", "hccl", "--sizes", "4K", "--time", "0.01").stdout
        self.assertRegex(table, r"(?m)^  rank to rank +- +[\d.]+ [num]s +-  [\d.]+ - [\d.]+ us +[\d.]+ [num]s +[\d.]+$")

    def test_csv(self):
        result = sampan("bench", "linear", *QUICK, "--format", "csv")
        rows = list(csv.DictReader(io.StringIO(result.stdout)))
        self.assertEqual(len(rows), 12)
        for row in rows:
            self.assertEqual((row["group"], row["status"], row["error"]), ("linear", "verified", ""))
            self.assertAlmostEqual(float(row["memcpy_seconds"]) / float(row["seconds"]), float(row["ratio"]), delta=0.02 * float(row["ratio"]))

    def test_table_without_progress_in_a_pipe(self):
        result = sampan("bench", "desc", *QUICK)
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        self.assertRegex(result.stdout, r"(?m)^  device to device +1 MiB +[\d.]+ [um]s +[\d.]+  [\d.]+ - [\d.]+ +[\d.]+ +[\d.]+$")
        self.assertEqual(result.stdout.splitlines()[-2], "2 cases measured, all data verified")

    def test_progress_on_a_terminal(self):
        terminal = Terminal("bench", "desc", *QUICK)
        self.assertEqual(terminal.end(), 0)
        self.assertIn("] 1/2 desc, device to device, 1 MiB", terminal.shown)

    def test_sizes_are_sorted_and_may_be_odd(self):
        run = json.loads(sampan("bench", "desc", "--sizes", "3001,1,64K,1", "--time", "0.01", "--format", "json").stdout)
        self.assertEqual([entry["bytes"] for entry in run["results"]], [1, 3001, 65536])

    def test_what_a_chip_does_not_offer(self):
        for group in ("batch", "hccl"):
            result = sampan("bench", group, *QUICK, "--format", "json", "--profile", "ascend310-rc")
            self.assertEqual(result.returncode, 0)
            self.assertEqual({entry["status"] for entry in json.loads(result.stdout)["results"]}, {"not offered"})


class FailureTest(unittest.TestCase):
    def test_wrong_bytes(self):
        env = environment(LD_PRELOAD=str(PROGRAMS / "libtool_wrong_copy.so"), WRONG_BYTES="-1")
        for group in ("linear", "hccl"):
            result = sampan("bench", group, *QUICK, "--format", "json", env=env)
            self.assertEqual(result.returncode, 1)
            entries = json.loads(result.stdout)["results"]
            self.assertEqual({entry["status"] for entry in entries}, {"failed"})
            self.assertIn("of the destination", entries[0]["error"])
            self.assertIn("of the destination", entries[-1]["error"])
        self.assertIn("FAILED", sampan("bench", "linear", *QUICK, env=env).stdout)

    def test_the_process_of_the_ranks_dies(self):
        command = subprocess.Popen([SAMPAN, "bench", "hccl", "--sizes", "4K", "--time", "2", "--format", "json"],
                                   env=environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        time.sleep(0.5)
        (child,) = pathlib.Path(f"/proc/{command.pid}/task/{command.pid}/children").read_text().split()
        os.kill(int(child), signal.SIGKILL)
        output, _ = command.communicate(timeout=30)
        self.assertEqual(command.returncode, 1)
        errors = [entry["error"] for entry in json.loads(output)["results"]]
        self.assertEqual(errors[0], "signal 9 ended the process of the ranks")
        self.assertEqual(set(errors[1:]), {"the process of the ranks has ended"})

    def test_ctrl_c_in_the_middle_of_ranks(self):
        command = subprocess.Popen([SAMPAN, "bench", "hccl", "--sizes", "4K", "--time", "100", "--format", "json"],
                                   env=environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        time.sleep(0.5)
        command.send_signal(signal.SIGINT)
        output, _ = command.communicate(timeout=10)
        self.assertEqual(command.returncode, -signal.SIGINT)
        self.assertEqual(json.loads(output)["results"], [])

    def test_a_size_that_no_memory_holds_fails_alone(self):
        result = sampan("bench", "desc", "--sizes", "4K,4000G", "--time", "0.01", "--format", "json")
        self.assertEqual(result.returncode, 1)
        self.assertEqual([entry["status"] for entry in json.loads(result.stdout)["results"]], ["verified", "failed"])

    def test_ctrl_c_shows_what_there_is(self):
        ours, theirs = pty.openpty()  # for the progress, which tells when to interrupt
        command = subprocess.Popen(
            [SAMPAN, "bench", "--sizes", "4K", "--time", "0.3", "--format", "json"],
            env=environment(), stdout=subprocess.PIPE, stderr=theirs, text=True,
        )
        progress = b""
        while b"] 2/14" not in progress:
            progress += os.read(ours, 4096)
        command.send_signal(signal.SIGINT)
        output, _ = command.communicate(timeout=30)
        os.close(theirs)
        os.close(ours)
        self.assertEqual(command.returncode, -signal.SIGINT)
        run = json.loads(output)
        self.assertTrue(run["interrupted"])
        self.assertIn(len(run["results"]), range(2, 11))

    def test_ctrl_c_on_a_terminal(self):
        terminal = Terminal("bench", "--sizes", "4K", "--time", "0.3")
        terminal.read_until("] 2/")
        terminal.type("\x03")
        self.assertEqual(os.waitstatus_to_exitcode(terminal.end()), -signal.SIGINT)
        self.assertRegex(terminal.shown, r"Interrupted after \d+ of 14 cases\.")


class ReferenceTest(unittest.TestCase):
    """An installation of its own, whose reference results the tests write."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.binary = private_installation(f"{folder.name}/sampan")
        self.references = self.binary.parent.parent / "share" / "sampan" / "reference"
        self.references.mkdir(parents=True)

    def bench(self, *words):
        return sampan("bench", "desc", *(words if "--sizes" in words else [*QUICK, *words]), binary=self.binary)

    def measured(self):
        return json.loads(self.bench("--format", "json").stdout)

    def write(self, run, name="known.json"):
        (self.references / name).write_text(json.dumps(run))

    def scaled(self, run, factor):
        for entry in run["results"]:
            entry["sampan"]["median_gb_per_s"] *= factor
        return run

    def test_without_a_reference(self):
        self.assertIsNone(self.measured()["comparison"])
        self.assertIn("There are no reference results for this machine", self.bench().stdout.splitlines()[-1])

    def test_a_reference_of_this_machine(self):
        run = self.measured()
        for factor, verdict in ((1e-3, "As fast as expected: "), (1e3, ("SLOWER than expected: ", "Not judged on a busy machine: "))):
            self.write(self.scaled(json.loads(json.dumps(run)), factor))
            last = self.bench().stdout.splitlines()[-1]
            self.assertTrue(last.startswith(verdict), last)
            self.assertRegex(last, r"times the rates of known \(median of 2 cases\), at least \S+ \(desc, device to device, \S+ \S+\)")
            comparison = self.measured()["comparison"]
            self.assertEqual((comparison["reference"], comparison["cases"]), ("known", 2))
            self.assertLessEqual(comparison["slowest"], comparison["median"])
            self.assertEqual(comparison["median"] > 1, factor < 1)

    def test_a_busy_machine_is_not_judged(self):
        """Other processes use all cores: that figures are low says nothing about Sampan."""
        self.write(self.scaled(self.measured(), 1e3))
        busy = [subprocess.Popen(["sh", "-c", "while :; do :; done"]) for _ in range(2 * len(os.sched_getaffinity(0)))]
        try:
            last = self.bench("--sizes", "1M", "--time", "1").stdout.splitlines()[-1]
            run = json.loads(self.bench("--sizes", "1M", "--time", "1", "--format", "json").stdout)
        finally:
            for process in busy:
                process.kill()
                process.wait()
        self.assertRegex(last, r"^Not judged on a busy machine: .*The machine was BUSY: other processes used [\d.]+ % of the \d+ cores")
        self.assertTrue(run["busy"])
        self.assertGreater(run["others_share"], 0.1)

    def test_an_interrupted_run_is_not_judged(self):
        self.write(self.scaled(self.measured(), 1e3))
        for words in ([], ["--format", "json"]):
            command = subprocess.Popen([self.binary, "bench", "desc", "--sizes", "4K,1M,2M", "--time", "2", *words], env=environment(),
                                       stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
            time.sleep(3)  # one case is measured, the others are not
            command.send_signal(signal.SIGINT)
            output, errors = command.communicate(timeout=60)
            self.assertEqual(command.returncode, -signal.SIGINT, errors)
            if words:
                self.assertTrue(json.loads(output)["interrupted"])
                self.assertIsNone(json.loads(output)["comparison"])
            else:
                self.assertEqual(output.splitlines()[-1], "Not compared with reference results: the run was interrupted")

    def test_references_of_others_do_not_count(self):
        run = self.measured()
        for change in ({"backend": "cuda"}, {"machine": {**run["machine"], "cores": 4096}},
                       {"machine": {**run["machine"], "processor": "another"}}, {"results": []}):
            self.write({**run, **change})
            self.assertIsNone(self.measured()["comparison"], change)

    def test_a_broken_file_is_named_and_left_out(self):
        run = self.measured()
        (self.references / "broken.json").write_text('{"machine": ')
        (self.references / "another.json").write_text("[]")
        self.write(run)
        result = self.bench("--format", "json")
        self.assertEqual(result.returncode, 0)
        self.assertEqual(json.loads(result.stdout)["comparison"]["reference"], "known")
        for name in ("another.json", "broken.json"):
            self.assertIn(f"{name} is not a result of 'sampan bench --format json'", result.stderr)

    def test_shipped_references_can_be_read(self):
        shipped = list((BUILD / "share" / "sampan" / "reference").glob("*.json"))
        self.assertTrue(shipped)
        for path in shipped:
            run = json.loads(path.read_text())
            self.assertEqual("gpu" in run["machine"], run["backend"] == "cuda", path)
            self.write({**run, "machine": self.measured()["machine"], "backend": "emulated"})
            result = sampan("bench", "linear", "--sizes", "4K,1M", "--time", "0.01", "--format", "json", binary=self.binary)
            known = {(entry["group"], entry["path"], entry["bytes"]) for entry in run["results"]}
            shared = [entry for entry in json.loads(result.stdout)["results"] if (entry["group"], entry["path"], entry["bytes"]) in known]
            self.assertGreaterEqual(len(shared), 6, path)
            self.assertEqual(json.loads(result.stdout)["comparison"]["cases"], len(shared), path)


class PlotTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def test_picture_shows_the_figures(self):
        path = self.folder / "rates.svg"
        result = sampan("bench", "linear", *QUICK, "--format", "json", "--plot", path)
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        picture = xml.etree.ElementTree.parse(path)
        lines = picture.findall(f".//{SVG}polyline")
        self.assertEqual(len(lines), 12)  # six paths and their memcpy
        titles = {title.text for title in picture.findall(f".//{SVG}circle/{SVG}title")}
        for entry in json.loads(result.stdout)["results"]:
            size = "4 KiB" if entry["bytes"] == 4096 else "1 MiB"
            [shown] = [t for t in titles if t.startswith(f"linear, {entry['path']}, {size}: ")]
            rate = float(re.search(r"([\d.]+) GB/s", shown).group(1))
            self.assertAlmostEqual(rate, entry["sampan"]["median_gb_per_s"], delta=0.02 * rate + 0.01)
        box = [float(number) for number in picture.getroot().get("viewBox").split()]
        for line in lines:
            for point in line.get("points").split():
                x, y = map(float, point.split(","))
                self.assertTrue(0 <= x <= box[2] and 0 <= y <= box[3])
        self.assertEqual(os.listdir(self.folder), ["rates.svg"])
        self.assertNotIn("http", path.read_text().replace("http://www.w3.org/2000/svg", ""))

    def test_a_chart_for_each_group(self):
        path = self.folder / "all.svg"
        self.assertEqual(sampan("bench", "all", *QUICK, "--plot", path).returncode, 0)
        picture = xml.etree.ElementTree.parse(path)
        titles = [text for text in picture.findall(f".//{SVG}text") if text.get("class") == "group"]
        self.assertEqual([title.text for title in titles], ["linear", "2d", "batch", "desc", "hccl"])
        tops = [float(title.get("y")) for title in titles] + [float(picture.getroot().get("viewBox").split()[3])]
        for top, bottom, group in zip(tops, tops[1:], [title.text for title in titles]):
            lines = [line for line in picture.findall(f".//{SVG}polyline")
                     if all(top < float(point.split(",")[1]) < bottom for point in line.get("points").split())]
            circles = [circle for circle in picture.findall(f".//{SVG}circle") if circle[0].text.startswith(f"{group}, ")]
            self.assertTrue(all(top < float(circle.get("cy")) < bottom for circle in circles))
            # Of one chart no two lines have the same colour, and all names of the legend have room.
            solid = [line.get("stroke") for line in lines if line.get("stroke-dasharray") is None]
            self.assertEqual(len(solid), len(set(solid)))
            self.assertLessEqual(len(solid), 12)
            self.assertEqual(len(lines), 2 * len(solid))

    def test_one_size_and_nothing_measured(self):
        for words in (["desc", "--sizes", "4K"], ["batch", "--sizes", "4K", "--profile", "ascend310-rc"]):
            path = self.folder / "one.svg"
            self.assertEqual(sampan("bench", *words, "--time", "0.01", "--plot", path).returncode, 0)
            self.assertNotIn("nan", path.read_text())
            xml.etree.ElementTree.parse(path)

    def test_a_place_that_cannot_be_written_to_is_noticed_at_once(self):
        for path in (self.folder / "none" / "rates.svg", self.folder):
            begin = time.monotonic()
            result = sampan("bench", "--time", "60", "--plot", path)
            self.assertEqual((result.returncode, result.stdout), (3, ""))
            self.assertIn(f"{path} cannot be written", result.stderr)
            self.assertLess(time.monotonic() - begin, 10)

    def test_full_disk(self):
        mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=4k", "tmpfs", self.folder], capture_output=True, check=False)
        if mounted.returncode != 0:
            self.skipTest("mounting a small tmpfs needs rights that this process does not have")
        self.addCleanup(subprocess.run, ["umount", self.folder], check=True)
        path = self.folder / "rates.svg"
        path.write_text("before")
        result = sampan("bench", "desc", *QUICK, "--plot", path)
        self.assertEqual(result.returncode, 3)
        self.assertIn(f"{path} cannot be written: No space left on device", result.stderr)
        self.assertIn("2 cases measured", result.stdout)
        self.assertEqual((os.listdir(self.folder), path.read_text()), (["rates.svg"], "before"))


class PathTest(unittest.TestCase):
    """--why: the path of each copy, and the reason, as a trace of the same copy says them."""

    AT_ONCE = ("at once", "short, and nothing is queued before it")
    SHARED = ("shared", "512 KiB or more: idle engines take part")
    BLOCKING = ("blocking", "pageable host memory: the call waits for its stream and copies before it returns")

    def test_each_case_has_the_path_of_its_own_copy(self):
        result = sampan("bench", "linear", "--sizes", "4K,16M", "--time", "0.01", "--why", "--format", "json",
                        env=environment(SAMPAN_ENGINES="2"))
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        for entry in json.loads(result.stdout)["results"]:
            expected = self.BLOCKING if "pageable" in entry["path"] else self.SHARED if entry["bytes"] > 4096 else self.AT_ONCE
            self.assertEqual((entry["taken"]["path"], entry["taken"]["reason"]), expected, entry)

    def test_settings_count(self):
        result = sampan("bench", "batch", "--sizes", "4K", "--time", "0.01", "--why", "--schedule", "early")
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        self.assertNotIn("at once", result.stdout)
        self.assertRegex(result.stdout, r"(?m)^  pinned to device +4 KiB .*\n    by [a-z ]+: .+$")

    def test_csv_and_cases_of_ranks(self):
        rows = list(csv.DictReader(io.StringIO(sampan("bench", "all", "--sizes", "4K", "--time", "0.01", "--why", "--format", "csv").stdout)))
        self.assertEqual({row["group"]: row["taken"] != "" for row in rows},
                         {"linear": True, "2d": True, "batch": True, "desc": True, "hccl": False})
        self.assertIn(self.AT_ONCE, [(row["taken"], row["reason"]) for row in rows])

    def test_a_copy_that_is_not_offered_has_no_path(self):
        result = sampan("bench", "batch", *QUICK, "--why", "--profile", "ascend310-rc", "--format", "json")
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        self.assertTrue(all("taken" not in entry for entry in json.loads(result.stdout)["results"]))

    def test_nothing_is_left_in_the_folder_of_temporary_files(self):
        with tempfile.TemporaryDirectory() as folder:
            self.assertEqual(sampan("bench", "desc", *QUICK, "--why", env=environment(TMPDIR=folder)).returncode, 0)
            self.assertEqual(os.listdir(folder), [])


class BesideTest(unittest.TestCase):
    """--beside without a GPU: a refusal that says what to do."""

    def test_emulated_devices_have_no_kernels(self):
        result = sampan("bench", "batch", *QUICK, "--beside")
        self.assertEqual((result.returncode, result.stdout), (2, ""))
        self.assertIn("--beside measures copies beside the kernels of a GPU, and the backend is emulated; add --backend cuda", result.stderr)


class CopyTableTest(unittest.TestCase):
    """The runtime reads SAMPAN_COPY_TABLE on every backend, so that mistakes show everywhere."""

    def test_wrong_files_are_refused_with_line_and_value(self):
        with tempfile.NamedTemporaryFile("w", suffix=".txt") as file:
            file.write("gpu H200\n\nlink_h2d_blocks lots\n")
            file.flush()
            result = sampan("bench", "desc", "--sizes", "4K", "--time", "0.01", env=environment(SAMPAN_COPY_TABLE=file.name))
        self.assertEqual(result.returncode, 1)
        self.assertIn(f"SAMPAN_COPY_TABLE: {file.name}:3: link_h2d_blocks is 'lots', it must be a number from 1 to 1024", result.stderr)


if __name__ == "__main__":
    unittest.main()
