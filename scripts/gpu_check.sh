#!/usr/bin/env bash
# Builds, tests and measures on a machine with a GPU, within a time limit:
#   gpu_check.sh [--seconds N] [--targets "TARGET..."] [--tests PATTERN] [--groups "GROUP..."] [--configure "ARG..."]
#                [--no-tests] [--no-bench]
#   gpu_check.sh --wrong-programs     builds and runs the wrong programs of tests/check and their twins alone
# All of it is to end within N seconds (570). The benchmarks get the time that the tests leave. For all groups of bench_gpu,
# call it twice: with --no-bench, then with --no-tests.
# Logs and figures go to $OUT, or to build/gpu_check.
set -uo pipefail
cd "$(dirname "$0")/.." || exit 1
out=${OUT:-$PWD/build/gpu_check}
mkdir -p "$out"
pattern=. groups="" tests=yes bench=yes targets=all configure="" seconds=570
while [ $# -gt 0 ]; do
  case $1 in
    --seconds) seconds=$2; shift 2 ;;
    --tests) pattern=$2; shift 2 ;;
    --groups) groups=$2; shift 2 ;;
    --targets) targets=$2; shift 2 ;;
    --configure) configure=$2; shift 2 ;;
    --no-tests) tests=no; shift ;;
    --no-bench) bench=no; shift ;;
    --wrong-programs) targets="ascendcl gpu_present sampan_command check_cases" pattern='^gpu_check$' bench=no; shift ;;
    *) echo "unknown argument $1" >&2; exit 2 ;;
  esac
done
left() { echo $((seconds - SECONDS > 1 ? seconds - SECONDS : 1)); }
export PATH=$PATH:/usr/local/cuda/bin
# shellcheck disable=SC2086
cmake --preset release $configure >"$out/build.log" 2>&1 || { tail -20 "$out/build.log"; exit 1; }
grep -h -A 2 "CMake Warning" "$out/build.log"
# shellcheck disable=SC2086
cmake --build --preset release -j "$(nproc)" --target $targets >>"$out/build.log" 2>&1 || { grep -m 20 -E "error|FAILED" "$out/build.log"; exit 1; }
echo "built after $SECONDS s"
status=0
if [ $tests = yes ]; then
  # Most tests wait for the GPU, which processes share by turns. A few processors are left to the driver.
  jobs=$(($(nproc) > 4 ? $(nproc) - 4 : 1))
  select=(--preset release -L gpu -R "$pattern")
  # ctest cuts off a test that would run longer.
  ctest "${select[@]}" -j $jobs --stop-time "$(date -d "+$(left) seconds" +%T)" >"$out/tests.log" 2>&1 || status=1
  [ "$targets" = all ] || tail -200 "$out/tests.log"
  sed -n '/tests passed/,$p' "$out/tests.log"
  without=$(comm -23 <(ctest "${select[@]}" -N | sed -n 's/^ *Test *#[0-9]*: //p' | sort) \
    <(sed -n 's/^ *[0-9]*\/[0-9]* Test *#[0-9]*: \([^ ]*\) .*/\1/p' "$out/tests.log" | sort))
  [ -z "$without" ] || { echo "not run for lack of time: ${without//$'\n'/ }"; status=1; }
  echo "tested after $SECONDS s"
fi
if [ $bench = yes ]; then
  # shellcheck disable=SC2086
  timeout "$(left)" build/release/bench/bench_gpu --json "$out/bench_gpu.json" $groups 2>&1 | tee "$out/bench_gpu.txt" || status=1
  echo "measured after $SECONDS s"
fi
exit $status
