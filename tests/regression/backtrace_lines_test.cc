// Backtraces began with frames of the runtime, and named the program's by offsets in a module.
#include <dlfcn.h>
#include <gtest/gtest.h>

#include <string>
#include <thread>

#include "acl/acl.h"
#include "tests/support/acl_expect.h"
#include "tests/support/child_process.h"

namespace sampan::test::backtrace_lines_test {
namespace {

#if __has_include(<elfutils/libdwfl.h>)
constexpr bool kHasHeader = true;
#else
constexpr bool kHasHeader = false;
#endif

int allocation_line = 0;

[[gnu::noinline]] void* AllocateHere() {
  void* memory = nullptr;
  allocation_line = __LINE__ + 1;
  EXPECT_ACL(ACL_SUCCESS, aclrtMalloc(&memory, 1000, ACL_MEM_MALLOC_HUGE_FIRST));
  return memory;
}

/// The backtrace of the memory, from the message of a call that is refused.
std::string Backtrace(void* memory) {
  EXPECT_ACL(ACL_ERROR_RT_PARAM_INVALID, aclrtMemset(memory, 5000, 0, 5000));
  const char* const message = aclGetRecentErrMsg();
  const std::string text = message != nullptr ? message : "";
  const std::size_t begin = text.find(" at\n");
  EXPECT_NE(begin, std::string::npos) << text;
  return begin == std::string::npos ? "" : text.substr(begin + 4);
}

std::string FirstLine(const std::string& text) {
  return text.substr(0, text.find('\n'));
}

TEST(BacktraceLines, BeginWithTheProgramsFrame) {
  if (DoneInChild({{"SAMPAN_BACKTRACE", "1"}})) return;
  ASSERT_ACL(ACL_SUCCESS, aclrtSetDevice(0));
  const std::string trace = Backtrace(AllocateHere());
  EXPECT_NE(FirstLine(trace).find(ProgramPath() + "+0x"), std::string::npos) << trace;
  EXPECT_EQ(trace.find("libacl_rt.so"), std::string::npos) << trace;
}

TEST(BacktraceLines, NameFunctionFileAndLine) {
  if (!kHasHeader) GTEST_SKIP() << "built without libdw-dev";
  void* const libdw = ::dlopen("libdw.so.1", RTLD_LAZY | RTLD_LOCAL);
  if (libdw == nullptr) GTEST_SKIP() << "libdw is not installed";
  ::dlclose(libdw);
  if (DoneInChild({{"SAMPAN_BACKTRACE", "1"}})) return;
  ASSERT_ACL(ACL_SUCCESS, aclrtSetDevice(0));
  const std::string trace = Backtrace(AllocateHere());
  const std::string first = FirstLine(trace);
  EXPECT_NE(first.find("AllocateHere()"), std::string::npos) << trace;
  EXPECT_NE(first.find("backtrace_lines_test.cc:" + std::to_string(allocation_line)), std::string::npos)
      << trace;
  // Again at the same place, and on a thread of its own.
  EXPECT_EQ(FirstLine(Backtrace(AllocateHere())), first);
  std::thread([&] {
    ASSERT_ACL(ACL_SUCCESS, aclrtSetDevice(0));
    EXPECT_EQ(FirstLine(Backtrace(AllocateHere())), first);
  }).join();
}

}  // namespace
}  // namespace sampan::test::backtrace_lines_test
