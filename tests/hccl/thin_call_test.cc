// A copy of HCCL's is one call into the runtime. This program counts the calls: its functions of these names
// come before the library's.
#include <dlfcn.h>
#include <gtest/gtest.h>

#include <map>
#include <string>

#include "tests/hccl/dispatcher_fixture.h"
#include "tests/support/child_process.h"

namespace sampan::test::thin_call_test {
namespace {

/// Calls by name; only while a test counts.
std::map<std::string, int>* counts = nullptr;

template <typename Function>
Function* Counted(const char* name, Function*) {
  if (counts != nullptr) ++(*counts)[name];
  return reinterpret_cast<Function*>(::dlsym(RTLD_NEXT, name));
}

}  // namespace
}  // namespace sampan::test::thin_call_test

using sampan::test::thin_call_test::Counted;

extern "C" {
[[gnu::visibility("default")]] aclError aclrtMemcpyAsync(void* dst, size_t max, const void* src, size_t bytes,
                                                         aclrtMemcpyKind kind, aclrtStream stream) {
  return Counted("aclrtMemcpyAsync", &aclrtMemcpyAsync)(dst, max, src, bytes, kind, stream);
}
[[gnu::visibility("default")]] aclError aclrtPointerGetAttributes(const void* address,
                                                                  aclrtPtrAttributes* attributes) {
  return Counted("aclrtPointerGetAttributes", &aclrtPointerGetAttributes)(address, attributes);
}
// What libhccl_plf calls beyond the public functions (src/base/platform_bridge.h).
[[gnu::visibility("default")]] bool sampanLogs(int level) noexcept {
  return Counted("sampanLogs", &sampanLogs)(level);
}
[[gnu::visibility("default")]] bool sampanBeginCall(const char* function, const char* link,
                                                    std::int32_t rank) noexcept {
  return Counted("sampanBeginCall", &sampanBeginCall)(function, link, rank);
}
[[gnu::visibility("default")]] void sampanTraceLink(const char* link, std::int32_t rank) noexcept {
  Counted("sampanTraceLink", &sampanTraceLink)(link, rank);
}
}

namespace sampan::test::thin_call_test {
namespace {

class ThinCallTest : public DispatcherTest {
 protected:
  /// The runtime's functions that one copy of HCCL's calls.
  std::map<std::string, int> CallsOfCopy() {
    GuardedBuffer dst(Place::kDevice, 64), src(Place::kDevice, 64);
    const Bytes contents = random().Fill(64);
    src.Write(contents);
    hccl::DeviceMem to = View(dst);
    std::map<std::string, int> calls;
    counts = &calls;
    EXPECT_HCCL(HCCL_SUCCESS, HcclD2DMemcpyAsync(d(), to, View(src), stream(), 1, hccl::LinkType::LINK_PCIE));
    counts = nullptr;
    Synchronize();
    EXPECT_TRUE(dst.Holds(contents));
    return calls;
  }
};

TEST_F(ThinCallTest, ACopyIsOneCallOfTheRuntime) {
  const std::map<std::string, int> expected = {{"aclrtMemcpyAsync", 1}};
  EXPECT_EQ(CallsOfCopy(), expected) << "with an observer";
  EXPECT_HCCL(HCCL_SUCCESS, RegisterLoadTaskCallBack(d(), nullptr, nullptr));
  EXPECT_EQ(CallsOfCopy(), expected);
}

TEST_F(ThinCallTest, WarningsAskForTheAddresses) {
  if (!InChild()) {
    const ChildResult child = RunInChild({{"ASCEND_GLOBAL_LOG_LEVEL", "2"}});
    EXPECT_TRUE(child.Passed()) << child;
    EXPECT_NE((child.output + child.errors).find("is said to go over PCIE"), std::string::npos) << child;
    return;
  }
  EXPECT_EQ(CallsOfCopy()["aclrtPointerGetAttributes"], 2);
}

}  // namespace
}  // namespace sampan::test::thin_call_test
