/* A program that is traced by the tests of the sampan command; the first argument says what it does. */
#define _GNU_SOURCE
#include <acl/acl.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

enum { kRegion = 64 << 20 };

#define CHECK(call)                                                            \
  do {                                                                         \
    const int code_ = (call);                                                  \
    if (code_ != 0) {                                                          \
      const char* message_ = aclGetRecentErrMsg();                             \
      fprintf(stderr, "%s: %d\n%s\n", #call, code_, message_ ? message_ : ""); \
      exit(90);                                                                \
    }                                                                          \
  } while (0)

static char* device_memory;
static char* pinned;
static char* pageable;
/* Copies after which ManyCopies rests for a moment; 0: never. */
static uint64_t rest_every;
/* What was copied, by direction: to the device, from it, within it. */
static uint64_t copied[3];

static void Open(void) {
  CHECK(aclInit(NULL));
  CHECK(aclrtSetDevice(0));
  CHECK(aclrtMalloc((void**)&device_memory, kRegion, ACL_MEM_MALLOC_HUGE_FIRST));
  CHECK(aclrtMallocHost((void**)&pinned, kRegion));
  pageable = malloc(kRegion);
  memset(pinned, 1, kRegion);
  memset(pageable, 2, kRegion);
}

static void Close(void) {
  CHECK(aclrtFree(device_memory));
  CHECK(aclrtFreeHost(pinned));
  free(pageable);
  CHECK(aclrtResetDevice(0));
  CHECK(aclFinalize());
}

static void CopyIn(size_t bytes, aclrtStream stream) {
  CHECK(aclrtMemcpyAsync(device_memory, bytes, pinned, bytes, ACL_MEMCPY_HOST_TO_DEVICE, stream));
  copied[0] += bytes;
}

static void CopyOut(size_t bytes, aclrtStream stream) {
  CHECK(aclrtMemcpyAsync(pinned, bytes, device_memory, bytes, ACL_MEMCPY_DEVICE_TO_HOST, stream));
  copied[1] += bytes;
}

static void CopyBatch(size_t entries, size_t bytes, aclrtStream stream) {
  void** dsts = calloc(entries, sizeof *dsts);
  void** srcs = calloc(entries, sizeof *srcs);
  size_t* sizes = calloc(entries, sizeof *sizes);
  size_t start = 0, failed = 0;
  aclrtMemcpyBatchAttr attribute = {{0, ACL_MEM_LOCATION_TYPE_DEVICE}, {0, ACL_MEM_LOCATION_TYPE_HOST}, {0}};
  for (size_t i = 0; i < entries; ++i) {
    dsts[i] = device_memory + 2 * i * bytes;
    srcs[i] = pinned + 3 * i * bytes;
    sizes[i] = bytes;
  }
  CHECK(aclrtMemcpyBatchAsync(dsts, sizes, srcs, sizes, entries, &attribute, &start, 1, &failed, stream));
  copied[0] += entries * bytes;
  free(dsts);
  free(srcs);
  free(sizes);
}

static void Nothing(void* unused) {
  (void)unused;
}

static void* BlockingCopies(void* unused) {
  CHECK(aclrtSetDevice(0));
  for (int i = 0; i < 20; ++i)
    CHECK(aclrtMemcpy(device_memory + kRegion / 2, 1 << 20, pageable, 1 << 20, ACL_MEMCPY_HOST_TO_DEVICE));
  CHECK(aclrtResetDevice(0));
  return unused;
}

/* Every kind of task that a trace tells of. */
static void Everything(void) {
  aclrtStream first, second;
  aclrtEvent event;
  aclrtNotify notify;
  void* descriptor = NULL;
  size_t descriptor_bytes = 0;
  pthread_t threads[2];
  Open();
  CHECK(aclrtCreateStream(&first));
  CHECK(aclrtCreateStream(&second));
  CHECK(aclrtCreateEvent(&event));
  CHECK(aclrtCreateNotify(&notify, 0));
  for (int i = 0; i < 100; ++i)
    CopyIn(64, first); /* at once */
  for (int i = 0; i < 10; ++i)
    CopyIn(64 << 10, first);
  CopyIn(16 << 20, first); /* shared by engines */
  CopyOut(4 << 20, second);
  CHECK(aclrtMemcpyAsync(device_memory + kRegion / 2, 1 << 20, device_memory, 1 << 20,
                         ACL_MEMCPY_DEVICE_TO_DEVICE, first));
  copied[2] += 1 << 20;
  CHECK(aclrtMemcpy2dAsync(device_memory, 1024, pinned, 512, 500, 100, ACL_MEMCPY_HOST_TO_DEVICE, first));
  copied[0] += 500 * 100;
  CopyBatch(3, 8192, first);
  CopyBatch(1000, 8192, first);
  CHECK(aclrtMemsetAsync(device_memory, 1 << 20, 7, 1 << 20, first));
  CHECK(aclrtRecordEvent(event, first));
  CHECK(aclrtStreamWaitEvent(second, event));
  CHECK(aclrtRecordNotify(notify, first));
  CHECK(aclrtWaitAndResetNotify(notify, second, 0));
  CHECK(aclrtLaunchHostFunc(second, Nothing, NULL));
  CopyOut(1 << 20, second);
  CHECK(aclrtMemcpyAsync(device_memory, 1 << 20, pageable, 1 << 20, ACL_MEMCPY_HOST_TO_DEVICE, first));
  copied[0] += 1 << 20;
  CHECK(aclrtSynchronizeEvent(event));
  CHECK(aclrtGetMemcpyDescSize(ACL_MEMCPY_INNER_DEVICE_TO_DEVICE, &descriptor_bytes));
  CHECK(aclrtMalloc(&descriptor, descriptor_bytes, ACL_MEM_MALLOC_HUGE_FIRST));
  CHECK(aclrtSetMemcpyDesc(descriptor, ACL_MEMCPY_INNER_DEVICE_TO_DEVICE, device_memory,
                           device_memory + (8 << 20), 4096, NULL));
  CHECK(aclrtMemcpyAsyncWithDesc(descriptor, ACL_MEMCPY_INNER_DEVICE_TO_DEVICE, second));
  copied[2] += 4096;
  for (int i = 0; i < 2; ++i)
    pthread_create(&threads[i], NULL, BlockingCopies, NULL);
  for (int i = 0; i < 2; ++i)
    pthread_join(threads[i], NULL);
  copied[0] += 40 << 20;
  CHECK(aclrtSynchronizeStream(first));
  CHECK(aclrtSynchronizeDevice());
  if (aclrtMemcpyAsync(device_memory, 16, pinned, 32, ACL_MEMCPY_HOST_TO_DEVICE, first) == 0) exit(91);
  CHECK(aclrtFree(descriptor));
  CHECK(aclrtDestroyNotify(notify));
  CHECK(aclrtDestroyEvent(event));
  CHECK(aclrtDestroyStream(first));
  CHECK(aclrtDestroyStream(second));
}

/* Copies of 64 bytes, most of them at once, with a queued one now and then; until the count, or for ever. */
static void ManyCopies(uint64_t count) {
  aclrtStream stream;
  CHECK(aclrtCreateStream(&stream));
  for (uint64_t i = 0; i < count; ++i) {
    CopyIn(64, stream);
    if (i % 1000 == 0) {
      CopyIn(64 << 10, stream);
      CHECK(aclrtSynchronizeStream(stream));
    }
    if (rest_every != 0 && i % rest_every == 0) usleep(500);
    if (i == 2000) {
      printf("ready %d\n", (int)getpid());
      fflush(stdout);
    }
  }
  CHECK(aclrtSynchronizeStream(stream));
  CHECK(aclrtDestroyStream(stream));
}

static void Many(uint64_t count) {
  Open();
  ManyCopies(count);
}

/* Without a pause, so that copies queue up; the stream is full again and again. */
static void Full(void) {
  aclrtStream stream;
  Open();
  CHECK(aclrtCreateStream(&stream));
  for (int i = 0; i < 6000; ++i)
    CopyIn(128 << 10, stream);
  CHECK(aclrtSynchronizeStream(stream));
  CHECK(aclrtDestroyStream(stream));
}

static void Sleep20ms(void* nothing) {
  (void)nothing;
  usleep(20000);
}

/* What moves bytes in other ways than a plain copy, and what orders streams in other ways than an event. */
static void Words(void) {
  aclrtStream first, second;
  void *descriptor, **cells;
  void* addresses[2];
  size_t descriptor_bytes;
  Open();
  CHECK(aclrtCreateStream(&first));
  CHECK(aclrtCreateStream(&second));
  CHECK(aclrtMemset(device_memory, kRegion, 0, kRegion));
  CHECK(aclrtGetMemcpyDescSize(ACL_MEMCPY_INNER_DEVICE_TO_DEVICE, &descriptor_bytes));
  CHECK(aclrtMalloc(&descriptor, descriptor_bytes, ACL_MEM_MALLOC_HUGE_FIRST));
  CHECK(aclrtMalloc((void**)&cells, sizeof(addresses), ACL_MEM_MALLOC_HUGE_FIRST));
  CHECK(aclrtSetMemcpyDesc(descriptor, ACL_MEMCPY_INNER_DEVICE_TO_DEVICE, device_memory,
                           device_memory + (8 << 20), 4096, NULL));
  addresses[0] = device_memory + (9 << 20);
  addresses[1] = device_memory;
  CHECK(aclrtMemcpy(cells, sizeof(addresses), addresses, sizeof(addresses), ACL_MEMCPY_HOST_TO_DEVICE));
  copied[0] += sizeof(addresses);
  CHECK(aclrtValueWait(device_memory + (4 << 20), 0x10, ACL_STREAM_WAIT_VALUE_AND, second));
  CHECK(aclrtMemcpyAsyncWithDesc(descriptor, ACL_MEMCPY_INNER_DEVICE_TO_DEVICE, second));
  CHECK(aclrtLaunchHostFunc(first, Sleep20ms, NULL));
  CHECK(aclrtMemcpyAsyncWithOffset(cells, 4096, 0, (const void**)cells + 1, 2048, 1 << 20,
                                   ACL_MEMCPY_INNER_DEVICE_TO_DEVICE, first));
  copied[2] += 4096 + 2048;
  CHECK(aclrtMemcpyAsync(device_memory, 1000, pageable, 1000, ACL_MEMCPY_HOST_TO_BUF_TO_DEVICE, first));
  copied[0] += 1000;
  CHECK(aclrtReduceAsync(device_memory, device_memory + (2 << 20), 8192, ACL_RT_MEMCPY_SDMA_AUTOMATIC_MAX,
                         ACL_FLOAT16, first, NULL));
  CHECK(aclrtValueWrite(device_memory + (4 << 20), 0xfedcba9876543210, 0, first));
  CHECK(aclrtSynchronizeStream(first));
  CHECK(aclrtSynchronizeStream(second));
  CHECK(aclrtFree(descriptor));
  CHECK(aclrtFree(cells));
  CHECK(aclrtDestroyStream(first));
  CHECK(aclrtDestroyStream(second));
}

/* There and back: so often that what else the machine does delays both directions alike. */
static void There(void) {
  aclrtStream stream;
  Open();
  CHECK(aclrtCreateStream(&stream));
  CHECK(aclrtMemset(device_memory, kRegion, 0, 8 << 20)); /* the first touch is not the copies' to pay */
  for (int i = 0; i < 100; ++i) {
    CopyIn(8 << 20, stream);
    CopyOut(8 << 20, stream);
  }
  CHECK(aclrtSynchronizeStream(stream));
}

static void Pageable(void) {
  aclrtStream stream;
  Open();
  CHECK(aclrtCreateStream(&stream));
  for (int i = 0; i < 10; ++i) {
    CopyIn(1 << 20, stream);
    CHECK(aclrtMemcpyAsync(device_memory, 8 << 20, pageable, 8 << 20, ACL_MEMCPY_HOST_TO_DEVICE, stream));
    copied[0] += 8 << 20;
  }
  CHECK(aclrtSynchronizeStream(stream));
}

/* Tasks that never run: behind a notify that is never recorded. */
static void Aborted(void) {
  aclrtStream stream;
  aclrtNotify notify;
  Open();
  CHECK(aclrtCreateStream(&stream));
  CHECK(aclrtCreateNotify(&notify, 0));
  CHECK(aclrtWaitAndResetNotify(notify, stream, 0));
  for (int i = 0; i < 10; ++i)
    CHECK(aclrtMemcpyAsync(device_memory, 8192, pinned, 8192, ACL_MEMCPY_HOST_TO_DEVICE, stream));
  CHECK(aclrtStreamAbort(stream));
  CHECK(aclrtDestroyStream(stream));
  CHECK(aclrtDestroyNotify(notify));
}

/* Copies that fail with 507013, because their memory is freed before their turn, and one behind them that
 * does not. */
static void Failing(uint64_t count) {
  aclrtStream stream, other;
  aclrtNotify notify;
  char* freed;
  Open();
  CHECK(aclrtCreateStream(&stream));
  CHECK(aclrtCreateStream(&other));
  CHECK(aclrtCreateNotify(&notify, 0));
  CHECK(aclrtMalloc((void**)&freed, 1 << 20, ACL_MEM_MALLOC_HUGE_FIRST));
  CHECK(aclrtWaitAndResetNotify(notify, stream, 0));
  for (uint64_t i = 0; i < count; ++i)
    CHECK(aclrtMemcpyAsync(freed, 1 << 20, pinned, 1 << 20, ACL_MEMCPY_HOST_TO_DEVICE, stream));
  CopyOut(8192, stream);
  CHECK(aclrtFree(freed));
  CHECK(aclrtRecordNotify(notify, other));
  if (aclrtSynchronizeStream(stream) != 507013) exit(97);
  CHECK(aclrtDestroyStream(stream));
  CHECK(aclrtDestroyStream(other));
  CHECK(aclrtDestroyNotify(notify));
}

static void Forever(void* unused) {
  (void)unused;
  for (;;)
    pause();
}

static aclrtStream filled;

static void* Fill(void* unused) {
  CHECK(aclrtSetDevice(0));
  for (;;)
    CHECK(aclrtMemcpyAsync(device_memory, 64, pinned, 64, ACL_MEMCPY_HOST_TO_DEVICE, filled));
  return unused;
}

/* Five streams that stand at five kinds of waits, a thread before a full queue, and one that synchronises. */
static void Hanging(void) {
  aclrtStream before_event, before_notify, before_value, in_function;
  aclrtEvent event;
  aclrtNotify notify, second;
  pthread_t filler;
  Open();
  CHECK(aclrtMemset(device_memory, kRegion, 0, 64 << 10));
  CHECK(aclrtCreateStream(&before_event));
  CHECK(aclrtCreateStream(&before_notify));
  CHECK(aclrtCreateStream(&before_value));
  CHECK(aclrtCreateStream(&in_function));
  CHECK(aclrtCreateStream(&filled));
  CHECK(aclrtCreateEvent(&event));
  CHECK(aclrtCreateNotify(&notify, 0));
  CHECK(aclrtCreateNotify(&second, 0));
  CopyIn(8192, before_notify);
  CHECK(aclrtSynchronizeStream(before_notify));
  CHECK(aclrtWaitAndResetNotify(notify, before_notify, 0));
  CHECK(aclrtRecordEvent(event, before_notify));
  CHECK(aclrtStreamWaitEvent(before_event, event));
  CHECK(aclrtMemcpyAsync(device_memory, 64, pinned, 64, ACL_MEMCPY_HOST_TO_DEVICE, before_event));
  CHECK(aclrtMemcpyAsync(device_memory, 64, pinned, 64, ACL_MEMCPY_HOST_TO_DEVICE, before_event));
  CHECK(aclrtValueWait(device_memory + (32 << 10), 7, ACL_STREAM_WAIT_VALUE_GEQ, before_value));
  CHECK(aclrtLaunchHostFunc(in_function, Forever, NULL));
  CHECK(aclrtWaitAndResetNotify(second, filled, 0));
  pthread_create(&filler, NULL, Fill, NULL);
  printf("ready %d\n", (int)getpid());
  fflush(stdout);
  CHECK(aclrtSynchronizeStream(before_event));
}

static void Sleep1500ms(void* nothing) {
  (void)nothing;
  usleep(1500000);
}

/* A wait that is long enough to be in the trace before it ends. */
static void Slow(void) {
  aclrtStream stream;
  Open();
  CHECK(aclrtCreateStream(&stream));
  CHECK(aclrtLaunchHostFunc(stream, Sleep1500ms, NULL));
  CopyIn(8192, stream);
  CHECK(aclrtSynchronizeStream(stream));
  CHECK(aclrtDestroyStream(stream));
}

static void Limit(uint64_t bytes) {
  struct rlimit limit = {bytes, bytes};
  if (setrlimit(RLIMIT_FSIZE, &limit) != 0) exit(96);
}

static void Say(void) {
  printf("copied %llu %llu %llu\n", (unsigned long long)copied[0], (unsigned long long)copied[1],
         (unsigned long long)copied[2]);
  fflush(stdout);
}

static void AtExit(void) {
  CHECK(aclrtMemcpy(device_memory, 32, pinned, 32, ACL_MEMCPY_HOST_TO_DEVICE));
}

int main(int argc, char** argv) {
  const char* what = argc > 1 ? argv[1] : "everything";
  const uint64_t count = argc > 2 ? strtoull(argv[2], NULL, 10) : UINT64_MAX;
  if (strcmp(what, "everything") == 0) {
    Everything();
    Close();
  } else if (strcmp(what, "many") == 0) {
    Many(count);
    Close();
  } else if (strcmp(what, "steady") == 0) {
    rest_every = 20;
    Many(count);
  } else if (strcmp(what, "full") == 0) {
    Full();
    Close();
  } else if (strcmp(what, "limited") == 0 && argc > 3) {
    Open(); /* the devices' memory files are made before there is a limit for files */
    Limit(count);
    ManyCopies(strtoull(argv[3], NULL, 10));
  } else if (strcmp(what, "words") == 0) {
    Words();
    Close();
  } else if (strcmp(what, "there") == 0) {
    There();
  } else if (strcmp(what, "pageable") == 0) {
    Pageable();
  } else if (strcmp(what, "aborted") == 0) {
    Aborted();
    Close();
  } else if (strcmp(what, "failing") == 0) {
    Failing(count);
    Close();
  } else if (strcmp(what, "slow") == 0) {
    Slow();
    Close();
  } else if (strcmp(what, "hanging") == 0) {
    Hanging();
  } else if (strcmp(what, "exit") == 0) { /* without tidying up, and a copy in an exit handler */
    Many(5000);
    copied[0] += 32;
    atexit(AtExit);
  } else if (strcmp(what, "crash") == 0 || strcmp(what, "abort") == 0) {
    Many(5000);
    Say();
    usleep(1000000); /* longer than records stay in memory */
    if (strcmp(what, "abort") == 0) abort();
    *(volatile char*)device_memory = 1;
  } else if (strcmp(what, "fork") == 0) { /* a child before the first call, one after it, and a new program */
    pid_t child = fork();
    if (child == 0) {
      Many(3000);
      _Exit(0);
    }
    waitpid(child, NULL, 0);
    Many(4000);
    child = fork();
    if (child == 0) exit(aclrtSetDevice(0) == 507033 ? 0 : 92);
    int status = 0;
    waitpid(child, &status, 0);
    if (status != 0) return 93;
    child = fork();
    if (child == 0) {
      execl("/proc/self/exe", argv[0], "many", "2500", (char*)NULL);
      _Exit(94);
    }
    waitpid(child, &status, 0);
    if (status != 0) return 95;
  } else {
    return 99;
  }
  Say();
  return 0;
}
