#!/usr/bin/env bash
# Runs the examples from a build folder (first argument, build/product if none) and sums up what each has shown.
set -euo pipefail
cd "$(dirname "$0")/.."

build=${1:-build/product}
examples=(first_copy matrix_tiles kv_cache_offload descriptor_chain overlap growing_arena two_processes
  data_parallel ring_of_ranks collectives/collectives)
summary=()
failed=0

for example in "${examples[@]}"; do
  printf '== %s\n' "$example"
  if output=$("$build/examples/$example" 2>&1); then
    result=$(tail -n 1 <<<"$output")
  else
    result="FAILED with exit code $?"
    failed=1
  fi
  # A program that ends well without saying what it has verified has not shown anything.
  if [[ $result != "OK, "* && $result != FAILED* ]]; then
    result="FAILED: no closing line"
    failed=1
  fi
  if grep -q '^\[ERROR\]' <<<"$output"; then
    result="FAILED: the runtime logged an error"
    failed=1
  fi
  printf '%s\n\n' "$output"
  summary+=("$(printf '%-17s %s' "${example##*/}" "$result")")
done

printf '== Summary\n'
printf '%s\n' "${summary[@]}"
exit "$failed"
