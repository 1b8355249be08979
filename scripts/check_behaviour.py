#!/usr/bin/env python3
# Checks the ids of docs/BEHAVIOUR.md: each is unique, each id that a source names exists, and a test names each rule.
"""A rule is a list item that begins with its id: `- **copy-3** text`. A source names a rule by writing the id.
A line that mentions BEHAVIOUR.md may name only ids that exist, whatever their group. A rule that no test names says `(not tested: reason)`."""

import argparse
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
FOLDERS = ("tests", "src", "include", "tools", "bench", "examples", "docs")
SUFFIXES = {".h", ".c", ".cc", ".cu", ".py", ".txt", ".cmake", ".md"}

RULE = re.compile(r"^- \*\*([a-z]+-\d+)\*\*", re.M)
ID = re.compile(r"(?<![\w.-])([a-z]+)-(\d+)(?![\w.-]*\w)")
NOT_TESTED = re.compile(r"\(not tested:\s\S[^)]*\)")
ABSENT = re.compile(r"\b(?:acl|clients|hazards|hccl|limits|hosts|capture|check|names)\.md\b")


def rules(text):
    """(ids in order, findings)"""
    found = RULE.findall(text)
    twice = sorted({each for each in found if found.count(each) > 1})
    return found, [f"docs/BEHAVIOUR.md: the id {each} is there more than once" for each in twice]


def findings_of(name, text, known):
    """What is wrong with the ids that one source names."""
    groups = {each.rsplit("-", 1)[0] for each in known}
    found = []
    for number, line in enumerate(text.splitlines(), start=1):
        for match in ID.finditer(line):
            named = match[1] in groups or "BEHAVIOUR.md" in line
            if named and match[0] not in known:
                found.append(f"{name}:{number}: docs/BEHAVIOUR.md has no rule {match[0]}")
        for match in ABSENT.finditer(line):
            found.append(f"{name}:{number}: {match[0]} is not in the tree: name a rule of docs/BEHAVIOUR.md")
    return found


def proof_findings(text, used):
    """Rules that no test names without a reason, and reasons of rules that a test names."""
    parts = RULE.split(text)
    for each, rule in zip(parts[1::2], parts[2::2]):
        rule = re.split(r"^(?:- |#)", rule, maxsplit=1, flags=re.M)[0]
        if each in used and NOT_TESTED.search(rule):
            yield f"docs/BEHAVIOUR.md: {each} says that it is not tested, but a test names it"
        elif each not in used and not NOT_TESTED.search(rule):
            yield f"docs/BEHAVIOUR.md: no test names {each}: prove it in one, or write (not tested: reason) behind it"


def sources(root):
    for folder in FOLDERS:
        for path in sorted((root / folder).rglob("*")):
            if path.is_file() and path.suffix in SUFFIXES and "data" not in path.relative_to(root).parts:
                yield path


def main():
    parser = argparse.ArgumentParser(description="Checks the ids of docs/BEHAVIOUR.md and their uses.")
    parser.add_argument("--root", type=pathlib.Path, default=ROOT)
    root = parser.parse_args().root
    behaviour = (root / "docs" / "BEHAVIOUR.md").read_text()
    known, found = rules(behaviour)
    used = set()
    for path in sources(root):
        name = path.relative_to(root).as_posix()
        text = path.read_text(encoding="utf-8")
        found += findings_of(name, text, set(known))
        if name.startswith("tests/"):
            used |= {match[0] for match in ID.finditer(text)} & set(known)
    found += proof_findings(behaviour, used)
    for finding in found:
        print(finding)
    print(f"check_behaviour: {len(known)} rules, {len(used)} named by tests, {len(found)} finding(s)", file=sys.stderr)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
