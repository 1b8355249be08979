#!/usr/bin/env bash
# Configures a user's project that fetches Sampan by FetchContent from a local folder. With a build folder, it also
# builds the project there, runs its tests and installs it.
#
# Usage: fetch_content_test.sh CMAKE PROJECT_DIR SAMPAN_SOURCE CC CXX [BUILD_DIR [OPTION OF CMAKE ...]]
set -euo pipefail

cmake=$1 project=$2 sampan=$3 cc=$4 cxx=$5
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
build=${6-$work/build}
shift $(($# > 6 ? 6 : $#))

fail() {
  echo "FAILED: $*" >&2
  exit 1
}

# The project itself says which targets it expects.
"$cmake" -G Ninja -S "$project" -B "$build" -DSAMPAN_SOURCE="$sampan" -DCMAKE_C_COMPILER="$cc" \
  -DCMAKE_CXX_COMPILER="$cxx" "$@" >"$work/log" 2>&1 || { cat "$work/log"; fail "configuring"; }
# The tests of the project and no others.
ctest=$(dirname "$(command -v "$cmake")")/ctest
tests=$("$ctest" --test-dir "$build" -N | grep -oP '^  Test +#\d+: \K.*' | xargs)
[ "$tests" = "acl_rt ascendcl hccl hcomm hccl_plf" ] || fail "the tests are: $tests"
if [ "$build" = "$work/build" ]; then
  echo "the project is configured"
  exit
fi

"$cmake" --build "$build" >"$work/log" 2>&1 || { tail -50 "$work/log"; fail "building"; }
"$ctest" --test-dir "$build" --output-on-failure || fail "the tests of the project"

# What the project installs and nothing else.
"$cmake" --install "$build" --prefix "$work/installed" >"$work/log" || { cat "$work/log"; fail "installing"; }
files=$(cd "$work/installed" && find . -type f)
[ "$files" = ./bin/consumer_acl_rt ] || fail "installed: $files"
echo "the project works"
