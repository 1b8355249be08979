#!/usr/bin/env python3
# Writes the source of libhcomm.so: each function of libhccl, with a body that never runs. The library is a filter:
# the linker finds the names in it, the loader takes them from libhccl.so.

import pathlib
import sys

import hccl_list

names = sorted(hccl_list.declared_public())
lines = [f"void {name}(void);\nvoid {name}(void) {{ __builtin_trap(); }}" for name in names]
pathlib.Path(sys.argv[1]).write_text("\n".join(lines) + "\n")
