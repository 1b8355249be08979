#!/usr/bin/env python3
# Builds a program on HCCL's public headers as C11 and as C++17, in both spellings, with both libraries, and runs it.

import argparse
import os
import pathlib
import subprocess
import sys
import tempfile

FOLDER = pathlib.Path(__file__).resolve().parent
INCLUDE = FOLDER.parents[1] / "include"
STRICT = ["-Wall", "-Wextra", "-Werror", "-pedantic", "-Wno-address"]
# Functions that an older library may lack, and one that every library has.
WEAK, STRONG = {"HcclCommInitRootInfoConfig", "HcclGetCommConfigCapability", "HcclSetConfig"}, {"HcclAllGather"}


def run(command):
    result = subprocess.run([str(part) for part in command], capture_output=True, text=True)
    if result.returncode != 0:
        sys.exit(f"{' '.join(map(str, command))}: status {result.returncode}\n{result.stdout}{result.stderr}")
    return result.stdout


def check_symbols(nm, binary):
    symbols = dict(reversed(line.split()[-2:]) for line in run([nm, binary]).splitlines())
    for name in WEAK | STRONG:
        expected = "w" if name in WEAK else "U"
        if symbols.get(name) != expected:
            sys.exit(f"{name} is {symbols.get(name)!r} in a program, expected {expected!r}")
    if symbols.get("HcclCommConfigInit", "t") not in "tT":
        sys.exit("HcclCommConfigInit is no inline function")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--cc", required=True)
    parser.add_argument("--cxx", required=True)
    parser.add_argument("--nm", default="nm")
    parser.add_argument("--libraries", type=pathlib.Path, required=True)
    arguments = parser.parse_args()
    spellings = {"hccl/hccl.h": [f"-I{INCLUDE}"], "hccl.h": [f"-I{INCLUDE}", f"-I{INCLUDE / 'hccl'}", "-DHCCL_WITHOUT_FOLDER"]}
    link = [f"-L{arguments.libraries}", "-lacl_rt", f"-Wl,-rpath,{arguments.libraries}"]
    built = 0
    with tempfile.TemporaryDirectory() as folder:
        for compiler, language in ((arguments.cc, "c11"), (arguments.cxx, "c++17")):
            source = pathlib.Path(folder, "program.c" if language == "c11" else "program.cc")
            source.write_text(f'#include "{FOLDER / "hccl_consumer.h"}"\n')
            for flags in spellings.values():
                compiled = pathlib.Path(folder, "program.o")
                run([compiler, f"-std={language}", *STRICT, *flags, "-c", source, "-o", compiled])
                check_symbols(arguments.nm, compiled)
                for library in ("hccl", "hcomm"):
                    program = pathlib.Path(folder, f"program_{library}")
                    run([compiler, compiled, f"-l{library}", *link, "-o", program])
                    os.environ["ASCEND_GLOBAL_LOG_LEVEL"] = "4"
                    run([program])
                    built += 1
    print(f"{built} programs were built and ran")


if __name__ == "__main__":
    main()
