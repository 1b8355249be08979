#!/usr/bin/env python3
"""Runs the cases of this folder under `sampan check` and compares what it finds with the marks in the sources.

    check_test.py --sampan BIN --cases BIN [--schedule S,...] [--backend B] [--apart [--jobs N]] [--runs N] [--case NAME]
                  [--form wrong|right]

The wrong form of a case must give exactly the findings that its marks name, kind and lines, and the corrected form
none. Cases that need no process of their own share one, or have one each (--apart). Several runs and schedules must give
the same ids.
Where the command knows no lines, because it is built without libdw, binutils' addr2line finds them.
"""

import argparse
import collections
import concurrent.futures
import functools
import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile

FOLDER = pathlib.Path(__file__).resolve().parent
BEGIN = re.compile(r"CASE(_ALONE)?\((\w+)\)")
MARK = re.compile(r"//! (.+)$")
COMMENT = re.compile(r"//.*$")
FOUND_STATUS = 99
TIMEOUT_S = 60  # seconds; a process needs less than one
NOT_ON_CUDA = {  # a file or a case, and why
    "registered_heap_memory_and_what_lies_behind_it": "host accesses are judged if registered memory begins and ends with a page",
    "one_copy_into_two_registrations": "for a GPU they are not one range: the copy is made at once",
}


class Case:
    def __init__(self, file, name, alone, begin):
        self.file, self.name, self.alone, self.begin, self.end = file, name, alone, begin, begin
        self.places = collections.defaultdict(dict)  # kind and name of a finding -> number of the place -> line

    def mark(self, text, line):
        for part in text.split(";"):
            numbers, finding = part.split()
            for number in numbers.split("+"):
                self.places[finding][int(number)] = line

    def expected(self):
        """(kind, lines) of each finding of the wrong form."""
        return sorted((finding.split("/")[0], tuple(lines[number] for number in sorted(lines))) for finding, lines in self.places.items())


def first_line_of_statement(lines, number):
    """A compiler gives a call the line on which it begins."""
    while (before := COMMENT.sub("", lines[number - 2]).rstrip()) and not before.endswith((";", "{", "}")):
        number -= 1
    return number


def read_cases():
    cases = []
    for path in sorted(FOLDER.glob("*_cases.cc")):
        case = None
        lines = path.read_text().splitlines()
        for number, line in enumerate(lines, start=1):
            if begin := BEGIN.match(line):
                case = Case(path.name, begin[2], bool(begin[1]), number)
                cases.append(case)
            if case is not None:
                case.end = number
                if mark := MARK.search(line):
                    case.mark(mark[1], first_line_of_statement(lines, number))
                if line == "}":
                    case = None
    return cases


@functools.lru_cache(maxsize=None)
def source_lines(module, offset):
    """(file, line) of the calls at an instruction, innermost first."""
    try:
        answer = subprocess.run(["addr2line", "-i", "-e", module, hex(offset)], capture_output=True, text=True, check=False).stdout
    except OSError:
        return ()
    places = (text.split(" ")[0].rpartition(":") for text in answer.splitlines())
    return tuple((os.path.normpath(file), int(line)) for file, _, line in places if line.isdigit() and line != "0")


def place_of(stack):
    """(file, line) of the program's own frame."""
    if stack and stack[0]["file"]:
        return stack[0]["file"], stack[0]["line"]
    found = (place for frame in stack for place in source_lines(frame["module"], frame["offset"]))
    return next((place for place in found if not place[0].startswith("/usr/")), ("", None))


def knows_lines(finding):
    """The command resolved the places itself."""
    return any(stack and stack[0]["file"] for stack in stacks_of(finding))


def stacks_of(finding):
    return [access["stack"] for access in finding["accesses"]] or [finding["buffer"]["stack"] if finding["buffer"] else []]


def lines_of(finding):
    return tuple(place_of(stack) for stack in stacks_of(finding))


class StillRuns(Exception):
    """What the threads of the program wait for."""


def threads_below(process):
    """A line for each thread of the children of a process: its name, and the call of the system in which it is."""
    lines = []
    for task in sorted(pathlib.Path("/proc").glob("[0-9]*/task/[0-9]*")):
        try:
            parent = re.search(r"^PPid:\s*(\d+)", (task / "status").read_text(), re.MULTILINE)
            if int(parent[1]) == process:
                lines.append(f"  {task.name} {(task / 'comm').read_text().strip()}: {(task / 'syscall').read_text().strip()}")
        except OSError as gone:
            lines.append(f"  {task}: {gone}")
    return "\n".join(lines)


def run_patiently(words, environment):
    with subprocess.Popen(words, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True) as process:
        try:
            out, errors = process.communicate(timeout=TIMEOUT_S)
        except subprocess.TimeoutExpired:
            threads = threads_below(process.pid)
            os.killpg(process.pid, signal.SIGKILL)
            raise StillRuns(threads) from None
    return subprocess.CompletedProcess(words, process.returncode, out, errors)


