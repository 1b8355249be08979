"""Fixtures of the tests of the Python module."""

import os
import subprocess
import sys

import pytest

import world


@pytest.fixture
def on_device():
    """A fresh device 0 with streams, events and memory."""
    made = world.World()
    yield made
    made.close()


@pytest.fixture
def run_script():
    """Runs a script in an interpreter of its own, which a deadlock or a crash does not take this one with."""

    def run(source, timeout=120, code=0, **settings):
        ran = subprocess.run([sys.executable, "-B", "-X", "faulthandler", "-c", source], capture_output=True, text=True,
                             timeout=timeout, check=False, cwd=os.path.dirname(__file__), env={**os.environ, **settings})
        assert ran.returncode == code, f"exit status {ran.returncode}\n{ran.stdout}{ran.stderr}"
        return ran

    return run
