// Runs, times and checks an operator.
#include "measure.h"

#include <algorithm>
#include <functional>
#include <memory>

#include "bench/measure/timing.h"
#include "bench/ranks/ordinary_memory.h"
#include "bench/ranks/ranks_together.h"

namespace hccl_bench {
namespace {

/// How often the operator and the other side alternate. The medians are reported.
constexpr std::size_t kTurns = 5;

/// The other side: puts its input into place, and runs once.
struct OtherSide {
  std::function<void()> load = [] {};
  std::function<void()> run;
};

OtherSide PlainSide(const bench::CommRank& rank, const bench::OperatorCase& what,
                    const bench::SharedBuffers& buffers) {
  return {.run = [transfers = bench::TransfersOf(what, rank.rank(), buffers.all())] {
    bench::Perform(transfers);
  }};
}

OtherSide MpiSide(const bench::CommRank& rank, const bench::OperatorCase& what, const bench::OpenMpi& mpi,
                  const std::vector<std::byte>& input) {
  const bench::Room room = bench::RoomFor(what, rank.size());
  const auto from = std::make_shared<bench::OrdinaryMemory>(std::max<u64>(room.input_bytes, 1));
  const auto to = std::make_shared<bench::OrdinaryMemory>(room.output_bytes);
  std::byte* const place = what.what == bench::Operator::kBroadcast ? to->get() : from->get();
  return {.load = [=, &input] { std::copy(input.begin(), input.end(), place); },
          .run = [from, to, call = mpi.CallOf(what, from->get(), to->get())] { call(); }};
}

}  // namespace

Measurement Measure(bench::CommRank& rank, const Options& options, const bench::OperatorCase& what,
                    const Others& others) {
  Measurement result{};
  result.data_size = bench::DataSize(what, options.launch.size);
  if (options.check) {
    result.why = bench::WhyWrongAnywhere(rank, what);
    result.check = result.why.empty() ? CheckResult::kSuccess : CheckResult::kFailed;
  }
  const std::vector<std::byte> input = bench::InputOf(what, rank.rank(), rank.size());
  const auto run = [&](u32 times) {
    for (u32 i = 0; i < times; ++i)
      rank.Queue(what);
    rank.Synchronize();
  };
  // The inputs are written before each turn, so that no side finds them where it left them.
  const auto timed = [&] {
    rank.Load(what, input);
    return bench::SlowestRank(rank, [&] { run(options.iterations); });
  };
  run(options.warm_up);
  if (others.plain == nullptr && others.mpi == nullptr) {
    result.seconds = timed() / options.iterations;
    return result;
  }
  const OtherSide other =
      others.mpi != nullptr ? MpiSide(rank, what, *others.mpi, input) : PlainSide(rank, what, *others.plain);
  const auto run_other = [&](u32 times) {
    for (u32 i = 0; i < times; ++i)
      other.run();
  };
  run_other(std::max<u32>(1, options.warm_up));
  const auto timed_other = [&] {
    other.load();
    return bench::SlowestRank(rank, [&] { run_other(options.iterations); });
  };
  const auto times = bench::TakeTurns({timed, timed_other}, [](std::size_t turns) { return turns < kTurns; });
  result.seconds = bench::Median(times[0]) / options.iterations;
  result.other_seconds = bench::Median(times[1]) / options.iterations;
  return result;
}

}  // namespace hccl_bench
