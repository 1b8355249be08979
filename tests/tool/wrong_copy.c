/* Preloaded into the sampan command: a runtime that answers success and moves one byte too few, or too many.
 */
#define _GNU_SOURCE
#include <acl/acl.h>
#include <dlfcn.h>
#include <stdlib.h>

typedef aclError (*CopyFunction)(void*, size_t, const void*, size_t, aclrtMemcpyKind, aclrtStream);

__attribute__((visibility("default"))) aclError aclrtMemcpyAsync(void* dst, size_t room, const void* src,
                                                                 size_t bytes, aclrtMemcpyKind kind,
                                                                 aclrtStream stream) {
  CopyFunction real = NULL;
  const char* extra = getenv("WRONG_BYTES");
  const int more = extra == NULL ? 0 : atoi(extra);
  *(void**)&real = dlsym(RTLD_NEXT, "aclrtMemcpyAsync");
  return real(dst, room + 1, src, bytes + (size_t)more, kind, stream);
}
