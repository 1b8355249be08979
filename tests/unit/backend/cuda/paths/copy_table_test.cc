// Tables of limits: written and read back, and every way in which a file can be wrong.
#include <gtest/gtest.h>

#include <optional>
#include <ostream>
#include <set>
#include <string>
#include <utility>

#include "backend/cuda/paths/copy_path.h"
#include "backend/cuda/paths/copy_table.h"

namespace sampan::cuda::copy_table_test {
namespace {

/// A table as a file has it.
std::string WriteCopyTable(PathLimits limits) {
  std::string text = "gpu " + limits.gpu + "\n";
  for (const LimitField& field : limit_fields()) {
    const std::size_t limit = field.of(limits);
    text += std::string(field.name) + " " + (limit == kAny ? "any" : std::to_string(limit)) + "\n";
  }
  return text;
}

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
    return CopyPaths(gpu, 132, {.tables = *read}).ForBatch({Direction::kHostToDevice, 500, 500 * 64}).path;
  };
  EXPECT_EQ(path("NVIDIA H200"), CopyPath::kBatchCall);
  EXPECT_EQ(path("An Other One"), CopyPath::kBatchCall);
  EXPECT_EQ(path("unheard of"), CopyPath::kKernel) << "as shipped";
}

TEST(CopyTable, LimitsThatItDoesNotHaveAreAsShipped) {
  auto read =
      ParseCopyTables("gpu NVIDIA H200 NVL\nlink_h2d_blocks 3\n\ngpu Some GPU\nstaging_threads 5\n", "file");
  ASSERT_TRUE(read.ok()) << read.error().message;
  ASSERT_EQ(read->size(), 2U);
  PathLimits like_h200 = ShippedTables().front();
  like_h200.gpu = "NVIDIA H200 NVL";
  like_h200.link_h2d_blocks = 3;
  EXPECT_EQ(read->front(), like_h200);
  PathLimits like_others = ShippedTables().back();
  like_others.gpu = "Some GPU";
  like_others.staging_threads = 5;
  EXPECT_EQ(read->back(), like_others);
}

TEST(CopyTable, LimitsOfEarlierVersionsAreReadOver) {
  auto read = ParseCopyTables(
      "gpu H200\nbatch_halves_from 67108864\nbatch_long_kernel_below 131072\nlink_blocks 16\nlink_h2d_blocks "
      "3\n",
      "file");
  ASSERT_TRUE(read.ok()) << read.error().message;
  PathLimits expected = ShippedTables().front();
  expected.link_h2d_blocks = 3;
  EXPECT_EQ(read->front(), expected);
}

constexpr std::size_t kKiB = 1024, kMiB = 1024 * kKiB;

CopyPaths PathsWith(std::string_view lines, std::optional<CopyPath> path = {}) {
  auto read = ParseCopyTables("gpu H200\n" + std::string(lines), "file");
  EXPECT_TRUE(read.ok());
  return {"NVIDIA H200", 132, {.path = path, .tables = std::move(*read)}};
}

TEST(PageablePath, IsTheDriversBelowALimitOfEachDirection) {
  const auto path = [](const CopyPaths& paths, Direction direction, std::size_t bytes) {
    return paths.ForPageable(direction, bytes, 1).path;
  };
  constexpr Direction kIn = Direction::kHostToDevice, kOut = Direction::kDeviceToHost;
  const CopyPaths shipped("NVIDIA H200", 132, {});
  EXPECT_EQ(path(shipped, kIn, kMiB - 1), CopyPath::kBlocking);
  EXPECT_EQ(path(shipped, kIn, kMiB), CopyPath::kStaged);
  EXPECT_EQ(path(shipped, kOut, 1), CopyPath::kStaged);
  const CopyPaths limited = PathsWith("pageable_h2d_from 32768\npageable_d2h_from 16384\n");
  EXPECT_EQ(path(limited, kIn, 32 * kKiB - 1), CopyPath::kBlocking);
  EXPECT_EQ(path(limited, kIn, 32 * kKiB), CopyPath::kStaged);
  EXPECT_EQ(path(limited, kOut, 16 * kKiB - 1), CopyPath::kBlocking);
  EXPECT_EQ(path(limited, kOut, 16 * kKiB), CopyPath::kStaged);
  const CopyPaths never = PathsWith("pageable_h2d_from any\npageable_d2h_from 0\n");
  EXPECT_EQ(path(never, kIn, std::size_t{1} << 40), CopyPath::kBlocking);
  EXPECT_EQ(path(never, kOut, 1), CopyPath::kStaged);
  for (const CopyPath given : {CopyPath::kBlocking, CopyPath::kStaged}) {
    const CopyPaths paths = PathsWith("", given);
    for (const std::size_t bytes : {std::size_t{1}, 64 * kMiB}) {
      EXPECT_EQ(path(paths, kIn, bytes), given);
      EXPECT_STREQ(paths.ForPageable(kOut, bytes, 1).why, "SAMPAN_COPY_PATH says so");
    }
    EXPECT_EQ(paths.ForBatch({kIn, 500, 500 * 64}).path, CopyPath::kKernel)
        << "that is not about pageable memory";
    EXPECT_EQ(paths.ForDeviceCopy(64 * kMiB).path, CopyPath::kEngine);
  }
  const CopyPaths by_kernel = PathsWith("pageable_h2d_from 32768\n", CopyPath::kKernel);
  EXPECT_EQ(path(by_kernel, kIn, 1), CopyPath::kBlocking) << "nor is this about the driver's own copies";
  EXPECT_EQ(path(by_kernel, kIn, kMiB), CopyPath::kStaged);
}

