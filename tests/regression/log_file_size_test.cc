// A log file could have more than 20 MB: threads went on writing into it while one made the next. So did a
// forked child, with a count of its own.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdarg>
#include <cstring>
#include <filesystem>
#include <string>
#include <thread>
#include <vector>

#include "acl/acl.h"
#include "tests/support/child_process.h"
#include "tests/support/temporary_folder.h"

namespace sampan::test::log_file_size_test {
namespace {

/// Delays the thread that makes a log file, as a busy machine would.
int OpenSlowly(int folder, const char* path, int flags, mode_t mode) {
  if (std::strstr(path, "plog-") != nullptr) ::usleep(50'000);
  return static_cast<int>(::syscall(SYS_openat, folder, path, flags, mode));
}

}  // namespace
}  // namespace sampan::test::log_file_size_test

// The library calls these instead of the C library's.
extern "C" [[gnu::visibility("default")]] int open(const char* path, int flags, ...) {
  std::va_list arguments;
  va_start(arguments, flags);
  const mode_t mode = (flags & O_CREAT) != 0 ? va_arg(arguments, mode_t) : 0;
  va_end(arguments);
  return sampan::test::log_file_size_test::OpenSlowly(AT_FDCWD, path, flags, mode);
}
extern "C" [[gnu::visibility("default")]] int openat(int folder, const char* path, int flags, ...) {
  std::va_list arguments;
  va_start(arguments, flags);
  const mode_t mode = (flags & O_CREAT) != 0 ? va_arg(arguments, mode_t) : 0;
  va_end(arguments);
  return sampan::test::log_file_size_test::OpenSlowly(folder, path, flags, mode);
}

namespace sampan::test::log_file_size_test {
namespace {

constexpr std::uintmax_t kMaxFileBytes = 20'000'000;
constexpr int kThreads = 8, kLines = 20;
/// The text of a line is limited, the name of its function is not.
constexpr std::size_t kNameBytes = 700'000;

void LogLongLines() {
  const std::string name(kNameBytes, 'f');
  std::vector<std::thread> threads;
  for (int thread = 0; thread < kThreads; ++thread) {
    threads.emplace_back([&] {
      for (int line = 0; line < kLines; ++line)
        aclAppLog(ACL_ERROR, name.c_str(), "file.cc", 1, "line");
    });
  }
  for (std::thread& thread : threads)
    thread.join();
}

/// What the log files have together, each at most the limit.
std::uintmax_t BytesOfFiles(const TemporaryFolder& folder) {
  std::uintmax_t bytes = 0;
  for (const auto& file : std::filesystem::directory_iterator(folder.path() + "/debug/plog")) {
    EXPECT_LE(file.file_size(), kMaxFileBytes) << file.path();
    bytes += file.file_size();
  }
  return bytes;
}

/// Parent and child write by turns, each less than a file may have.
void LogInAForkedChildToo() {
  const std::string name(kNameBytes, 'f');
  const auto log = [&](int lines) {
    for (int line = 0; line < lines; ++line)
      aclAppLog(ACL_ERROR, name.c_str(), "file.cc", 1, "line");
  };
  log(1);
  const pid_t child = ::fork();
  if (child == 0) {
    log(kLines);
    ::_exit(0);
  }
  int status = -1;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  log(kLines);
}

TEST(LogFileSize, IsKeptInAForkedChild) {
  if (InChild()) return LogInAForkedChildToo();
  const TemporaryFolder folder;
  const ChildResult child =
      RunInChild({{"ASCEND_PROCESS_LOG_PATH", folder.path()}, {"ASCEND_GLOBAL_LOG_LEVEL", "0"}});
  ASSERT_TRUE(child.Passed()) << child;
  EXPECT_GE(BytesOfFiles(folder), (std::uintmax_t{2} * kLines + 1) * kNameBytes) << "lines were lost";
}

TEST(LogFileSize, IsKeptWhileManyThreadsWrite) {
  if (InChild()) return LogLongLines();
  const TemporaryFolder folder;
  const ChildResult child =
      RunInChild({{"ASCEND_PROCESS_LOG_PATH", folder.path()}, {"ASCEND_GLOBAL_LOG_LEVEL", "0"}});
  ASSERT_TRUE(child.Passed()) << child;
  EXPECT_GE(BytesOfFiles(folder), std::uintmax_t{kThreads} * kLines * kNameBytes) << "lines were lost";
}

}  // namespace
}  // namespace sampan::test::log_file_size_test
