#!/usr/bin/env bash
# Installs the build into a temporary prefix, moves it, and builds and runs a user's program against it.
#
# Usage: install_test.sh CMAKE BUILD_DIR PROJECT_DIR CC CXX [SANITIZERS]
# The prefix is moved before use: nothing in it may remember where it was installed or built.
# shellcheck disable=SC2016  # the inner shells expand their own arguments
set -euo pipefail

cmake=$1 build=$2 project=$3 cc=$4 cxx=$5 sanitize=${6-}
flags=(-Wall -Wextra -Werror -pedantic)
[ -z "$sanitize" ] || flags+=("-fsanitize=$sanitize")

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
"$cmake" --install "$build" --prefix "$work/first" >"$work/install.log"
mkdir "$work/moved here"
prefix="$work/moved here/cann"
mv "$work/first" "$prefix"
source_file=$project/consumer.c

fail() {
  echo "FAILED: $*" >&2
  exit 1
}

step() {
  echo "== $*"
}

# A shell without this machine's settings, in which nothing of the prefix is known yet.
clean() {
  env -i PATH="$PATH" HOME="${HOME:-/}" ${ASAN_OPTIONS:+ASAN_OPTIONS="$ASAN_OPTIONS"} \
    ${TSAN_OPTIONS:+TSAN_OPTIONS="$TSAN_OPTIONS"} "$@"
}

# Runs a program as a user would after sourcing set_env.sh.
run() {
  clean bash -c '. "$1/set_env.sh" && shift && "$@"' run "$prefix" "$@" || fail "running $*"
}

step "what make install builds"
if [ -e "$build/build.ninja" ]; then
  ninja -C "$build" -t graph sampan_installed | grep -oP 'label="\K[^"]*' | sed "s|^$build/||" | sort -u >"$work/built"
  find "$build" -name cmake_install.cmake -exec grep -hoP 'TYPE (SHARED_LIBRARY|MODULE|EXECUTABLE) .*FILES "\K[^"]*' {} + |
    sed "s|^$build/||" | sort -u >"$work/installed"
  [ -s "$work/installed" ] || fail "no program or library is installed"
  missing=$(comm -13 "$work/built" "$work/installed")
  [ -z "$missing" ] || fail "the target sampan_installed does not build" "$missing"
else
  echo "skipped: the build is not one of Ninja"
fi

step "layout"
for path in include/acl/acl.h include/acl/acl_rt.h include/acl/error_codes/rt_error_codes.h \
  include/hccl/hccl_types.h include/hccl/base.h include/hccl/platform/dispatcher.h \
  lib64/libacl_rt.so lib64/libascendcl.so lib64/libhccl_plf.so lib64/cmake/sampan/sampan-config.cmake \
  lib64/pkgconfig/sampan.pc lib64/pkgconfig/ascendcl.pc \
  set_env.sh bin/setenv.bash share/info/runtime/version.info; do
  [ -e "$prefix/$path" ] || fail "$path is missing"
done
grep -q '^Version=[0-9]' "$prefix/share/info/runtime/version.info" || fail "version.info has no Version= line"

step "folders and libraries that build files only name"
machine=$(uname -m)
for path in "$machine-linux/include/acl/acl.h" "$machine-linux/lib64/libascendcl.so" "$machine-linux/devlib/libruntime.so" \
  runtime/include/acl/acl_rt.h runtime/lib64/stub/libascendcl.so compiler/lib64/libgraph.so acllib/lib64/stub/libacl_rt.so \
  fwkacllib/include/acl/acl_op_compiler.h toolkit/lib64/libmetadef.so devlib/linux/"$machine"/libascend_hal.so \
  driver/lib64/driver/libascend_hal.so driver/lib64/common/libc_sec.so opp/built-in/op_proto tools \
  include/aclnn/acl_meta.h include/acl/ops/acl_dvpp.h include/acl/acl_prof.h include/acl/acl_tdt.h; do
  [ -e "$prefix/$path" ] || fail "$path is missing"
