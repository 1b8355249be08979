// Says whether the CUDA backend can work here: 0 yes, 77 there is no GPU or no driver, 1 there is one that
// fails.
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "acl/acl.h"

int main() {
  ::setenv("SAMPAN_BACKEND", "cuda", 1);
  ::setenv("ASCEND_GLOBAL_LOG_LEVEL", "4", 1);
  if (aclrtSetDevice(0) == ACL_SUCCESS) return 0;
  const char* const message = aclGetRecentErrMsg();
  const char* const text = message != nullptr ? message : "no message";
  const bool absent = std::strstr(text, "there is no NVIDIA driver") != nullptr ||
                      std::strstr(text, "finds no GPU") != nullptr;
  std::printf("%s: %s\n", absent ? "skipped" : "the GPU does not work", text);
  return absent ? 77 : 1;
}
