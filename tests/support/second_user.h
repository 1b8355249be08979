// Processes of a second user, for tests of what users may do to each other.
#pragma once

#include <fcntl.h>
#include <grp.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <functional>
#include <type_traits>

namespace sampan::test {

/// A user without rights, on every system.
inline constexpr uid_t kSecondUser = 65534;

/// The first line of a test that needs two users.
#define REQUIRE_SECOND_USER() \
  if (::geteuid() != 0) GTEST_SKIP() << "needs a second user: only root can become one (setuid)"

/// Makes the calling process one of the second user, for good.
inline bool BecomeSecondUser() {
  return ::setgroups(0, nullptr) == 0 && ::setresgid(kSecondUser, kSecondUser, kSecondUser) == 0 &&
         ::setresuid(kSecondUser, kSecondUser, kSecondUser) == 0;
}

/// A child that runs the body as the second user until it is killed. The body writes one byte to the
/// descriptor when it is ready. It may use system calls only, unless the process has no threads yet.
class SecondUser {
 public:
  explicit SecondUser(const std::function<void(int ready)>& body) {
    int ready[2];
    EXPECT_EQ(::pipe2(ready, O_CLOEXEC), 0);
    child_ = ::fork();
    if (child_ == 0) {
      if (!BecomeSecondUser()) ::_exit(1);
      ::prctl(PR_SET_PDEATHSIG, SIGKILL);  // a test that dies must not leave it behind
      body(ready[1]);
      ::_exit(0);
    }
    ::close(ready[1]);
    char byte = 0;
    EXPECT_EQ(::read(ready[0], &byte, 1), 1) << "the second user could not begin";
    ::close(ready[0]);
  }
  ~SecondUser() {
    ::kill(child_, SIGKILL);
    ::waitpid(child_, nullptr, 0);
  }
  SecondUser(const SecondUser&) = delete;
  SecondUser& operator=(const SecondUser&) = delete;

 private:
  pid_t child_ = -1;
};

/// Two processes that pass each other plain values: this one, and a child that runs the body.
class TalkingChild {
 public:
  explicit TalkingChild(const std::function<void(TalkingChild& other)>& body) {
    int down[2], up[2];
    EXPECT_EQ(::pipe2(down, O_CLOEXEC), 0);
    EXPECT_EQ(::pipe2(up, O_CLOEXEC), 0);
    child_ = ::fork();
    const bool is_child = child_ == 0;
    in_ = is_child ? down[0] : up[0];
    out_ = is_child ? up[1] : down[1];
    ::close(is_child ? down[1] : down[0]);
    ::close(is_child ? up[0] : up[1]);
    if (!is_child) return;
    body(*this);
    ::_exit(0);
  }
  ~TalkingChild() {
    ::kill(child_, SIGKILL);
    ::waitpid(child_, nullptr, 0);
    ::close(in_);
    ::close(out_);
  }
  TalkingChild(const TalkingChild&) = delete;
  TalkingChild& operator=(const TalkingChild&) = delete;

  template <typename T>
  void Tell(const T& value) const {
    static_assert(std::is_trivially_copyable_v<T>);
    EXPECT_EQ(::write(out_, &value, sizeof(value)), static_cast<ssize_t>(sizeof(value)));
  }
  /// What the other process tells; a value of zeros, and a failure, when it has ended before.
  template <typename T>
  T Hear() const {
    static_assert(std::is_trivially_copyable_v<T>);
    T value{};
    EXPECT_EQ(::read(in_, &value, sizeof(value)), static_cast<ssize_t>(sizeof(value)));
    return value;
  }

 private:
  pid_t child_ = -1;
  int in_ = -1, out_ = -1;
};

}  // namespace sampan::test
