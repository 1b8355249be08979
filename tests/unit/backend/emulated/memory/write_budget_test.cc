// Budgets against a host that other processes use too, and against pages in swap. Rules memory-1, memory-11.
#include "backend/emulated/memory/write_budget.h"

#include <gtest/gtest.h>
#include <sys/mman.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "backend/emulated/memory/arena.h"
#include "base/system/memory_file.h"
#include "base/system/page_size.h"

namespace sampan::emulated::write_budget_test {
namespace {

constexpr std::size_t kMiB = std::size_t{1} << 20;

/// Processes that share a host of 64 MiB. Each has a device that promises more than the limit.
struct Host {
  std::size_t SpareBytes() const {
    std::size_t taken = 0;
    for (const int file : files)
      taken += TakenBytes(file);
    return kBytes - std::min(kBytes, taken);
  }

  static constexpr std::size_t kBytes = 64 * kMiB;
  std::vector<int> files;
};

struct Process {
  explicit Process(Host& host) : host_(host) {
    auto made = Arena::Create(
        {.name = "test device", .capacity_bytes = 256 * kMiB, .written_from = &budget, .faults = &faults});
    EXPECT_TRUE(made.ok());
    arena = std::move(*made);
    block = *arena->Allocate(192 * kMiB, Pages::kBySize);
    host_.files.push_back(arena->FileOf(block)->descriptor);
  }

  /// Writes as a task does: only what the budget admits.
  Status Write(std::size_t offset, std::size_t bytes) {
    auto* const engine = reinterpret_cast<std::byte*>(block.address) + block.engine_delta + offset;
    if (!budget.Counts()) return {Code::kInternalError, "the budget does not count"};
    const auto missing = [&] { return budget.MissingBytes(engine, bytes); };
    if (Status admitted = budget.Admit(bytes, missing); !admitted.ok()) return admitted;
    std::memset(engine, 1, bytes);
    return {};
  }

