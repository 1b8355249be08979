// A rank of a communicator that is measured: device, stream, communicator, buffers.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "bench/ranks/operator_case.h"
#include "hccl/hccl.h"
#include "hccl/platform/mem_device_pub.h"
#include "hccl/platform/rank_group.h"
#include "launch.h"

namespace bench {

/// The room that all of the cases need. At least a byte each.
Room RoomForAll(const std::vector<OperatorCase>& cases, u32 ranks);

/// Lives on the thread that made it. Making one returns when all ranks have made theirs.
class CommRank {
 public:
  CommRank(const collectives::Seat& seat, const Room& room);
  ~CommRank();
  CommRank(const CommRank&) = delete;
  CommRank& operator=(const CommRank&) = delete;

  u32 rank() const { return seat_.rank; }
  u32 size() const { return seat_.size; }
  hccl::RankGroup& group() const { return *group_; }

  /// Puts what the rank brings to the case into its buffer.
  void Load(const OperatorCase& what, const std::vector<std::byte>& input);
  /// Queues the operator.
  void Queue(const OperatorCase& what);
  void Synchronize();
  /// Waits until all ranks are here.
  void Meet();
  /// Loads, runs and compares once. Returns why the result is wrong, or an empty text.
  std::string WhyWrong(const OperatorCase& what);

 private:
  void Join();

  const collectives::Seat seat_;
  std::shared_ptr<hccl::RankGroup> group_;
  hccl::DeviceMem input_, output_;
  aclrtStream stream_ = nullptr;
  HcclComm comm_ = nullptr;
};

}  // namespace bench
