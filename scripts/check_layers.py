#!/usr/bin/env python3
"""Checks the layers: a folder under src/ is a layer, and a layer includes only what the table allows.

Also refused: reading the environment outside base/environment.cc, starting a thread outside base/threads.h, a
source file whose first line is not a comment, a folder that the table does not know. Prints file:line and the reason for each finding; exits 1 if there are any.
"""

import argparse
import pathlib
import re
import sys

# Layer -> what it may include besides itself. <acl> and <hccl> are the public headers under include/.
LAYERS = {
    "base": set(),
    "summary": {"base"},
    "trace": {"base", "summary"},
    "backend/api": {"base", "trace"},
    "core": {"base", "trace", "backend/api"},
    "backend/emulated": {"base", "trace", "backend/api"},
    "backend/cuda": {"base", "trace", "backend/api"},
    "backend/ucx": {"base", "trace", "backend/api"},
    "check": {"base", "core"},
    "process": {"base", "backend/api", "backend/emulated", "backend/cuda", "backend/ucx", "core", "check", "trace"},
    "acl": {"base", "trace", "core", "process", "<acl>"},
    "hccl": {"base", "<acl>", "<hccl>"},
}
ENVIRONMENT_READER = "base/environment.cc"
THREAD_STARTER = "base/threads.h"
SOURCE_SUFFIXES = {".h", ".c", ".cc", ".cu"}

INCLUDE = re.compile(r'^\s*#\s*include\s*(?:"([^"]+)"|<([^>]+)>)')
READS_ENVIRONMENT = re.compile(r"\b(?:secure_)?getenv\s*\(|\benviron\b")
# std::thread:: (hardware_concurrency, id) starts none.
STARTS_THREAD = re.compile(r"\bstd::(?:thread\b(?!::)|jthread\b|async\b)|\b(?:pthread|thrd)_create\b|\bSIGEV_THREAD\b")
LINE_COMMENT = re.compile(r"//.*$")


def layer_of(path):
    """The layer that a path relative to src/ belongs to, or None."""
    parts = path.split("/")[:-1]
    for length in range(len(parts), 0, -1):
        name = "/".join(parts[:length])
        if name in LAYERS:
            return name
    return None


def check_include(layer, quoted, angled, root):
    """Why this include is refused, or None."""
    name = quoted or angled
    if not (root / "src" / name).is_file():
        if (root / "include" / name).is_file():
            public = f"<{name.split('/')[0]}>"
            return None if public in LAYERS[layer] else f"layer {layer} must not include the public header {name}"
        return None if angled else f'"{name}" is neither below src/ nor below include/'
    other = layer_of(name)
    if other == layer or other in LAYERS[layer]:
        return None
    allowed = ", ".join(sorted(LAYERS[layer])) or "nothing"
    return f'layer {layer} must not include "{name}" of layer {other}; besides itself it may include: {allowed}'


def check_file(path, name, layer, root):
    """Findings of one source file, as (line, reason)."""
    lines = path.read_text(encoding="utf-8").splitlines()
    if not lines or not lines[0].startswith(("//", "/*")):
        yield 1, "the first line is not a comment that says what the file is for"
    for number, line in enumerate(lines, start=1):
        include = INCLUDE.match(line)
        if include:
            reason = check_include(layer, include[1], include[2], root)
            if reason:
                yield number, reason
            continue
        code = LINE_COMMENT.sub("", line)
        if name != ENVIRONMENT_READER and READS_ENVIRONMENT.search(code):
            yield number, f"only src/{ENVIRONMENT_READER} reads the environment"
        if name != THREAD_STARTER and STARTS_THREAD.search(code):
            yield number, f"only src/{THREAD_STARTER} starts threads: use StartThread, and Thread as the owner"


def findings(root):
    source_folder = root / "src"
    for path in sorted(source_folder.rglob("*")):
        if path.is_dir():
            continue
        name = path.relative_to(source_folder).as_posix()
        if name == "CMakeLists.txt":
            continue
        layer = layer_of(name)
        if layer is None:
            # backend/ itself only groups layers: its CMakeLists.txt is no code.
            if path.name == "CMakeLists.txt" and any(known.startswith(name.rsplit("/", 1)[0] + "/") for known in LAYERS):
                continue
            yield path, 1, "this folder is not a layer of the table in scripts/check_layers.py"
        elif path.suffix in SOURCE_SUFFIXES:
            for line, reason in check_file(path, name, layer, root):
                yield path, line, reason


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--root", type=pathlib.Path, default=pathlib.Path(__file__).resolve().parent.parent)
    root = parser.parse_args().root
    count = 0
    for path, line, reason in findings(root):
        print(f"{path.relative_to(root)}:{line}: {reason}")
        count += 1
    if count:
        print(f"check_layers: {count} finding(s)", file=sys.stderr)
    return 1 if count else 0


if __name__ == "__main__":
    sys.exit(main())
