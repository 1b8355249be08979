// The operators of HCCL's public API against Open MPI's: bench_hccl [RANKS [OPERATOR [SIZE]]]. Both run in
// the same processes, in turn, on inputs that are rewritten before each turn. It starts itself under mpirun.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iostream>
#include <memory>
#include <string>
#include <vector>

#include "base/platform_bridge.h"
#include "bench/measure/failure.h"
#include "bench/measure/sizes.h"
#include "bench/measure/timing.h"
#include "bench/ranks/comm_rank.h"
#include "bench/ranks/mpirun.h"
#include "bench/ranks/open_mpi.h"
#include "bench/ranks/ordinary_memory.h"
#include "bench/ranks/ranks_together.h"

namespace bench {
namespace {

constexpr u64 kLongFrom = kMiB;

/// How many times as fast as Open MPI an operator has to be, of short and of long buffers.
struct Bar {
  Operator what;
  double shorter, longer;
};
constexpr Bar kBars[] = {{Operator::kAllReduce, 1.0, 1.5},
                         {Operator::kAllGather, 0.8, 1.2},
                         {Operator::kBroadcast, 0.8, 1.2},
                         {Operator::kAllToAll, 0.8, 1.2},
                         {Operator::kReduceScatter, 0.8, 1.2}};
constexpr u64 kSizes[] = {kKiB, 4 * kKiB, 16 * kKiB, 64 * kKiB, 256 * kKiB,
                          kMiB, 4 * kMiB, 16 * kMiB, 64 * kMiB, 256 * kMiB};

/// Calls in a row with one synchronisation at their end.
u32 CallsPerTurn(u64 size) {
  return size < kLongFrom ? 100 : 1;
}
/// Turns of each side. The medians count.
std::size_t Turns(u64 size) {
  return size <= kMiB ? 101 : size <= 16 * kMiB ? 41 : size <= 64 * kMiB ? 15 : 7;
}

struct Sides {
  CommRank& ours;
  OpenMpi& mpi;
  const OrdinaryMemory &input, &output;  // Open MPI's
};

/// Throws if Open MPI's result is wrong.
void CheckMpi(const Sides& sides, const OperatorCase& what, const std::function<void()>& call) {
  const u32 rank = sides.ours.rank(), size = sides.ours.size();
  const auto expected = ExpectedOf(what, rank, size);
  call();
  if (std::memcmp(sides.output.get(), expected.data(), expected.size()) != 0)
    throw Failure(Describe(what, size) + ": Open MPI's result is wrong");
}

/// Returns false if the bar is missed.
bool Compare(const Sides& sides, const Bar& bar, u64 size) {
  CommRank& rank = sides.ours;
  const OperatorCase what = SizedCase({.what = bar.what}, size, rank.size());
  if (const std::string wrong = WhyWrongAnywhere(rank, what); !wrong.empty()) throw Failure(wrong);
  const std::vector<std::byte> input = InputOf(what, rank.rank(), rank.size());
  std::byte* const mpi_input = what.what == Operator::kBroadcast ? sides.output.get() : sides.input.get();
  const auto call = sides.mpi.CallOf(what, sides.input.get(), sides.output.get());
  const u32 calls = CallsPerTurn(size);
  std::memcpy(mpi_input, input.data(), input.size());
  CheckMpi(sides, what, call);
  const auto ours = [&] {
    rank.Load(what, input);
    return SlowestRank(rank, [&] {
      for (u32 i = 0; i < calls; ++i)
        rank.Queue(what);
      rank.Synchronize();
    });
  };
  const auto theirs = [&] {
    std::memcpy(mpi_input, input.data(), input.size());
    return SlowestRank(rank, [&] {
      for (u32 i = 0; i < calls; ++i)
        call();
    });
  };
  const auto times = TakeTurns({ours, theirs}, [&](std::size_t turns) { return turns < Turns(size); });
  const double our_us = Median(times[0]) / calls * 1e6, their_us = Median(times[1]) / calls * 1e6;
  const double ratio = their_us / our_us, needed = size < kLongFrom ? bar.shorter : bar.longer;
  if (rank.rank() == 0) {
    std::printf("%-15s %10llu %5u %12.2f %12.2f %9.3f %6.2f %5.1f %s\n", NameOf(bar.what).c_str(),
                static_cast<unsigned long long>(size), calls, our_us, their_us,
                static_cast<double>(size) / our_us / 1e3, ratio, needed, ratio >= needed ? "met" : "missed");
    std::fflush(stdout);
  }
  return ratio >= needed;
}

/// The bytes per second, read and written, of all ranks together when each copies memory of its own.
double CopyBandwidth(CommRank& rank) {
  constexpr u64 kBytes = 64 * kMiB;
  constexpr std::size_t kRounds = 15;
  const OrdinaryMemory from(kBytes), to(kBytes);
  std::vector<double> times;
  for (std::size_t round = 0; round < kRounds; ++round)
    times.push_back(SlowestRank(rank, [&] { sampanCopyHere(to.get(), from.get(), kBytes, true); }));
  return 2.0 * kBytes * rank.size() / Median(times);
}

/// The part of the traffic bound that an all-reduce of 64 MiB reaches: each rank reads and writes its buffer
/// once.
bool CompareWithBound(CommRank& rank) {
  constexpr double kNeeded = 0.8;
  const OperatorCase what = SizedCase({}, 64 * kMiB, rank.size());
  const std::vector<std::byte> input = InputOf(what, rank.rank(), rank.size());
  std::vector<double> times;
  for (std::size_t round = 0; round < 15; ++round) {
    rank.Load(what, input);
    times.push_back(SlowestRank(rank, [&] {
      rank.Queue(what);
      rank.Synchronize();
    }));
  }
  const double bandwidth = CopyBandwidth(rank);
  const double bound = 2.0 * rank.size() * 64 * kMiB / bandwidth, part = bound / Median(times);
  if (rank.rank() == 0) {
    std::printf(
        "all_reduce of 64 MiB: %.2f ms; at the copy bandwidth of %.1f GB/s %.2f ms: %.2f of it (0.8 needed, "
        "%s)\n",
        Median(times) * 1e3, bandwidth / 1e9, bound * 1e3, part, part >= kNeeded ? "met" : "missed");
  }
  return part >= kNeeded;
}

/// What the command line asks for: one operator, or all; one size, or all.
struct Choice {
  std::string name;
  u64 size = 0;
};

int RunRank(const collectives::Seat& seat, const Choice& only) {
  OpenMpi mpi;
  std::vector<OperatorCase> cases;
  for (const Bar& bar : kBars)
    cases.push_back(SizedCase({.what = bar.what}, std::end(kSizes)[-1], seat.size));
  const Room room = RoomForAll(cases, seat.size);
  CommRank rank(seat, room);
  const OrdinaryMemory input(room.input_bytes), output(room.output_bytes);
  if (rank.rank() == 0) {
    std::printf("%u ranks, fp32, sums; the other side is %s\n", rank.size(), mpi.Version().c_str());
    std::printf("%-15s %10s %5s %12s %12s %9s %6s %5s\n", "operator", "data_size", "calls", "ours(us)",
                "other(us)", "GB/s", "ratio", "bar");
  }
  bool met = true;
  for (const Bar& bar : kBars) {
    if (!only.name.empty() && NameOf(bar.what) != only.name) continue;
    for (const u64 size : kSizes) {
      if (only.size == 0 || size == only.size) met = Compare({rank, mpi, input, output}, bar, size) && met;
    }
  }
  if (only.name.empty()) met = CompareWithBound(rank) && met;
  return met ? 0 : 1;
}

}  // namespace
}  // namespace bench

int main(int argc, char** argv) {
  try {
    const u32 ranks = argc > 1 ? static_cast<u32>(std::strtoul(argv[1], nullptr, 10)) : 2;
    bench::Choice only;
    if (argc > 2) only.name = argv[2];
    if (argc > 3) only.size = bench::ParseBytes(argv[3], 256 * bench::kMiB).value_or(1);
    if (ranks == 0 || only.size == 1 || argc > 4)
      throw bench::Failure("usage: bench_hccl [RANKS [OPERATOR [SIZE]]]");
    const auto seat = bench::SeatUnderMpirun();
    if (!seat) bench::StartUnderMpirun(ranks, argv);
    bench::ShareCores(seat->size);
    return bench::RunRank(*seat, only);
  } catch (const std::exception& error) {
    std::cerr << "bench_hccl: " << error.what() << "\n";
    return 1;
  }
}
