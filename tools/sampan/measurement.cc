// Times of one copy and of a loop of memcpy that does the same, taken in turn.
#include "measurement.h"

#include <algorithm>
#include <chrono>
#include <cstring>

#include "acl_call.h"
#include "interrupt.h"

namespace sampan::tool {
namespace {

using Clock = std::chrono::steady_clock;

double SecondsSince(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

Timing Summarize(std::vector<double> times) {
  std::sort(times.begin(), times.end());
  const std::size_t last = times.size() - 1;
  return {.median_seconds = times[times.size() / 2],
          .lower_seconds = times[last / 4],
          .upper_seconds = times[last - last / 4]};
}

/// The same pieces over ordinary memory of the same size.
class MemcpyLoop {
 public:
  explicit MemcpyLoop(const CopyCase& copy)
      : pieces_(copy.pieces()), src_(copy.src_bytes(), std::byte{1}), dst_(copy.dst_bytes(), std::byte{2}) {}

  void Run() {
    for (const Piece& piece : pieces_)
      std::memcpy(dst_.data() + piece.dst, src_.data() + piece.src, piece.bytes);
    asm volatile("" : : "r"(dst_.data()) : "memory");  // the copies count as used
  }

 private:
  const std::vector<Piece>& pieces_;
  Bytes src_;
  Bytes dst_;
};

}  // namespace

Measurement Measure(const CopyPlan& plan, const Session& session, double seconds) {
  constexpr int kWarmUps = 3;
  constexpr std::size_t kFewestRounds = 7;
  constexpr std::size_t kMostRounds = 1'000'000;
  CopyCase copy(plan);
  MemcpyLoop loop(copy);
  const std::string what = std::string(CallOf(plan.form)) + ", " + PathName(plan);
  const auto copy_once = [&] {
    Require(copy.Issue(session.stream()), what.c_str());
    Require(session.Synchronize(), what.c_str());
  };

  Measurement result;
  const aclError first = copy.Issue(session.stream());
  if (first == ACL_ERROR_RT_FEATURE_NOT_SUPPORT) {
    result.offered = false;
    return result;
  }
  Require(first, what.c_str());
  Require(session.Synchronize(), what.c_str());
  for (int i = 1; i < kWarmUps; ++i)
    copy_once();
  loop.Run();

  std::vector<double> ours;
  std::vector<double> theirs;
  const auto begin = Clock::now();
  while (ours.size() < kMostRounds && !Interrupted() &&
         (ours.size() < kFewestRounds || SecondsSince(begin) < seconds)) {
    auto start = Clock::now();
    copy_once();
    ours.push_back(SecondsSince(start));
    start = Clock::now();
    loop.Run();
    theirs.push_back(SecondsSince(start));
  }
  if (ours.empty()) return result;
  result.rounds = ours.size();
  result.sampan = Summarize(std::move(ours));
  result.loop = Summarize(std::move(theirs));
  copy.Clear();
  copy_once();
  result.fault = copy.FindFault();
  return result;
}

}  // namespace sampan::tool
