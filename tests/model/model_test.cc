// Random API programs against the reference. MODEL_SEED=N (or --seed=N) runs one program again,
// MODEL_PROGRAMS (or
// --programs) says how many to run, MODEL_FIRST_SEED where to begin.
#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <string>

#include "acl/acl.h"
#include "tests/model/executor.h"
#include "tests/model/generator.h"
#include "tests/model/model.h"
#include "tests/model/shrink.h"
#include "tests/model/watchdog.h"
#include "tests/support/applicability.h"

namespace sampan::model {
namespace {

#if defined(__SANITIZE_THREAD__)
constexpr std::uint64_t kPrograms = 250;
#elif defined(__SANITIZE_ADDRESS__)
constexpr std::uint64_t kPrograms = 500;
#else
constexpr std::uint64_t kPrograms = 3000;
#endif
constexpr std::uint64_t kProgramsPerReset = 100;
constexpr std::uint64_t kProgramsPerSabotage = 400;
constexpr std::uint64_t kMaxSeconds = 120;

std::uint64_t Setting(const char* name, std::uint64_t otherwise) {
  const char* const text = std::getenv(name);
  return text == nullptr ? otherwise : std::strtoull(text, nullptr, 0);
}

struct Seeds {
  std::uint64_t first, count;
};

/// That of MODEL_SEED, or those of MODEL_FIRST_SEED and MODEL_PROGRAMS.
Seeds SeedsToRun() {
  if (std::getenv("MODEL_SEED") != nullptr) return {Setting("MODEL_SEED", 0), 1};
  return {Setting("MODEL_FIRST_SEED", 1), Setting("MODEL_PROGRAMS", kPrograms)};
}

/// What the reference admits of the program, as API calls.
std::string Text(const Program& program, const std::optional<Failure>& failure) {
  Model model;
  std::string text;
  for (std::size_t i = 0; i < program.size(); ++i) {
    if (!model.Apply(program[i]).admitted) continue;
    text += "  " + Text(program[i]);
    if (failure && failure->operation == i) text += "\n    ^ " + failure->what;
    text += "\n";
  }
  if (failure && failure->operation == program.size()) text += "    ^ " + failure->what + "\n";
  return text;
}

/// `seed` is what made the program, or a longer one.
std::optional<Failure> Run(const Program& program, Sabotage sabotage, std::uint64_t seed) {
  static const std::chrono::seconds limit(Setting("MODEL_SECONDS", kMaxSeconds));
  const Watchdog watchdog(
      limit, [&] { return "MODEL_SEED=" + std::to_string(seed) + "\n" + Text(program, std::nullopt); });
  return Executor(sabotage).Run(program);
}

/// What is rare in random programs comes often where it is sabotaged.
Generator::Theme ThemeOf(Sabotage sabotage) {
  switch (sabotage) {
    case Sabotage::kGiveOutOfOrder:
      return Generator::Theme::kPools;
    case Sabotage::kShortenFloods:
      return Generator::Theme::kFloods;
    case Sabotage::kWaitBeforeSectionAbort:
      return Generator::Theme::kSections;
    case Sabotage::kOmitUnmaps:
    case Sabotage::kOmitRights:
      return Generator::Theme::kMappings;
    default:
      return Generator::Theme::kAny;
  }
}

struct Finding {
  std::uint64_t seed = 0;
  Program program;
  Failure failure;
};

/// Runs the programs of the seeds from `first` on until one fails.
std::optional<Finding> Search(std::uint64_t first, std::uint64_t count, Sabotage sabotage) {
  for (std::uint64_t seed = first; seed < first + count; ++seed) {
    Program program = Generator(seed).Make(ThemeOf(sabotage));
    if (auto failure = Run(program, sabotage, seed)) return Finding{seed, std::move(program), *failure};
    if (seed % kProgramsPerReset != 0) continue;
    for (int device = 0; device < kDevices; ++device) {
      EXPECT_EQ(aclrtResetDeviceForce(device), ACL_SUCCESS);
      EXPECT_EQ(aclrtSetDevice(device), ACL_SUCCESS);
    }
  }
  return std::nullopt;
}

void RunAll(std::uint64_t count, Sabotage sabotage) {
  for (std::uint64_t seed = 1; seed <= count; ++seed)
    Run(Generator(seed).Make(ThemeOf(sabotage)), sabotage, seed);
}

/// The smallest program that still fails. What depends on the schedule gets several chances to fail.
Finding Smallest(const Finding& finding, Sabotage sabotage) {
  const auto fails = [&](const Program& program) {
    for (int attempt = 0; attempt < 10; ++attempt) {
      if (Run(program, sabotage, finding.seed)) return true;
    }
    return false;
  };
  Finding small = finding;
  small.program = Shrink(finding.program, fails);
  for (int attempt = 0; attempt < 100; ++attempt) {
    if (auto failure = Run(small.program, sabotage, small.seed)) {
      small.failure = *failure;
      return small;
    }
  }
  return finding;
}

class ModelTest : public ::testing::Test {
 protected:
  void SetUp() override {
    for (int device = 0; device < kDevices; ++device)
      ASSERT_EQ(aclrtSetDevice(device), ACL_SUCCESS);
  }
  void TearDown() override {
    for (int device = 0; device < kDevices; ++device)
      EXPECT_EQ(aclrtResetDeviceForce(device), ACL_SUCCESS);
  }
};

TEST_F(ModelTest, RandomProgramsDoWhatTheReferenceSays) {
  const auto [first, count] = SeedsToRun();
  std::printf("seeds %llu to %llu\n", static_cast<unsigned long long>(first),
              static_cast<unsigned long long>(first + count - 1));
  const auto finding = Search(first, count, Sabotage::kNone);
  if (!finding) return;
  std::printf("MODEL_SEED=%llu fails: %s\nshrinking\n", static_cast<unsigned long long>(finding->seed),
              finding->failure.what.c_str());
  const Finding small = Smallest(*finding, Sabotage::kNone);
  FAIL() << "MODEL_SEED=" << small.seed << " shows it again; the smallest program found:\n"
         << Text(small.program, small.failure);
}

class SabotageTest : public ModelTest, public ::testing::WithParamInterface<Sabotage> {};

TEST_P(SabotageTest, IsDetected) {
#if defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "a program without its waits is a race, which ThreadSanitizer reports as it should";
#endif

  if (std::getenv("MODEL_GO_ON") != nullptr) {  // under the checker, which looks for the missing order itself
    RunAll(Setting("MODEL_PROGRAMS", kProgramsPerSabotage), GetParam());
    return;
  }
  const auto finding = Search(1, kProgramsPerSabotage, GetParam());
  ASSERT_TRUE(finding) << "none of " << kProgramsPerSabotage << " programs noticed";
  const Finding small = Smallest(*finding, GetParam());
  EXPECT_LE(small.program.size(), finding->program.size());
  std::printf("seed %llu, %zu operations, shrunk to %zu:\n%s", static_cast<unsigned long long>(small.seed),
              finding->program.size(), small.program.size(), Text(small.program, small.failure).c_str());
}

INSTANTIATE_TEST_SUITE_P(Model, SabotageTest,
                         ::testing::Values(Sabotage::kOmitEventWaits, Sabotage::kOmitStreamSyncs,
                                           Sabotage::kShortenCopies, Sabotage::kWaitBeforeAbort,
                                           Sabotage::kWaitBeforeForce, Sabotage::kWaitBeforeDeviceAbort,
                                           Sabotage::kOmitStopMode, Sabotage::kGiveOutOfOrder,
                                           Sabotage::kOmitNotifyWaits, Sabotage::kOmitWordWaits,
                                           Sabotage::kOmitSecondThread, Sabotage::kWaitBeforeSectionAbort,
                                           Sabotage::kShortenLongBatches, Sabotage::kShortenFloods,
                                           Sabotage::kOmitUnmaps, Sabotage::kOmitRights));

}  // namespace
}  // namespace sampan::model

int main(int argc, char** argv) {
  ::testing::InitGoogleTest(&argc, argv);
  for (int i = 1; i < argc; ++i) {
    if (std::strncmp(argv[i], "--seed=", 7) == 0) setenv("MODEL_SEED", argv[i] + 7, 1);
    if (std::strncmp(argv[i], "--programs=", 11) == 0) setenv("MODEL_PROGRAMS", argv[i] + 11, 1);
  }
  return sampan::test::RunTestsThatApply();
}
