/* Loops of C calls, which python_calls.py loads with ctypes: what a call costs without Python. Each returns
   nanoseconds for each call, or a negative number if a call failed. */
#include <time.h>

#include <acl/acl.h>

static double Now(void) {
  struct timespec now;
  timespec_get(&now, TIME_UTC);
  return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

#define LOOP(call)                          \
  const double begin = Now();               \
  for (int i = 0; i < count; ++i) {         \
    if ((call) != ACL_SUCCESS) return -1.0; \
  }                                         \
  return (Now() - begin) / count

double LoopGetDevice(int count) {
  int32_t device = 0;
  LOOP(aclrtGetDevice(&device));
}

double LoopStreamQuery(int count, aclrtStream stream) {
  aclrtStreamStatus status;
  LOOP(aclrtStreamQuery(stream, &status));
}

double LoopMemcpy(int count, void* dst, const void* src, size_t bytes) {
  LOOP(aclrtMemcpy(dst, bytes, src, bytes, ACL_MEMCPY_HOST_TO_DEVICE));
}

double LoopMemcpyAsync(int count, void* dst, const void* src, size_t bytes, aclrtStream stream) {
  LOOP(aclrtMemcpyAsync(dst, bytes, src, bytes, ACL_MEMCPY_HOST_TO_DEVICE, stream));
}

double LoopMemcpy2d(int count, void* dst, const void* src, size_t bytes) {
  LOOP(aclrtMemcpy2d(dst, bytes, src, bytes, bytes, 1, ACL_MEMCPY_HOST_TO_DEVICE));
}

double LoopRecordEvent(int count, aclrtEvent event, aclrtStream stream) {
  LOOP(aclrtRecordEvent(event, stream));
}

double LoopSynchronize(int count, aclrtStream stream) {
  LOOP(aclrtSynchronizeStream(stream));
}
