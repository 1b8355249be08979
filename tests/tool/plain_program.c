/* Never heard of AscendCL; exits with its first argument, or opens the plug-in that it names. */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int main(int argc, char** argv) {
  if (argc > 2 && strcmp(argv[1], "plugin") == 0) {
    void* plugin = dlopen(argv[2], RTLD_NOW);
    unsigned (*devices)(void) = NULL;
    if (plugin == NULL) return 1;
    *(void**)&devices = dlsym(plugin, "PluginDevices");
    if (devices == NULL) return 1;
    printf("devices %u\n", devices());
    return 0;
  }
  for (int i = 2; i < argc; ++i)
    printf("<%s>\n", argv[i]);
  return argc > 1 ? atoi(argv[1]) : 0;
}
