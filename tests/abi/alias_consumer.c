/* A program linked with one name of the library that loads the other: both must lead to the same functions.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

#include "acl/acl.h"

typedef aclError (*CountFunction)(uint32_t*);

/* Implemented in alias_plugin.c, which is linked with the other name. */
CountFunction PluginCountFunction(void);

static int failures = 0;

static void Expect(int condition, const char* what) {
  if (!condition) {
    printf("failed: %s\n", what);
    ++failures;
  }
}

/* POSIX gives functions as object pointers; the bytes are the same. */
static CountFunction Lookup(void* handle, const char* name) {
  void* address = dlsym(handle, name);
  CountFunction function = NULL;
  memcpy(&function, &address, sizeof(function));
  return function;
}

static const char* FileOf(CountFunction function) {
  void* address = NULL;
  Dl_info info;
  memcpy(&address, &function, sizeof(address));
  if (dladdr(address, &info) == 0 || info.dli_fname == NULL) return "";
  const char* slash = strrchr(info.dli_fname, '/');
  return slash != NULL ? slash + 1 : info.dli_fname;
}

int main(int argc, char** argv) {
  const int interposed = argc > 1 && strcmp(argv[1], "interposed") == 0;
  void* alias = dlopen("libascendcl.so", RTLD_NOW | RTLD_LOCAL);
  void* real = dlopen("libacl_rt.so", RTLD_NOW | RTLD_LOCAL);
  if (alias == NULL || real == NULL) {
    printf("dlopen: %s\n", dlerror());
    return 1;
  }
  CountFunction through_alias = Lookup(alias, "aclrtGetDeviceCount");
  CountFunction through_real = Lookup(real, "aclrtGetDeviceCount");
  Expect(through_alias != NULL && through_alias == through_real,
         "dlsym through either name gives one function");
  Expect(strcmp(FileOf(through_alias), "libacl_rt.so") == 0, "that function is the real library's");
  Expect(aclrtGetDeviceCount == PluginCountFunction(), "both linked names bind to one function");
  if (!interposed) {
    Expect(aclrtGetDeviceCount == through_real, "a linked call and dlsym agree");
  } else {
    Expect(strcmp(FileOf(aclrtGetDeviceCount), "libalias_interpose.so") == 0,
           "the interposed function is called");
  }

  /* One state: the second initialisation knows of the first, whichever name it came through. */
  uint32_t count = 0;
  Expect(aclInit(NULL) == ACL_SUCCESS, "aclInit");
  aclError (*init)(const char*) = NULL;
  void* address = dlsym(interposed ? real : alias, "aclInit");
  memcpy(&init, &address, sizeof(init));
  Expect(init != NULL && init(NULL) == ACL_ERROR_REPEAT_INITIALIZE, "the other name knows of aclInit");
  Expect(aclrtGetDeviceCount(&count) == ACL_SUCCESS, "aclrtGetDeviceCount");
  Expect(aclFinalize() == ACL_SUCCESS, "aclFinalize");

  if (interposed) {
    int (*calls)(void) = NULL;
    address = dlsym(RTLD_DEFAULT, "InterposedCalls");
    memcpy(&calls, &address, sizeof(calls));
    Expect(calls != NULL && calls() == 1, "the interposed function forwarded one call");
  }
  return failures == 0 ? 0 : 1;
}
