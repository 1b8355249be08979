"""Traces for tests: recorded from a real program, and read independently of the command."""

import gzip
import json
import subprocess

from tool import BUILD, PROGRAMS, environment

DEVICE_AREA = 1  # areas of a process: 0 for the calls, then one for each device


def record(path, rounds=3, **variables):
    """Runs the program of copies.c with a trace; answers the summary that the runtime printed."""
    ran = subprocess.run(
        [PROGRAMS / "tool_copies", str(rounds)],
        env=environment(LD_LIBRARY_PATH=str(BUILD / "lib64"), SAMPAN_TRACE=str(path), SAMPAN_SUMMARY="1", **variables),
        stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60, check=True,
    )
    assert ran.stdout == "copied\n", ran
    return ran.stderr


def events(path):
    """All events of a trace that is whole."""
    opened = gzip.open if str(path).endswith(".gz") else open
    with opened(path, "rt", encoding="utf-8") as file:
        return json.load(file)


def slices(trace):
    return [event for event in trace if event["ph"] in "Xi"]


def tasks(trace):
    return [event for event in trace if "Task Type" in event.get("args", {})]


def copies(trace):
    """Tasks that moved bytes from one place to another."""
    return [task for task in tasks(trace) if task["args"].get("operation", "fill") != "fill"]


def nanoseconds(microseconds):
    return round(microseconds * 1000)
