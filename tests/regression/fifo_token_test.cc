// A token file that is a FIFO kept a rank waiting for ever.
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <memory>
#include <string>

#include "acl/acl.h"
#include "hccl/platform/rank_group.h"
#include "tests/support/child_process.h"
#include "tests/support/temporary_folder.h"

namespace sampan::test::fifo_token_test {
namespace {

TEST(FifoToken, IsRefused) {
  if (DoneInChild()) return;
  ::alarm(20);
  const TemporaryFolder folder;
  hccl::RankGroupConfig config;
  config.file = folder.path() + "/token";
  config.rank = 0;
  config.rankSize = 1;
  ASSERT_EQ(::mkfifo(config.file.c_str(), 0600), 0);
  std::shared_ptr<hccl::RankGroup> group;
  EXPECT_EQ(hccl::RankGroup::Join(config, group), HCCL_E_PARA);
  const char* const message = aclGetRecentErrMsg();
  ASSERT_NE(message, nullptr);
  EXPECT_NE(std::string(message).find(config.file), std::string::npos) << message;
}

}  // namespace
}  // namespace sampan::test::fifo_token_test
