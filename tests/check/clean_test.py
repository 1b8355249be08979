#!/usr/bin/env python3
"""Runs correct programs under `sampan check`: each must succeed, and the checker must find nothing.

    clean_test.py --sampan BIN [--schedule S ...] -- PROGRAM [ARGS...] [--- PROGRAM [ARGS...]] ...
"""

import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile

PATIENCE = 280  # seconds


def programs_of(words):
    """The command lines, which --- separates."""
    programs = [[]]
    for word in words:
        if word == "---":
            programs.append([])
        else:
            programs[-1].append(word)
    return [program for program in programs if program]


def failure_of(sampan, schedule, program):
    """What went wrong, or None."""
    with tempfile.TemporaryDirectory() as folder:
        report = pathlib.Path(folder) / "report.json"
        words = [sampan, "check", "--schedule", schedule, "--json", report, "--leaks=no", "--", *program]
        result = subprocess.run(words, env={**os.environ, "ASCEND_GLOBAL_LOG_LEVEL": "4"}, timeout=PATIENCE, capture_output=True, text=True,
                                errors="replace", check=False)
        findings = json.loads(report.read_text())["findings"] if report.exists() else None
    if result.returncode == 0 and findings == []:
        return None
    return f"status {result.returncode}, findings: {findings}\n{result.stdout[-2000:]}{result.stderr[-4000:]}"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sampan", required=True)
    parser.add_argument("--schedule", action="append")
    parser.add_argument("programs", nargs=argparse.REMAINDER)
    options = parser.parse_args()
    programs = programs_of(options.programs[1:] if options.programs[:1] == ["--"] else options.programs)
    if not programs:
        print("no programs")
        return 1
    failures = 0
    for schedule in options.schedule or ["parallel"]:
        for program in programs:
            failure = failure_of(options.sampan, schedule, program)
            print(f"{schedule}: {' '.join(program)}: {failure or 'nothing found'}", flush=True)
            failures += failure is not None
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
