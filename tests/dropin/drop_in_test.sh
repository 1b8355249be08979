#!/usr/bin/env bash
# Installs the build, and builds and runs each project beside this script against it, with g++. clang++ builds one of CMake
# and one of make: how a build file finds the libraries does not depend on the compiler.
#
# Usage: drop_in_test.sh CMAKE BUILD_DIR PROJECTS_DIR
# shellcheck disable=SC2016,SC2317  # the inner shells expand their own arguments; functions are called by name
set -euo pipefail

cmake=$1 build=$2 projects=$3

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
prefix=$work/ascend-toolkit/latest
"$cmake" --install "$build" --prefix "$prefix" >"$work/install.log"

# A shell that knows of the installation what set_env.sh says, and nothing else.
user() {
  env -i PATH="$PATH" HOME="${HOME:-/}" ASCEND_GLOBAL_LOG_LEVEL=3 bash -c '. "$0/set_env.sh" && "$@"' "$prefix" "$@"
}

build_by_cmake() { # PROJECT CC CXX FOLDER
  user "$cmake" -S "$projects/$1" -B "$4" -DCMAKE_C_COMPILER="$2" -DCMAKE_CXX_COMPILER="$3" &&
    user "$cmake" --build "$4"
}

build_by_make() {
  mkdir -p "$4" && cp "$projects/$1"/* "$4" && user make -C "$4" CC="$2"
}

builds=("gcc g++ stub_folders machine_folder found_libraries linked_by_path plain_make")
if command -v clang++ >/dev/null; then
  builds+=("clang clang++ stub_folders plain_make")
else
  echo "there is no clang++: only g++ is tried"
fi

failures=0
for each in "${builds[@]}"; do
  read -r cc cxx names <<<"$each"
  for project in $names; do
    folder=$work/$project.$cc
    how=build_by_cmake
    [ ! -e "$projects/$project/Makefile" ] || how=build_by_make
    if ! "$how" "$project" "$cc" "$cxx" "$folder" >"$folder.log" 2>&1; then
      tail -30 "$folder.log"
      echo "FAILED: $project does not build with $cxx"
      failures=$((failures + 1))
    elif ! answer=$(user "$folder/program" 2>&1) || [[ $answer != *"bytes are right"* ]]; then
      echo "$answer"
      echo "FAILED: $project, built with $cxx, does not run"
      failures=$((failures + 1))
    else
      echo "$project with $cxx: $answer"
    fi
  done
done
exit $((failures > 0))
