// Tables of limits: written and read back, and every way in which a file can be wrong.
#include <gtest/gtest.h>

#include <ostream>
#include <set>
#include <string>

#include "backend/cuda/copy_path.h"
#include "backend/cuda/copy_table.h"

namespace sampan::cuda::copy_table_test {
namespace {

std::string WholeTable() {
  return WriteCopyTable(ShippedTables().front());
}

/// The table with one line in place of the line of that limit.
std::string TableWith(std::string_view limit, std::string_view line) {
  std::string text = WholeTable();
  const std::size_t begin = text.find("\n" + std::string(limit) + " ") + 1;
  return text.replace(begin, text.find('\n', begin) - begin, line);
}

TEST(CopyTable, IsReadBackAsItWasWritten) {
  PathLimits limits = ShippedTables().front();
  std::size_t number = 1;
  for (const LimitField& field : limit_fields())
    field.of(limits) = number++;
  limits.gpu = "Some GPU 40GB";
  limits.rows_d2d.even_to = kAny;
  auto read = ParseCopyTables(WriteCopyTable(limits), "file");
  ASSERT_TRUE(read.ok()) << read.error().message;
  ASSERT_EQ(read->size(), 1U);
  EXPECT_EQ(read->front(), limits);
}

TEST(CopyTable, NamesEveryLimitOnce) {
  PathLimits limits = ShippedTables().front();
  std::set<std::string_view> names;
  std::set<std::size_t*> places;
  for (const LimitField& field : limit_fields()) {
    EXPECT_TRUE(names.insert(field.name).second) << field.name;
    EXPECT_TRUE(places.insert(&field.of(limits)).second) << field.name;
  }
  EXPECT_EQ(places.size() * sizeof(std::size_t), sizeof(PathLimits) - sizeof(std::string))
      << "a limit without a name";
}

TEST(CopyTable, ShippedTablesKeepTheRules) {
  for (PathLimits limits : ShippedTables()) {
    if (limits.gpu.empty()) limits.gpu = "other";  // a file has to name one
    EXPECT_TRUE(ParseCopyTables(WriteCopyTable(limits), "shipped").ok()) << limits.gpu;
  }
}

TEST(CopyTable, GoesBeforeTheShippedOnes) {
  auto read = ParseCopyTables(
      TableWith("batch_h2d_short_from", "batch_h2d_short_from 1000") + "\n# and another\n" +
          TableWith("batch_h2d_short_from", "batch_h2d_short_from any").replace(4, 4, "Other"),
      "file");
  ASSERT_TRUE(read.ok()) << read.error().message;
  ASSERT_EQ(read->size(), 2U);
  const auto path = [&](std::string_view gpu) {
    return CopyPaths(gpu, 132, {.tables = *read}).ForBatch(Direction::kHostToDevice, 500, 500 * 64).path;
  };
  EXPECT_EQ(path("NVIDIA H200"), CopyPath::kBatchCall);
  EXPECT_EQ(path("An Other One"), CopyPath::kBatchCall);
  EXPECT_EQ(path("unheard of"), CopyPath::kKernel) << "as shipped";
}

struct Wrong {
  const char* name;
  std::string text;
  const char* said;
};
std::ostream& operator<<(std::ostream& out, const Wrong& instance) {
  return out << instance.name;
}
class WrongCopyTable : public ::testing::TestWithParam<Wrong> {};

TEST_P(WrongCopyTable, IsRefusedWithLineAndValue) {
  auto read = ParseCopyTables(GetParam().text, "limits.txt");
  ASSERT_FALSE(read.ok());
  EXPECT_EQ(read.code(), Code::kDeviceSetupError);
  const std::string& message = read.error().message;
  EXPECT_EQ(message.substr(0, 11), "limits.txt:") << message;
  EXPECT_NE(message.find(GetParam().said), std::string::npos) << message;
}

INSTANTIATE_TEST_SUITE_P(
    CopyTable, WrongCopyTable,
    ::testing::Values(
        Wrong{"empty", "", ":0: there is no table"},
        Wrong{"only_comments", "# nothing\n\n", ":2: there is no"},
        Wrong{"gpu_without_name", "gpu \n", ":1: gpu has no name"},
        Wrong{"limit_before_gpu", "link_blocks 3\n", ":1: link_blocks stands before"},
        Wrong{"unknown_limit", "gpu X\nmagic 3\n", ":2: 'magic' is not the name"},
        Wrong{"letters", TableWith("link_blocks", "link_blocks many"), "link_blocks is 'many'"},
        Wrong{"negative", TableWith("link_blocks", "link_blocks -1"), "link_blocks is '-1'"},
        Wrong{"no_value", TableWith("link_blocks", "link_blocks"), "link_blocks is ''"},
        Wrong{"zero_blocks", TableWith("link_blocks", "link_blocks 0"), "from 1 to 1024"},
        Wrong{"too_many_blocks", TableWith("link_blocks", "link_blocks 1025"), "'1025'"},
        Wrong{"any_blocks", TableWith("link_blocks", "link_blocks any"), "'any'"},
        Wrong{"too_large", TableWith("batch_kernel_below", "batch_kernel_below 99999999999999999999"),
              "'99999999999999999999'"},
        Wrong{"two_values", TableWith("link_blocks", "link_blocks 3 4"), "'3 4'"},
        Wrong{"twice", TableWith("link_blocks", "link_blocks 3\nlink_blocks 4"), "was given before"},
        Wrong{"missing", TableWith("link_blocks", "# nothing"), "ends without link_blocks"},
        Wrong{"missing_before_the_next", TableWith("link_blocks", "") + "gpu Y\n",
              "ends without link_blocks"}),
    [](const auto& instance) { return instance.param.name; });

}  // namespace
}  // namespace sampan::cuda::copy_table_test
