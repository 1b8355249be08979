#!/bin/sh
# run_on_gpu.sh GPU_PRESENT PROGRAM...: runs the program where there is a GPU; otherwise ends with 77, which skips.
present=$1
shift
"$present" || exit $?
exec "$@"