class Checker:
    def __init__(self, options):
        self.options = options
        self.failures = 0

    def fail(self, text):
        print(text)
        self.failures += 1

    def run(self, form, name=None):
        """The findings of one process."""
        with tempfile.TemporaryDirectory() as folder:
            report = pathlib.Path(folder) / "report.json"
            where = ["--backend", self.options.backend, "--devices", "8"] if self.options.backend else ["--schedule", self.options.schedule]
            words = [self.options.sampan, "check", *where, "--json", report, "--", self.options.cases, form]
            kept = {key: value for key, value in os.environ.items() if not key.startswith(("SAMPAN_", "ASCEND_"))}
            if self.options.backend == "cuda":
                kept["SAMPAN_CHECK_UNWRITTEN"] = "1"  # the cases have no kernels
            what = f"{form} {name or 'all'}"
            try:
                result = run_patiently([*words, *([name] if name else [])], {**kept, "ASCEND_GLOBAL_LOG_LEVEL": "4"})
            except StillRuns as still:
                self.fail(f"{what}: still runs after {TIMEOUT_S} s\n{still}")
                return []
            if not report.exists():
                self.fail(f"{what}: no report, status {result.returncode}\n{result.stderr}")
                return []
            found = json.loads(report.read_text())
        has_errors = any(finding["severity"] == "error" for finding in found["findings"])
        if result.returncode != (FOUND_STATUS if has_errors else 0):
            self.fail(f"{what}: status {result.returncode}\n{result.stderr[-3000:]}")
        counts = f"{found['errors']} errors, {found['warnings']} warnings"
        if result.stderr.splitlines()[-1] != counts:
            self.fail(f"{what}: the last line is not '{counts}'\n{result.stderr[-500:]}")
        return found["findings"]

    def compare(self, cases, findings, form):
        """Each finding belongs to the case in whose lines it has a place."""
        made = collections.defaultdict(list)
        for finding in findings:
            places = lines_of(finding)
            owner = next((case for case in cases for file, line in places
                          if file.endswith("/" + case.file) and line is not None and case.begin <= line <= case.end), None)
            found = (finding["kind"], tuple(line for _, line in places))
            if found in made[owner] and not knows_lines(finding):
                continue  # two instructions of one line
            made[owner].append(found)
        for finding in made.pop(None, []):
            self.fail(f"{form}: a finding outside of all cases: {finding}")
        for case in cases:
            wanted = case.expected() if form == "wrong" else []
            got = sorted(made.get(case, []))
            if got != wanted:
                self.fail(f"{case.file}:{case.begin}: {form} {case.name}: missing {[one for one in wanted if one not in got]}, "
                          f"not expected {[one for one in got if one not in wanted]}")

    def check(self, cases):
        """Answers the ids of all findings."""
        ids = set()
        apart = [case for case in cases if case.alone or self.options.apart or self.options.case]
        shared = [case for case in cases if case not in apart]
        groups = ([(shared, None)] if shared else []) + [([case], case.name) for case in apart]
        todo = [(form, group, name) for form in self.options.form for group, name in groups]
        with concurrent.futures.ThreadPoolExecutor(self.options.jobs) as threads:
            found = threads.map(lambda each: self.run(each[0], each[2]), todo)
            for (form, group, _), findings in zip(todo, found):
                ids.update(finding["id"] for finding in findings)
                self.compare(group, findings, form)
        return ids


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sampan", required=True, type=pathlib.Path)
    parser.add_argument("--cases", required=True, type=pathlib.Path)
    parser.add_argument("--schedule", default="parallel")
    parser.add_argument("--backend", help="instead of a schedule")
    parser.add_argument("--apart", action="store_true", help="each case in a process of its own")
    parser.add_argument("--jobs", type=int, default=1, help="processes at a time")
    parser.add_argument("--runs", type=int, default=1)
    parser.add_argument("--case", action="append")
    parser.add_argument("--form", action="append", choices=["wrong", "right"])
    options = parser.parse_args()
    options.form = options.form or ["wrong", "right"]
    cases = [case for case in read_cases() if not options.case or case.name in options.case]
    if options.backend == "cuda":
        cases = [case for case in cases if not {case.file, case.name} & NOT_ON_CUDA.keys()]
    if not cases or any(not case.places for case in cases):
        print("no cases, or a case without a mark:", [case.name for case in cases if not case.places])
        return 1
    checker = Checker(options)
    ids = []
    schedules = options.schedule
    for options.schedule in schedules.split(","):
        ids += [checker.check(cases) for _ in range(options.runs)]
    if any(each != ids[0] for each in ids):
        checker.fail(f"the ids differ between runs or schedules: {set.union(*ids) - set.intersection(*ids)}")
    print(f"{len(cases)} wrong and {len(cases)} right programs under {options.backend or schedules}, {options.runs} times: {checker.failures} failures")
    return 1 if checker.failures else 0


if __name__ == "__main__":
    sys.exit(main())