done
[ -z "$(find -L "$prefix" -type l)" ] || fail "links lead nowhere: $(find -L "$prefix" -type l | head -3)"
[ -z "$(find "$prefix" -type l -lname '/*')" ] || fail "a link is absolute: $(find "$prefix" -type l -lname '/*' | head -3)"
find -L "$prefix" -print >/dev/null 2>"$work/loops"
[ ! -s "$work/loops" ] || fail "links go round: $(head -3 "$work/loops")"
for library in "$prefix"/lib64/lib*.so; do
  readelf -d "$library" | grep -q "soname: \[${library##*/}\]" || fail "soname of $library"
done
[ -z "$(nm -D --defined-only "$prefix/lib64/libruntime.so")" ] || fail "libruntime.so exports something"
nm -D --defined-only "$prefix/lib64/libacl_op_compiler.so" | grep -q ' aclopCompileAndExecute$' ||
  fail "libacl_op_compiler.so has no aclopCompileAndExecute"

step "no absolute path"
if grep -rIlF -e "$work/first" -e "$build" "$prefix"; then fail "files above name a folder of the build"; fi
for library in libacl_rt.so libascendcl.so libhccl_plf.so; do
  dynamic=$(readelf -d "$prefix/lib64/$library")
  grep -q "soname: \[$library\]" <<<"$dynamic" || fail "soname of $library"
  if grep -E 'R(UN)?PATH' <<<"$dynamic" | grep -qF "[/"; then fail "$library has an absolute run path"; fi
done

step "find_package with the environment of set_env.sh"
clean bash -c '. "$1/set_env.sh" && "$2" -S "$3" -B "$4" -DCMAKE_C_COMPILER="$5" -DCMAKE_C_FLAGS="$6" \
  -DCMAKE_CXX_COMPILER="$7" -DCMAKE_CXX_FLAGS="$6" && "$2" --build "$4"' build "$prefix" "$cmake" "$project" \
  "$work/found" "$cc" "${sanitize:+-fsanitize=$sanitize}" "$cxx" >"$work/found.log" 2>&1 ||
  { cat "$work/found.log"; fail "find_package"; }
run "$work/found/consumer_acl_rt"
run "$work/found/consumer_ascendcl"
run "$work/found/consumer_hccl_plf"

step "find_package with CMAKE_PREFIX_PATH alone"
clean "$cmake" -S "$project" -B "$work/prefixed" -DCMAKE_C_COMPILER="$cc" -DCMAKE_CXX_COMPILER="$cxx" \
  -DCMAKE_PREFIX_PATH="$prefix" \
  >"$work/prefixed.log" 2>&1 || { cat "$work/prefixed.log"; fail "find_package by prefix"; }

step "plain compiler options"
for library in acl_rt ascendcl; do
  "$cc" -std=c11 "${flags[@]}" "$source_file" -I"$prefix/include" -L"$prefix/lib64" "-l$library" \
    -o "$work/plain_$library"
  readelf -d "$work/plain_$library" | grep -q "NEEDED.*\[lib$library.so\]" ||
    fail "plain_$library needs another name"
  run "$work/plain_$library"
done
"$cxx" -x c++ -O2 -std=c++17 -D_GLIBCXX_USE_CXX11_ABI=0 "${flags[@]}" "$source_file" -x none \
  -I"$prefix/include" "$prefix/lib64/libacl_rt.so" "$prefix/lib64/libascendcl.so" -o "$work/plain_both"
run "$work/plain_both"

step "HCCL's platform layer"
"$cxx" -std=c++17 "${flags[@]}" "$project/ranks.cc" -I"$prefix/include" -I"$prefix/include/hccl/platform" \
  -L"$prefix/lib64" -lhccl_plf -lacl_rt -pthread -o "$work/plain_hccl"
run "$work/plain_hccl"

step "pkg-config"
if command -v pkg-config >/dev/null; then
  # pkg-config escapes the space of the path, which eval undoes.
  for package in sampan ascendcl; do
    options=$(clean bash -c '. "$1/set_env.sh" && pkg-config --cflags --libs "$2"' find "$prefix" "$package") ||
      fail "pkg-config $package after set_env.sh"
    eval '"$cc"' -std=c11 '"${flags[@]}"' '"$source_file"' "$options" -o '"$work/pkg_$package"'
    run "$work/pkg_$package"
  done
else
  echo "skipped: there is no pkg-config"
fi

step "Python"
if [ -e "$prefix/python/site-packages/acl.so" ]; then
  [ -s "$prefix/python/site-packages/acl-stubs/rt.pyi" ] || fail "the stubs of the Python module are missing"
  # An interpreter is not instrumented: a module that is cannot be loaded without more ado.
  [ -n "$sanitize" ] || run python3 -B -c '
