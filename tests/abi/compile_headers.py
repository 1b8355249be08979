#!/usr/bin/env python3
# Fails unless every public header compiles alone, without a warning, as C++17 and, where C has a use for it, as C11.

import argparse
import pathlib
import subprocess
import sys
import tempfile

STRICT = ["-Wall", "-Wextra", "-Werror", "-pedantic", "-fsyntax-only"]


def compiles(compiler, language, include, header):
    with tempfile.NamedTemporaryFile("w", suffix=".c" if language == "c11" else ".cc") as source:
        source.write(f'#include "{header}"\n#include "{header}"\n')
        source.flush()
        folders = [f"-I{include}", f"-I{include / 'hccl' / 'platform'}"]
        command = [compiler, f"-std={language}", *STRICT, *folders, source.name]
        result = subprocess.run(command, capture_output=True, text=True)
    if result.returncode != 0:
        print(f"{header} as {language}:\n{result.stderr}")
    return result.returncode == 0


def main():
    parser = argparse.ArgumentParser(description="Compiles each public header alone.")
    parser.add_argument("--cc", default="cc", help="C compiler")
    parser.add_argument("--cxx", default="c++", help="C++ compiler")
    parser.add_argument("--include", type=pathlib.Path, required=True, help="folder that holds acl/ and hccl/")
    arguments = parser.parse_args()
    headers = sorted(path.relative_to(arguments.include) for path in arguments.include.rglob("*.h"))
    if not headers:
        print(f"no headers below {arguments.include}")
        return 1
    answers = [
        compiles(compiler, language, arguments.include, header)
        for header in headers
        for compiler, language in ((arguments.cc, "c11"), (arguments.cxx, "c++17"))
        if language != "c11" or "platform" not in header.parts
    ]
    print(f"{sum(answers)} of {len(answers)} compilations passed")
    return 0 if all(answers) else 1


if __name__ == "__main__":
    sys.exit(main())
