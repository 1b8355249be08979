#!/usr/bin/env python3
# Fails unless a library of HCCL exports the functions and classes of its headers, all of them and nothing else.

import argparse
import pathlib
import re
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "scripts"))

import hccl_list

DATA = re.compile(r"(vtable|typeinfo|typeinfo name) for hccl::(Stream|LocalNotify|RemoteNotify)")
# Members and classes that a program reaches through other ones only.
INSIDE = {"OwnedBlock", "Release"}


def main():
    parser = argparse.ArgumentParser(description="Compares what libhccl_plf.so or libhccl.so exports with its headers.")
    parser.add_argument("--nm", default="nm")
    parser.add_argument("library", type=pathlib.Path)
    arguments = parser.parse_args()
    command = [arguments.nm, "-DC", "--defined-only", str(arguments.library)]
    listing = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    is_platform = arguments.library.name.startswith("libhccl_plf")
    declared = hccl_list.declared() if is_platform else hccl_list.declared_public()
    found, problems = set(), []
    for line in listing.splitlines():
        symbol = line.split(None, 2)[2]
        name = re.sub(r"^hccl::", "", symbol.split("(")[0].split("[")[0])
        if name in declared:
            found.add(name)
        elif not DATA.fullmatch(symbol) and "~" not in name and INSIDE.isdisjoint(name.split("::")) \
                and name.split("::")[0] != name.split("::")[-1]:
            problems.append(f"not expected: {symbol}")
    # Inline members need no symbol.
    functions = {name for name in declared if "::" not in name}
    problems += [f"missing: {name}" for name in sorted(functions - found)]
    print("\n".join(problems) or f"{arguments.library.name} exports {len(found)} functions and members of its headers")
    return 1 if problems or not found else 0


if __name__ == "__main__":
    sys.exit(main())
