"""hccl_bench: every operator in both forms and under mpirun, its columns, wrong results, mistakes on the command line."""

import os
import pathlib
import shlex
import shutil
import subprocess
import tempfile
import unittest

from tool import BUILD, SANITIZED, environment, two_hosts

HCCL_BENCH = BUILD / "bin" / "hccl_bench"
WRONG_OPERATOR = BUILD / "tests" / "tool" / "libtool_wrong_operator.so"
OPERATORS = ("all_reduce", "all_gather", "reduce_scatter", "broadcast", "reduce", "scatter", "alltoall", "alltoallv")
MPIRUN = ("mpirun", "--oversubscribe", *(("--allow-run-as-root",) if os.geteuid() == 0 else ()))
QUICK = ("-n", 2, "-w", 1)


def hccl_bench(*words, under=(), **more):
    return subprocess.run([*under, HCCL_BENCH, *map(str, words)], env=environment(**more), stdin=subprocess.DEVNULL,
                          capture_output=True, text=True, timeout=120, check=False)


def rows(result):
    """The table without its header, as lists of words."""
    lines = result.stdout.splitlines()
    assert lines[0].split()[:4] == ["data_size", "aveg_time(us)", "alg_bandwidth(GB/s)", "check_result"], result.stdout
    return [line.split() for line in lines[1:]]


class Tables(unittest.TestCase):
    def check(self, result, sizes, outcome="success"):
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        table = rows(result)
        self.assertEqual([int(row[0]) for row in table], sizes)
        for size, microseconds, rate, check in (row[:4] for row in table):
            self.assertEqual(check, outcome)
            self.assertGreater(float(microseconds), 0)
            self.assertAlmostEqual(float(rate), int(size) / float(microseconds) / 1e3, delta=0.01 * float(rate) + 0.001)


