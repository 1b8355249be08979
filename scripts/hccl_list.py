# Reads what is said about each function and class member of HCCL's headers, and what the headers declare.

import re

import api_functions

LIST = api_functions.ROOT / "docs" / "compatibility" / "hccl.txt"
HEADERS = api_functions.ROOT / "include" / "hccl" / "platform"
# The same for libhccl: collectives and communicators.
PUBLIC_LIST = api_functions.ROOT / "docs" / "compatibility" / "libhccl.txt"
PUBLIC_HEADERS = api_functions.ROOT / "include" / "hccl"

_FUNCTION = re.compile(r"^HCCL_PLF_VISIBILITY\s+\w+\s+(\w+)\s*\(", re.M)
PUBLIC_FUNCTION = re.compile(r"^HCCL_PUBLIC(?:_WEAK)?\s+(?P<type>[\w ]+?[\s*]+)(?P<name>\w+)\s*\(", re.M)
_CLASS = re.compile(r"^class HCCL_PLF_VISIBILITY (\w+)[^{;]*\{(.*?)^\};", re.M | re.S)
_MEMBER = re.compile(r"^  (?:[\w:<>&*~,\s]*?[\s&*])?(operator\S+?|~?\w+)\(", re.M)


def read_groups(statuses, path=LIST):
    """List of (group, entries); an entry is (name, status, note)."""
    groups = []
    for number, line in enumerate(path.read_text().splitlines(), 1):
        if not line.strip() or line.startswith("#"):
            continue
        if heading := re.fullmatch(r"\[(.+)\]", line):
            groups.append((heading[1], []))
            continue
        name, _, rest = line.replace("::", "\0").partition(": ")
        status, _, note = rest.partition(": ")
        if not groups or status not in statuses:
            raise ValueError(f"{path.name}:{number}: neither a [group] nor `name: status: note`: {line!r}")
        groups[-1][1].append((name.replace("\0", "::"), status, note.replace("\0", "::")))
    return groups


def _members(name, body):
    """Public member functions, once each, without destructors and what is deleted."""
    public = re.split(r"^ (?:private|protected):", body, flags=re.M)[0]
    public = re.sub(r"^  struct \w+ \{.*?^  \};", "", public, flags=re.M | re.S)
    public = re.sub(r"\{[^{}]*\}", ";", public)  # bodies of inline functions
    public = re.sub(r"^[^;]*= delete;", "", public, flags=re.M)
    public = public.replace("operator bool", "operator_bool")  # the one conversion, kept in one word
    found = (member.replace("operator_bool", "operator bool") for member in _MEMBER.findall(public))
    return {f"{name}::{member}" for member in found if not member.startswith("~")}


def declared(headers=HEADERS):
    """Names of the functions and of the public member functions that the headers declare."""
    names = set()
    for path in sorted(headers.glob("*.h")):
        code = api_functions.without_comments(path.read_text())
        names |= set(_FUNCTION.findall(code))
        for name, body in _CLASS.findall(code):
            names |= _members(name, body)
    return names


def declared_public(headers=PUBLIC_HEADERS):
    """Names of the functions of libhccl."""
    texts = (api_functions.without_comments(path.read_text()) for path in sorted(headers.glob("*.h")))
    return {match["name"] for text in texts for match in PUBLIC_FUNCTION.finditer(text)}


def check(groups, names):
    """Refuses a list that does not say something about everything, once."""
    listed = [name for _, entries in groups for name, _, _ in entries]
    twice = sorted({name for name in listed if listed.count(name) > 1})
    problems = [f"listed more than once: {name}" for name in twice]
    problems += [f"declared but not listed: {name}" for name in sorted(names - set(listed))]
    problems += [f"listed but not declared: {name}" for name in sorted(set(listed) - names)]
    if problems:
        raise ValueError(f"{LIST.name}: " + "; ".join(problems))
