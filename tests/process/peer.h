// A process of its own that makes AscendCL calls on command.
#pragma once

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include "tests/process/channel.h"
#include "tests/support/child_process.h"

namespace sampan::test {

/// What a command was answered: the code of the call and what it gave.
struct Answer {
  int code = -1;  ///< -1: the process is gone, or took too long
  std::string text;

  std::uint64_t number() const { return std::stoull(text.empty() ? "0" : text); }
};

/// Owns the process: it is killed, and waited for, at the end if it still runs. Not thread-safe.
class Peer {
 public:
  /// The variables are added to the environment.
  explicit Peer(const Variables& variables = {}) {
    int to[2], from[2];
    EXPECT_EQ(::pipe2(to, O_CLOEXEC), 0);
    EXPECT_EQ(::pipe2(from, O_CLOEXEC), 0);
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, to[0], STDIN_FILENO);
    posix_spawn_file_actions_adddup2(&actions, from[1], STDOUT_FILENO);
    std::vector<std::string> arguments = {ProgramPath(), "--peer"};
    std::vector<std::string> environment = child_process::Environment(variables);
    EXPECT_EQ(
        ::posix_spawn(&process_, arguments[0].c_str(), &actions, nullptr,
                      child_process::Pointers(arguments).data(), child_process::Pointers(environment).data()),
        0);
    posix_spawn_file_actions_destroy(&actions);
    ::close(to[0]);
    ::close(from[1]);
    channel_ = std::make_unique<Channel>(from[0], to[1]);
  }
  ~Peer() { Kill(); }
  Peer(const Peer&) = delete;
  Peer& operator=(const Peer&) = delete;

  pid_t process() const { return process_; }

  void Send(const std::string& command) { channel_->Send(command); }
  Answer Receive(std::chrono::milliseconds limit = std::chrono::seconds(60)) {
    const auto line = channel_->Receive(limit);
    if (!line) return {};
    std::istringstream words(*line);
    Answer answer;
    words >> answer.code;
    std::getline(words >> std::ws, answer.text);
    return answer;
  }
  /// Sends the parts with spaces between them and waits for the answer.
  template <typename... Parts>
  Answer Do(const Parts&... parts) {
    std::ostringstream command;
    ((command << parts << ' '), ...);
    Send(command.str());
    return Receive();
  }
  /// Expects success, and gives what was given.
  template <typename... Parts>
  std::string Get(const Parts&... parts) {
    const Answer answer = Do(parts...);
    EXPECT_EQ(answer.code, 0) << answer.text;
    return answer.text;
  }

  void Kill() {
    if (process_ <= 0) return;
    ::kill(process_, SIGKILL);
    Wait();
  }
  /// Lets it end by itself; gives its exit code.
  int Exit() {
    Send("exit");
    return Wait();
  }
  int Wait() {
    int status = 0;
    if (process_ > 0) ::waitpid(process_, &status, 0);
    process_ = -1;
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  }

 private:
  pid_t process_ = -1;
  std::unique_ptr<Channel> channel_;
};

}  // namespace sampan::test
