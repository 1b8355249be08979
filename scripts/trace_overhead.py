#!/usr/bin/env python3
"""What a trace costs: runs a benchmark with and without SAMPAN_TRACE, turn by turn, and compares the medians.

    scripts/trace_overhead.py [--rounds N] [--filter REGEX] [--time SECONDS] BENCHMARK [FILE]

The trace goes to FILE (a temporary one by default) and is removed after each turn.
"""

import argparse
import json
import os
import pathlib
import statistics
import subprocess
import tempfile


def run(benchmark, options, trace):
    """Seconds per iteration, by the name of the case."""
    env = {name: value for name, value in os.environ.items() if not name.startswith("SAMPAN_")}
    if trace:
        env["SAMPAN_TRACE"] = str(trace)
    command = [
        benchmark, "--benchmark_format=json", f"--benchmark_filter={options.filter}",
        f"--benchmark_min_time={options.time}",
    ]
    output = subprocess.run(command, env=env, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=True).stdout
    if trace:
        trace.unlink()
    return {each["name"]: 1 / each["sampan/s"] for each in json.loads(output)["benchmarks"]}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--filter", default=".")
    parser.add_argument("--time", default="0.1")
    parser.add_argument("benchmark")
    parser.add_argument("file", nargs="?", type=pathlib.Path)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        trace = options.file or pathlib.Path(folder) / "trace.json.gz"
        times = {}
        for _ in range(options.rounds):
            for name, seconds in run(options.benchmark, options, None).items():
                times.setdefault(name, ([], []))[0].append(seconds)
            for name, seconds in run(options.benchmark, options, trace).items():
                times[name][1].append(seconds)
    print(f"{'case':60} {'without':>12} {'traced':>12} {'overhead':>9}")
    for name, (without, traced) in times.items():
        plain, with_trace = statistics.median(without), statistics.median(traced)
        # The benchmark says how much is moved in a second: its inverse is the time of one copy, or of one byte.
        print(f"{name:60} {plain * 1e9:10.4g} ns {with_trace * 1e9:10.4g} ns {with_trace / plain - 1:8.1%}")


if __name__ == "__main__":
    main()
