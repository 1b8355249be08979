/* The codes that the API reference lists, one call for each: a page that promises another code is wrong. */
#define _DEFAULT_SOURCE
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "acl/acl.h"
#include "acl/acl_rt_memory_soma.h"

static int failures = 0;

static void Compare(int line, const char* call, long long expected, long long given) {
  if (expected == given) return;
  ++failures;
  printf("%s:%d: %s gave %lld, the reference says %lld\n", __FILE__, line, call, given, expected);
}

#define EXPECT(expected, call) Compare(__LINE__, #call, (long long)(expected), (long long)(call))

enum { kBytes = 1 << 20, kPage = 4096, kGranularity = 2 << 20 };
#define DEAD ((void*)0x1230)

/* What most calls need. */
static void* device;
static void* pinned;
static aclrtStream stream;

static void BeforeADeviceIsSet(void) {
  char bytes[128] = {0};
  int32_t id = 0;
  EXPECT(0, aclrtMemcpy(NULL, 0, NULL, 0, (aclrtMemcpyKind)99));
  EXPECT(107000, aclrtMemcpy(bytes, 4, bytes + 64, 8, ACL_MEMCPY_HOST_TO_HOST));
  EXPECT(0, aclrtMemcpy(bytes, 8, bytes, 8, ACL_MEMCPY_HOST_TO_HOST));
  EXPECT(107002, aclrtMemcpy(bytes, 8, bytes + 64, 8, ACL_MEMCPY_HOST_TO_HOST));
  EXPECT(107002, aclrtMemcpyAsync(bytes, 8, bytes + 64, 8, ACL_MEMCPY_HOST_TO_HOST, NULL));
  EXPECT(107000, aclrtMemcpy2dAsync(bytes, 8, bytes, 8, 8, 1, ACL_MEMCPY_HOST_TO_DEVICE, NULL));
  EXPECT(107002, aclrtGetDevice(&id));
  EXPECT(107001, aclrtSetDevice(99));
  EXPECT(507007, aclrtResetDevice(0));
}

static void Linear(void) {
  EXPECT(100000, aclrtMemcpyAsync(NULL, 8, pinned, 8, ACL_MEMCPY_HOST_TO_DEVICE, DEAD));
  EXPECT(100000, aclrtMemcpyAsync(device, 8, pinned, 8, ACL_MEMCPY_INNER_DEVICE_TO_DEVICE, DEAD));
  EXPECT(107017, aclrtMemcpyAsync(device, 4, pinned, 8, ACL_MEMCPY_HOST_TO_DEVICE, DEAD));
  EXPECT(107000, aclrtMemcpyAsync(device, 4, pinned, 8, ACL_MEMCPY_HOST_TO_DEVICE, stream));
  EXPECT(107000, aclrtMemcpyAsync(device, SIZE_MAX, pinned, kBytes + 64, ACL_MEMCPY_HOST_TO_DEVICE, stream));
  EXPECT(207000, aclrtMemcpyAsync(pinned, 8, (char*)pinned + 64, 8, ACL_MEMCPY_HOST_TO_HOST, stream));
  EXPECT(107000, aclrtMemset(device, 4, 0, 8));
  EXPECT(100000, aclrtMemsetD32((char*)device + 1, 8, 1, 1));
  EXPECT(100000, aclrtMemsetD32(device, 8, 1, 3));
}

static void Rows(void) {
  EXPECT(0, aclrtMemcpy2dAsync(NULL, 0, NULL, 0, 0, 1, (aclrtMemcpyKind)99, DEAD));
  EXPECT(100000, aclrtMemcpy2dAsync(device, 8, pinned, 8, 9, 1, ACL_MEMCPY_HOST_TO_DEVICE, stream));
  EXPECT(100000, aclrtMemcpy2dAsync(device, 8, pinned, 8, 8, 1, ACL_MEMCPY_HOST_TO_HOST, stream));
  EXPECT(107017, aclrtMemcpy2dAsync(device, 8, pinned, 8, 8, 5242881, ACL_MEMCPY_HOST_TO_DEVICE, DEAD));
  EXPECT(107000, aclrtMemcpy2dAsync(device, 8, pinned, 8, 8, 5242881, ACL_MEMCPY_HOST_TO_DEVICE, stream));
  EXPECT(207000, aclrtMemcpy2dAsync(device, 8, device, 8, 8, 1, ACL_MEMCPY_DEVICE_TO_DEVICE, stream));
  EXPECT(207000, aclrtMemcpy2d(device, 8, device, 8, 8, 1, ACL_MEMCPY_DEVICE_TO_DEVICE));
}

