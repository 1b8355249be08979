/* Copies a little, leaves memory and a stream behind, and ends as its argument says:
   exit, _exit, _Exit, quick_exit, abort, fault, signal N, wait;
   system: by a system call of its own;
   handler: a signal handler calls _exit;
   reset: of the device, then _exit;
   children: two of them end by _exit and abort, then the program exits;
   again: it executes itself, and that program exits. */
#define _GNU_SOURCE
#include <acl/acl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { kBytes = 4096, kCopies = 5, kLeft = 3, kStatus = 7 };

#define OK(call) \
  if ((call) != ACL_SUCCESS) return 100 + __LINE__ % 20

static int Work(void) {
  void *host = NULL, *device = NULL, *freed = NULL;
  aclrtStream stream = NULL;
  OK(aclrtSetDevice(0));
  OK(aclrtMallocHost(&host, kBytes));
  for (int i = 0; i < kLeft; ++i)
    OK(aclrtMalloc(&device, kBytes, ACL_MEM_MALLOC_HUGE_FIRST));
  OK(aclrtMalloc(&freed, kBytes, ACL_MEM_MALLOC_HUGE_FIRST));
  OK(aclrtCreateStream(&stream));
  memset(host, 1, kBytes);
  for (int i = 0; i < kCopies; ++i)
    OK(aclrtMemcpyAsync(device, kBytes, host, kBytes, ACL_MEMCPY_HOST_TO_DEVICE, stream));
  OK(aclrtSynchronizeStream(stream));
  OK(aclrtFree(freed));
  return 0;
}

static void Leave(int number) {
  (void)number;
  _exit(kStatus);
}

static void InChild(void (*end)(void)) {
  const pid_t child = fork();
  if (child == 0) end();
  waitpid(child, NULL, 0);
}

static void EndByExit(void) {
  _exit(0);
}

int main(int count, char** words) {
  const char* how = count > 1 ? words[1] : "exit";
  const int failed = Work();
  if (failed != 0) return failed;
  if (strcmp(how, "_exit") == 0) _exit(kStatus);
  if (strcmp(how, "_Exit") == 0) _Exit(kStatus);
  if (strcmp(how, "quick_exit") == 0) quick_exit(kStatus);
  if (strcmp(how, "system") == 0) syscall(SYS_exit_group, kStatus);
  if (strcmp(how, "abort") == 0) abort();
  if (strcmp(how, "fault") == 0) *(volatile int*)16 = 1;
  if (strcmp(how, "signal") == 0) raise(atoi(words[2]));
  if (strcmp(how, "handler") == 0) {
    signal(SIGTERM, Leave);
    raise(SIGTERM);
  }
  if (strcmp(how, "reset") == 0) {
    OK(aclrtResetDevice(0));
    _exit(kStatus);
  }
  if (strcmp(how, "children") == 0) {
    InChild(EndByExit);
    InChild(abort);
  }
  if (strcmp(how, "again") == 0) {
    puts("ready");
    fflush(stdout);
    getchar(); /* the test says when the summary was kept */
    execl("/proc/self/exe", words[0], "exit", (char*)NULL);
  }
  if (strcmp(how, "wait") == 0) {
    puts("ready");
    fflush(stdout);
    for (;;)
      pause();
  }
  return kStatus;
}
