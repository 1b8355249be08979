// hccl_bench: measures and checks collectives, like hccl_test.
#include <algorithm>
#include <cstdio>
#include <iostream>
#include <memory>
#include <string>

#include "bench/ranks/ranks_together.h"
#include "check.h"
#include "measure.h"

namespace hccl_bench {
namespace {

/// The buffer sizes that the largest case needs.
collectives::Room LargestRoom(const Options& options) {
  const collectives::Room room =
      collectives::RoomFor(CaseOf(options, options.sizes.back()), options.launch.size);
  return {std::max<u64>(room.input_bytes, 1), std::max<u64>(room.output_bytes, 1)};
}

void PrintHeader(const Options& options) {
  std::printf("%-14s %15s %20s %13s", "data_size", "aveg_time(us)", "alg_bandwidth(GB/s)", "check_result");
  if (options.compare_with_memcpy) std::printf(" %13s %6s", "memcpy(GB/s)", "ratio");
  std::printf("\n");
}

void PrintRow(const Measurement& row) {
  static const char* const checks[] = {"NULL", "success", "failed"};
  const double bytes = static_cast<double>(row.data_size);
  std::printf("%-14llu %15.2f %20.3f %13s", row.data_size, row.seconds * 1e6, bytes / row.seconds / 1e9,
              checks[static_cast<int>(row.check)]);
  if (row.memcpy_seconds) {
    std::printf(" %13.3f %6.2f", bytes / *row.memcpy_seconds / 1e9, *row.memcpy_seconds / row.seconds);
  }
  std::printf("\n");
  std::fflush(stdout);
}

/// What each rank does. The first one prints.
void RunRank(const collectives::Seat& seat, const Options& options, const bench::SharedBuffers* plain) {
  collectives::Rank rank(seat, LargestRoom(options));
  std::string wrong;
  if (seat.rank == 0) PrintHeader(options);
  for (const u64 size : options.sizes) {
    const Measurement row = Measure(rank, options, CaseOf(options, size), plain);
    if (seat.rank == 0) PrintRow(row);
    if (wrong.empty()) wrong = row.why;
  }
  if (seat.rank == 0 && !wrong.empty()) throw collectives::Failure(wrong);
}

int Execute(int argc, char** argv) {
  Options options;
  int status = kSuccess;
  if (!ParseOptions(argc, argv, options, status)) return status;
  bench::ShareCores(options.launch.size);
  std::unique_ptr<bench::SharedBuffers> plain;
  if (options.compare_with_memcpy)
    plain = std::make_unique<bench::SharedBuffers>(options.launch.size, LargestRoom(options));
  const auto failed = collectives::RunRanks(
      options.launch, [&](const collectives::Seat& seat) { RunRank(seat, options, plain.get()); });
  for (const collectives::Ending& ending : failed)
    std::cerr << "hccl_bench: rank " << ending.rank << ": " << ending.failure << "\n";
  return failed.empty() ? kSuccess : kFailed;
}

}  // namespace
}  // namespace hccl_bench

int main(int argc, char** argv) {
  try {
    return hccl_bench::Execute(argc, argv);
  } catch (const std::exception& error) {
    std::cerr << "hccl_bench: " << error.what() << "\n";
    return hccl_bench::kFailed;
  }
}
