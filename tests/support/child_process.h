// Runs the current test once more in a child process, under another environment.
#pragma once

#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace sampan::test {

/// Variables to set in the child; without a value, to remove.
using Variables = std::vector<std::pair<std::string, std::optional<std::string>>>;

/// How a child ended and what it wrote.
struct ChildResult {
  bool timed_out = false;
  int exit_code = -1;  ///< -1 when a signal ended it
  int signal = 0;      ///< 0 when it exited
  std::string output;  ///< standard output
  std::string errors;  ///< standard error

  bool Passed() const { return !timed_out && exit_code == 0; }
};

namespace child_process {

constexpr const char* kMark = "TEST_RUNS_IN_CHILD";
constexpr std::chrono::seconds kLongestRun{60};

inline std::vector<std::string> Environment(const Variables& changes) {
  std::vector<std::string> entries;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string_view text(*entry);
    const std::string_view name = text.substr(0, text.find('='));
    bool replaced = name == kMark;
    for (const auto& change : changes)
      replaced = replaced || name == change.first;
    if (!replaced) entries.emplace_back(text);
  }
  for (const auto& [name, value] : changes) {
    if (value) entries.push_back(name + "=" + *value);
  }
  entries.push_back(std::string(kMark) + "=1");
  return entries;
}

inline std::vector<char*> Pointers(std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  for (std::string& text : texts)
    pointers.push_back(text.data());
  pointers.push_back(nullptr);
  return pointers;
}

/// Reads both pipes to their ends; false when the time is over first.
inline bool Collect(std::array<int, 2> pipes, ChildResult& result) {
  const auto deadline = std::chrono::steady_clock::now() + kLongestRun;
  std::array<pollfd, 2> watched = {{{pipes[0], POLLIN, 0}, {pipes[1], POLLIN, 0}}};
  while (watched[0].fd >= 0 || watched[1].fd >= 0) {
    if (std::chrono::steady_clock::now() >= deadline) return false;
    if (::poll(watched.data(), watched.size(), 100) <= 0) continue;
    for (std::size_t i = 0; i < watched.size(); ++i) {
      if (watched[i].fd < 0 || watched[i].revents == 0) continue;
      std::array<char, 4096> piece{};
      const ssize_t length = ::read(watched[i].fd, piece.data(), piece.size());
      if (length <= 0) {
        watched[i].fd = -1;
      } else {
        (i == 0 ? result.output : result.errors).append(piece.data(), static_cast<std::size_t>(length));
      }
    }
  }
  return true;
}

}  // namespace child_process

/// The file that this process runs.
inline std::string ProgramPath() {
  return std::filesystem::read_symlink("/proc/self/exe").string();
}

/// Whether this process is such a child.
inline bool InChild() {
  return std::getenv(child_process::kMark) != nullptr;
}

/// Runs the test that calls it in a child of the same program; the child comes by here with InChild() true.
inline ChildResult RunInChild(const Variables& changes) {
  const auto* test = ::testing::UnitTest::GetInstance()->current_test_info();
  std::vector<std::string> arguments = {
      ProgramPath(), std::string("--gtest_filter=") + test->test_suite_name() + "." + test->name(),
      "--gtest_color=no"};
  std::vector<std::string> environment = child_process::Environment(changes);
  ChildResult result;
  int out[2], err[2];
  if (::pipe2(out, O_CLOEXEC) != 0 || ::pipe2(err, O_CLOEXEC) != 0) return result;
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, out[1], STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&actions, err[1], STDERR_FILENO);
  pid_t child = -1;
  const int failure =
      ::posix_spawn(&child, arguments[0].c_str(), &actions, nullptr,
                    child_process::Pointers(arguments).data(), child_process::Pointers(environment).data());
  posix_spawn_file_actions_destroy(&actions);
  ::close(out[1]);
  ::close(err[1]);
  if (failure == 0) {
    result.timed_out = !child_process::Collect({out[0], err[0]}, result);
    if (result.timed_out) ::kill(child, SIGKILL);
    int status = 0;
    ::waitpid(child, &status, 0);
    if (WIFEXITED(status)) result.exit_code = WEXITSTATUS(status);
    if (WIFSIGNALED(status)) result.signal = WTERMSIG(status);
  }
  ::close(out[0]);
  ::close(err[0]);
  return result;
}

inline std::ostream& operator<<(std::ostream& out, const ChildResult& child) {
  return out << (child.timed_out ? "the child took too long" : "the child ended") << " with exit code "
             << child.exit_code << ", signal " << child.signal << "\n--- output\n"
             << child.output << "--- errors\n"
             << child.errors << "---";
}

/// For a test whose body needs a process of its own: `if (DoneInChild({...})) return;` comes first. The
/// parent expects the child to pass and is done, the child goes on with the body.
inline bool DoneInChild(const Variables& changes = {}) {
  if (InChild()) return false;
  const ChildResult child = RunInChild(changes);
  EXPECT_TRUE(child.Passed()) << child;
  return true;
}

}  // namespace sampan::test
