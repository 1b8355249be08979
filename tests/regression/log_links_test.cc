// Logs followed symbolic links that others had put where the files go. Other users cannot read them either.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <iomanip>
#include <sstream>
#include <string>
#include <thread>

#include "acl/acl.h"
#include "tests/support/child_process.h"
#include "tests/support/second_user.h"
#include "tests/support/temporary_folder.h"

namespace sampan::test::log_links_test {
namespace {

namespace fs = std::filesystem;

ChildResult LogALine(const std::string& root) {
  return RunInChild({{"ASCEND_PROCESS_LOG_PATH", root}, {"ASCEND_GLOBAL_LOG_LEVEL", "0"}});
}
bool LoggedInChild() {
  if (InChild()) aclAppLog(ACL_ERROR, "Function", "file.cc", 1, "a line");
  return InChild();
}

/// Makes the link with the function, then logs.
template <typename MakeLink>
void ExpectNotFollowed(const std::string& link, const MakeLink& make_link) {
  const TemporaryFolder root, victim;
  make_link(victim.path(), fs::path(root.path()) / link);
  const ChildResult child = LogALine(root.path());
  EXPECT_TRUE(child.Passed()) << child;
  EXPECT_TRUE(fs::is_empty(victim.path())) << "the log went through the link " << link;
  EXPECT_NE(child.errors.find("a line"), std::string::npos) << "lines go to standard error instead\n"
                                                            << child;
}

void MakeOwnLink(const fs::path& target, const fs::path& link) {
  fs::create_directories(link.parent_path());
  fs::create_directory_symlink(target, link);
}

/// In a folder in which every user may write.
void MakeSecondUsersLink(const fs::path& target, const fs::path& link) {
  fs::create_directories(link.parent_path());
  ASSERT_EQ(::chmod(link.parent_path().c_str(), 0777), 0);
  if (link.parent_path().filename() == "debug") {
    ASSERT_EQ(::chmod(link.parent_path().parent_path().c_str(), 0755), 0);
  }
  const TalkingChild other([&](TalkingChild& parent) {
    parent.Tell(BecomeSecondUser() && ::symlink(target.c_str(), link.c_str()) == 0);
  });
  ASSERT_TRUE(other.Hear<bool>());
}

TEST(LogLinks, OfTheFirstFolderAreNotFollowed) {
  if (LoggedInChild()) return;
  ExpectNotFollowed("debug", MakeOwnLink);
}

TEST(LogLinks, OfTheSecondFolderAreNotFollowed) {
  if (LoggedInChild()) return;
  ExpectNotFollowed("debug/plog", MakeOwnLink);
}

TEST(LogLinks, OfAnotherUserAreNotFollowed) {
  REQUIRE_SECOND_USER();
  if (LoggedInChild()) return;
  ExpectNotFollowed("debug", MakeSecondUsersLink);
  ExpectNotFollowed("debug/plog", MakeSecondUsersLink);
}

/// Puts a link at each name that a log file of this process may get in the next tenth second. Waits until
/// that time is over.
void LinkComingNames(const fs::path& folder, const fs::path& target) {
  using Clock = std::chrono::system_clock;
  using Ms = std::chrono::milliseconds;
  fs::create_directories(folder);
  Clock::time_point begin;
  do {
    begin = std::chrono::floor<Ms>(Clock::now()) + Ms(500);
    for (Ms after{0}; after < Ms(100); ++after) {
      const std::time_t second = Clock::to_time_t(begin + after);
      std::tm parts{};
      ::localtime_r(&second, &parts);
      std::ostringstream name;
      name << "plog-" << ::getpid() << '_' << std::put_time(&parts, "%Y%m%d%H%M%S") << std::setw(3)
           << std::setfill('0') << (begin + after).time_since_epoch() / Ms(1) % 1'000 << ".log";
      fs::create_symlink(target, folder / name.str());
    }
  } while (Clock::now() > begin);  // the machine is busy: for a later tenth
  std::this_thread::sleep_until(begin);
}

TEST(LogLinks, OfTheFilesAreNotFollowed) {
  if (InChild()) {
    const fs::path root = std::getenv("ASCEND_PROCESS_LOG_PATH");
    LinkComingNames(root / "debug" / "plog", root / "victim");
  }
  if (LoggedInChild()) return;
  const TemporaryFolder root;
  const ChildResult child = LogALine(root.path());
  EXPECT_TRUE(child.Passed()) << child;
  EXPECT_FALSE(fs::exists(root.path() + "/victim")) << "the log went through a link";
}

TEST(LogFiles, CannotBeReadOrWrittenByAnotherUser) {
  REQUIRE_SECOND_USER();
  if (LoggedInChild()) return;
  const TemporaryFolder root;
  ASSERT_EQ(::chmod(root.path().c_str(), 0755), 0);
  const ChildResult child = LogALine(root.path());
  ASSERT_TRUE(child.Passed()) << child;
  int count = 0;
  for (const auto& entry : fs::recursive_directory_iterator(root.path())) {
    if (!entry.is_regular_file()) continue;
    ++count;
    const TalkingChild other([&](TalkingChild& parent) {
      const bool is_other = BecomeSecondUser();
      const bool is_open =
          ::open(entry.path().c_str(), O_RDONLY) >= 0 || ::open(entry.path().c_str(), O_WRONLY) >= 0;
      parent.Tell(is_other && !is_open && errno == EACCES);
    });
    EXPECT_TRUE(other.Hear<bool>()) << entry.path() << " is open to another user";
  }
  EXPECT_GT(count, 0) << "there is no log";
}

TEST(LogLinks, OfTheRootAreTheUsersOwn) {
  if (LoggedInChild()) return;
  const TemporaryFolder real, other;
  const std::string root = other.path() + "/root";
  fs::create_directory_symlink(real.path(), root);
  const ChildResult child = LogALine(root);
  EXPECT_TRUE(child.Passed()) << child;
  EXPECT_TRUE(fs::exists(real.path() + "/debug/plog"));
}

}  // namespace
}  // namespace sampan::test::log_links_test
