#!/usr/bin/env python3
# Fails if BAD_INPUT.md names a test that does not exist, or has a row without a test and without a reason.

import pathlib
import re
import sys

FOLDER = pathlib.Path(__file__).resolve().parent
SOURCES = [*FOLDER.glob("*_test.cc"), *FOLDER.glob("*_test.py"), FOLDER.parent / "check" / "collective_cases.cc"]
GTEST = re.compile(r"^TEST(?:_F|_P)?\((\w+), (\w+)\)", re.M)
CASE = re.compile(r"^CASE(?:_ALONE)?\((\w+)\)|^def (\w+)\(", re.M)


def existing():
    texts = [path.read_text() for path in SOURCES]
    names = {".".join(match.groups()) for text in texts for match in GTEST.finditer(text)}
    return names | {match[1] or match[2] for text in texts for match in CASE.finditer(text)}


def main():
    known, problems, rows = existing(), [], 0
    for line in (FOLDER / "BAD_INPUT.md").read_text().splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if not line.startswith("|") or cells[1] in ("tests", "---"):
            continue
        rows += 1
        tests = re.findall(r"`([\w.]+)`", cells[1])
        if not tests and not cells[1].startswith("none: "):
            problems.append(f"no test: {cells[0]}")
        problems += [f"there is no test {name}" for name in tests if name not in known]
    print("\n".join(problems) or f"{rows} rows have their tests")
    return 1 if problems or rows == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
