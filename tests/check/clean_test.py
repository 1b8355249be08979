#!/usr/bin/env python3
"""Runs correct programs under `sampan check`: each must succeed, and the checker must find nothing.

    clean_test.py --sampan BIN [--schedule S ...] [--only KIND,...] [--wrong] -- PROGRAM [ARGS...] [--- PROGRAM [ARGS...]] ...

With --wrong the programs lack an order: each must succeed, and the checker must find something.
"""

import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile

TIMEOUT_S = 280  # seconds
FOUND_STATUS = 99


def programs_of(words):
    """The command lines, which --- separates."""
    programs = [[]]
    for word in words:
        if word == "---":
            programs.append([])
        else:
            programs[-1].append(word)
    return [program for program in programs if program]


def failure_of(options, schedule, program):
    """What went wrong, or None."""
    with tempfile.TemporaryDirectory() as folder:
        report = pathlib.Path(folder) / "report.json"
        only = ["--only", options.only] if options.only else []
        words = [options.sampan, "check", "--schedule", schedule, "--json", report, "--leaks=no", *only, "--", *program]
        result = subprocess.run(words, env={**os.environ, "ASCEND_GLOBAL_LOG_LEVEL": "4"}, timeout=TIMEOUT_S, capture_output=True, text=True,
                                errors="replace", check=False)
        findings = json.loads(report.read_text())["findings"] if report.exists() else None
    if options.wrong and result.returncode == FOUND_STATUS and findings:
        return None
    if not options.wrong and result.returncode == 0 and findings == []:
        return None
    return f"status {result.returncode}, findings: {findings}\n{result.stdout[-2000:]}{result.stderr[-4000:]}"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sampan", required=True)
    parser.add_argument("--schedule", action="append")
    parser.add_argument("--only", help="these kinds alone")
    parser.add_argument("--wrong", action="store_true", help="something must be found")
    parser.add_argument("programs", nargs=argparse.REMAINDER)
    options = parser.parse_args()
    programs = programs_of(options.programs[1:] if options.programs[:1] == ["--"] else options.programs)
    if not programs:
        print("no programs")
        return 1
    failures = 0
    for schedule in options.schedule or ["parallel"]:
        for program in programs:
            failure = failure_of(options, schedule, program)
            print(f"{schedule}: {' '.join(program)}: {failure or ('found' if options.wrong else 'nothing found')}", flush=True)
            failures += failure is not None
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
