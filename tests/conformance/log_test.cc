// Logging: aclAppLog, the runtime's own lines, and the variables that steer them.
// Rules of docs/BEHAVIOUR.md: process-2.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "acl/acl.h"
#include "tests/support/acl_expect.h"
#include "tests/support/child_process.h"
#include "tests/support/temporary_folder.h"
#include "tests/support/text_match.h"

// A child writes the lines, its parent reads them.
namespace sampan::test::log_test {
namespace {

/// Without a trace of the variables that this process was started with.
Variables LogVariables(Variables changes) {
  Variables all = {
      {"ASCEND_GLOBAL_LOG_LEVEL", std::nullopt},    {"ASCEND_MODULE_LOG_LEVEL", std::nullopt},
      {"ASCEND_LOG_PRINT_TO_STDOUT", std::nullopt}, {"ASCEND_SLOG_PRINT_TO_STDOUT", std::nullopt},
      {"ASCEND_PROCESS_LOG_PATH", std::nullopt},    {"ASCEND_WORK_PATH", std::nullopt},
      {"ASCEND_HOST_LOG_FILE_NUM", std::nullopt}};
  for (const auto& change : changes) {
    const auto same = [&](const auto& entry) { return entry.first == change.first; };
    std::erase_if(all, same);
    all.push_back(change);
  }
  return all;
}

bool Has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

/// What the files below a folder say, by path, which is the order in which they were made.
std::map<std::string, std::string> LogFiles(const std::string& folder) {
  std::map<std::string, std::string> texts;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
    if (!entry.is_regular_file()) continue;
    EXPECT_TRUE(Has(entry.path().string(), "/debug/plog/plog-")) << entry.path();
    std::ostringstream content;
    content << std::ifstream(entry.path()).rdbuf();
    texts[entry.path().string()] = content.str();
  }
  return texts;
}

std::string Joined(const std::map<std::string, std::string>& texts) {
  std::string all;
  for (const auto& entry : texts)
    all += entry.second;
  return all;
}

void LogOnceAtEachLevel() {
  ACL_APP_LOG(ACL_DEBUG, "line of level %d", 0);
  ACL_APP_LOG(ACL_INFO, "line of level %d", 1);
  ACL_APP_LOG(ACL_WARNING, "line of level %d", 2);
  ACL_APP_LOG(ACL_ERROR, "line of level %d", 3);
}

class LogLevel : public ::testing::TestWithParam<int> {};

TEST_P(LogLevel, HidesTheLowerOnes) {
  if (InChild()) return LogOnceAtEachLevel();
  const ChildResult child = RunInChild(LogVariables(
      {{"ASCEND_GLOBAL_LOG_LEVEL", std::to_string(GetParam())}, {"ASCEND_LOG_PRINT_TO_STDOUT", "1"}}));
  ASSERT_TRUE(child.Passed()) << child;
  for (int level = ACL_DEBUG; level <= ACL_ERROR; ++level) {
    EXPECT_EQ(Has(child.output, "line of level " + std::to_string(level)), level >= GetParam()) << child;
  }
}

INSTANTIATE_TEST_SUITE_P(Log, LogLevel, ::testing::Values(0, 1, 2, 3, 4));

TEST(Log, ShowsErrorsByDefault) {
  if (InChild()) return LogOnceAtEachLevel();
  const ChildResult child = RunInChild(LogVariables({{"ASCEND_LOG_PRINT_TO_STDOUT", "1"}}));
  ASSERT_TRUE(child.Passed()) << child;
  EXPECT_TRUE(Has(child.output, "line of level 3")) << child;
  EXPECT_FALSE(Has(child.output, "line of level 2")) << child;
}

TEST(Log, OldNameOfTheStdoutVariableWorks) {
  if (InChild()) return LogOnceAtEachLevel();
  const ChildResult child = RunInChild(LogVariables({{"ASCEND_SLOG_PRINT_TO_STDOUT", "1"}}));
  ASSERT_TRUE(child.Passed()) << child;
  EXPECT_TRUE(Has(child.output, "line of level 3")) << child;
}

TEST(Log, ModuleLevelBeatsTheGlobalOne) {
  if (InChild()) return LogOnceAtEachLevel();
  const ChildResult child = RunInChild(LogVariables({{"ASCEND_GLOBAL_LOG_LEVEL", "3"},
                                                     {"ASCEND_MODULE_LOG_LEVEL", "RUNTIME=3:APP=1"},
                                                     {"ASCEND_LOG_PRINT_TO_STDOUT", "1"}}));
  ASSERT_TRUE(child.Passed()) << child;
  EXPECT_TRUE(Has(child.output, "line of level 1")) << child;
  EXPECT_FALSE(Has(child.output, "line of level 0")) << child;
}

TEST(Log, GoesToAFileWhenAFolderIsNamed) {
  if (InChild()) return LogOnceAtEachLevel();
  const TemporaryFolder folder;
  const ChildResult child = RunInChild(LogVariables({{"ASCEND_PROCESS_LOG_PATH", folder.path()}}));
  ASSERT_TRUE(child.Passed()) << child;
  EXPECT_FALSE(Has(child.output + child.errors, "line of level")) << child;
  EXPECT_TRUE(Has(Joined(LogFiles(folder.path())), "line of level 3"));
}

TEST(Log, MakesTheFoldersOnTheWay) {
  if (InChild()) return LogOnceAtEachLevel();
  const TemporaryFolder folder;
  const std::string root = folder.path() + "/not/yet/there/";
  const ChildResult child = RunInChild(LogVariables({{"ASCEND_PROCESS_LOG_PATH", root}}));
  ASSERT_TRUE(child.Passed()) << child;
  EXPECT_EQ(child.errors, "") << child;
  EXPECT_TRUE(Has(Joined(LogFiles(root)), "line of level 3"));
}

TEST(Log, SaysWhereItGoesWhenNoFileCanBeMade) {
  if (InChild()) return LogOnceAtEachLevel();
  const TemporaryFolder folder;
  const std::string root = folder.Write("file", "") + "/below";
  const ChildResult child = RunInChild(LogVariables({{"ASCEND_PROCESS_LOG_PATH", root}}));
  ASSERT_TRUE(child.Passed()) << child;
  EXPECT_TRUE(Has(child.errors, "ASCEND_PROCESS_LOG_PATH='" + root + "'")) << child;
  EXPECT_TRUE(Has(child.errors, "Not a directory")) << child;
  EXPECT_TRUE(Has(child.errors, "line of level 3")) << child;
}

TEST(Log, WorkFolderServesWithoutALogFolder) {
  if (InChild()) return LogOnceAtEachLevel();
  const TemporaryFolder folder;
  const ChildResult child = RunInChild(LogVariables({{"ASCEND_WORK_PATH", folder.path()}}));
  ASSERT_TRUE(child.Passed()) << child;
  EXPECT_TRUE(Has(Joined(LogFiles(folder.path())), "line of level 3"));
}

TEST(Log, LogFolderBeatsTheWorkFolder) {
  if (InChild()) return LogOnceAtEachLevel();
  const TemporaryFolder logs, work;
  const ChildResult child =
      RunInChild(LogVariables({{"ASCEND_PROCESS_LOG_PATH", logs.path()}, {"ASCEND_WORK_PATH", work.path()}}));
  ASSERT_TRUE(child.Passed()) << child;
  EXPECT_TRUE(Has(Joined(LogFiles(logs.path())), "line of level 3"));
  EXPECT_TRUE(LogFiles(work.path()).empty());
}

constexpr std::size_t kLongLine = 1000;
constexpr std::size_t kMaxFileBytes = 20'000'000;

/// So many lines of a thousand bytes and more, each with its number, from several threads.
void LogLongLines(int threads, int lines) {
  std::vector<std::thread> all;
  for (int thread = 0; thread < threads; ++thread) {
    all.emplace_back([=] {
      const std::string filling(kLongLine, '.');
      for (int line = 0; line < lines; ++line)
        aclAppLog(ACL_ERROR, "f", "f", 1, "<%d:%d>%s", thread, line, filling.c_str());
    });
  }
  for (std::thread& each : all)
    each.join();
}

TEST(Log, BeginsANewFileAfter20MB) {
  constexpr int kThreads = 4, kLines = 7000;
  if (InChild()) return LogLongLines(kThreads, kLines);
  const TemporaryFolder folder;
  const ChildResult child = RunInChild(LogVariables({{"ASCEND_PROCESS_LOG_PATH", folder.path()}}));
  ASSERT_TRUE(child.Passed()) << child;
  const auto files = LogFiles(folder.path());
  EXPECT_EQ(files.size(), 2u);
  std::set<std::string> lines;
  for (const auto& [path, text] : files) {
    EXPECT_LE(text.size(), kMaxFileBytes) << path;
    for (std::size_t begin = text.find('<'); begin != std::string::npos; begin = text.find('<', begin + 1))
      lines.insert(text.substr(begin, text.find('>', begin) - begin));
  }
  EXPECT_EQ(lines.size(), std::size_t{kThreads} * kLines) << "no line is lost on the way";
}

TEST(Log, KeepsTheNewestFiles) {
  constexpr int kLines = 60000;
  if (InChild()) return LogLongLines(1, kLines);
  const TemporaryFolder folder;
  const ChildResult child = RunInChild(
      LogVariables({{"ASCEND_PROCESS_LOG_PATH", folder.path()}, {"ASCEND_HOST_LOG_FILE_NUM", "2"}}));
  ASSERT_TRUE(child.Passed()) << child;
  const auto files = LogFiles(folder.path());
  ASSERT_EQ(files.size(), 2u);
  for (const auto& [path, text] : files)
    EXPECT_LE(text.size(), kMaxFileBytes) << path;
  EXPECT_TRUE(Has(files.rbegin()->second, "<0:" + std::to_string(kLines - 1) + ">")) << "the last line";
  EXPECT_FALSE(Has(Joined(files), "<0:0>")) << "the first file is gone";
}

TEST(AppLog, LineHasTheDocumentedShape) {
  if (InChild())
    return aclAppLog(ACL_ERROR, "Function", "source.cc", 42, "copied %zu of %s", std::size_t{7}, "8");
  const ChildResult child = RunInChild(LogVariables({{"ASCEND_LOG_PRINT_TO_STDOUT", "1"}}));
  ASSERT_TRUE(child.Passed()) << child;
  const std::string date = "[0-9]{4}-[0-9]{2}-[0-9]{2}",
                    time = "[0-9]{2}:[0-9]{2}:[0-9]{2}\\.[0-9]{3}\\.[0-9]{3}";
  EXPECT_TRUE(Matches(child.output, "^\\[ERROR\\] APP\\([0-9]+,[^)]+\\):" + date + "-" + time +
                                        " \\[source\\.cc:42\\] ?[0-9]+ Function: ?copied 7 of 8$"))
      << child;
}

TEST(AppLog, MacroNamesThePlace) {
  if (InChild()) return LogOnceAtEachLevel();
  const ChildResult child = RunInChild(LogVariables({{"ASCEND_LOG_PRINT_TO_STDOUT", "1"}}));
  ASSERT_TRUE(child.Passed()) << child;
  EXPECT_TRUE(Has(child.output, "log_test.cc:")) << child;
  EXPECT_TRUE(Has(child.output, "LogOnceAtEachLevel")) << child;
}

TEST(AppLog, TextIsCutAfter1024Bytes) {
  if (InChild()) {
    return aclAppLog(ACL_ERROR, "Function", "source.cc", 42, "%s", std::string(5000, '#').c_str());
  }
  const ChildResult child = RunInChild(LogVariables({{"ASCEND_LOG_PRINT_TO_STDOUT", "1"}}));
  ASSERT_TRUE(child.Passed()) << child;
  const auto shown = std::count(child.output.begin(), child.output.end(), '#');
  EXPECT_LE(shown, 1024);
  EXPECT_GE(shown, 1000);
  EXPECT_TRUE(Has(child.output, "#\n")) << "the line ends";
}

TEST(AppLog, TakesMissingNames) {
  if (InChild()) return aclAppLog(ACL_ERROR, nullptr, nullptr, 0, "still here");
  const ChildResult child = RunInChild(LogVariables({{"ASCEND_LOG_PRINT_TO_STDOUT", "1"}}));
  EXPECT_TRUE(child.Passed()) << child;
}

TEST(RuntimeLog, RefusalIsAnErrorLine) {
  if (InChild()) {
    EXPECT_ACL(ACL_ERROR_RT_INVALID_DEVICEID, aclrtSetDevice(4711));
    return;
  }
  const ChildResult child = RunInChild(LogVariables({{"ASCEND_LOG_PRINT_TO_STDOUT", "1"}}));
  ASSERT_TRUE(child.Passed()) << child;
  EXPECT_TRUE(Matches(child.output, "^\\[ERROR\\] [A-Z]+\\(.*aclrtSetDevice.*4711")) << child;
}

TEST(RuntimeLog, RefusedRowsCopyIsAnErrorLine) {
  // Many programs ignore what the 2D copies answer.
  if (InChild()) {
    char host[64] = {};
    EXPECT_ACL(ACL_ERROR_INVALID_PARAM,
               aclrtMemcpy2d(host, 4, host + 32, 4, 8, 2, ACL_MEMCPY_HOST_TO_DEVICE));
    return;
  }
  const ChildResult child = RunInChild(LogVariables({{"ASCEND_LOG_PRINT_TO_STDOUT", "1"}}));
  ASSERT_TRUE(child.Passed()) << child;
  EXPECT_TRUE(Matches(child.output, "^\\[ERROR\\] [A-Z]+\\(.*aclrtMemcpy2d")) << child;
}

TEST(RuntimeLog, SaysNothingAboutSuccess) {
  if (InChild()) {
    std::uint32_t count = 0;
    EXPECT_ACL(ACL_SUCCESS, aclrtGetDeviceCount(&count));
    EXPECT_ACL(ACL_SUCCESS, aclrtSetDevice(0));
    EXPECT_ACL(ACL_SUCCESS, aclrtResetDevice(0));
    return;
  }
  const ChildResult child = RunInChild(LogVariables({}));
  ASSERT_TRUE(child.Passed()) << child;
  EXPECT_EQ(child.errors, "") << child;
}

}  // namespace
}  // namespace sampan::test::log_test
