// hccl_bench: measures and checks the operators of HCCL, like hccl_test.
#include <cstdio>
#include <iostream>
#include <memory>
#include <optional>
#include <string>

#include "bench/ranks/mpirun.h"
#include "bench/ranks/ranks_together.h"
#include "check.h"
#include "measure.h"

namespace hccl_bench {
namespace {

const char* NameOf(Other other) {
  return other == Other::kMpi ? "mpi(GB/s)" : "memcpy(GB/s)";
}

void PrintHeader(const Options& options) {
  std::printf("%-14s %15s %20s %13s", "data_size", "aveg_time(us)", "alg_bandwidth(GB/s)", "check_result");
  if (options.other != Other::kNothing) std::printf(" %13s %6s", NameOf(options.other), "ratio");
  std::printf("\n");
}

void PrintRow(const Measurement& row) {
  static const char* const checks[] = {"NULL", "success", "failed"};
  const double bytes = static_cast<double>(row.data_size);
  std::printf("%-14llu %15.2f %20.3f %13s", row.data_size, row.seconds * 1e6, bytes / row.seconds / 1e9,
              checks[static_cast<int>(row.check)]);
  if (row.other_seconds) {
    std::printf(" %13.3f %6.2f", bytes / *row.other_seconds / 1e9, *row.other_seconds / row.seconds);
  }
  std::printf("\n");
  std::fflush(stdout);
}

/// What each rank does. The first one prints.
void RunRank(const collectives::Seat& seat, const Options& options, const Others& others) {
  bench::CommRank rank(seat, bench::RoomForAll({CaseOf(options, options.sizes.back())}, seat.size));
  std::string wrong;
  if (seat.rank == 0) PrintHeader(options);
  for (const u64 size : options.sizes) {
    const Measurement row = Measure(rank, options, CaseOf(options, size), others);
    if (seat.rank == 0) PrintRow(row);
    if (wrong.empty()) wrong = row.why;
  }
  if (seat.rank == 0 && !wrong.empty()) throw collectives::Failure(wrong);
}

/// The ranks meet in the network, by the token of a file instead of the name of the job.
void MeetAt(const Options& options, collectives::Seat& seat) {
  seat.group = seat.token = "";
  seat.address = options.address;
  seat.token_file = options.token_file;
}

int RunUnderMpirun(const collectives::Seat& seat, const Options& options) {
  std::unique_ptr<bench::OpenMpi> mpi;
  if (options.other == Other::kMpi) mpi = std::make_unique<bench::OpenMpi>();
  try {
    RunRank(seat, options, {.mpi = mpi.get()});
    return kSuccess;
  } catch (const std::exception& error) {
    std::cerr << "hccl_bench: rank " << seat.rank << ": " << error.what() << "\n";
    if (mpi != nullptr) std::_Exit(kFailed);  // the others may not come to the end that Open MPI waits for
    return kFailed;
  }
}

int RunHere(const Options& options) {
  std::unique_ptr<bench::SharedBuffers> plain;
  if (options.other == Other::kMemcpy) {
    plain = std::make_unique<bench::SharedBuffers>(
        options.launch.size, bench::RoomForAll({CaseOf(options, options.sizes.back())}, options.launch.size));
  }
  const auto failed = collectives::RunRanks(
      options.launch, [&](const collectives::Seat& seat) { RunRank(seat, options, {.plain = plain.get()}); });
  for (const collectives::Ending& ending : failed)
    std::cerr << "hccl_bench: rank " << ending.rank << ": " << ending.failure << "\n";
  return failed.empty() ? kSuccess : kFailed;
}

int Execute(int argc, char** argv) {
  std::optional<collectives::Seat> seat = bench::SeatUnderMpirun();
  Options options;
  int status = kSuccess;
  if (!ParseOptions(argc, argv, seat ? seat->size : 0, options, status)) return status;
  bench::ShareCores(bench::RanksOfThisHost(options.launch.size));
  if (seat) {
    seat->timeout_seconds = options.launch.timeout_seconds;
    if (!options.address.empty()) MeetAt(options, *seat);
    return RunUnderMpirun(*seat, options);
  }
  if (options.other == Other::kMpi) bench::StartUnderMpirun(options.launch.size, argv);
  return RunHere(options);
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
