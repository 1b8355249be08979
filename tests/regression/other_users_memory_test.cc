// Root was let into the memory that another user's process shares.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>

#include "acl/acl.h"
#include "tests/support/acl_expect.h"
#include "tests/support/child_process.h"

namespace sampan::test::other_users_memory_test {
namespace {

constexpr uid_t kOtherUser = 65534;
constexpr std::size_t kKeyBytes = 65;

struct Keys {
  std::array<char, kKeyBytes> memory{}, notify{};
  bool made = false;
};

/// As another user: shares memory and a notify, tells the keys, and waits for its end.
[[noreturn]] void ShareAsOtherUser(int keys_out) {
  Keys keys;
  void* memory = nullptr;
  aclrtNotify notify = nullptr;
  keys.made = ::setresgid(kOtherUser, kOtherUser, kOtherUser) == 0 &&
              ::setresuid(kOtherUser, kOtherUser, kOtherUser) == 0 && aclrtSetDevice(0) == ACL_SUCCESS &&
              aclrtMalloc(&memory, 4096, ACL_MEM_MALLOC_HUGE_FIRST) == ACL_SUCCESS &&
              aclrtIpcMemGetExportKey(memory, 4096, keys.memory.data(), kKeyBytes,
                                      ACL_RT_IPC_MEM_EXPORT_FLAG_DISABLE_PID_VALIDATION) == ACL_SUCCESS &&
              aclrtCreateNotify(&notify, 0) == ACL_SUCCESS &&
              aclrtNotifyGetExportKey(notify, keys.notify.data(), kKeyBytes,
                                      ACL_RT_NOTIFY_EXPORT_FLAG_DISABLE_PID_VALIDATION) == ACL_SUCCESS;
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);  // a test that dies must not leave it behind
  [[maybe_unused]] const ssize_t written = ::write(keys_out, &keys, sizeof(keys));
  for (;;)
    ::pause();
}

TEST(OtherUsersMemory, IsRefusedToRootToo) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root could be let in";
  if (DoneInChild()) return;
  int pipe[2];
  ASSERT_EQ(::pipe(pipe), 0);
  const pid_t owner = ::fork();
  if (owner == 0) ShareAsOtherUser(pipe[1]);
  Keys keys;
  ASSERT_EQ(::read(pipe[0], &keys, sizeof(keys)), static_cast<ssize_t>(sizeof(keys)));
  if (keys.made) {
    EXPECT_ACL(ACL_SUCCESS, aclrtSetDevice(0));
    void* memory = nullptr;
    aclrtNotify notify = nullptr;
    EXPECT_ACL(ACL_ERROR_RT_PARAM_INVALID, aclrtIpcMemImportByKey(&memory, keys.memory.data(), 0));
    EXPECT_ACL(ACL_ERROR_RT_PARAM_INVALID, aclrtNotifyImportByKey(&notify, keys.notify.data(), 0));
  }
  ::kill(owner, SIGKILL);
  ::waitpid(owner, nullptr, 0);
  if (!keys.made) GTEST_SKIP() << "this process cannot become another user that shares memory";
}

}  // namespace
}  // namespace sampan::test::other_users_memory_test
