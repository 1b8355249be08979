#!/usr/bin/env python3
"""Checks a program without the command: SAMPAN_CHECK_JSON writes the report that `sampan check --json` writes.

    json_test.py --sampan BIN --cases BIN
"""

import argparse
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

CASES = {"destination_read_early": 0, "notify_that_nothing_records": 99, "host_reads_freed_pinned_memory": 99, "device_memory_left": 0}
TIMEOUT_S = 60  # seconds


def run(words, **settings):
    kept = {key: value for key, value in os.environ.items() if not key.startswith(("SAMPAN_", "ASCEND_"))}
    return subprocess.run(words, env={**kept, "ASCEND_GLOBAL_LOG_LEVEL": "4", **settings}, timeout=TIMEOUT_S, capture_output=True, text=True,
                          check=False)


def facts(report):
    """What does not differ between two runs."""
    places = ("function", "line")
    stacks = [[[[frame[place] for place in places] for frame in access["stack"]] for access in finding["accesses"]] for finding in report["findings"]]
    return report["errors"], report["warnings"], [(finding["id"], finding["kind"], finding["count"]) for finding in report["findings"]], stacks


class Test:
    def __init__(self):
        self.failures = 0

    def equal(self, got, wanted, what):
        if got != wanted:
            print(f"{what}: {got!r} instead of {wanted!r}")
            self.failures += 1


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sampan", required=True)
    parser.add_argument("--cases", required=True)
    options = parser.parse_args()
    test = Test()
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        for case, status in CASES.items():
            program = [options.cases, "wrong", case]
            by_command, own = folder / "command.json", folder / "own.json"
            run([options.sampan, "check", "--json", by_command, "--", *program])
            result = run(program, SAMPAN_CHECK_JSON=str(own))
            test.equal((result.returncode, result.stdout, result.stderr), (status, "", ""), f"{case}: status and output")
            report = json.loads(own.read_text())
            test.equal(report["program"], program, f"{case}: program")
            test.equal(facts(report), facts(json.loads(by_command.read_text())), f"{case}: report")
            test.equal((folder / "own.json.raw").exists(), False, f"{case}: the raw findings are left")
            own.unlink()

        program = [options.cases, "wrong", "destination_read_early"]
        result = run(program, SAMPAN_CHECK="1", SAMPAN_CHECK_JSON=str(folder / "%p.json"))
        test.equal(result.stderr.splitlines()[-1:], ["1 errors, 0 warnings"], "the last line")
        test.equal(len([file for file in folder.glob("*.json") if file.stem.isdigit()]), 1, "files named for the process")

        result = run(program, SAMPAN_CHECK="1")
        places = [line.strip() for line in result.stderr.splitlines() if re.match(r" +/\S+\+0x", line)]
        test.equal([place for place in places if "/libacl_rt.so" in place or not places], [], "places in our own library")

        for case, does in {"copy_past_the_end": "write", "copy_past_the_end_of_its_source": "read"}.items():
            report = folder / "does.json"
            run([options.sampan, "check", "--json", report, "--", options.cases, "wrong", case])
            found = [finding["accesses"][0]["does"] for finding in json.loads(report.read_text())["findings"] if finding["kind"] == "out-of-bounds"]
            test.equal(found, [does], f"{case}: what the call does")

        # What a program has left that was killed.
        raw, made = folder / "raw", folder / "made.json"
        run(program, SAMPAN_CHECK="1", SAMPAN_CHECK_FINDINGS=str(raw))
        result = run([options.sampan, "check", "--read", raw, "--json", made, "--", *program])
        test.equal((result.returncode, result.stderr.splitlines()[-1]), (99, "1 errors, 0 warnings"), "--read")
        test.equal(facts(json.loads(made.read_text()))[:2], (1, 0), "the report of --read")
        result = run([options.sampan, "check", "--read", folder / "none", "--", *program])
        test.equal((result.returncode, "none: No such file" in result.stderr), (125, True), "--read without a file")

        result = run(program, SAMPAN_CHECK_JSON=str(folder / "no" / "report.json"))
        test.equal((result.returncode, "report.json.raw' cannot be written" in result.stderr), (3, True), "a report that cannot be written")
    return 1 if test.failures else 0


if __name__ == "__main__":
    sys.exit(main())