TEST(PageablePath, ThreadsAreAsManyAsTheTableSays) {
  const CopyPaths shipped("NVIDIA H200", 132, {});
  EXPECT_EQ(shipped.ThreadsForStaging(kMiB - 1, 16), 1U);
  EXPECT_EQ(shipped.ThreadsForStaging(kMiB, 16), 4U);
  EXPECT_EQ(shipped.ThreadsForStaging(48 * kMiB, 16), 6U);
  EXPECT_EQ(shipped.ThreadsForStaging(1024 * kMiB, 64), 16U);
  EXPECT_EQ(shipped.ThreadsForStaging(1024 * kMiB, 3), 3U) << "no more than there are cores";
  EXPECT_EQ(shipped.ThreadsForStaging(1024 * kMiB, 1), 1U);
  const CopyPaths other =
      PathsWith("staging_several_from 1000\nstaging_bytes_per_thread 100\nstaging_threads 12\n");
  EXPECT_EQ(other.ThreadsForStaging(999, 16), 1U);
  EXPECT_EQ(other.ThreadsForStaging(1000, 16), 10U);
  EXPECT_EQ(other.ThreadsForStaging(9000, 16), 12U);
  EXPECT_EQ(PathsWith("staging_threads 2\n").ThreadsForStaging(2 * kMiB, 16), 2U);
  EXPECT_EQ(PathsWith("staging_threads 1\n").ThreadsForStaging(1024 * kMiB, 16), 1U);
  EXPECT_EQ(PathsWith("staging_several_from any\n").ThreadsForStaging(1024 * kMiB, 16), 1U);
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
        Wrong{"limit_before_gpu", "link_h2d_blocks 3\n", ":1: link_h2d_blocks stands before"},
        Wrong{"unknown_limit", "gpu X\nmagic 3\n", ":2: 'magic' is not the name"},
        Wrong{"letters", TableWith("link_h2d_blocks", "link_h2d_blocks many"), "link_h2d_blocks is 'many'"},
        Wrong{"negative", TableWith("link_h2d_blocks", "link_h2d_blocks -1"), "link_h2d_blocks is '-1'"},
        Wrong{"no_value", TableWith("link_h2d_blocks", "link_h2d_blocks"), "link_h2d_blocks is ''"},
        Wrong{"zero_blocks", TableWith("link_h2d_blocks", "link_h2d_blocks 0"), "from 1 to 1024"},
        Wrong{"too_many_blocks", TableWith("link_h2d_blocks", "link_h2d_blocks 1025"), "'1025'"},
        Wrong{"any_blocks", TableWith("link_h2d_blocks", "link_h2d_blocks any"), "'any'"},
        Wrong{"too_large", TableWith("batch_kernel_below", "batch_kernel_below 99999999999999999999"),
              "'99999999999999999999'"},
        Wrong{"two_values", TableWith("link_h2d_blocks", "link_h2d_blocks 3 4"), "'3 4'"},
        Wrong{"no_threads", TableWith("staging_threads", "staging_threads 0"), "from 1 to 64"},
        Wrong{"twice", TableWith("link_h2d_blocks", "link_h2d_blocks 3\nlink_h2d_blocks 4"),
              "was given before"}),
    [](const auto& instance) { return instance.param.name; });

}  // namespace
}  // namespace sampan::cuda::copy_table_test
