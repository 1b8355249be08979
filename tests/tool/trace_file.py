"""Traces for tests: recorded from a real program, and read independently of the command."""

import base64
import gzip
import json
import pathlib
import re
import tempfile
import unittest

from tool import PROGRAMS, sampan


class RecordedCase(unittest.TestCase):
    """Tests with a folder and a trace in it, which they share."""

    rounds, rest_ms = 3, 0

    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.folder = pathlib.Path(folder.name)
        cls.original = cls.folder / "original.json"
        cls.summary = record(cls.original, cls.rounds, cls.rest_ms)


def record(path, rounds=3, rest_ms=0):
    """Runs the program of copies.c with a trace; answers the summary that the runtime printed."""
    ran = sampan("run", "--trace", path, "--summary", "--", PROGRAMS / "tool_copies", rounds, rest_ms)
    assert (ran.returncode, ran.stdout) == (0, "copied\n"), ran
    return ran.stderr


def events(path):
    """All events of a trace that is whole."""
    opened = gzip.open if str(path).endswith(".gz") else open
    with opened(path, "rt", encoding="utf-8") as file:
        return json.load(file)


def model_of(page):
    """The data that a page of 'sampan report' holds."""
    [packed] = re.findall(r'<script id="data" type="text/plain">([^<]*)</script>', page.read_text())
    return json.loads(gzip.decompress(base64.b64decode(packed)))


def slices(trace):
    return [event for event in trace if event["ph"] in "Xi"]


def tasks(trace):
    return [event for event in trace if "Task Type" in event.get("args", {})]


def copies(trace):
    """Tasks that moved bytes from one place to another."""
    return [task for task in tasks(trace) if task["args"].get("operation", "fill") != "fill"]


def nanoseconds(microseconds):
    return round(microseconds * 1000)
