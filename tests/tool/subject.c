/* A user's program for the tests of the sampan command; the first argument says what it does. */
#define _GNU_SOURCE
#include <acl/acl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static void TellInterrupt(int number) {
  static const char line[] = "interrupted\n";
  (void)number;
  if (write(STDOUT_FILENO, line, sizeof line - 1) < 0) _exit(1);
}

static void EndWithSeven(int number) {
  (void)number;
  _exit(7);
}

/* Devices that AscendCL sees, after a copy there and back. */
static unsigned Copy(void) {
  unsigned devices = 0;
  int sent = 42, received = 0;
  void* memory = NULL;
  if (aclrtGetDeviceCount(&devices) != 0 || devices > 64) return devices;
  if (aclrtSetDevice(0) != 0 || aclrtMalloc(&memory, sizeof sent, ACL_MEM_MALLOC_HUGE_FIRST) != 0 ||
      aclrtMemcpy(memory, sizeof sent, &sent, sizeof sent, ACL_MEMCPY_HOST_TO_DEVICE) != 0 ||
      aclrtMemcpy(&received, sizeof received, memory, sizeof sent, ACL_MEMCPY_DEVICE_TO_HOST) != 0 ||
      received != 42)
    return 0;
  return devices;
}

int main(int argc, char** argv) {
  const char* what = argc > 1 ? argv[1] : "copy";
  setvbuf(stdout, NULL, _IOLBF, BUFSIZ);
  if (strcmp(what, "copy") == 0) {
    printf("devices %u\n", Copy());
    return argc > 2 ? atoi(argv[2]) : 0;
  }
  if (strcmp(what, "crash") == 0) {
    void* memory = NULL;
    if (aclrtSetDevice(0) != 0 || aclrtMalloc(&memory, 64, ACL_MEM_MALLOC_HUGE_FIRST) != 0) return 1;
    *(volatile char*)memory = 1; /* device memory: the host may not */
    return 0;
  }
  if (strcmp(what, "fork") == 0) {
    int status = 0;
    const pid_t child = fork();
    if (child == 0) {
      printf("child devices %u\n", Copy());
      _exit(5);
    }
    waitpid(child, &status, 0);
    printf("parent devices %u\n", Copy());
    return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
  }
  if (strcmp(what, "signals") == 0 || strcmp(what, "wait") == 0) {
    if (strcmp(what, "signals") == 0) {
      signal(SIGINT, TellInterrupt);
      signal(SIGTERM, EndWithSeven);
    }
    printf("ready %d\n", (int)getpid());
    for (;;)
      pause();
  }
  return 99;
}
