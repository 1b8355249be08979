#!/usr/bin/env bash
# Runs clang-tidy over the libraries, in the build folder of the preset tidy. The sources of a layer are read together
# (CMAKE_UNITY_BUILD), because most of clang-tidy's time goes into the headers that they share: one minute on two cores
# instead of twelve.
set -euo pipefail
cd "$(dirname "$0")/.."

cmake --preset tidy >/dev/null
# Only the sources that the build generates: clang-tidy parses the others by itself.
ninja -C build/tidy -t targets all | grep -oP '^\S+\.cc(?=: CUSTOM_COMMAND$)' | xargs ninja -C build/tidy --quiet
# Two checks do not fit: a unity file includes sources by design, and an exception that leaves a destructor is found or
# not depending on which sources are read together.
grep -oP '"file": "\K[^"]+\.(cc|cxx)(?=")' build/tidy/compile_commands.json |
  xargs -P "$(nproc)" -n 1 clang-tidy -p build/tidy --quiet \
    --checks=-bugprone-suspicious-include,-bugprone-exception-escape \
    2> >(grep -v ' warnings generated' >&2)  # it counts what it suppresses in the system's headers
