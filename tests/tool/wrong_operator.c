/* Preloaded: an all-gather that forgets the last element of each rank. Enumerations and handles are those of
 * the ABI. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdint.h>

typedef int (*AllGatherFunction)(void*, void*, uint64_t, int, void*, void*);

__attribute__((visibility("default"))) int HcclAllGather(void* send, void* receive, uint64_t count, int type,
                                                         void* comm, void* stream) {
  AllGatherFunction real;
  *(void**)&real = dlsym(RTLD_NEXT, "HcclAllGather");
  return real(send, receive, count - 1, type, comm, stream);
}
