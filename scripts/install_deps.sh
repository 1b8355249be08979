#!/usr/bin/env bash
# Installs the Debian packages that the project needs; does nothing when all are there.
#
#   scripts/install_deps.sh [--list] [GROUP ...]     groups: build, bench, test, lint, aarch64; all but the last when none
# is named. aarch64 is for scripts/check_aarch64.sh alone.
#
# --list prints the packages and installs nothing. build is all that the libraries, the commands, the examples, an
# installation and a package need. A test that uses Chromium, zsh, fish, dpkg-dev, pytest, numpy, mpirun or clang is
# skipped without it.
set -euo pipefail

build=(g++ binutils cmake ninja-build make python3 nlohmann-json3-dev libcli11-dev zlib1g-dev libdw-dev
  libfabric-dev python3-dev)
bench=(libbenchmark-dev openmpi-bin)
test=(git libgtest-dev pkg-config dpkg-dev file chromium zsh fish python3-pytest python3-numpy
  python3-yaml)
aarch64=(g++-aarch64-linux-gnu qemu-user python3 cmake ninja-build file)
lint=(clang libclang-rt-dev clang-format clang-tidy gcovr)

list=no
groups=()
for argument in "$@"; do
  case $argument in
    --list) list=yes ;;
    build | bench | test | lint | aarch64) groups+=("$argument") ;;
    *)
      echo "install_deps.sh: '$argument' is neither --list nor one of the groups build, bench, test, lint, aarch64" >&2
      exit 2
      ;;
  esac
done
[[ ${#groups[@]} -gt 0 ]] || groups=(build bench test lint)

packages=()
for group in "${groups[@]}"; do
  declare -n members=$group
  packages+=("${members[@]}")
done

if [[ $list == yes ]]; then
  printf '%s\n' "${packages[@]}"
  exit 0
fi

if ! command -v dpkg-query >/dev/null; then
  echo "install_deps.sh: not a Debian system; make sure that you have what these packages hold: ${packages[*]}" >&2
  exit 0
fi

missing=()
for package in "${packages[@]}"; do
  state=$(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null || true)
  [[ $state == installed ]] || missing+=("$package")
done
[[ ${#missing[@]} -gt 0 ]] || exit 0

if [[ $(id -u) -eq 0 ]]; then
  as_root=(env)
elif command -v sudo >/dev/null && sudo -n true 2>/dev/null; then
  as_root=(sudo -n env)
else
  echo "install_deps.sh: these packages are missing: ${missing[*]}" >&2
  echo "install_deps.sh: not root, and sudo is absent or wants a password. Please run:" >&2
  echo "  sudo apt-get update && sudo apt-get install --no-install-recommends ${missing[*]}" >&2
  exit 1
fi

echo "Installing: ${missing[*]}"
"${as_root[@]}" apt-get update -qq
"${as_root[@]}" DEBIAN_FRONTEND=noninteractive \
  apt-get install -y -qq --no-install-recommends "${missing[@]}"