static void Batches(void) {
  aclrtMemcpyBatchAttr attr = {{0, ACL_MEM_LOCATION_TYPE_DEVICE}, {0, ACL_MEM_LOCATION_TYPE_HOST}, {0}};
  void* dsts[2] = {device, (char*)device + 64};
  void* srcs[2] = {pinned, (char*)pinned + 64};
  size_t sizes[2] = {8, 8}, short_room[2] = {4, 8}, none[2] = {0, 0}, one_empty[2] = {8, 0};
  size_t first = 0, wrong = 1, failed = 7;
  EXPECT(100000, aclrtMemcpyBatchAsync(dsts, sizes, srcs, sizes, 2, &attr, &first, 1, NULL, stream));
  EXPECT(100000, aclrtMemcpyBatchAsync(dsts, sizes, srcs, sizes, 0, &attr, &first, 1, &failed, stream));
  EXPECT(100000, aclrtMemcpyBatchAsync(dsts, sizes, srcs, sizes, 2, NULL, &first, 1, &failed, stream));
  EXPECT(100000, aclrtMemcpyBatchAsync(dsts, short_room, srcs, sizes, 2, &attr, &first, 1, &failed, stream));
  EXPECT(107017, aclrtMemcpyBatchAsync(dsts, sizes, srcs, sizes, 2, &attr, &first, 1, &failed, DEAD));
  EXPECT(7, failed); /* errors 1 to 5 leave it alone */
  EXPECT(107000, aclrtMemcpyBatchAsync(dsts, sizes, srcs, sizes, 2, &attr, &wrong, 1, &failed, stream));
  EXPECT(1, failed == SIZE_MAX);
  EXPECT(107000, aclrtMemcpyBatchAsync(dsts, sizes, srcs, one_empty, 2, &attr, &first, 1, &failed, stream));
  EXPECT(1, failed);
  EXPECT(0, aclrtMemcpyBatch(dsts, sizes, srcs, one_empty, 2, &attr, &first, 1, &failed));
  EXPECT(0, aclrtMemcpyBatchAsync(NULL, NULL, NULL, none, 2, NULL, NULL, 0, &failed, DEAD));
  EXPECT(107000, aclrtMemcpyBatchAsync(srcs, sizes, dsts, sizes, 2, &attr, &first, 1, &failed, stream));
  EXPECT(0, failed);
}

static void Operands(void) {
  size_t bytes = 0;
  const aclrtMemcpyKind inner = ACL_MEMCPY_INNER_DEVICE_TO_DEVICE;
  EXPECT(207000, aclrtGetMemcpyDescSize(ACL_MEMCPY_DEVICE_TO_DEVICE, &bytes));
  EXPECT(0, aclrtGetMemcpyDescSize(inner, &bytes));
  EXPECT(32, bytes);
  EXPECT(100000, aclrtSetMemcpyDesc(device, inner, device, device, 0, NULL));
  EXPECT(107000, aclrtSetMemcpyDesc(device, inner, device, device, 4294967297ULL, NULL));
  EXPECT(100000, aclrtMemcpyAsyncWithDesc(device, inner, NULL));
  EXPECT(107017, aclrtMemcpyAsyncWithDesc(device, inner, DEAD));
  EXPECT(207000, aclrtMemcpyAsyncWithDesc(device, ACL_MEMCPY_DEVICE_TO_DEVICE, stream));
  EXPECT(107000, aclrtMemcpyAsyncWithDesc((char*)device + 32, inner, stream));
  EXPECT(107000, aclrtMemcpyAsyncWithOffset(device, 8, 0, device, 8, 0, ACL_MEMCPY_DEFAULT, stream));
  EXPECT(107000, aclrtMemcpyAsyncWithOffset(device, 8, 8, device, 8, 0, inner, stream));
  const aclrtReduceKind sum = ACL_RT_MEMCPY_SDMA_AUTOMATIC_SUM;
  EXPECT(207000,
         aclrtReduceAsync(device, device, 8, ACL_RT_MEMCPY_SDMA_AUTOMATIC_EQUAL, ACL_FLOAT, stream, NULL));
  EXPECT(207000, aclrtReduceAsync(device, device, 8, sum, ACL_DOUBLE, stream, NULL));
  EXPECT(107000, aclrtReduceAsync(device, (char*)device + 64, 6, sum, ACL_FLOAT, stream, NULL));
  EXPECT(107000, aclrtValueWrite(device, 1, 1, stream));
  EXPECT(107000, aclrtValueWait(device, 1, 4, stream));
}

