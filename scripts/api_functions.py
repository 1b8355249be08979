#!/usr/bin/env python3
# Reads the public C headers: which functions they declare, with return type and parameters.
"""Library and command. The parser knows the style of our own headers only: every function is declared as
`ACL_FUNC_VISIBILITY <return type> <name>(<parameters>);`, optionally after ACL_DEPRECATED_MESSAGE("...")."""

import argparse
import dataclasses
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
HEADERS = ROOT / "include" / "acl"

_DECLARATION = re.compile(
    r'(?P<deprecated>ACL_DEPRECATED_MESSAGE\s*\(\s*"(?:[^"\\]|\\.)*"\s*\)\s*)?'
    r"\bACL_FUNC_VISIBILITY\s+(?P<type>[\w\s*]+?)\s*\b(?P<name>acl\w+)\s*\("
)


@dataclasses.dataclass(frozen=True)
class Parameter:
    type: str  # as written; "..." for a variable argument list
    name: str  # empty where the declaration has none


@dataclasses.dataclass(frozen=True)
class Function:
    name: str
    return_type: str
    parameters: tuple  # of Parameter
    deprecated: bool
    header: str  # path below the folder that holds acl/, as a program includes it

    def prototype(self, named=True):
        """The declaration without its semicolon."""
        written = [f"{p.type} {p.name}".strip() if named else p.type for p in self.parameters]
        return f"{self.return_type} {self.name}({', '.join(written) or 'void'})"


def without_comments(text):
    """Replaces comments by spaces, keeping line breaks, strings and character literals."""
    pattern = re.compile(r'//[^\n]*|/\*.*?\*/|"(?:[^"\\\n]|\\.)*"|\'(?:[^\'\\\n]|\\.)*\'', re.S)

    def blank(match):
        found = match.group(0)
        return found if found[0] in "\"'" else re.sub(r"[^\n]", " ", found)

    return pattern.sub(blank, text)


def closing_bracket(text, opening):
    """Index of the bracket that closes the one at `opening`."""
    depth = 0
    for index in range(opening, len(text)):
        if text[index] == "(":
            depth += 1
        elif text[index] == ")":
            depth -= 1
            if depth == 0:
                return index
    raise ValueError(f"no closing bracket after: {text[opening:opening + 60]!r}")


def _split_parameters(text):
    """Cuts a parameter list at its outermost commas."""
    parts, depth, start = [], 0, 0
    for index, character in enumerate(text):
        if character in "([":
            depth += 1
        elif character in ")]":
            depth -= 1
        elif character == "," and depth == 0:
            parts.append(text[start:index])
            start = index + 1
    parts.append(text[start:])
    return [" ".join(part.split()) for part in parts]


def _parameter(text):
    if text == "...":
        return Parameter("...", "")
    match = re.fullmatch(r"(?P<type>.*[\s*])(?P<name>\w+)", text)
    if "(" in text or "[" in text or match is None:
        raise ValueError(f"a parameter must be written as `type name`: {text!r}")
    return Parameter(match["type"].strip(), match["name"])


def parse(text, header):
    """All functions that the text of one header declares, in its order."""
    code = re.sub(r"^[ \t]*#(?:[^\n]*\\\n)*[^\n]*", "", without_comments(text), flags=re.M)
    functions = []
    for match in _DECLARATION.finditer(code):
        opening = match.end() - 1
        closing = closing_bracket(code, opening)
        if not re.match(r"\s*;", code[closing + 1 :]):
            raise ValueError(f"{header}: {match['name']} is not a plain declaration")
        inside = _split_parameters(code[opening + 1 : closing])
        parameters = () if inside in ([""], ["void"]) else tuple(_parameter(part) for part in inside)
        return_type = re.sub(r"\s+\*", "*", " ".join(match["type"].split()))
        functions.append(Function(match["name"], return_type, parameters, bool(match["deprecated"]), header))
    marked = len(re.findall(r"\bACL_FUNC_VISIBILITY\b", code))
    if marked != len(functions):
        raise ValueError(f"{header}: {marked} declarations are marked, {len(functions)} were understood")
    return functions


def header_files(headers=HEADERS):
    return sorted(pathlib.Path(headers).rglob("*.h"))


def declared_functions(headers=HEADERS):
    """Every declared function, by header and then in the order of the header."""
    headers = pathlib.Path(headers)
    functions = []
    for path in header_files(headers):
        functions += parse(path.read_text(), (headers.name / path.relative_to(headers)).as_posix())
    names = [function.name for function in functions]
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise ValueError("declared more than once: " + ", ".join(twice))
    return functions


def add_headers_argument(parser):
    parser.add_argument("--headers", type=pathlib.Path, default=HEADERS, help="folder of the public headers")


def main():
    parser = argparse.ArgumentParser(description="Lists the functions that the public headers declare.")
    add_headers_argument(parser)
    parser.add_argument("--names", action="store_true", help="names only")
    arguments = parser.parse_args()
    for function in declared_functions(arguments.headers):
        print(function.name if arguments.names else function.prototype() + ";")
    return 0


if __name__ == "__main__":
    sys.exit(main())
