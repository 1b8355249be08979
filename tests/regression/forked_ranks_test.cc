// A forked child waited for a lock of its parent in calls of HCCL, or spoke over its parent's connection.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "acl/acl.h"
#include "hccl/hccl.h"
#include "hccl/platform/rank_group.h"
#include "tests/support/acl_expect.h"
#include "tests/support/child_process.h"

// The children of these tests end themselves by an alarm when they hang.
namespace sampan::test::forked_ranks_test {
namespace {

constexpr unsigned kLongestSeconds = 20;

/// What the call answers in a forked child; the signal that ended it as a negative number.
template <typename Call>
int AnswerOfForkedChild(Call call) {
  const pid_t child = ::fork();
  if (child == 0) {
    ::alarm(kLongestSeconds);
    ::_exit(static_cast<int>(call()));
  }
  int status = 0;
  if (::waitpid(child, &status, 0) != child) return -1;
  return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

TEST(ForkedRanks, AreRefusedWhileThreadsMakeCommunicators) {
  if (DoneInChild()) return;
  ASSERT_ACL(ACL_SUCCESS, aclrtSetDevice(0));
  HcclRootInfo info;
  HcclComm comm = nullptr;
  ASSERT_EQ(HcclGetRootInfo(&info), HCCL_SUCCESS);
  ASSERT_EQ(HcclCommInitRootInfo(1, &info, 0, &comm), HCCL_SUCCESS);
  aclrtStream stream = nullptr;
  ASSERT_ACL(ACL_SUCCESS, aclrtCreateStream(&stream));
  std::atomic<bool> stop{false};
  std::vector<std::thread> threads;
  for (int i = 0; i < 2; ++i) {
    threads.emplace_back([&] {
      aclrtSetDevice(0);
      HcclRootInfo mine;
      for (HcclComm made = nullptr; !stop.load();) {
        HcclGetRootInfo(&mine);
        if (HcclCommInitRootInfo(1, &mine, 0, &made) == HCCL_SUCCESS) HcclCommDestroy(made);
      }
    });
  }
  const auto calls = {
      +[](HcclComm of, aclrtStream) { return HcclGetRankSize(of, std::make_unique<uint32_t>().get()); },
      +[](HcclComm of, aclrtStream on) { return HcclBarrier(of, on); },
      +[](HcclComm of, aclrtStream) { return HcclCommDestroy(of); }};
  bool has_hung = false;
  for (int i = 0; i < 100 && !has_hung; ++i) {
    for (const auto call : calls) {
      const int answer = AnswerOfForkedChild([&] { return call(comm, stream); });
      EXPECT_EQ(answer, HCCL_E_RUNTIME) << "child " << i;
      has_hung = has_hung || answer == -SIGALRM;
    }
  }
  stop.store(true);
  for (std::thread& thread : threads)
    thread.join();
  EXPECT_EQ(HcclCommDestroy(comm), HCCL_SUCCESS);
}

TEST(ForkedRanks, LeaveTheConnectionToTheirParent) {
  if (DoneInChild()) return;
  ASSERT_ACL(ACL_SUCCESS, aclrtSetDevice(0));
  hccl::RankGroupConfig config;
  config.name = "forked";
  config.token = hccl::RankGroup::MakeToken();
  config.rank = 0;
  config.rankSize = 1;
  std::shared_ptr<hccl::RankGroup> group;
  ASSERT_EQ(hccl::RankGroup::Join(config, group), HCCL_SUCCESS);
  EXPECT_EQ(AnswerOfForkedChild([&] { return group->Barrier(); }), HCCL_E_RUNTIME);
  EXPECT_EQ(AnswerOfForkedChild([&] {
              std::vector<std::vector<u8>> all;
              return group->Exchange({1, 2, 3}, all);
            }),
            HCCL_E_RUNTIME);
  EXPECT_EQ(AnswerOfForkedChild([&] {
              group.reset();
              return 0;
            }),
            0);
  EXPECT_EQ(group->Barrier(), HCCL_SUCCESS) << RecentMessage();
}

}  // namespace
}  // namespace sampan::test::forked_ranks_test
