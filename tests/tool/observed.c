/* A user's program that tells of each copy whether it was over when its call returned. A line for each case
 * has its name, the number of copies, and whether one of them was not over. */
#define _DEFAULT_SOURCE
#include <acl/acl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MEBI ((size_t)1 << 20)
#define SPAN (8 * MEBI)
#define MAX_ENTRIES 40
/* A copy that an engine does can be over as soon as its call returns, by chance. Seldom so often in a row. */
#define MAX_TRIES 100

static void Check(aclError code, const char* call) {
  if (code == ACL_SUCCESS) return;
  fprintf(stderr, "%s: %d: %s\n", call, code, aclGetRecentErrMsg());
  exit(1);
}
#define CHECK(call) Check(call, #call)

static char *pinned, *device, *descriptor;
static aclrtStream stream;

/* One case: n and bytes mean what its form makes of them. */
typedef struct {
  const char* name;
  void (*copy)(size_t n, size_t bytes);
  size_t n, bytes;
  int tries; /* so many; 0: until one is not over */
} Case;

static void Linear(size_t n, size_t bytes) {
  (void)n;
  CHECK(aclrtMemcpyAsync(device, bytes, pinned, bytes, ACL_MEMCPY_HOST_TO_DEVICE, stream));
}
static void Captured(size_t n, size_t bytes) {
  (void)n;
  CHECK(aclrtMemcpyAsync(device, bytes, pinned, bytes, ACL_MEMCPY_HOST_TO_BUF_TO_DEVICE, stream));
}
static void Rows(size_t height, size_t width) {
  CHECK(aclrtMemcpy2dAsync(device, width + 8, pinned, width + 16, width, height, ACL_MEMCPY_HOST_TO_DEVICE,
                           stream));
}
static void Fill(size_t n, size_t bytes) {
  (void)n;
  CHECK(aclrtMemsetAsync(device, bytes, 7, bytes, stream));
}
static void Batch(size_t entries, size_t bytes) {
  void *dsts[MAX_ENTRIES], *srcs[MAX_ENTRIES];
  size_t sizes[MAX_ENTRIES], first = 0, failed = 0;
  aclrtMemcpyBatchAttr attribute = {{0, ACL_MEM_LOCATION_TYPE_DEVICE}, {0, ACL_MEM_LOCATION_TYPE_HOST}, {0}};
  for (size_t i = 0; i < entries; ++i) {
    dsts[i] = device + 2 * bytes * i;
    srcs[i] = pinned + 2 * bytes * (entries - 1 - i);
    sizes[i] = bytes;
  }
  CHECK(aclrtMemcpyBatchAsync(dsts, sizes, srcs, sizes, entries, &attribute, &first, 1, &failed, stream));
}
static void Descriptor(size_t n, size_t bytes) {
  (void)n;
  CHECK(aclrtSetMemcpyDesc(descriptor, ACL_MEMCPY_INNER_DEVICE_TO_DEVICE, device + SPAN / 2, device, bytes,
                           NULL));
  CHECK(aclrtMemcpyAsyncWithDesc(descriptor, ACL_MEMCPY_INNER_DEVICE_TO_DEVICE, stream));
}

static void Try(Case each) {
  const int max_tries = each.tries != 0 ? each.tries : MAX_TRIES;
  int tries = 0, not_over = 0;
  while (tries < max_tries && !(not_over && each.tries == 0)) {
    aclrtStreamStatus status = ACL_STREAM_STATUS_RESERVED;
    each.copy(each.n, each.bytes);
    CHECK(aclrtStreamQuery(stream, &status));
    not_over = not_over || status != ACL_STREAM_STATUS_COMPLETE;
    CHECK(aclrtSynchronizeStream(stream));
    ++tries;
  }
  printf("%s:%zu:%zu %d %s\n", each.name, each.n, each.bytes, tries, not_over ? "later" : "over");
}

int main(void) {
  static const Case cases[] = {
      {"linear", Linear, 1, 1, 5},
      {"linear", Linear, 1, 64, 5},
      {"linear", Linear, 1, 4096, 5},
      {"captured", Captured, 1, 64, 5},
      {"captured", Captured, 1, 4096, 5},
      {"rows", Rows, 1, 64, 5},
      {"rows", Rows, 64, 64, 5},
      {"rows", Rows, 9, 100, 5},
      {"fill", Fill, 1, 64, 5},
      {"fill", Fill, 1, 4096, 5},
      {"descriptor", Descriptor, 1, 64, 5},
      {"descriptor", Descriptor, 1, 4096, 5},
      {"linear", Linear, 1, 4 * MEBI, 0},
      {"captured", Captured, 1, 4 * MEBI, 0},
      {"rows", Rows, 1000, 4096, 0},
      {"fill", Fill, 1, 4 * MEBI, 0},
      {"batch", Batch, 40, 65536, 0},
      {"descriptor", Descriptor, 1, 4 * MEBI, 0},
  };
  static const size_t entry_bytes[] = {16, 64, 512};
  CHECK(aclInit(NULL));
  CHECK(aclrtSetDevice(0));
  CHECK(aclrtCreateStream(&stream));
  CHECK(aclrtMallocHost((void**)&pinned, SPAN));
  CHECK(aclrtMalloc((void**)&device, SPAN, ACL_MEM_MALLOC_HUGE_FIRST));
  CHECK(aclrtMalloc((void**)&descriptor, 64, ACL_MEM_MALLOC_HUGE_FIRST));
  memset(pinned, 0x5A, SPAN);
  for (size_t size = 0; size < sizeof entry_bytes / sizeof entry_bytes[0]; ++size) {
    for (size_t n = 1; n <= MAX_ENTRIES; ++n)
      Try((Case){"batch", Batch, n, entry_bytes[size], 3});
  }
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; ++i)
    Try(cases[i]);
  CHECK(aclrtFree(descriptor));
  CHECK(aclrtFree(device));
  CHECK(aclrtFreeHost(pinned));
  CHECK(aclrtDestroyStream(stream));
  CHECK(aclrtResetDevice(0));
  CHECK(aclFinalize());
  return 0;
}