class TableTest(Tables):
    def test_every_operator_as_threads_and_as_processes(self):
        for operator in OPERATORS:
            for form in ("threads", "processes"):
                with self.subTest(operator=operator, form=form):
                    result = hccl_bench(operator, "-b", "2400", "-e", "24000", "-f", 10, "-p", 3, "--form", form, *QUICK)
                    self.check(result, [2400, 24000])

    def test_types_and_operations(self):
        for name, size in (("int8", 1), ("int16", 2), ("int32", 4), ("int64", 8), ("fp16", 2), ("fp32", 4), ("bfp16", 2)):
            for operation in ("sum", "prod", "max", "min"):
                if operation == "prod" and name in ("int16", "bfp16"):
                    continue  # the chip has none
                with self.subTest(type=name, operation=operation):
                    result = hccl_bench("all_reduce", "-b", "1001", "-e", "1001", "-d", name, "-o", operation, *QUICK)
                    self.check(result, [1001 // size * size])

    def test_sizes_are_whole_elements_for_each_rank(self):
        result = hccl_bench("all_gather", "-b", "1", "-e", "2K", "-i", "1000", "-p", 3, "-d", "fp64", *QUICK)
        self.check(result, [24, 1001 // 24 * 24, 2001 // 24 * 24])

    def test_a_root(self):
        for operator in ("broadcast", "reduce", "scatter"):
            with self.subTest(operator=operator):
                self.check(hccl_bench(operator, "-b", "60K", "-e", "60K", "-p", 5, "-r", 4, *QUICK), [61440])

    def test_without_a_check(self):
        self.check(hccl_bench("alltoall", "-b", "8K", "-e", "8K", "-c", 0, *QUICK), [8192], "NULL")

    def check_other_side(self, result, column):
        self.check(result, [1 << 20])
        self.assertEqual(result.stdout.splitlines()[0].split()[4:], [column, "ratio"])
        rate, other, ratio = (float(rows(result)[0][column]) for column in (2, 4, 5))
        self.assertAlmostEqual(ratio, rate / other, delta=0.02 * ratio + 0.006)

    def test_next_to_memcpy(self):
        for operator in OPERATORS:
            with self.subTest(operator=operator):
                self.check_other_side(hccl_bench(operator, "-b", "1M", "-e", "1M", "--memcpy", *QUICK), "memcpy(GB/s)")

    @unittest.skipUnless(shutil.which("mpirun") and not SANITIZED, "no mpirun, or Open MPI beside sanitizers")
    def test_next_to_open_mpi(self):
        for operator in ("all_reduce", "alltoallv"):
            with self.subTest(operator=operator):
                self.check_other_side(hccl_bench(operator, "-b", "1M", "-e", "1M", "--mpi", *QUICK), "mpi(GB/s)")

    @unittest.skipUnless(shutil.which("mpirun"), "no mpirun")
    def test_under_mpirun(self):
        result = hccl_bench("all_reduce", "-b", "1000", "-e", "1000", *QUICK, under=(*MPIRUN, "-n", "3"))
        self.check(result, [1000])
        result = hccl_bench("all_reduce", "-p", 2, *QUICK, under=(*MPIRUN, "-n", "3"))
        self.assertNotEqual(result.returncode, 0)
        self.assertIn("-p: mpirun started 3 ranks, not 2", result.stderr)


def token_file(test, text="0123456789abcdef"):
    folder = tempfile.TemporaryDirectory()
    test.addCleanup(folder.cleanup)
    file = pathlib.Path(folder.name) / "bench.token"
    file.touch(mode=0o600)
    file.write_text(text)
    return file


class HostsTest(Tables):
    """Four ranks on two hosts, each with the variables that mpirun gives it."""

    def run_ranks(self, *words, files, hosts):
        ranks = []
        for rank in range(4):
            variables = {"OMPI_COMM_WORLD_RANK": str(rank), "OMPI_COMM_WORLD_SIZE": "4", "OMPI_COMM_WORLD_LOCAL_SIZE": "2",
                         "SAMPAN_PROFILE": "ascend910c"}
            command = ["ip", "netns", "exec", hosts[rank // 2], HCCL_BENCH, *map(str, words), "--address", "10.214.0.1",
                       "--token-file", files[rank // 2]]
            ranks.append(subprocess.Popen(command, env=environment(**variables), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                          stderr=subprocess.PIPE, text=True))
        ended = []
        for rank in ranks:
            out, err = rank.communicate(timeout=120)
            ended.append(subprocess.CompletedProcess(rank.args, rank.returncode, out, err))
        return ended

    def test_two_hosts(self):
        hosts = two_hosts(self)
        files = (token_file(self), token_file(self))
        for operator in ("all_reduce", "alltoallv"):
            with self.subTest(operator=operator):
                first, *others = self.run_ranks(operator, "-b", "2K", "-e", "200K", "-f", 100, *QUICK, files=files, hosts=hosts)
                self.check(first, [2048, 204800])
                for other in others:
                    self.assertEqual((other.returncode, other.stdout, other.stderr), (0, "", ""))

    @unittest.skipUnless(shutil.which("mpirun"), "no mpirun")
    def test_under_mpirun(self):
        """As the documents say. Instead of ssh, mpirun starts a shell in the other namespace, with a host name of its own."""
        hosts = two_hosts(self)
        file = token_file(self)
        agent = file.parent / "agent"
        agent.write_text(f"""#!/bin/sh
while [ "$1" != 10.214.0.2 ]; do shift; done
shift
exec ip netns exec {hosts[1]} unshare -u sh -c "hostname {hosts[1]} && $*"
""")
        agent.chmod(0o700)
        words = [*MPIRUN, "--mca", "plm_rsh_agent", str(agent), "-n", "4", "-host", "10.214.0.1:2,10.214.0.2:2",
                 "-x", "SAMPAN_PROFILE=ascend910c", str(HCCL_BENCH), "all_gather", "-b", "80K", "-e", "80K", *map(str, QUICK),
                 "--address", "10.214.0.1", "--token-file", str(file)]
        result = subprocess.run(["ip", "netns", "exec", hosts[0], "unshare", "-u", "sh", "-c",
                                 f"hostname {hosts[0]} && exec {shlex.join(words)}"], env=environment(), stdin=subprocess.DEVNULL,
                                capture_output=True, text=True, timeout=120, check=False)
        self.check(result, [81920])

    def test_another_token_on_the_other_host(self):
        hosts = two_hosts(self)
        files = (token_file(self), token_file(self, "0123456789abcdeF"))
        for rank in self.run_ranks("broadcast", "--timeout", 2, files=files, hosts=hosts):
            self.assertEqual((rank.returncode, rank.stdout), (1, ""))
            self.assertIn("EI0015", rank.stderr)


class FailureTest(unittest.TestCase):
    def test_a_wrong_result(self):
        result = hccl_bench("all_gather", "-b", "8K", "-e", "16K", *QUICK, LD_PRELOAD=WRONG_OPERATOR)
        self.assertEqual(result.returncode, 1)
        self.assertEqual([row[3] for row in rows(result)], ["failed", "failed"])
        self.assertIn("hccl_bench: rank 0: all_gather of 1024 fp32 on 2 ranks: byte ", result.stderr)

    def test_more_memory_than_there_is(self):
        result = hccl_bench("broadcast", "-b", "1G", "-e", "1G", *QUICK, SAMPAN_DEVICE_MEMORY="16M")
        self.assertEqual((result.returncode, result.stdout), (1, ""))
        self.assertIn("1073741824", result.stderr)

    def test_mistakes(self):
        for words, complaint in (
            ((), "operator is required"),
            (("gather",), "gather not in {all_gather,"),
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
            (("all_reduce", "-o", "and"), "and not in {max,min,prod,sum}"),
            (("broadcast", "-r", "2"), "-r: root 2 is not one of 2 ranks (-p)"),
            (("broadcast", "-p", "0"), "--ranks"),
            (("broadcast", "-n", "0"), "--iters"),
            (("broadcast", "--form", "fibres"), "fibres not in {threads,processes}"),
            (("all_reduce", "-o", "max", "--memcpy"), "--memcpy: only fp32 sums and operators that copy"),
            (("all_reduce", "-d", "fp16", "--mpi"), "--mpi: Open MPI has no fp16"),
            (("all_reduce", "-e", "2G", "--mpi"), "--mpi: Open MPI counts up to 2147483647 elements"),
            (("all_reduce", "--mpi", "--memcpy"), "excludes"),
            (("broadcast", "--verbose"), "--verbose"),
            (("broadcast", "--address", "10.0.0.1"), "--address requires --token-file"),
            (("broadcast", "--token-file", "x"), "--token-file requires --address"),
            (("broadcast", "--address", "10.0.0.1", "--token-file", "x"), "--address: without mpirun all ranks run on this host"),
        ):
            with self.subTest(words=words):
                result = hccl_bench(*words)
                self.assertEqual((result.returncode, result.stdout), (2, ""))
                self.assertIn(complaint, result.stderr)
                self.assertRegex(result.stderr, r"\Ahccl_bench: .*'hccl_bench --help' shows how it is used.\n\Z")

    def test_help(self):
        result = hccl_bench("--help")
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        for part in ("all_reduce", "--maxbytes", "Exit status: 0"):
            self.assertIn(part, result.stdout)


if __name__ == "__main__":
    unittest.main()