import acl.rt
assert acl.rt.set_device(0) == 0
device, ret = acl.rt.malloc(64, 0)
data = bytes(range(64))
assert ret == 0 and acl.rt.memcpy(device, 64, acl.util.bytes_to_ptr(data), 64, 1) == 0'
else
  echo "skipped: the Python module was not built"
fi

step "manual pages"
[ -s "$prefix/share/man/man3/aclrtMemcpyBatchAsync.3" ] || fail "there is no manual page of aclrtMemcpyBatchAsync"
if command -v man >/dev/null; then
  # man looks beside the folders of PATH.
  clean MANPAGER=cat bash -c '. "$1/set_env.sh" && man aclrtMemcpyBatchAsync' man "$prefix" >"$work/manual" 2>&1 ||
    { cat "$work/manual"; fail "man aclrtMemcpyBatchAsync"; }
  grep -q attrsIndexes "$work/manual" || fail "the manual page of aclrtMemcpyBatchAsync says nothing of attrsIndexes"
fi

step "set_env.sh"
check_environment='
  . "$1"; . "$1"
  for name in ASCEND_HOME_PATH ASCEND_TOOLKIT_HOME ASCEND_AICPU_PATH; do
    eval "value=\${$name-}"
    [ "$value" = "$2" ] || { echo "$name is $value"; exit 1; }
  done
  [ "$ASCEND_OPP_PATH" = "$2/opp" ] && [ "$TOOLCHAIN_HOME" = "$2/toolkit" ] || exit 1
  [ "$LD_LIBRARY_PATH" = "$2/lib64:/kept" ] || { echo "LD_LIBRARY_PATH is $LD_LIBRARY_PATH"; exit 1; }
  [ "$CMAKE_PREFIX_PATH" = "$2/lib64/cmake" ] || { echo "CMAKE_PREFIX_PATH is $CMAKE_PREFIX_PATH"; exit 1; }
  [ "$PKG_CONFIG_PATH" = "$2/lib64/pkgconfig" ] || { echo "PKG_CONFIG_PATH is $PKG_CONFIG_PATH"; exit 1; }
  [ "$PYTHONPATH" = "$2/python/site-packages" ] || { echo "PYTHONPATH is $PYTHONPATH"; exit 1; }
  case ":$PATH:" in
    *":$2/bin:"*":$2/bin:"*) echo "PATH has the folder twice"; exit 1 ;;
    ":$2/bin:"*) ;;
    *) echo "PATH is $PATH"; exit 1 ;;
  esac
  if set | grep -q "^_sampan"; then echo "a private name stays behind"; exit 1; fi'
for shell in bash sh dash zsh busybox; do
  command -v "$shell" >/dev/null || continue
  command=("$shell")
  [ "$shell" != busybox ] || command=(busybox sh)
  for options in -c -euc; do
    (cd / && clean LD_LIBRARY_PATH=/kept "${command[@]}" "$options" "$check_environment" check \
      "$prefix/set_env.sh" "$prefix") || fail "set_env.sh in $shell $options"
  done
done
# Another installation in front: the one that is sourced last wins, and none is there twice.
clean bash -euc '. "$1/set_env.sh"; LD_LIBRARY_PATH=/other:$LD_LIBRARY_PATH:/last; . "$1/set_env.sh"
  [ "$LD_LIBRARY_PATH" = "$1/lib64:/other:/last" ] || { echo "LD_LIBRARY_PATH is $LD_LIBRARY_PATH"; exit 1; }' \
  check "$prefix" || fail "set_env.sh beside another installation"
(cd "$prefix" && clean LD_LIBRARY_PATH=/kept bash -euc "$check_environment" check ./set_env.sh "$prefix") ||
  fail "set_env.sh by a relative path"
clean LD_LIBRARY_PATH=/kept bash -euc "$check_environment" check "$prefix/bin/setenv.bash" "$prefix" ||
  fail "bin/setenv.bash"
cp "$prefix/set_env.sh" "$work/set_env.sh"
if clean bash -c '. "$1"' check "$work/set_env.sh" 2>/dev/null; then
  fail "set_env.sh outside an installation"
fi

echo "the installation works"
