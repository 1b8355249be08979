#!/usr/bin/env bash
# Proves that the checked-in PTX of the CUDA kernels is what their sources give. Needs the clang that made it; with
# another one, or none, it says so and ends with 77, which tests count as skipped.
set -euo pipefail
cd "$(dirname "$0")/.."
kernels=src/backend/cuda/kernels
compiler=${SAMPAN_PTX_COMPILER:-clang++}
made_by=$(sed -n '1s/.* with clang \([0-9.]*\) from .*/\1/p' $kernels/*_kernels.ptx | sort -u)
[ "$(wc -w <<<"$made_by")" = 1 ] || { echo "check_ptx: $kernels/*.ptx do not say what one compiler made them" >&2; exit 1; }
if ! command -v "$compiler" >/dev/null || ! "$compiler" -print-targets 2>/dev/null | grep -q nvptx64; then
  echo "check_ptx: skipped, there is no clang++ that makes PTX (the text was made by clang $made_by)"
  exit 77
fi
version=$("$compiler" -dumpversion)
if [ "$version" != "$made_by" ]; then
  echo "check_ptx: skipped, clang is $version and the text was made by $made_by"
  exit 77
fi
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
for source in $kernels/*_kernels.cu; do
  text=${source%.cu}.ptx
  scripts/generate_ptx.sh "$source" "$folder/made.ptx"
  if ! diff -q "$text" "$folder/made.ptx" >/dev/null; then
    echo "check_ptx: $text is not what its sources give; make it again:" >&2
    echo "  scripts/generate_ptx.sh $source $text" >&2
    exit 1
  fi
  # The other compiler that may make it has to take the sources too.
  if command -v nvcc >/dev/null; then
    nvcc -std=c++20 -arch=compute_75 -ptx -I src -o "$folder/nvcc.ptx" "$source"
    echo "check_ptx: nvcc takes $source too"
  fi
done
echo "check_ptx: the checked-in PTX is what clang $version makes of the sources"
