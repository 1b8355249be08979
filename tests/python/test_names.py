"""The module's names: pyACL's, its sub-modules, its stubs, and what is not there."""

import importlib
import pathlib
import subprocess
import sys

import acl
import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
HERE = pathlib.Path(__file__).resolve().parent


def names(file):
    lines = (HERE / file).read_text(encoding="utf-8").splitlines()
    return [line.split()[0] for line in lines if line and not line.startswith("#")]


@pytest.mark.parametrize("name", names("pyacl_names.txt"))
def test_pyacl_has_it(name):
    module, _, function = name.rpartition(".")
    assert callable(getattr(importlib.import_module(module), function))


def test_sampans_own_are_few():
    """What pyACL does not have: programs that use these run on Sampan alone."""
    own = set()
    for module in (acl, acl.rt, acl.util):
        listed = {name.rpartition(".")[2] for name in names("pyacl_names.txt") if name.rpartition(".")[0] == module.__name__}
        functions = {name for name in vars(module) if callable(getattr(module, name)) and not name.startswith("_")}
        own |= functions - listed
    assert own == {"launch_host_func", "memcpy_batch", "memcpy_batch_async"}


@pytest.mark.parametrize("form", ["import acl.rt; acl.rt.memcpy", "from acl.rt import memcpy", "from acl import rt; rt.memcpy",
                                  "import acl; acl.rt.memcpy", "from acl.util import bytes_to_ptr", "import acl.mdl, acl.op, acl.media",
                                  "import acl; table = {1: acl.mdl.get_input_size_by_index}", "from acl.mdl import execute"])
def test_ways_to_import(run_script, form):
    run_script(form)


@pytest.mark.parametrize("part", ["mdl", "op", "media", "blas", "prof", "himpi", "fv"])
def test_what_sampan_does_not_have(part):
    module = getattr(acl, part)
    assert sys.modules[f"acl.{part}"] is module
    with pytest.raises(NotImplementedError, match=f"acl.{part}.execute"):
        module.execute(1, 2)
    assert not hasattr(module, "__path__") and not hasattr(module, "_hidden")


def test_unknown_names():
    assert not hasattr(acl.rt, "launch_nothing") and not hasattr(acl, "nothing")


def test_no_constants():
    """pyACL has none either: programs define their own."""
    assert [name for name in vars(acl.rt) if name.isupper()] == []


def test_stubs_say_what_the_module_has():
    ran = subprocess.run([sys.executable, "-B", ROOT / "python/generate_stubs.py", "--check", ROOT / "python/acl-stubs"],
                         capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr


def test_help_names_the_parameters():
    assert acl.rt.memcpy.__text_signature__ == "(dst, dest_max, src, count, kind, /)"
    assert "-> tuple[int, int]" in acl.rt.malloc.__doc__
