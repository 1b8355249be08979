#!/usr/bin/env bash
# Fails when a C or C++ file is not laid out as .clang-format says; with --fix, lays all of them out.
set -euo pipefail
cd "$(dirname "$0")/.."

case ${1:-} in
  "") options=(--dry-run -Werror) ;;
  --fix) options=(-i) ;;
  *)
    echo "usage: scripts/check_format.sh [--fix]" >&2
    exit 2
    ;;
esac

folders=()
for folder in src include tools tests bench examples python; do
  [[ ! -d $folder ]] || folders+=("$folder")
done
find "${folders[@]}" -type f \( -name '*.h' -o -name '*.c' -o -name '*.cc' -o -name '*.cu' \) -print0 |
  xargs -0 -r clang-format "${options[@]}"
