"""Runs a program with a trace, and holds the trace of every process that it starts against the format.

    traced.py [--links] PROGRAM [ARGUMENTS...]

With --links, copies must be there that name the link and the rank on the other side.
"""

import os
import pathlib
import subprocess
import sys
import tempfile

from trace_check import Trace


def main():
    words = sys.argv[1:]
    wants_links = words[0] == "--links"
    if wants_links:
        words.pop(0)
    linked = 0
    with tempfile.TemporaryDirectory() as folder:
        result = subprocess.run(
            words, env={**os.environ, "SAMPAN_TRACE": f"{folder}/%p.json.gz"}, check=False
        ).returncode
        if result != 0:
            return result
        files = sorted(pathlib.Path(folder).iterdir())
        for file in files:
            trace = Trace(file, killed=True, drained=False)
            linked += sum(task["args"].get("link") == "HCCS" and "remote_rank" in task["args"] for task in trace.tasks)
            print(f"process {trace.process}: {len(trace.events)} events, {trace.state}")
        if wants_links:
            print(f"{linked} copies over a link")
        return 0 if files and (linked or not wants_links) else 1


if __name__ == "__main__":
    sys.exit(main())
