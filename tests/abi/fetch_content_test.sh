#!/usr/bin/env bash
# Builds a user's project that fetches Sampan by FetchContent from a local folder, and runs its tests.
#
# Usage: fetch_content_test.sh CMAKE PROJECT_DIR SAMPAN_SOURCE CC CXX
set -euo pipefail

cmake=$1 project=$2 sampan=$3 cc=$4 cxx=$5
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

fail() {
  echo "FAILED: $*" >&2
  exit 1
}

# Built to be compiled soon: the other tests look at what optimised libraries do.
"$cmake" -G Ninja -S "$project" -B "$work/build" -DSAMPAN_SOURCE="$sampan" -DCMAKE_C_COMPILER="$cc" \
  -DCMAKE_CXX_COMPILER="$cxx" -DCMAKE_BUILD_TYPE=Debug -DCMAKE_CXX_FLAGS_DEBUG=-O0 -DCMAKE_UNITY_BUILD=ON \
  -DCMAKE_UNITY_BUILD_BATCH_SIZE=20 >"$work/log" 2>&1 || { cat "$work/log"; fail "configuring"; }
"$cmake" --build "$work/build" >"$work/log" 2>&1 || { tail -50 "$work/log"; fail "building"; }

# The tests of the project and no others.
ctest=$(dirname "$cmake")/ctest
"$ctest" --test-dir "$work/build" --output-on-failure | tee "$work/log"
grep -q "100% tests passed, 0 tests failed out of 3" "$work/log" || fail "three tests were expected"

# What the project installs and nothing else.
"$cmake" --install "$work/build" --prefix "$work/installed" >"$work/log" || { cat "$work/log"; fail "installing"; }
files=$(cd "$work/installed" && find . -type f)
[ "$files" = ./bin/consumer_acl_rt ] || fail "installed: $files"
echo "the project works"
