"""sampan bench on an NVIDIA GPU: every group beside the driver, verified data, what the output says was measured."""

import csv
import io
import json
import unittest

from tool import PROGRAMS, environment, sampan

COPIES = [("HcclD2DMemcpyAsync", path) for path in ("within a rank", "rank to rank")]


def bench(*words, **options):
    return sampan("bench", *words, "--time", "0.01", "--backend", "cuda", **options)


class GpuTest(unittest.TestCase):
    def check(self, result, devices):
        self.assertEqual((result.returncode, result.stderr), (0, ""), result.stdout)
        run = json.loads(result.stdout)
        self.assertEqual((run["backend"], run["ranks"]["threads"]), ("cuda", 2))
        self.assertIn(run["ranks"]["gpus"], range(1, devices + 1))
        for entry in run["results"]:
            self.assertEqual(entry["status"], "verified", entry)
            self.assertGreaterEqual(entry["rounds"], 7)
            for side in ("sampan", "driver"):
                times = entry[side]
                self.assertGreater(times["lower_quartile_seconds"], 0)
                self.assertLessEqual(times["lower_quartile_seconds"], times["median_seconds"])
                self.assertLessEqual(times["median_seconds"], times["upper_quartile_seconds"])
                self.assertEqual("median_gb_per_s" in times, entry["bytes"] != 0)
            self.assertAlmostEqual(entry["ratio"] * entry["sampan"]["median_seconds"], entry["driver"]["median_seconds"])
        return run["results"]

    def test_ranks_with_one_device_and_with_two(self):
        for devices in (1, 2):
            with self.subTest(devices=devices):
                results = self.check(bench("hccl", "--sizes", "4,1004,1M", "--format", "json", "--devices", devices), devices)
                cases = [(entry["call"], entry["path"]) for entry in results]
                expected = [copy for copy in COPIES for _ in range(3)] + [("Transport::PostReady", "rank to rank")]
                self.assertEqual(cases, expected)

    def test_everything(self):
        results = self.check(bench("--sizes", "64K", "--format", "json"), 2)
        self.assertEqual({entry["group"] for entry in results}, {"linear", "2d", "batch", "desc", "hccl"})

    def test_table_and_csv_say_what_was_measured(self):
        table = bench("hccl", "--sizes", "4K")
        self.assertEqual((table.returncode, table.stderr), (0, ""))
        self.assertRegex(table.stdout, r"(?m)^Of ranks, 2 threads on [12] GPUs?: the time of the slowest one; driver copies the same lengths")
        self.assertRegex(table.stdout, r"(?m)^  rank to rank +- +[\d.]+ [num]s +-  [\d.]+ - [\d.]+ us +[\d.]+ [num]s +[\d.]+$")
        rows = list(csv.DictReader(io.StringIO(bench("hccl", "--sizes", "4K", "--format", "csv").stdout)))
        self.assertEqual({row["status"] for row in rows}, {"verified"})
        self.assertTrue(all(float(row["driver_seconds"]) > 0 for row in rows))

    def test_why_a_batch_takes_its_path(self):
        for settings, path, reason in (({}, "kernel", "short entries cost an engine more to start than to copy"),
                                       ({"SAMPAN_COPY_QUIET": "quiet"}, "batch", "SAMPAN_COPY_QUIET is quiet: no kernel beside the program's"),
                                       ({"SAMPAN_COPY_PATH": "engine"}, "engine", "SAMPAN_COPY_PATH says so")):
            result = bench("batch", "--sizes", "1M", "--why", "--format", "json", env=environment(**settings))
            self.assertEqual((result.returncode, result.stderr), (0, ""), result.stdout)
            self.assertEqual({(entry["taken"]["path"], entry["taken"]["reason"]) for entry in json.loads(result.stdout)["results"]}, {(path, reason)})

    def test_rate_and_disturbance_beside_kernels(self):
        result = bench("batch", "--sizes", "32M", "--beside", "--format", "json")
        self.assertEqual((result.returncode, result.stderr), (0, ""), result.stdout)
        for entry in json.loads(result.stdout)["results"]:
            for kernel in ("fma", "memory"):
                self.assertGreater(entry["beside"][kernel]["kernel_times"], 0)
                self.assertGreater(entry["beside"][kernel]["gb_per_s"], 0)
        table = bench("batch", "--sizes", "4K", "--beside").stdout
        self.assertRegex(table, r"(?m)^  pinned to device +4 KiB +[\d.]+ [um]s +[\d.]+  [\d.]+ - [\d.]+( +[\d.]+){6}$")
        rows = list(csv.DictReader(io.StringIO(bench("batch", "--sizes", "4K", "--beside", "--format", "csv").stdout)))
        self.assertTrue(all(float(row["fma_times"]) > 0 and float(row["beside_memory_gb_per_s"]) > 0 for row in rows))

    def test_ranks_are_not_measured_beside_kernels(self):
        result = bench("hccl", "--sizes", "4K", "--beside")
        self.assertEqual((result.returncode, result.stdout), (2, ""))
        self.assertIn("and the group is hccl", result.stderr)

    def test_wrong_bytes(self):
        env = environment(LD_PRELOAD=str(PROGRAMS / "libtool_wrong_copy.so"), WRONG_BYTES="-1")
        result = bench("hccl", "--sizes", "4K", "--format", "json", env=env)
        self.assertEqual(result.returncode, 1)
        self.assertEqual({entry["status"] for entry in json.loads(result.stdout)["results"]}, {"failed"})


if __name__ == "__main__":
    unittest.main()
