// Logging: aclAppLog, the runtime's own lines, and the variables that steer them.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

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
      {"ASCEND_PROCESS_LOG_PATH", std::nullopt},    {"ASCEND_WORK_PATH", std::nullopt}};
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
  std::string text;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder.path())) {
    if (!entry.is_regular_file()) continue;
    EXPECT_TRUE(Has(entry.path().string(), "/debug/plog/plog-")) << entry.path();
    std::ostringstream content;
    content << std::ifstream(entry.path()).rdbuf();
    text += content.str();
  }
  EXPECT_TRUE(Has(text, "line of level 3")) << text;
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
