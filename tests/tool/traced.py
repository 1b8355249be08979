"""Runs a program with a trace, and holds the trace of every process that it starts against the format.

    traced.py [--links] PROGRAM [ARGUMENTS...]

With --links, copies and signals must be there that name the link and the rank on the other side, as the call of HCCL's
does that submitted them.
"""

import collections
import os
import pathlib
import subprocess
import sys
import tempfile

from trace_check import Trace


MAKERS_OF_SEVERAL = {"HCCL@LaunchTask", "HCCL@Transport::TxAsync", "HCCL@Transport::RxAsync"}


def check_links(trace):
    """How many tasks there are over links, by name; each was submitted inside of a call that names the same peer."""
    calls = collections.defaultdict(list)
    for call in trace.calls:
        if call["args"]["level"] == "hccl":
            calls[call["args"].get("connection_id")].append(call)
    linked = collections.Counter()
    for task in trace.tasks:
        args = task["args"]
        if args.get("link") != "HCCS":
            continue
        linked[task["name"]] += 1
        around = [call for call in calls[args["connection_id"]] if call["name"] != "HCCL@LaunchTask"]
        for call in around:
            assert call["ts"] <= args["submitted"] <= call["ts"] + call["dur"] + 0.001, (call, task)
            assert (call["args"]["link"], call["args"]["remote_rank"]) == (args["link"], args["remote_rank"]), (call, task)
        # A launch gives its tasks to their streams, and a call that makes several names the first.
        assert around or any(call["name"] in MAKERS_OF_SEVERAL for call in trace.calls), task
    return linked


def main():
    words = sys.argv[1:]
    wants_links = words[0] == "--links"
    if wants_links:
        words.pop(0)
    linked = collections.Counter()
    with tempfile.TemporaryDirectory() as folder:
        result = subprocess.run(
            words, env={**os.environ, "SAMPAN_TRACE": f"{folder}/%p.json.gz"}, check=False
        ).returncode
        if result != 0:
            return result
        files = sorted(pathlib.Path(folder).iterdir())
        for file in files:
            trace = Trace(file, killed=True, drained=False)
            linked += check_links(trace) if wants_links else collections.Counter()
            print(f"process {trace.process}: {len(trace.events)} events, {trace.state}")
        if wants_links:
            print(f"over a link: {dict(linked)}")
        wanted = {"MEMCPY_ASYNC", "NOTIFY_RECORD", "NOTIFY_WAIT"} if wants_links else set()
        return 0 if files and wanted <= linked.keys() else 1


if __name__ == "__main__":
    sys.exit(main())
