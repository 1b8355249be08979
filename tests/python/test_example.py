"""The example in Python moves its bytes."""

import pathlib
import subprocess
import sys

EXAMPLES = pathlib.Path(__file__).resolve().parents[2] / "examples"


def test_kv_cache_offload():
    ran = subprocess.run([sys.executable, "-B", EXAMPLES / "kv_cache_offload.py"], capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert ran.stdout.startswith("OK, ") and ran.stderr == ""


def test_it_is_short():
    """README promises 40 lines."""
    lines = (EXAMPLES / "kv_cache_offload.py").read_text(encoding="utf-8").splitlines()
    assert len([line for line in lines if line.strip()]) <= 40