  Host& host_;
  FaultPlan faults;
  WriteBudget budget{48 * kMiB, 256 * kMiB, [this] { return host_.SpareBytes(); }};
  std::unique_ptr<Arena> arena;
  MemoryBlock block;
};

TEST(WriteBudget, ProcessesTogetherTakeNoMoreThanTheHostCanSpare) {
  Host host;
  Process one(host), two(host), three(host);
  std::size_t refused = 0;
  for (std::size_t at = 0; at < 40 * kMiB; at += kMiB) {
    for (Process* const process : {&one, &two, &three}) {
      const Status written = process->Write(at, kMiB);
      if (written.ok()) continue;
      ++refused;
      EXPECT_EQ(written.code(), Code::kMemoryAllocation);
      EXPECT_NE(written.error().message.find("can spare only"), std::string::npos) << written.error().message;
    }
  }
  std::size_t taken = 0;
  for (const int file : host.files)
    taken += TakenBytes(file);
  EXPECT_LE(taken, Host::kBytes) << "each process has a limit of 48 MiB";
  EXPECT_GE(taken, Host::kBytes - 3 * kMiB) << "what there is can be used";
  EXPECT_GT(refused, 0U);
  EXPECT_TRUE(one.Write(0, 8 * kMiB).ok()) << "what is taken can be written again";
}

TEST(WriteBudget, LooksAtTheHostOnceAnEighthOfTheLimitIsPromised) {
  std::size_t looks = 0;
  WriteBudget budget(64 * kMiB, 256 * kMiB, [&] {
    ++looks;
    return 16 * kMiB;
  });
  const auto all = [] { return kMiB; };
  budget.Promise(8 * kMiB);
  EXPECT_FALSE(budget.Counts());
  budget.Promise(kMiB);
  ASSERT_TRUE(budget.Counts());
  for (int write = 0; write < 2; ++write)
    EXPECT_TRUE(budget.Admit(kMiB, all).ok());
  EXPECT_EQ(looks, 1U) << "a look grants an eighth of what the host can spare";
  EXPECT_TRUE(budget.Admit(kMiB, all).ok());
  EXPECT_EQ(looks, 2U);
}

TEST(HostBudget, PinnedMemoryIsHeldAgainstTheHostToo) {
  std::size_t spare = 64 * kMiB;
  HostBudget budget(64 * kMiB, [&] { return spare; });
  EXPECT_TRUE(budget.TryTake(8 * kMiB)) << "an eighth of the limit, unseen";
  spare = 12 * kMiB;
  EXPECT_FALSE(budget.TryTake(8 * kMiB)) << "the first 8 MiB were promised already, and not touched";
  EXPECT_EQ(budget.left_bytes(), 56 * kMiB) << "what is refused is not taken";
  EXPECT_TRUE(budget.TryTake(4 * kMiB));
  EXPECT_EQ(budget.UntouchedBytes(), 12 * kMiB);
}

TEST(HostBudget, TouchedMemoryIsCountedByTheHost) {
  std::size_t spare = 64 * kMiB;
  HostBudget budget(64 * kMiB, [&] { return spare; });
  FaultPlan faults;
  {
    auto arena = Arena::Create({.name = "test pinned",
                                .capacity_bytes = 64 * kMiB,
                                .host_visible = true,
                                .reserved_from = &budget,
                                .faults = &faults});
    ASSERT_TRUE(arena.ok());
    const MemoryBlock block = *(*arena)->Allocate(8 * kMiB, Pages::kBySize);
    EXPECT_EQ(budget.UntouchedBytes(), 8 * kMiB);
    std::memset(reinterpret_cast<void*>(block.address), 1, 6 * kMiB);
    EXPECT_EQ(budget.UntouchedBytes(), 2 * kMiB);
  }
  EXPECT_EQ(budget.UntouchedBytes(), 0U);
}

// ---- pages in swap ----

/// Bytes of all swap areas.
std::size_t SwapBytes() {
  std::ifstream file("/proc/meminfo");
  std::string name, rest;
  for (std::size_t kibibytes = 0; file >> name >> kibibytes && std::getline(file, rest);) {
    if (name == "SwapFree:") return kibibytes * 1024;
  }
  return 0;
}

std::size_t ResidentBytes(std::byte* first, std::size_t bytes) {
  std::size_t resident = 0;
  for (std::size_t at = 0; at < bytes; at += HostPageBytes()) {
    unsigned char state = 0;
    if (::mincore(first + at, 1, &state) == 0 && (state & 1) != 0) resident += HostPageBytes();
  }
  return resident;
}

TEST(WriteBudget, HolesOfTheMemoryFileAreMissing) {
  Host host;
  Process process(host);
  const std::size_t page = HostPageBytes();
  auto* const engine = reinterpret_cast<std::byte*>(process.block.address) + process.block.engine_delta;
  EXPECT_EQ(process.budget.MissingBytes(engine, 10 * page), 10 * page);
  for (const std::size_t written : {2, 3, 7})
    engine[written * page] = std::byte{1};
  EXPECT_EQ(process.budget.MissingBytes(engine, 10 * page), 7 * page);
  EXPECT_EQ(process.budget.MissingBytes(engine + 2 * page + 1, 2), 0U);
  EXPECT_EQ(process.budget.MissingBytes(engine + 4 * page - 1, 2), page) << "from a page into the next";
  EXPECT_EQ(process.budget.MissingBytes(engine + process.block.bytes - page, page), page);
  std::vector<std::byte> elsewhere(4 * page, std::byte{1});
  EXPECT_EQ(process.budget.MissingBytes(elsewhere.data(), 4 * page), 0U) << "memory of no watched file";
}

TEST(WriteBudget, PagesInSwapAreNotMissing) {
  constexpr std::size_t kBytes = 32 * kMiB;
  if (SwapBytes() < kBytes) GTEST_SKIP() << "the host has no swap";
  Host host;
  Process process(host);
  auto* const engine = reinterpret_cast<std::byte*>(process.block.address) + process.block.engine_delta;
  ASSERT_TRUE(process.Write(0, kBytes).ok());
  // Pages leave memory when they are written to the swap area.
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(2);
  while (ResidentBytes(engine, kBytes) == kBytes) {
    if (std::chrono::steady_clock::now() > deadline) GTEST_SKIP() << "the host did not swap the pages";
    ASSERT_EQ(::madvise(engine, kBytes, MADV_PAGEOUT), 0);
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  EXPECT_EQ(process.budget.MissingBytes(engine, kBytes), 0U);
}

}  // namespace
}  // namespace sampan::emulated::write_budget_test
