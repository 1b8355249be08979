#!/usr/bin/env python3
# Compiles and runs the examples of the API reference.

import argparse
import os
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
FLAGS = ["-Wall", "-Wextra", "-Werror", "-Wno-unused", "-pthread"]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--cc", required=True)
    parser.add_argument("--cxx", required=True)
    parser.add_argument("--libraries", type=pathlib.Path, required=True)
    arguments = parser.parse_args()
    sys.path.insert(0, str(ROOT / "scripts"))
    import generate_api_reference  # only here, so that --help needs nothing

    groups, _ = generate_api_reference.supported_functions()
    programs = generate_api_reference.examples(groups)
    assert len(programs) >= len(generate_api_reference.SEEDS), sorted(programs)
    include = ["-I", ROOT / "include", "-I", ROOT / "include" / "hccl" / "platform"]
    link = ["-L", arguments.libraries, "-lhccl_plf", "-lacl_rt", f"-Wl,-rpath,{arguments.libraries}"]
    environment = {name: value for name, value in os.environ.items() if not name.startswith("SAMPAN_")}
    with tempfile.TemporaryDirectory() as folder:
        for name, text in programs.items():
            source = pathlib.Path(folder) / name
            source.write_text(text)
            c = source.suffix == ".c"
            compiler = [arguments.cc, "-std=c11"] if c else [arguments.cxx, "-std=c++17"]
            subprocess.run([*compiler, *FLAGS, *include, source, *link, "-o", source.with_suffix("")], check=True)
            subprocess.run([source.with_suffix("")], check=True, env=environment, timeout=60)
            print(f"{name}: compiled and ran")
    return 0


if __name__ == "__main__":
    sys.exit(main())
