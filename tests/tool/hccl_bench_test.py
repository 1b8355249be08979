"""hccl_bench: every collective in both forms, its columns, wrong results, mistakes on the command line."""

import subprocess
import unittest

from tool import BUILD, environment

HCCL_BENCH = BUILD / "bin" / "hccl_bench"
WRONG_COPY = BUILD / "tests" / "tool" / "libtool_wrong_copy.so"
COLLECTIVES = (
    "ring_all_gather", "mesh_all_gather", "ring_all_reduce", "ring_reduce_scatter", "mesh_reduce_scatter", "broadcast",
    "scatter", "all_to_all", "all_to_all_v",
)
QUICK = ("-n", 2, "-w", 1)


def hccl_bench(*words, **more):
    return subprocess.run([HCCL_BENCH, *map(str, words)], env=environment(**more), stdin=subprocess.DEVNULL,
                          capture_output=True, text=True, timeout=120, check=False)


def rows(result):
    """The table without its header, as lists of words."""
    lines = result.stdout.splitlines()
    assert lines[0].split()[:4] == ["data_size", "aveg_time(us)", "alg_bandwidth(GB/s)", "check_result"], result.stdout
    return [line.split() for line in lines[1:]]


class TableTest(unittest.TestCase):
    def check(self, result, sizes, outcome="success"):
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        table = rows(result)
        self.assertEqual([int(row[0]) for row in table], sizes)
        for size, microseconds, rate, check in (row[:4] for row in table):
            self.assertEqual(check, outcome)
            self.assertGreater(float(microseconds), 0)
            self.assertAlmostEqual(float(rate), int(size) / float(microseconds) / 1e3, delta=0.01 * float(rate) + 0.001)

    def test_every_collective_as_threads_and_as_processes(self):
        for collective in COLLECTIVES:
            for form in ("threads", "processes"):
                with self.subTest(collective=collective, form=form):
                    result = hccl_bench(collective, "-b", "2400", "-e", "24000", "-f", 10, "-p", 3, "--form", form, *QUICK)
                    self.check(result, [2400, 24000])

    def test_types_and_operations(self):
        for name, size in (("int8", 1), ("int16", 2), ("int32", 4), ("fp16", 2), ("fp32", 4), ("bfp16", 2)):
            for operation in ("sum", "max", "min"):
                with self.subTest(type=name, operation=operation):
                    result = hccl_bench("ring_all_reduce", "-b", "1001", "-e", "1001", "-d", name, "-o", operation, *QUICK)
                    self.check(result, [1001 // size * size])

    def test_sizes_are_whole_elements_for_each_rank(self):
        result = hccl_bench("ring_all_gather", "-b", "1", "-e", "2K", "-i", "1000", "-p", 3, "-d", "fp64", *QUICK)
        self.check(result, [24, 1001 // 24 * 24, 2001 // 24 * 24])

    def test_a_root(self):
        self.check(hccl_bench("broadcast", "-b", "64K", "-e", "64K", "-p", 5, "-r", 4, *QUICK), [65536])

    def test_without_a_check(self):
        self.check(hccl_bench("all_to_all", "-b", "8K", "-e", "8K", "-c", 0, *QUICK), [8192], "NULL")

    def test_next_to_memcpy(self):
        for collective in ("ring_all_gather", "mesh_all_gather", "broadcast", "scatter", "all_to_all"):
            with self.subTest(collective=collective):
                result = hccl_bench(collective, "-b", "1M", "-e", "1M", "--memcpy", *QUICK)
                self.check(result, [1 << 20])
                self.assertEqual(result.stdout.splitlines()[0].split()[4:], ["memcpy(GB/s)", "ratio"])
                rate, plain, ratio = (float(rows(result)[0][column]) for column in (2, 4, 5))
                self.assertAlmostEqual(ratio, rate / plain, delta=0.02 * ratio + 0.006)


class FailureTest(unittest.TestCase):
    def test_a_wrong_result(self):
        result = hccl_bench("ring_all_gather", "-b", "8K", "-e", "16K", *QUICK, LD_PRELOAD=WRONG_COPY, WRONG_BYTES="-1")
        self.assertEqual(result.returncode, 1)
        self.assertEqual([row[3] for row in rows(result)], ["failed", "failed"])
        self.assertIn("hccl_bench: rank 0: ring_all_gather of 1024 elements", result.stderr)

    def test_more_memory_than_there_is(self):
        result = hccl_bench("broadcast", "-b", "1G", "-e", "1G", *QUICK, SAMPAN_DEVICE_MEMORY="16M")
        self.assertEqual((result.returncode, result.stdout), (1, ""))
        self.assertIn("1073741824", result.stderr)

    def test_mistakes(self):
        for words, complaint in (
            ((), "collective is required"),
            (("gather",), "gather not in {all_to_all,"),
            (("broadcast", "-b", "8Q"), "-b: '8Q' is not a size"),
            (("broadcast", "-b", "0"), "-b: '0' is not a size"),
            (("broadcast", "-b", "-8"), "-b: '-8' is not a size"),
            (("broadcast", "-e", "17G"), "-e: '17G' is not a size"),
            (("broadcast", "-e", "99999999999999999999"), "is not a size"),
            (("broadcast", "-b", "2K", "-e", "1K"), "-b: 2K is more than the last size, 1K (-e)"),
            (("broadcast", "-f", "1"), "-f: the factor must be more than 1"),
            (("broadcast", "-f", "nan"), "-f: the factor must be more than 1"),
            (("broadcast", "-b", "1", "-i", "1"), "more than 1000 sizes"),
            (("broadcast", "-i", "8", "-f", "2"), "excludes"),
            (("broadcast", "-d", "fp8"), "fp8 not in {bfp16,"),
            (("ring_all_reduce", "-d", "fp64"), "-d: fp64 cannot be reduced: int8,"),
            (("ring_all_reduce", "-o", "prod"), "prod not in {max,min,sum}"),
            (("broadcast", "-r", "2"), "-r: root 2 is not one of 2 ranks (-p)"),
            (("broadcast", "-p", "0"), "--ranks"),
            (("broadcast", "-n", "0"), "--iters"),
            (("broadcast", "--form", "fibres"), "fibres not in {threads,processes}"),
            (("all_to_all_v", "--memcpy"), "--memcpy: all_to_all_v does more than copy"),
            (("broadcast", "--verbose"), "--verbose"),
        ):
            with self.subTest(words=words):
                result = hccl_bench(*words)
                self.assertEqual((result.returncode, result.stdout), (2, ""))
                self.assertIn(complaint, result.stderr)
                self.assertRegex(result.stderr, r"\Ahccl_bench: .*'hccl_bench --help' shows how it is used.\n\Z")

    def test_help(self):
        result = hccl_bench("--help")
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        for part in ("ring_all_reduce", "--maxbytes", "Exit status: 0"):
            self.assertIn(part, result.stdout)


if __name__ == "__main__":
    unittest.main()
