#!/usr/bin/env python3
# Fails unless acl.h can be included beside cuda_runtime.h, in either order, in C11 and C++17: both bring a dim3.
# CUDA's own headers are used where they are installed, besides a look-alike of what matters in them.

import argparse
import pathlib
import subprocess
import sys
import tempfile

LOOK_ALIKE = {
    "vector_types.h": """#ifndef __VECTOR_TYPES_H__
#define __VECTOR_TYPES_H__
struct dim3 {
  unsigned int x, y, z;
#ifdef __cplusplus
  constexpr dim3(unsigned int vx = 1, unsigned int vy = 1, unsigned int vz = 1) : x(vx), y(vy), z(vz) {}
#endif
};
typedef struct dim3 dim3;
#endif
""",
    "cuda_runtime_api.h": '#pragma once\n#include "vector_types.h"\n',
    "cuda_runtime.h": '#pragma once\n#include "cuda_runtime_api.h"\n',
}
CUDA = pathlib.Path("/usr/local/cuda/include")
ORDERS = (("acl/acl.h", "cuda_runtime.h"), ("cuda_runtime.h", "acl/acl.h"))
BODY = {"c11": "int Extent(void) { dim3 extent; extent.x = 2; return (int)extent.x; }\n",
        "c++17": "int Extent(); int Extent() { dim3 extent(2); return static_cast<int>(extent.x * extent.y); }\n"}


def compiles(compiler, language, folders, order):
    text = "".join(f"#include <{header}>\n" for header in order) + BODY[language]
    flags = ["-Wall", "-Wextra", "-Werror", "-fsyntax-only", "-x", "c" if language == "c11" else "c++", f"-std={language}"]
    result = subprocess.run([compiler, *flags, *folders, "-"], input=text, capture_output=True, text=True)
    if result.returncode != 0:
        print(f"{' before '.join(order)} as {language}:\n{result.stderr}")
    return result.returncode == 0


def main():
    parser = argparse.ArgumentParser(description="Includes acl.h beside cuda_runtime.h.")
    parser.add_argument("--cc", default="cc", help="C compiler")
    parser.add_argument("--cxx", default="c++", help="C++ compiler")
    parser.add_argument("--include", type=pathlib.Path, required=True, help="folder that holds acl/")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        for name, text in LOOK_ALIKE.items():
            pathlib.Path(folder, name).write_text(text)
        cuda_folders = [folder] + ([str(CUDA)] if (CUDA / "cuda_runtime.h").exists() else [])
        answers = [
            compiles(compiler, language, [f"-I{arguments.include}", "-isystem", cuda], order)
            for cuda in cuda_folders
            for order in ORDERS
            for compiler, language in ((arguments.cc, "c11"), (arguments.cxx, "c++17"))
        ]
    print(f"{sum(answers)} of {len(answers)} compilations passed" + ("" if len(cuda_folders) > 1 else "; CUDA is not installed"))
    return 0 if all(answers) else 1


if __name__ == "__main__":
    sys.exit(main())
