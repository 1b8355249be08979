# Builds for AArch64 Linux with Debian's cross compiler (g++-aarch64-linux-gnu). scripts/check_aarch64.sh sets
# SAMPAN_SYSROOT to a folder with the libraries that are not part of the compiler.
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_C_COMPILER aarch64-linux-gnu-gcc)
set(CMAKE_CXX_COMPILER aarch64-linux-gnu-g++)
set(CMAKE_LIBRARY_ARCHITECTURE aarch64-linux-gnu)
list(APPEND CMAKE_TRY_COMPILE_PLATFORM_VARIABLES SAMPAN_SYSROOT)
set(CMAKE_FIND_ROOT_PATH ${SAMPAN_SYSROOT} /usr/aarch64-linux-gnu)
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)
# The host's headers of libraries are not for this target: what is found lies in the folder above.
set(CMAKE_EXE_LINKER_FLAGS_INIT "-Wl,-rpath-link,${SAMPAN_SYSROOT}/usr/lib/aarch64-linux-gnu")
# CTest starts programs with it.
find_program(SAMPAN_QEMU NAMES qemu-aarch64 qemu-aarch64-static)
if(SAMPAN_QEMU)
  set(CMAKE_CROSSCOMPILING_EMULATOR ${SAMPAN_QEMU} -L /usr/aarch64-linux-gnu -E
      LD_LIBRARY_PATH=${SAMPAN_SYSROOT}/usr/lib/aarch64-linux-gnu)
endif()
