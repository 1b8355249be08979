# Environment of a shell that uses this installation: source it, from bash, zsh or another POSIX shell.

# Where this file is. A plain POSIX shell does not tell, but holds the file open while it reads it.
_sampan_file=
if [ -n "${BASH_SOURCE-}" ]; then
  _sampan_file=$BASH_SOURCE
elif [ -n "${ZSH_VERSION-}" ]; then
  eval '_sampan_file=${(%):-%x}'
else
  for _sampan_fd in "/proc/$$/fd"/*; do
    _sampan_link=$(readlink "$_sampan_fd" 2>/dev/null || :)
    case $_sampan_link in
      */set_env.sh) _sampan_file=$_sampan_link ;;
    esac
  done
  unset _sampan_fd _sampan_link
fi
_sampan_root=$(CDPATH='' cd -- "$(dirname -- "$_sampan_file")" 2>/dev/null && pwd || :)

# _sampan_prepend NAME FOLDER: puts the folder first in a colon-separated list, and takes it out elsewhere.
_sampan_prepend() {
  _sampan_list=
  eval "_sampan_list=:\${$1-}:"
  while :; do
    case $_sampan_list in
      *":$2:"*) _sampan_list="${_sampan_list%%":$2:"*}:${_sampan_list#*":$2:"}" ;;
      *) break ;;
    esac
  done
  _sampan_list=${_sampan_list#:}
  _sampan_list=${_sampan_list%:}
  export "$1=$2${_sampan_list:+:$_sampan_list}"
  unset _sampan_list
}

if [ -n "$_sampan_file" ] && [ -e "$_sampan_root/lib64/libacl_rt.so" ]; then
  export ASCEND_HOME_PATH="$_sampan_root"
  export ASCEND_TOOLKIT_HOME="$_sampan_root"
  export ASCEND_AICPU_PATH="$_sampan_root"
  export ASCEND_OPP_PATH="$_sampan_root/opp"
  export TOOLCHAIN_HOME="$_sampan_root/toolkit"
  _sampan_prepend PATH "$_sampan_root/bin"
  _sampan_prepend LD_LIBRARY_PATH "$_sampan_root/lib64"
  _sampan_prepend PYTHONPATH "$_sampan_root/python/site-packages"
  _sampan_prepend CMAKE_PREFIX_PATH "$_sampan_root/lib64/cmake"
  _sampan_prepend PKG_CONFIG_PATH "$_sampan_root/lib64/pkgconfig"
  unset -f _sampan_prepend
  unset _sampan_file _sampan_root
else
  echo "set_env.sh: cannot tell where the installation is; source this file by its path" >&2
  unset -f _sampan_prepend
  unset _sampan_file _sampan_root
  return 1
fi
