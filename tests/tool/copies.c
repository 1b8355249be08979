/* A user's program with copies of every shape, for the tests of traces: on two streams that wait for one
 * another, from two threads, blocking and not. Arguments: how many rounds of them, and how many milliseconds
 * to rest after each. */
#define _DEFAULT_SOURCE
#include <acl/acl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define MEBI (1U << 20)

static void Check(aclError code, const char* call) {
  if (code == ACL_SUCCESS) return;
  fprintf(stderr, "%s: %d: %s\n", call, code, aclGetRecentErrMsg());
  exit(1);
}
#define CHECK(call) Check(call, #call)

static char *pinned, *device;

/* Many short copies of one stream, by a thread of its own. */
static void* CopyOnDevice(void* rounds) {
  aclrtStream stream;
  CHECK(aclrtSetDevice(0));
  CHECK(aclrtCreateStream(&stream));
  for (int i = 0; i < 10 * *(int*)rounds; ++i)
    CHECK(
        aclrtMemcpyAsync(device + MEBI, 512, device + MEBI + 4096, 512, ACL_MEMCPY_DEVICE_TO_DEVICE, stream));
  CHECK(aclrtSynchronizeStream(stream));
  CHECK(aclrtDestroyStream(stream));
  return NULL;
}

static void Batch(size_t pieces, aclrtStream stream) {
  void *dsts[64], *srcs[64];
  size_t sizes[64];
  aclrtMemcpyBatchAttr attribute = {{0, ACL_MEM_LOCATION_TYPE_DEVICE}, {0, ACL_MEM_LOCATION_TYPE_HOST}, {0}};
  size_t first = 0, failed = 0;
  for (size_t i = 0; i < pieces; ++i) {
    dsts[i] = device + 8192 * i;
    srcs[i] = pinned + 8192 * (pieces - 1 - i);
    sizes[i] = i % 2 == 0 ? 4096 : 1000;
  }
  CHECK(aclrtMemcpyBatchAsync(dsts, sizes, srcs, sizes, pieces, &attribute, &first, 1, &failed, stream));
}

static void Round(char* pageable, aclrtStream in, aclrtStream out, aclrtEvent event) {
  static const size_t sizes[] = {64, 4096, 65536, MEBI};
  for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; ++i)
    CHECK(aclrtMemcpyAsync(device + 2 * MEBI, sizes[i], pinned, sizes[i], ACL_MEMCPY_HOST_TO_DEVICE, in));
  CHECK(aclrtRecordEvent(event, in));
  CHECK(aclrtStreamWaitEvent(out, event));
  CHECK(aclrtMemcpyAsync(pinned + MEBI, MEBI, device + 2 * MEBI, MEBI, ACL_MEMCPY_DEVICE_TO_HOST, out));
  CHECK(aclrtMemcpy2dAsync(device, 1000, pinned, 2048, 999, 50, ACL_MEMCPY_HOST_TO_DEVICE, in));
  Batch(3, in);
  Batch(40, in);
  CHECK(aclrtMemsetAsync(device + MEBI + 8192, 4096, 7, 4096, out));
  CHECK(aclrtMemcpyAsync(device + 128, 70000, pageable, 70000, ACL_MEMCPY_HOST_TO_DEVICE, in));
  CHECK(aclrtSynchronizeEvent(event));
  CHECK(aclrtMemcpy(pageable, 5000, device, 5000, ACL_MEMCPY_DEVICE_TO_HOST));
  CHECK(aclrtMemcpy2d(pinned, 300, device, 512, 256, 16, ACL_MEMCPY_DEVICE_TO_HOST));
  CHECK(aclrtSynchronizeStream(out));
}

int main(int argc, char** argv) {
  int rounds = argc > 1 ? atoi(argv[1]) : 1;
  const unsigned rest_us = argc > 2 ? 1000 * (unsigned)atoi(argv[2]) : 0;
  aclrtStream in, out;
  aclrtEvent event;
  pthread_t thread;
  char* pageable = malloc(70000);
  CHECK(aclInit(NULL));
  CHECK(aclrtSetDevice(0));
  CHECK(aclrtCreateStream(&in));
  CHECK(aclrtCreateStream(&out));
  CHECK(aclrtCreateEvent(&event));
  CHECK(aclrtMallocHost((void**)&pinned, 2 * MEBI));
  CHECK(aclrtMalloc((void**)&device, 3 * MEBI, ACL_MEM_MALLOC_HUGE_FIRST));
  if (pageable == NULL || pthread_create(&thread, NULL, CopyOnDevice, &rounds) != 0) return 1;
  for (int i = 0; i < rounds; ++i) {
    Round(pageable, in, out, event);
    usleep(rest_us);
  }
  pthread_join(thread, NULL);
  CHECK(aclrtSynchronizeDevice());
  CHECK(aclrtDestroyEvent(event));
  CHECK(aclrtDestroyStream(in));
  CHECK(aclrtDestroyStream(out));
  CHECK(aclrtFree(device));
  CHECK(aclrtFreeHost(pinned));
  CHECK(aclrtResetDevice(0));
  CHECK(aclFinalize());
  free(pageable);
  puts("copied");
  return 0;
}
