#!/usr/bin/env python3
# Writes a C++ table of all public functions with what happens to each, for `sampan info --binary`.

import argparse
import pathlib
import re
import sys

import api_definitions
import api_functions
import api_list
import generate_compatibility
import generated_file
import hccl_list

LAYOUT = api_functions.ROOT / "cmake" / "SampanLayout.cmake"


def compiler_names(text):
    """The names that libacl_op_compiler exports and refuses."""
    lists = re.findall(r"set\(SAMPAN_COMPILER_\w+([^)]*)\)", text)
    return sorted(name for each in lists for name in each.split())


def hccl_statuses():
    """The same of HCCL's C functions."""
    rows = {}
    for path in (hccl_list.LIST, hccl_list.PUBLIC_LIST):
        for _, members in hccl_list.read_groups(generate_compatibility.HCCL_STATUSES, path):
            rows.update({name: status in generate_compatibility.WORKS for name, status, _ in members
                         if name.startswith("Hccl") and "::" not in name})
    return rows


def statuses():
    """(name, works) of every function, sorted by name."""
    functions = api_functions.declared_functions()
    defined = api_definitions.defined_functions(functions, api_definitions.source_files())
    declared = {function.name for function in functions}
    rows = {}
    for _, members in api_list.read_groups():
        for name in members:
            status, _ = generate_compatibility.status_of(name, declared, defined)
            rows[name] = status in generate_compatibility.WORKS
    rows.update({name: False for name in compiler_names(LAYOUT.read_text())})
    rows.update(hccl_statuses())
    return sorted(rows.items())


def source(rows):
    entries = "".join(f'    {{"{name}", {str(works).lower()}}},\n' for name, works in rows)
    return (
        "// Generated: all public functions of AscendCL and HCCL, and whether they work here.\n"
        '#include "tools/sampan/info/function_status.h"\n\n'
        "namespace sampan::tool {\nnamespace {\n\n"
        f"constexpr FunctionStatus kFunctions[] = {{\n{entries}}};\n\n"
        "}  // namespace\n\n"
        "std::span<const FunctionStatus> AllFunctions() {\n  return kFunctions;\n}\n\n}  // namespace sampan::tool\n"
    )


def main():
    parser = argparse.ArgumentParser(description="Generates the table of functions for `sampan info --binary`.")
    parser.add_argument("--output", type=pathlib.Path, required=True, help="C++ file to write")
    generated_file.write_if_changed(parser.parse_args().output, source(statuses()))
    return 0


if __name__ == "__main__":
    sys.exit(main())
