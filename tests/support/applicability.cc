// The table of where tests apply, and what makes a filter of GoogleTest's from it.
#include "tests/support/applicability.h"

#include <fnmatch.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

namespace sampan::test {
namespace {

/// What can be said about a process; bits of one number.
enum Setting : std::uint32_t {
  kCann9 = 1 << 0,            ///< the profile has the rules of release 9
  kRootComplex = 1 << 1,      ///< the profile is a chip in RC form
  kCuda = 1 << 2,             ///< on a GPU
  kSchedule = 1 << 3,         ///< a chosen schedule
  kSmallDevice = 1 << 4,      ///< device memory has a chosen size
  kTrace = 1 << 5,            ///< a trace is written
  kSanitizer = 1 << 6,        ///< instrumented, by whichever sanitizer
  kThreadSanitizer = 1 << 7,  ///< instrumented by ThreadSanitizer
  kProfile = 1 << 8,          ///< a chosen profile
  kEngines = 1 << 9,          ///< a chosen number of engines
  kLargePages = 1 << 10,      ///< pages of 64 KiB, by tests/process/large_pages.c
};

enum class Effect : std::uint8_t {
  kLeaveOut,  ///< these tests are left out
  kOnly,      ///< all other tests are left out
};

struct Row {
  const char* programs;     ///< patterns, separated by colons
  std::uint32_t where;      ///< all of these settings
  std::uint32_t not_where;  ///< none of these
  Effect effect;
  const char* tests;  ///< patterns as --gtest_filter takes them, separated by colons
  const char* reason;
};

constexpr Row kRows[] = {
    // Profiles.
    {"conformance_copy", kCann9, 0, Effect::kLeaveOut, "*Cann8*", "release 9 has another rule"},
    {"conformance_copy:clients:hazards", kRootComplex, 0, Effect::kLeaveOut, "*Attached*",
     "a chip in RC form has no copies of rows, of batches, by descriptors or between devices"},
    {"clients", kSmallDevice, 0, Effect::kOnly, "ClientMemory.*",
     "only these depend on how much memory there is"},
    {"libhccl_calls", kProfile, 0, Effect::kOnly, "*KnowTheChip*",
     "the other rules are the same on every chip"},
    // Backends.
    {"conformance_memory", kCuda, 0, Effect::kLeaveOut, "*Emulated*",
     "on a GPU a copy across registrations completes before its call returns"},
    {"conformance_copy_rc_rules", kCuda, 0, Effect::kLeaveOut, "*LikeTheirOwn*",
     "programs cannot touch the memory of a GPU"},
    {"regression", kCuda, 0, Effect::kLeaveOut, "*LateSchedule*", "schedules are for emulated devices"},
    {"model", kCuda, 0, Effect::kLeaveOut, "*SabotageTest*",
     "they test the model, which is the same on every backend"},
    {"regression_edges", kCuda, 0, Effect::kOnly,
     "DroppedIpcRecording.*:IpcRecordingOrder.*:InitCallbackDeadlock.*:CancelledThread.*:OtherUsersMemory.*",
     "the others look at what a process is before it has a device, or at emulated memory"},
    {"regression_edges", kCuda, 0, Effect::kLeaveOut, "*LateSchedule*", "schedules are for emulated devices"},
    {"libhccl_calls", kCuda, 0, Effect::kLeaveOut, "Observed.*:HostMemory.*",
     "they are about operators that the host executes, and about the host's memory"},
    {"libhccl_processes", kCuda, 0, Effect::kOnly, "*OnAGpu*", "ranks are threads of one process there"},
    {"libhccl_processes", 0, kCuda, Effect::kLeaveOut, "*OnAGpu*", "it needs a GPU"},
    {"collectives_processes", kCuda, 0, Effect::kOnly,
     "*Schedule*:Processes.*:*KilledRank*:MissingRank.*:*EveryNumberOfProcesses.*/"
     "2:*EveryNumberOfProcesses.*/4",
     "a process takes a third of a second to start on a GPU"},
    // Schedules.
    {"hccl_calls", kSchedule, 0, Effect::kLeaveOut, "LimitTest.*:*4GiB*",
     "limits are the same under every schedule, and take long"},
    {"hccl_threads", kSchedule, 0, Effect::kLeaveOut, "GroupTest.*", "ranks that meet submit no tasks"},
    {"hccl_processes", kSchedule, 0, Effect::kOnly, "*Processes*",
     "the others are about ranks that are killed or late"},
    {"libhccl_processes", kSchedule, 0, Effect::kLeaveOut, "*AStoppedRankDoesNotWriteIntoNewMemory*",
     "a schedule may run a rank's tasks only when its host waits, and here it polls"},
    {"collectives_threads:collectives_processes", kSchedule, 0, Effect::kOnly, "*Schedule*",
     "these are made for schedules, with fewer ranks"},
    {"model", kSchedule, 0, Effect::kLeaveOut, "*Sabotage*",
     "that the reference notices a wrong program is shown once, without a schedule"},
    // Engines and pages.
    {"model", kEngines, 0, Effect::kLeaveOut, "*Sabotage*",
     "that the reference notices a wrong program is shown once, with the usual engines"},
    {"process", kLargePages, 0, Effect::kLeaveOut, "Endurance.*",
     "what thousands of rounds leave behind does not depend on the size of a page"},
    // Traces.
    {"conformance_copy", kTrace, 0, Effect::kOnly, "*Order*:*Descriptor*",
     "these have every kind of record that copies make"},
    {"hccl_threads", kTrace, 0, Effect::kOnly, "*Ring*:*Transport*", "these use links, which a trace names"},
    // Sanitizers.
    {"unit", kThreadSanitizer, 0, Effect::kLeaveOut,
     "*BatchRun*:BatchParts*:*CopyKernels*:*ReduceKernels*:*SixteenBitFloat*:"
     "AccessHistory.*ManyPieces:Shape.*:FreeRanges.*",
     "they run in one thread"},
    {"conformance_copy", kThreadSanitizer, 0, Effect::kLeaveOut,
     "*LinearData.SizesAround*:*LinearData.RandomSizes*:*LargeLinearData*:*LargeBatchData*:"
     "*RowsData.LongRows*:*RowsData.ShortRows*:*AMegabytePitch*",
     "more bytes of one stream show no other order; collectives_threads shares large copies among engines"},
    {"conformance_sharing", kThreadSanitizer, 0, Effect::kLeaveOut, "ReduceTest.Integers",
     "the sums of one thread; ReduceTest has others"},
    {"hccl_threads", kThreadSanitizer, 0, Effect::kLeaveOut, "GroupTest.ExchangesHaveALimit",
     "megabytes are exchanged like kilobytes, and take long"},
    {"conformance_process", kSanitizer, 0, Effect::kLeaveOut, "Log.KeepsTheNewestFiles:Log.BeginsANewFile*",
     "one thread writes hundreds of megabytes"},
    {"process", kSanitizer, 0, Effect::kLeaveOut, "Processes.AForkedChildIsToldThatItCannotGoOn",
     "in a forked child a sanitizer's allocator may stay locked"},
    {"regression_forked_pinned_memory", kSanitizer, 0, Effect::kLeaveOut,
     "ForkedPinnedMemory.IsNotTheChilds:ForkedPinnedMemory.MappedByHandIsNotEither",
     "a sanitizer's own handler answers the child's fault"},
    {"regression_edges", kSanitizer, 0, Effect::kLeaveOut,
     "ForkHangs.*:FaultHandlerChain.*:MainThreadExit.*:ThreadNotStarted.*:*LittleMemory*",
     "sanitizers have a thread and signal handlers of their own, and need more addresses"},
    {"regression_hang_report", kThreadSanitizer, 0, Effect::kLeaveOut,
     "HangReportSignal.EndsAForkedChildWithoutAReport",
     "ThreadSanitizer delivers the signals of a forked child itself"},
    {"collectives_threads:collectives_processes", kSanitizer, kSchedule, Effect::kLeaveOut,
     "*EveryNumberOf*/9:*EveryNumberOf*/10:*EveryNumberOf*/11:*EveryNumberOf*/12:*EveryNumberOf*/13:"
     "*EveryNumberOf*/14:*EveryNumberOf*/15",
     "9 to 15 ranks run the same code as 8 and 16, and take most of the time"},
    {"collectives_threads", kThreadSanitizer, kSchedule, Effect::kLeaveOut, "*EverySchedule*",
     "without a schedule they repeat the tests of every number of ranks"},
    {"collectives_threads", kThreadSanitizer | kSchedule, 0, Effect::kLeaveOut, "*EverySchedule*/16",
     "a schedule runs one task at a time: fewer ranks show as much"},
};

std::string_view Variable(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? "" : value;
}

std::uint32_t SettingsOfThisProcess() {
  std::uint32_t settings = 0;
  const auto add = [&](std::uint32_t setting, bool is_there) { settings |= is_there ? setting : 0; };
  add(kCann9, Variable("SAMPAN_PROFILE").find("cann9") != std::string_view::npos);
  add(kRootComplex, Variable("SAMPAN_PROFILE").find("ascend310-rc") != std::string_view::npos);
  add(kCuda, Variable("SAMPAN_BACKEND") == "cuda");
  add(kSchedule, !Variable("SAMPAN_SCHEDULE").empty());
  add(kSmallDevice, !Variable("SAMPAN_DEVICE_MEMORY").empty());
  add(kTrace, !Variable("SAMPAN_TRACE").empty());
  add(kProfile, !Variable("SAMPAN_PROFILE").empty());
  add(kEngines, !Variable("SAMPAN_ENGINES").empty());
  add(kLargePages, Variable("LD_PRELOAD").find("large_pages") != std::string_view::npos);
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  add(kSanitizer, true);
#endif
#if defined(__SANITIZE_THREAD__)
  add(kThreadSanitizer, true);
#endif
#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
  add(kSanitizer, true);
#endif
#if __has_feature(thread_sanitizer)
  add(kThreadSanitizer, true);
#endif
#endif
  return settings;
}

/// Says whether one of the patterns, which colons separate, fits the name.
bool Fits(std::string_view patterns, const std::string& name) {
  while (!patterns.empty()) {
    const std::string pattern(patterns.substr(0, patterns.find(':')));
    if (::fnmatch(pattern.c_str(), name.c_str(), 0) == 0) return true;
    patterns.remove_prefix(std::min(patterns.size(), pattern.size() + 1));
  }
  return false;
}

/// How many tests of this program fit; with its parameters, a test counts for each.
int CountOfTests(const char* patterns) {
  int count = 0;
  const auto& all = *testing::UnitTest::GetInstance();
  for (int i = 0; i < all.total_test_suite_count(); ++i) {
    const testing::TestSuite& suite = *all.GetTestSuite(i);
    for (int j = 0; j < suite.total_test_count(); ++j)
      count += Fits(patterns, std::string(suite.name()) + "." + suite.GetTestInfo(j)->name());
  }
  return count;
}

}  // namespace

int RunTestsThatApply() {
  if (GTEST_FLAG_GET(filter) != "*") return RUN_ALL_TESTS();
  const std::string program = ::program_invocation_short_name;
  const std::uint32_t settings = SettingsOfThisProcess();
  const bool is_listing = GTEST_FLAG_GET(list_tests);
  std::string only, left_out;
  for (const Row& row : kRows) {
    if (!Fits(row.programs, program)) continue;
    const int count = CountOfTests(row.tests);
    if (count == 0) {
      std::fprintf(stderr, "tests/support/applicability.cc: no test of %s fits %s\n", program.c_str(),
                   row.tests);
      return 1;
    }
    if ((settings & row.where) != row.where || (settings & row.not_where) != 0) continue;
    std::string& patterns = row.effect == Effect::kOnly ? only : left_out;
    patterns += (patterns.empty() ? "" : ":") + std::string(row.tests);
    if (!is_listing) {
      std::printf("%s %d tests, %s: %s\n", row.effect == Effect::kOnly ? "Only" : "Without", count, row.tests,
                  row.reason);
    }
  }
  std::string filter = only.empty() ? "*" : only;
  if (!left_out.empty()) filter += "-" + left_out;
  GTEST_FLAG_SET(filter, filter);
  return RUN_ALL_TESTS();
}

}  // namespace sampan::test
