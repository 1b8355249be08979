#!/usr/bin/env bash
# Builds, tests and measures on a machine with a GPU:
#   gpu_check.sh [--targets "TARGET..."] [--tests PATTERN] [--groups "GROUP..."] [--no-bench]
#   gpu_check.sh --wrong-programs     builds and runs the wrong programs of tests/check and their twins alone
# Logs and figures go to $OUT, or to build/gpu_check.
set -uo pipefail
cd "$(dirname "$0")/.."
out=${OUT:-$PWD/build/gpu_check}
mkdir -p "$out"
pattern=. groups="" bench=yes targets=all
while [ $# -gt 0 ]; do
  case $1 in
    --tests) pattern=$2; shift 2 ;;
    --groups) groups=$2; shift 2 ;;
    --targets) targets=$2; shift 2 ;;
    --no-bench) bench=no; shift ;;
    --wrong-programs) targets="ascendcl gpu_present sampan_command check_cases" pattern='^gpu_check$' bench=no; shift ;;
    *) echo "unknown argument $1" >&2; exit 2 ;;
  esac
done
export PATH=$PATH:/usr/local/cuda/bin
cmake --preset release >"$out/build.log" 2>&1 || { tail -20 "$out/build.log"; exit 1; }
begin=$SECONDS
grep -h -A 2 "CMake Warning" "$out/build.log"
# shellcheck disable=SC2086
cmake --build --preset release -j "$(nproc)" --target $targets >>"$out/build.log" 2>&1 || { grep -m 20 -E "error|FAILED" "$out/build.log"; exit 1; }
echo "built in $((SECONDS - begin)) s"
status=0
timeout 240 ctest --preset release -L gpu -R "$pattern" -j 4 --timeout 60 >"$out/tests.log" 2>&1 || status=1
[ "$targets" = all ] || tail -200 "$out/tests.log"
sed -n '/tests passed/,$p' "$out/tests.log"
if [ $bench = yes ]; then
  # shellcheck disable=SC2086
  timeout 240 build/release/bench/bench_gpu --json "$out/bench_gpu.json" $groups 2>&1 | tee "$out/bench_gpu.txt" || status=1
fi
exit $status
