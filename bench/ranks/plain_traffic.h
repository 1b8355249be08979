// The traffic of an operator as plain copies and sums, without a runtime.
#pragma once

#include <cstddef>
#include <vector>

#include "bench/ranks/operator_case.h"

namespace bench {

/// The buffers of a rank.
struct RankBuffers {
  std::byte* input;
  std::byte* output;
};

struct Transfer {
  std::byte* dst;
  const std::byte* src;
  u64 bytes;
  bool adds = false;  ///< adds single-precision elements to the destination
};
using Transfers = std::vector<Transfer>;

/// Whether there are transfers for it: all copies, and sums of single precision.
bool HasPlainTraffic(const OperatorCase& what);
/// The rank's part of one run of the case: the shortest way to the result.
Transfers TransfersOf(const OperatorCase& what, u32 rank, const std::vector<RankBuffers>& ranks);

/// Executes the transfers one by one, with memcpy and a loop that adds. Does not wait for other ranks.
void Perform(const Transfers& transfers);

/// Buffers that threads and forked processes share. Created before the ranks.
class SharedBuffers {
 public:
  /// `room` is the size of each rank's input and output.
  SharedBuffers(u32 ranks, const Room& room);
  ~SharedBuffers();
  SharedBuffers(const SharedBuffers&) = delete;
  SharedBuffers& operator=(const SharedBuffers&) = delete;

  /// By rank.
  const std::vector<RankBuffers>& all() const { return all_; }

 private:
  std::size_t bytes_;
  std::byte* memory_;
  std::vector<RankBuffers> all_;
};

}  // namespace bench