static void Memory(void) {
  void* made = NULL;
  char* page = mmap(NULL, 2 * kPage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  EXPECT(100000, aclrtMalloc(&made, 0, ACL_MEM_MALLOC_HUGE_FIRST));
  EXPECT(207000, aclrtMalloc(&made, 8, ACL_MEM_MALLOC_HUGE1G_ONLY));
  EXPECT(100000, aclrtFree(NULL));
  EXPECT(107000, aclrtFree((char*)device + 8));
  EXPECT(107000, aclrtFreeHost(device));
  EXPECT(100000, aclrtMemsetD32(page, kPage, 1, 4));
  EXPECT(207000, aclrtHostRegister(page, kPage, (aclrtHostRegisterType)1, &made));
  EXPECT(107000, aclrtHostRegister(page + 8, 64, ACL_HOST_REGISTER_MAPPED, &made));
  EXPECT(507910, aclrtHostRegister(pinned, kPage, ACL_HOST_REGISTER_MAPPED, &made));
  EXPECT(0, aclrtHostRegister(page, 2 * kPage, ACL_HOST_REGISTER_MAPPED, &made));
  EXPECT(507910, aclrtHostRegister(page + kPage, kPage, ACL_HOST_REGISTER_MAPPED, &made));
  EXPECT(507911, aclrtHostUnregister(page + kPage));
  EXPECT(107000, aclrtHostRegisterV2(page, kPage, 0));
  EXPECT(0, aclrtHostUnregister(page));
  EXPECT(107000, aclrtHostGetDevicePointer(page, &made, 0));
  EXPECT(100000, aclrtMemFlush(device, 0));
  EXPECT(107000, aclrtMemFlush(pinned, 8));
  munmap(page, 2 * kPage);
}

static void MappedMemory(void) {
  aclrtPhysicalMemProp prop = {ACL_MEM_HANDLE_TYPE_NONE,
                               ACL_MEM_ALLOCATION_TYPE_PINNED,
                               ACL_HBM_MEM_HUGE,
                               {0, ACL_MEM_LOCATION_TYPE_DEVICE},
                               0};
  aclrtMemAccessDesc of_host = {ACL_RT_MEM_ACCESS_FLAGS_READ, {0, ACL_MEM_LOCATION_TYPE_HOST}, {0}};
  aclrtDrvMemHandle physical = NULL, imported = NULL;
  void* address = NULL;
  uint64_t number = 0;
  EXPECT(107000, aclrtMallocPhysical(&physical, kPage, &prop, 0));
  EXPECT(0, aclrtMallocPhysical(&physical, kGranularity, &prop, 0));
  EXPECT(107000, aclrtReserveMemAddress(&address, kGranularity, 64, NULL, 0));
  EXPECT(0, aclrtReserveMemAddress(&address, kGranularity, 0, NULL, 0));
  EXPECT(107000, aclrtMapMem(address, kGranularity, 8, physical, 0));
  EXPECT(0, aclrtMapMem(address, kGranularity, 0, physical, 0));
  EXPECT(107000, aclrtReleaseMemAddress(address));
  EXPECT(207000, aclrtMemSetAccess(address, kGranularity, &of_host, 1));
  EXPECT(107000, aclrtMemExportToShareableHandle(physical, ACL_MEM_HANDLE_TYPE_NONE, 2, &number));
  EXPECT(207000, aclrtMemExportToShareableHandleV2(physical, 0, ACL_MEM_SHARE_HANDLE_TYPE_FABRIC, &number));
  EXPECT(0, aclrtMemExportToShareableHandle(physical, ACL_MEM_HANDLE_TYPE_NONE, 0, &number));
  EXPECT(107001, aclrtMemImportFromShareableHandle(number, 99, &imported));
  EXPECT(0, aclrtUnmapMem(address));
  EXPECT(0, aclrtReleaseMemAddress(address));
  EXPECT(0, aclrtFreePhysical(physical));
}

static void Pools(void) {
  aclrtMemPoolProps props = {
      ACL_MEM_ALLOCATION_TYPE_PINNED, ACL_MEM_HANDLE_TYPE_NONE, {0, ACL_MEM_LOCATION_TYPE_DEVICE}, 0, {0}};
  aclrtMemPool pool = NULL;
  void* made = NULL;
  uint32_t neither = 3;
  EXPECT(0, aclrtMemPoolCreate(&pool, &props));
  EXPECT(107000, aclrtMemPoolSetAttr(pool, ACL_RT_MEM_POOL_REUSE_ALLOW_OPPORTUNISTIC, &neither));
  EXPECT(0, aclrtMemPoolMallocAsync(&made, 0, pool, stream));
  EXPECT(507000, aclrtMemPoolFreeAsync(device, NULL));
  EXPECT(0, aclrtMemPoolDestroy(pool));
  EXPECT(107017, aclrtMemPoolDestroy(pool));
}

static void EventsAndNotifies(void) {
  aclrtEvent event = NULL, ex = NULL;
  aclrtNotify notify = NULL;
  aclrtEventStatus status;
  float ms = 0;
  char key[65];
  EXPECT(107000, aclrtCreateEventWithFlag(&event, 0));
  EXPECT(0, aclrtCreateEvent(&event));
  EXPECT(0, aclrtCreateEventExWithFlag(&ex, ACL_EVENT_SYNC));
  EXPECT(207000, aclrtResetEvent(ex, stream));
  EXPECT(207000, aclrtQueryEventWaitStatus(ex, (aclrtEventWaitStatus*)&status));
  EXPECT(507000, aclrtEventElapsedTime(&ms, event, event));
  EXPECT(107029, aclrtRecordEventWithFlag(event, stream, ACL_EVENT_RECORD_EXTERNAL));
  EXPECT(100000, aclrtRecordEventWithFlag(event, stream, 2));
  EXPECT(107000, aclrtStreamWaitEventWithTimeout(stream, NULL, 1));
  EXPECT(107000, aclrtSynchronizeEventWithTimeout(NULL, -2));
  EXPECT(100000, aclrtSynchronizeEventWithTimeout(NULL, 0));
  EXPECT(107000, aclrtSynchronizeEventWithTimeout(event, 0));
  EXPECT(107000, aclrtCreateNotify(&notify, 2));
  EXPECT(0, aclrtCreateNotify(&notify, ACL_NOTIFY_DEFAULT));
  EXPECT(107000, aclrtNotifyGetExportKey(notify, key, 64, 0));
  EXPECT(107000, aclrtNotifyBatchReset(&notify, 0));
  EXPECT(0, aclrtDestroyNotify(notify));
  EXPECT(107017, aclrtDestroyNotify(notify));
  EXPECT(107000, aclrtIpcMemImportByKey(&(void*){NULL}, "no key", 0));
}

static void StreamsAndThreads(void) {
  aclrtStream made = NULL;
  int32_t can = 0;
  EXPECT(207000, aclrtCreateStreamWithConfig(&made, 0, ACL_STREAM_HUGE));
  EXPECT(107000, aclrtCreateStreamWithConfig(&made, 0, ACL_STREAM_DEVICE_USE_ONLY | ACL_STREAM_FAST_SYNC));
  EXPECT(107000, aclrtSynchronizeStreamWithTimeout(stream, 0));
  EXPECT(107000, aclrtStreamStop(NULL));
  EXPECT(100000, aclrtLaunchCallback(NULL, NULL, (aclrtCallbackBlockType)2, stream));
  EXPECT(107000, aclrtLaunchHostFunc(stream, NULL, NULL));
  EXPECT(100000, aclrtProcessReport(0));
  EXPECT(107012, aclrtProcessReport(1));
  EXPECT(107012, aclrtUnSubscribeReport(1, stream));
  EXPECT(100000, aclrtDeviceCanAccessPeer(&can, 1, 1));
  EXPECT(107000, aclrtDeviceCanAccessPeer(NULL, 0, 1));
  EXPECT(200006, aclrtDeviceEnablePeerAccess(1, 1));
  EXPECT(100000, aclrtDeviceEnablePeerAccess(0, 0));
  EXPECT(0, aclrtSetStreamFailureMode(stream, ACL_STOP_ON_FAILURE));
  EXPECT(207000, aclrtSetStreamFailureMode(stream, ACL_CONTINUE_ON_FAILURE));
  EXPECT(0, aclInit(NULL));
  EXPECT(100002, aclInit(NULL));
  EXPECT(0, aclFinalize());
  EXPECT(100037, aclFinalize());
  EXPECT(100003, aclInit("/nonexistent/file"));
}

static void InAnotherContext(void) {
  aclrtContext context = NULL;
  aclrtStreamStatus status;
  EXPECT(0, aclrtCreateContext(&context, 0));
  EXPECT(107003, aclrtMemcpyAsync(device, 8, pinned, 8, ACL_MEMCPY_HOST_TO_DEVICE, stream));
  EXPECT(107003, aclrtDestroyStream(stream));
  EXPECT(0, aclrtStreamQuery(stream, &status));
  EXPECT(0, aclrtDestroyContext(context));
  EXPECT(107002, aclrtDestroyContext(context));
  EXPECT(107000, aclrtSetCurrentContext(context));
}

int main(void) {
  BeforeADeviceIsSet();
  EXPECT(0, aclrtSetDevice(0));
  EXPECT(0, aclrtCreateStream(&stream));
  EXPECT(0, aclrtMalloc(&device, kBytes, ACL_MEM_MALLOC_HUGE_FIRST));
  EXPECT(0, aclrtMallocHost(&pinned, kBytes));
  Linear();
  Rows();
  Batches();
  Operands();
  Memory();
  MappedMemory();
  Pools();
  EventsAndNotifies();
  StreamsAndThreads();
  InAnotherContext();
  return failures == 0 ? 0 : 1;
}
