#!/usr/bin/env python3
# Writes the names of the public functions that the library implements, as C++ string literals. One that only refuses
# does nothing that could fail half-way.

import argparse
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "scripts"))

import api_definitions
import api_functions
import generated_file


def main():
    parser = argparse.ArgumentParser(description="Lists the public functions that the library defines.")
    parser.add_argument("--output", type=pathlib.Path, required=True)
    arguments = parser.parse_args()
    functions = api_functions.declared_functions()
    defined = api_definitions.defined_functions(functions, api_definitions.source_files())
    names = sorted(name for name, definition in defined.items() if definition.status != "not supported")
    generated_file.write_if_changed(arguments.output, "".join(f'"{name}",\n' for name in names))
    return 0


if __name__ == "__main__":
    sys.exit(main())
