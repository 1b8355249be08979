#!/usr/bin/env bash
# Builds the libraries for AArch64 and runs the conformance suite under qemu, with host pages of 4 KiB and of 64 KiB.
#
#   scripts/check_aarch64.sh [--build-only]
#
# It is no part of .ci/run: it takes a quarter of an hour on two cores. It needs g++-aarch64-linux-gnu and qemu-user of Debian
# (scripts/install_deps.sh aarch64). zlib and GoogleTest for AArch64 come from the distribution's packages, which
# are unpacked below build/aarch64, so that the machine needs no second architecture. Exit status 77: a tool is missing.
set -euo pipefail
cd "$(dirname "$0")/.."

build_only=no
if [[ ${1:-} == --build-only ]]; then
  build_only=yes
  shift
fi
for tool in aarch64-linux-gnu-g++ qemu-aarch64 apt-get dpkg-deb cmake ninja; do
  command -v "$tool" >/dev/null || {
    echo "check_aarch64.sh: skipped: there is no $tool; scripts/install_deps.sh aarch64 installs it" >&2
    exit 77
  }
done

build=$PWD/build/aarch64
sysroot=$build/sysroot

# The packages of another architecture, without touching the machine's own lists.
fetch_packages() {
  local work=$build/packages
  mkdir -p "$work"/{state/lists/partial,cache/archives/partial} "$sysroot"
  local apt=(apt-get -qq -o APT::Architecture=arm64 -o APT::Architectures=arm64 -o Dir::State="$work/state"
    -o Dir::State::status=/dev/null -o Dir::Cache="$work/cache" -o APT::Sandbox::User=root)
  "${apt[@]}" update
  (cd "$work" && "${apt[@]}" download zlib1g zlib1g-dev libgtest-dev nlohmann-json3-dev)
  local package
  for package in "$work"/*.deb; do
    dpkg-deb -x "$package" "$sysroot"
  done
  # zlib1g has its library below /lib, where the link of the other package leads.
  cp -a "$sysroot"/lib/aarch64-linux-gnu/. "$sysroot/usr/lib/aarch64-linux-gnu/"
}

[[ -e $sysroot/usr/lib/aarch64-linux-gnu/libgtest.a ]] || fetch_packages

cmake -S . -B "$build" -G Ninja -DCMAKE_TOOLCHAIN_FILE=cmake/toolchains/aarch64-linux-gnu.cmake \
  -DSAMPAN_SYSROOT="$sysroot" -DCMAKE_BUILD_TYPE=Release -DCMAKE_CXX_FLAGS_RELEASE="-O1 -DNDEBUG -Wno-maybe-uninitialized" -DSAMPAN_ASSERTIONS=ON \
  -DCMAKE_UNITY_BUILD=ON -DCMAKE_UNITY_BUILD_BATCH_SIZE=20 -DCMAKE_DISABLE_PRECOMPILE_HEADERS=ON \
  -DSAMPAN_BUILD_BENCH=OFF -DSAMPAN_BUILD_TOOLS=OFF -DSAMPAN_BUILD_PYTHON=OFF >/dev/null

# Under their default settings. conformance_process is not among them: it starts children in each test.
programs=(conformance_copy conformance_copy_at_once conformance_device conformance_memory conformance_stream
  conformance_sharing)
ninja -C "$build" acl_rt ascendcl hccl_plf hccl hcomm "${programs[@]}"
file -L "$build"/lib64/lib{acl_rt,hccl_plf,hccl,hcomm}.so | grep -v 'ARM aarch64' && exit 1
[[ $build_only == no ]] || exit 0

# What cannot run under qemu's user emulation:
left_out=(
  # A child of the test's own program: the kernel cannot execute it without a handler for AArch64.
  'Device.NameOfTheOtherProfile' 'Device.RunModeOfAStandaloneChipIsTheDeviceSide' 'MemoryExhaustion.*'
  'ResetDevice.RefusesADeviceThatWasNeverSet' 'CanAccessPeer.IsUnsupportedOnAStandaloneChip'
  'MemoryPoolTest.AnAllocationTakesBackWhatPoolsKeep'
  # qemu 7.2 says that MADV_POPULATE_READ succeeded and does nothing, so bad addresses are not found.
  'CountsBeyondAllMemory.*' '*Wild*' '*ReadOnlyDestination*'
  '*MappingsOfManyKinds*' '*RegisteredMemoryEndsWhereTheProgramsOwnDoes*'
  # Half a minute each, and nothing that smaller copies do not show.
  '*LargeLinearData*'
)
filter=$(IFS=:; printf -- '-%s' "${left_out[*]}")

failed=no
for page in 4096 65536; do
  for program in "${programs[@]}"; do
    printf '==== %s with host pages of %d bytes\n' "$program" "$page"
    QEMU_PAGESIZE=$page ASCEND_GLOBAL_LOG_LEVEL=4 qemu-aarch64 -L /usr/aarch64-linux-gnu \
      -E LD_LIBRARY_PATH="$sysroot/usr/lib/aarch64-linux-gnu:$build/lib64" \
      "$build/tests/conformance/$program" --gtest_brief=1 --gtest_filter="$filter" || failed=yes
  done
done
[[ $failed == no ]]
