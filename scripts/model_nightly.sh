#!/usr/bin/env bash
# Runs 100,000 random programs against the model for each schedule, beginning with new seeds:
#   model_nightly.sh [--build DIR] [--programs N] [SCHEDULE...]     a schedule as in SAMPAN_SCHEDULE, or parallel
# CTest stops a test after its own limit, so the program runs by itself.
set -uo pipefail
cd "$(dirname "$0")/.."
build=build/release programs=100000
while [[ ${1-} == --* ]]; do
  [ $# -ge 2 ] || { echo "$1 needs a value" >&2; exit 2; }
  case $1 in
    --build) build=$2; shift 2 ;;
    --programs) programs=$2; shift 2 ;;
    *) echo "unknown argument $1" >&2; exit 2 ;;
  esac
done
[ $# -gt 0 ] || set -- parallel early late seed:7 seed:8
model=$build/tests/model/model
[ -x "$model" ] || { echo "$model is missing: cmake --build $build --target model" >&2; exit 2; }
first_seed=$(date +%s)
status=0
for schedule in "$@"; do
  export SAMPAN_SCHEDULE=$schedule
  [ "$schedule" = parallel ] && unset SAMPAN_SCHEDULE
  begin=$SECONDS
  if SAMPAN_DEVICES=2 ASCEND_GLOBAL_LOG_LEVEL=4 MODEL_PROGRAMS=$programs MODEL_FIRST_SEED=$first_seed \
      "$model" --gtest_filter='ModelTest.*' --gtest_brief=1; then
    echo "$schedule: $programs programs in $((SECONDS - begin)) s"
  else
    echo "$schedule: failed after $((SECONDS - begin)) s"
    status=1
  fi
done
exit $status
