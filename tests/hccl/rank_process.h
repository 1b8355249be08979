// A rank that is a process of its own: this program, started with --rank.
#pragma once

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <memory>
#include <string>
#include <vector>

#include "tests/process/channel.h"
#include "tests/support/child_process.h"

namespace sampan::test {

/// What a rank is told to do.
struct RankOrder {
  std::string scenario;
  std::string name, token;
  std::uint32_t first_rank = 0;
  std::uint32_t threads = 1;  ///< ranks that the process has, one after the other
  std::uint32_t size = 0;
  std::uint64_t seed = 0;
  std::uint32_t join_ms = 20000;
  std::uint32_t wait_seconds = 20;
  std::string address;  ///< of rank 0; empty: all ranks run on one host
};

/// Owns the process: it is killed, and waited for, at the end if it still runs. Not thread-safe.
class RankProcess {
 public:
  explicit RankProcess(const RankOrder& order) {
    int from[2];
    EXPECT_EQ(::pipe2(from, O_CLOEXEC), 0);
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, from[1], STDOUT_FILENO);
    std::vector<std::string> arguments = {ProgramPath(),
                                          "--rank",
                                          order.scenario,
                                          order.name,
                                          order.token,
                                          std::to_string(order.first_rank),
                                          std::to_string(order.threads),
                                          std::to_string(order.size),
                                          std::to_string(order.seed),
                                          std::to_string(order.join_ms),
                                          std::to_string(order.wait_seconds),
                                          order.address};
    std::vector<std::string> environment = child_process::Environment({});
    EXPECT_EQ(
        ::posix_spawn(&process_, arguments[0].c_str(), &actions, nullptr,
                      child_process::Pointers(arguments).data(), child_process::Pointers(environment).data()),
        0);
    posix_spawn_file_actions_destroy(&actions);
    ::close(from[1]);
    channel_ = std::make_unique<Channel>(from[0], ::open("/dev/null", O_WRONLY | O_CLOEXEC));
  }
  ~RankProcess() {
    Signal(SIGKILL);
    Wait();
  }
  RankProcess(const RankProcess&) = delete;
  RankProcess& operator=(const RankProcess&) = delete;

  pid_t process() const { return process_; }
  void Signal(int number) const {
    if (process_ > 0) ::kill(process_, number);
  }
  /// The next line; empty when the process is gone or the time is over.
  std::string Line(std::chrono::milliseconds limit) { return channel_->Receive(limit).value_or(""); }
  /// Its exit code; -1 when a signal ended it.
  int Wait() {
    if (process_ <= 0) return status_;
    int status = 0;
    ::waitpid(process_, &status, 0);
    process_ = -1;
    return status_ = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  }

 private:
  pid_t process_ = -1;
  int status_ = -1;
  std::unique_ptr<Channel> channel_;
};

}  // namespace sampan::test
