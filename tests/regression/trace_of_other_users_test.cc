// What another user put at the name of a trace is neither followed nor written: links, files and pipes.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <string>

#include "acl/acl.h"
#include "tests/support/acl_expect.h"
#include "tests/support/child_process.h"
#include "tests/support/second_user.h"
#include "tests/support/temporary_folder.h"

namespace sampan::test::trace_of_other_users_test {
namespace {

namespace fs = std::filesystem;

constexpr const char* kSecret = "root's own, to be left alone\n";

std::string TextOf(const std::string& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

/// A folder in which every user may write, with a trap at the name of the trace.
class Trapped {
 public:
  using Trap = std::function<bool(const std::string& trace, const std::string& victim)>;

  explicit Trapped(const Trap& trap) : victim_(private_.Write("victim", kSecret)) {
    EXPECT_EQ(::chmod(folder_.path().c_str(), 0777), 0);
    const TalkingChild other([&](TalkingChild& parent) {
      ::umask(0);
      parent.Tell(BecomeSecondUser() && trap(trace(), victim_));
    });
    EXPECT_TRUE(other.Hear<bool>()) << "the trap could not be made";
    EXPECT_EQ(::lstat(trace().c_str(), &before_), 0);
  }

  std::string trace() const { return folder_.path() + "/trace.json"; }

  /// A program that is traced leaves the trap as it was, and writes a file of its own beside it.
  void ExpectAvoided(const char* trap) const {
    const ChildResult child = RunInChild({{"SAMPAN_TRACE", trace()}});
    EXPECT_TRUE(child.Passed()) << trap << "\n" << child;
    struct stat after = {};
    EXPECT_EQ(::lstat(trace().c_str(), &after), 0) << trap;
    EXPECT_EQ(after.st_ino, before_.st_ino) << trap;
    EXPECT_EQ(after.st_size, before_.st_size) << trap;
    EXPECT_EQ(TextOf(victim_), kSecret) << trap;
    EXPECT_FALSE(fs::exists(victim_ + ".new")) << trap;
    int own_count = 0;
    for (const auto& entry : fs::directory_iterator(folder_.path())) {
      struct stat facts = {};
      if (entry.path() == trace() || ::lstat(entry.path().c_str(), &facts) != 0) continue;
      EXPECT_EQ(facts.st_uid, ::geteuid()) << trap;
      EXPECT_NE(TextOf(entry.path()).find("sampan_trace"), std::string::npos) << trap;
      ++own_count;
    }
    EXPECT_EQ(own_count, 1) << trap << ": there is no trace of this user";
  }

 private:
  const TemporaryFolder folder_, private_;
  const std::string victim_;
  struct stat before_ = {};
};

TEST(TraceOfOtherUsers, WhatIsAtItsNameIsLeftAlone) {
  REQUIRE_SECOND_USER();
  if (InChild()) {
    EXPECT_ACL(ACL_SUCCESS, aclrtSetDevice(0));
    return;
  }
  Trapped([](const std::string& trace, const std::string& victim) {
    return ::symlink(victim.c_str(), trace.c_str()) == 0;
  }).ExpectAvoided("a link to a file of root's");
  Trapped([](const std::string& trace, const std::string& victim) {
    return ::symlink((victim + ".new").c_str(), trace.c_str()) == 0;
  }).ExpectAvoided("a link to where no file is");
  Trapped([](const std::string& trace, const std::string&) {
    return ::close(::open(trace.c_str(), O_WRONLY | O_CREAT, 0666)) == 0;
  }).ExpectAvoided("an empty file that all may write");
  Trapped([](const std::string& trace, const std::string&) {
    return ::mkfifo(trace.c_str(), 0666) == 0;
  }).ExpectAvoided("a pipe");
}

}  // namespace
}  // namespace sampan::test::trace_of_other_users_test
