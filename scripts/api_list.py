# Reads the list of all public functions of AscendCL's runtime, of which our headers declare a part.

import re

import api_functions

LIST = api_functions.ROOT / "docs" / "compatibility" / "functions.txt"

# Of those that the headers do not declare: the ones that give a pointer, and not a code.
GIVES_POINTER = {
    "aclrtAllocatorCreateDesc",
    "aclrtCreateStreamConfigHandle",
}


def read_groups(path=LIST):
    """List of (group, names), in the order of the file."""
    groups = []
    for number, line in enumerate(path.read_text().splitlines(), 1):
        line = line.strip()
        heading = re.fullmatch(r"\[(.+)\]", line)
        if heading:
            groups.append((heading[1], []))
        elif line and not line.startswith("#"):
            if not groups or not re.fullmatch(r"acl\w+", line):
                raise ValueError(f"{path.name}:{number}: neither a [group] nor a function: {line!r}")
            groups[-1][1].append(line)
    names = [name for _, members in groups for name in members]
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise ValueError(f"{path.name}: listed more than once: " + ", ".join(twice))
    return groups


def page_of(group):
    """Name of the group's page of the API reference."""
    return re.sub(r"\W+", "_", group.lower()).strip("_") + ".md"


def undeclared_names(functions, path=LIST):
    """The listed functions that none of the given declarations is of."""
    declared = {function.name for function in functions}
    return sorted(name for _, names in read_groups(path) for name in names if name not in declared)
