#!/usr/bin/env bash
# Makes the PTX of the CUDA kernels with clang: generate_ptx.sh SOURCE OUTPUT. Needs no CUDA toolkit.
# Target and PTX version are the oldest that the backend supports (compute capability 7.0, driver 12.0).
set -euo pipefail
[ $# -eq 2 ] || { echo "usage: generate_ptx.sh SOURCE OUTPUT" >&2; exit 2; }
source_folder=$(cd "$(dirname "$0")/../src" && pwd)
compiler=${SAMPAN_PTX_COMPILER:-clang++}
version=$("$compiler" -dumpversion)

body=$("$compiler" -x cuda --cuda-device-only --cuda-gpu-arch=sm_70 -nocudainc -nocudalib -Wno-unknown-cuda-version \
  -Xclang -target-feature -Xclang +ptx70 -std=c++20 -O3 -Wall -Wextra -Werror -I "$source_folder" -S -o - "$1")
{
  echo "// Made by scripts/generate_ptx.sh with clang $version from $(basename "$1"). Do not edit."
  printf '%s\n' "$body"
} >"$2.new"
mv "$2.new" "$2"
