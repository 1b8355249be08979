"""Runs a program with a trace, and holds the trace of every process that it starts against the format.

    traced.py PROGRAM [ARGUMENTS...]
"""

import os
import pathlib
import subprocess
import sys
import tempfile

from trace_check import Trace


def main():
    with tempfile.TemporaryDirectory() as folder:
        result = subprocess.run(
            sys.argv[1:], env={**os.environ, "SAMPAN_TRACE": f"{folder}/%p.json.gz"}, check=False
        ).returncode
        if result != 0:
            return result
        files = sorted(pathlib.Path(folder).iterdir())
        for file in files:
            trace = Trace(file, killed=True, drained=False)
            print(f"process {trace.process}: {len(trace.events)} events, {trace.state}")
        return 0 if files else 1


if __name__ == "__main__":
    sys.exit(main())
