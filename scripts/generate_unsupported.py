#!/usr/bin/env python3
# Writes definitions that refuse for every public function without a definition in src/acl.

import argparse
import pathlib
import sys

import api_definitions
import api_functions
import api_list
import generated_file

# What a function of each return type answers when it fails.
FAILURE = {
    "uint32_t": "0xFFFFFFFFU",
    "size_t": "0",
    "float": "0.0F",
    "aclFloat16": "0",
    "int64_t": "-1",
    "aclDataType": "ACL_DT_UNDEFINED",
    "aclFormat": "ACL_FORMAT_UNDEFINED",
}


def refusal(function):
    report = f'sampan::acl::NotSupported("{function.name}")'
    if function.return_type == "aclError":
        body = f"  return {report};\n"
    elif function.return_type == "void":
        body = f"  static_cast<void>({report});\n"
    elif function.return_type.endswith("*") or function.return_type in FAILURE:
        value = FAILURE.get(function.return_type, "nullptr")
        body = f"  static_cast<void>({report});\n  return {value};\n"
    else:
        raise ValueError(f"{function.name}: no failure value is known for {function.return_type}")
    types = ", ".join(parameter.type for parameter in function.parameters)
    return f"\n{function.return_type} {function.name}({types}) {{\n{body}}}\n"


def undeclared_refusal(name):
    """A function whose parameters are not known here: callers pass them in vain, which the C ABI permits."""
    report = f'sampan::acl::NotSupported("{name}")'
    visible = 'extern "C" __attribute__((visibility("default")))'
    if name in api_list.GIVES_POINTER:
        return f"\n{visible} void* {name}() {{\n  static_cast<void>({report});\n  return nullptr;\n}}\n"
    return f"\n{visible} aclError {name}() {{\n  return {report};\n}}\n"


def source(functions, undeclared=()):
    headers = sorted({function.header for function in functions} | {"acl/acl.h"})
    return (
        "// Generated: public functions that this build exports and refuses.\n"
        + "".join(f'#include "{header}"\n' for header in headers)
        + '#include "acl/not_supported.h"\n'
        + "".join(refusal(function) for function in functions)
        + "".join(undeclared_refusal(name) for name in undeclared)
    )


def main():
    parser = argparse.ArgumentParser(description="Generates refusals for functions that are not implemented.")
    api_functions.add_headers_argument(parser)
    parser.add_argument("--output", type=pathlib.Path, help="C++ file to write; standard output without it")
    parser.add_argument("sources", type=pathlib.Path, nargs="*", help="sources; those below src/acl by default")
    arguments = parser.parse_args()
    functions = api_functions.declared_functions(arguments.headers)
    files = arguments.sources or api_definitions.source_files()
    defined = api_definitions.defined_functions(functions, files)
    refused = [function for function in functions if function.name not in defined]
    text = source(refused, api_list.undeclared_names(functions))
    if arguments.output:
        generated_file.write_if_changed(arguments.output, text)
    else:
        sys.stdout.write(text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
