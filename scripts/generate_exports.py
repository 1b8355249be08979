#!/usr/bin/env python3
# Writes what the library exports, from the headers and the list: linker version script, symbol list, alias source.

import argparse
import pathlib
import re
import sys

import api_functions
import api_list
import generated_file


BRIDGE = api_functions.ROOT / "src" / "base" / "platform_bridge.h"


def bridge_names(path=BRIDGE):
    """What libhccl_plf needs of the library beyond the public functions."""
    return re.findall(r"^\w+ (sampan\w+)\(", path.read_text(), re.M)


def version_script(names):
    # No version name: the symbols stay plain, so that LD_PRELOAD and dlsym find them as they find any other.
    exported = "".join(f"    {name};\n" for name in names)
    return "{\n  global:\n" + exported + "  local:\n    *;\n};\n"


def alias_source(names):
    """C source whose symbols only satisfy the linker; the loader must never bind to them."""
    stubs = "".join(f"SYMBOL({name})\n" for name in names)
    return (
        "/* Symbols of a filter library: bound to the real library by the loader, never run. */\n"
        '#define SYMBOL(name) __attribute__((visibility("default"))) void name(void);\\\n'
        "  void name(void) { __builtin_trap(); }\n" + stubs
    )


def main():
    parser = argparse.ArgumentParser(description="Generates the export list of the library from the headers.")
    api_functions.add_headers_argument(parser)
    parser.add_argument("--script", type=pathlib.Path, help="linker version script to write")
    parser.add_argument("--list", type=pathlib.Path, help="list of the expected symbols to write")
    parser.add_argument("--alias", type=pathlib.Path, help="source of a filter library to write")
    arguments = parser.parse_args()
    functions = api_functions.declared_functions(arguments.headers)
    names = sorted([function.name for function in functions] + api_list.undeclared_names(functions) + bridge_names())
    if arguments.script:
        generated_file.write_if_changed(arguments.script, version_script(names))
    if arguments.list:
        generated_file.write_if_changed(arguments.list, "".join(name + "\n" for name in names))
    if arguments.alias:
        generated_file.write_if_changed(arguments.alias, alias_source(names))
    return 0


if __name__ == "__main__":
    sys.exit(main())
