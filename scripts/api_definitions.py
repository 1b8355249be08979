#!/usr/bin/env python3
# Reads the sources of the C ABI: which declared functions they define, and with which reservation.
"""A definition begins at the start of a line with the declared return type and ends its parameter list before
a `{`. A comment directly above it may say `// Compatibility: partly: <reason>`, or `no-op` or `not supported` instead;
further comment lines below that one, up to the definition, continue the reason."""

import argparse
import dataclasses
import pathlib
import re
import sys

import api_functions

SOURCES = api_functions.ROOT / "src" / "acl"

_RESERVATION = re.compile(r"^//\s*Compatibility:\s*(?P<status>partly|no-op|not supported):\s*(?P<reason>.*)$")


@dataclasses.dataclass(frozen=True)
class Definition:
    name: str
    file: str
    status: str  # "partly", "no-op" or "not supported"; empty when it is supported
    reason: str  # of a status


def source_files(sources=SOURCES):
    return sorted(pathlib.Path(sources).rglob("*.cc"))


def _type_pattern(return_type):
    tokens = re.findall(r"\w+|\*", return_type)
    return r"\s*".join(r"\*" if token == "*" else rf"\b{token}\b" for token in tokens)


def _is_definition(code, opening):
    after = code[api_functions.closing_bracket(code, opening) + 1 :]
    return re.match(r"\s*(?:noexcept\b\s*)?(?:try\s*)?\{", after) is not None


def _reservation(text, start):
    """(status, reason) in the comment block that ends right above position `start`."""
    above = []
    for line in reversed(text[:start].splitlines()):
        if not line.lstrip().startswith("//"):
            break
        above.append(line.strip())
    above.reverse()
    for index, line in enumerate(above):
        match = _RESERVATION.match(line)
        if match:
            rest = [match["reason"]] + [line.lstrip("/").strip() for line in above[index + 1 :]]
            return match["status"], " ".join(part for part in rest if part)
    return "", ""


def find(text, functions, file):
    """Definitions of any of the functions in the text of one source file."""
    code = api_functions.without_comments(text)
    found = []
    for function in functions:
        prefix = r"^(?:\[\[[\w:, ]+\]\]\s*)?(?:extern\s+\"C\"\s+)?(?:ACL_FUNC_VISIBILITY\s+)?"
        pattern = rf"{prefix}{_type_pattern(function.return_type)}\s*\b{function.name}\s*\("
        for match in re.finditer(pattern, code, re.M):
            if _is_definition(code, match.end() - 1):
                found.append(Definition(function.name, file, *_reservation(text, match.start())))
    return found


def defined_functions(functions, files):
    """Name to Definition, over all the files given."""
    definitions = {}
    for path in files:
        for definition in find(path.read_text(), functions, path.name):
            if definition.name in definitions:
                first = definitions[definition.name].file
                raise ValueError(f"{definition.name} is defined in {first} and in {definition.file}")
            definitions[definition.name] = definition
    return definitions


def add_sources_argument(parser):
    parser.add_argument("--sources", type=pathlib.Path, default=SOURCES, help="folder of the C ABI's sources")


def main():
    parser = argparse.ArgumentParser(description="Lists the declared functions that the sources define.")
    api_functions.add_headers_argument(parser)
    add_sources_argument(parser)
    arguments = parser.parse_args()
    functions = api_functions.declared_functions(arguments.headers)
    for definition in defined_functions(functions, source_files(arguments.sources)).values():
        note = f"  {definition.status}: {definition.reason}" if definition.status else ""
        print(f"{definition.file}: {definition.name}{note}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
