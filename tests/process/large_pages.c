/* Preloaded: makes this host one with pages of 64 KiB, as some AArch64 kernels have. sysconf says so, and the
   calls that map memory refuse what such a kernel refuses. Calls from inside the C library are not seen. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#define PAGE ((size_t)65536)
#define EXPORT __attribute__((visibility("default")))

/* A refusal is a mistake of the caller: the test must fail even if the caller copes. */
static void Refuse(const char* call, size_t value) {
  fprintf(stderr, "large_pages: %s: %#zx is no multiple of 64 KiB\n", call, value);
  abort();
}

EXPORT long sysconf(int name) {
  static long (*real)(int);
  if (real == NULL) real = (long (*)(int))dlsym(RTLD_NEXT, "sysconf");
  return name == _SC_PAGESIZE ? (long)PAGE : real(name);
}

EXPORT int getpagesize(void) {
  return (int)PAGE;
}

typedef void* (*Mmap)(void*, size_t, int, int, int, off_t);

/* Addresses of the system's choice are aligned like those of such a kernel. */
static void* Map(Mmap real, void* address, size_t bytes, int access, int flags, int file, off_t offset) {
  if (offset % (off_t)PAGE != 0) Refuse("the offset of mmap", (size_t)offset);
  if ((flags & (MAP_FIXED | MAP_FIXED_NOREPLACE)) != 0) {
    if ((uintptr_t)address % PAGE != 0) Refuse("the address of mmap", (size_t)(uintptr_t)address);
    return real(address, bytes, access, flags, file, offset);
  }
  void* const space = real(NULL, bytes + PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (space == MAP_FAILED) return space;
  char* const aligned = (char*)(((uintptr_t)space + PAGE - 1) / PAGE * PAGE);
  void* const mapped = real(aligned, bytes, access, flags | MAP_FIXED, file, offset);
  return mapped; /* what is left of the space stays reserved */
}

EXPORT void* mmap(void* address, size_t bytes, int access, int flags, int file, off_t offset) {
  static Mmap real;
  if (real == NULL) real = (Mmap)dlsym(RTLD_NEXT, "mmap");
  return Map(real, address, bytes, access, flags, file, offset);
}

EXPORT int munmap(void* address, size_t bytes) {
  static int (*real)(void*, size_t);
  if (real == NULL) real = (int (*)(void*, size_t))dlsym(RTLD_NEXT, "munmap");
  if ((uintptr_t)address % PAGE != 0) Refuse("munmap", (size_t)(uintptr_t)address);
  return real(address, bytes);
}

EXPORT int madvise(void* address, size_t bytes, int advice) {
  static int (*real)(void*, size_t, int);
  if (real == NULL) real = (int (*)(void*, size_t, int))dlsym(RTLD_NEXT, "madvise");
  if ((uintptr_t)address % PAGE != 0) Refuse("madvise", (size_t)(uintptr_t)address);
  return real(address, bytes, advice);
}
