#!/usr/bin/env python3
"""Runs launched_program, two processes with two communicators, under `sampan check` and without it.

    launched_test.py --sampan BIN --program BIN [--network]
"""

import argparse
import os
import pathlib
import subprocess
import sys
import time

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "hosts"))
from two_hosts import CANNOT, TwoHosts  # noqa: E402

FOUND_STATUS = 99
TIMEOUT_S = 90  # seconds; the program needs about one, and the limit of its operators is half an hour


class Runs:
    def __init__(self, options):
        self.options = options
        self.failures = 0

    def run(self, mode, *hosts, checked=True, **variables):
        command = [self.options.sampan, "check", "--"] if checked else []
        command += [self.options.program, mode, *hosts]
        environment = dict(os.environ, SAMPAN_DEVICE_MEMORY="64M", **variables)
        result = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=TIMEOUT_S)
        return result.returncode, result.stdout + result.stderr

    def expect(self, mode, right, output):
        if not right:
            self.failures += 1
            print(f"{mode} went wrong:\n{output}")


def processes_in_another_order(runs):
    """Each process waits for what the other queues, or calls, behind its own wait."""
    for mode in ("queued_reversed", "awaited_reversed"):
        status, output = runs.run(mode)
        runs.expect(mode, status == FOUND_STATUS and "deadlock" in output and "HcclAllReduce" in output, output)


def processes_in_one_order(runs):
    """A rank that is late is no deadlock."""
    for mode in ("queued", "awaited", "late"):
        status, output = runs.run(mode)
        runs.expect(mode, status == 0 and "deadlock" not in output, output)


def processes_of_two_hosts(runs):
    """They tell each other over the network that they stand."""
    hosts = TwoHosts()
    try:
        if not hosts.made or not runs.options.network:
            print("skipped:", CANNOT if runs.options.network else "built without libfabric")
            return
        for mode in ("queued_reversed", "awaited_reversed"):
            status, output = runs.run(mode, *hosts.names, SAMPAN_PROFILE="ascend910c")
            found = status == FOUND_STATUS and "deadlock" in output and "HcclAllReduce" in output
            runs.expect(mode, found, output)
        for mode in ("queued", "late"):
            status, output = runs.run(mode, *hosts.names, SAMPAN_PROFILE="ascend910c")
            runs.expect(mode, status == 0 and "deadlock" not in output, output)
    finally:
        hosts.close()


# collective-16
def settings_that_differ(runs):
    status, output = runs.run("settings", checked=False, ASCEND_GLOBAL_LOG_LEVEL="2", ASCEND_SLOG_PRINT_TO_STDOUT="1")
    runs.expect("settings", status == 0 and "rank 0 has deterministic 0" in output, output)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--sampan", required=True)
    parser.add_argument("--program", required=True)
    parser.add_argument("--network", action="store_true", help="the library reaches other hosts")
    runs = Runs(parser.parse_args())
    for test in (processes_in_another_order, processes_in_one_order, processes_of_two_hosts, settings_that_differ):
        begin = time.monotonic()
        test(runs)
        print(f"{test.__name__}: {time.monotonic() - begin:.1f} s")
    return 1 if runs.failures else 0


if __name__ == "__main__":
    sys.exit(main())
