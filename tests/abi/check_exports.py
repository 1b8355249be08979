#!/usr/bin/env python3
# Fails unless the dynamic symbols that a shared library defines are exactly the expected functions.

import argparse
import pathlib
import subprocess
import sys


def defined_symbols(nm, library):
    """(functions, other kinds of symbols), as `nm` sees them."""
    command = [nm, "-D", "--defined-only", "--format=posix", str(library)]
    listing = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    functions, others = set(), set()
    for line in listing.splitlines():
        name, kind = line.split()[:2]
        (functions if kind == "T" else others).add(name if kind == "T" else f"{name} ({kind})")
    return functions, others


def main():
    parser = argparse.ArgumentParser(description="Compares what a library exports with a list.")
    parser.add_argument("--nm", default="nm")
    parser.add_argument("--list", type=pathlib.Path, required=True, help="expected symbols, one per line")
    parser.add_argument("library", type=pathlib.Path)
    arguments = parser.parse_args()
    expected = set(arguments.list.read_text().split())
    functions, others = defined_symbols(arguments.nm, arguments.library)
    problems = [f"missing: {name}" for name in sorted(expected - functions)]
    problems += [f"not expected: {name}" for name in sorted((functions - expected) | others)]
    if not expected:
        problems.append("the list of expected symbols is empty")
    print("\n".join(problems) or f"{arguments.library.name} exports the {len(expected)} expected functions")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
