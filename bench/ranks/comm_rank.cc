// A rank of a communicator that is measured: device, stream, communicator, buffers.
#include "bench/ranks/comm_rank.h"

#include <algorithm>
#include <cstring>

#include "base/error/text.h"
#include "bench/measure/contents.h"
#include "check.h"
#include "hccl/dtype_common.h"

namespace bench {

using collectives::Check;

Room RoomForAll(const std::vector<OperatorCase>& cases, u32 ranks) {
  Room room{1, 1};
  for (const OperatorCase& each : cases) {
    const Room needed = RoomFor(each, ranks);
    room.input_bytes = std::max(room.input_bytes, needed.input_bytes);
    room.output_bytes = std::max(room.output_bytes, needed.output_bytes);
  }
  return room;
}

CommRank::CommRank(const collectives::Seat& seat, const Room& room) : seat_(seat) {
  uint32_t devices = 0;
  Check(aclrtGetDeviceCount(&devices));
  Check(aclrtSetDevice(static_cast<int32_t>(rank() % devices)));
  Check(hccl::DeviceMem::alloc(input_, room.input_bytes));
  Check(hccl::DeviceMem::alloc(output_, room.output_bytes));
  Join();
  Check(aclrtCreateStream(&stream_));
}

CommRank::~CommRank() {
  if (stream_ != nullptr) {
    aclrtSynchronizeStream(stream_);
    aclrtDestroyStream(stream_);
  }
  HcclCommDestroy(comm_);
}

void CommRank::Join() {
  Check(hccl::RankGroup::Join(collectives::ConfigOf(seat_), group_));
  HcclRootInfo root{};
  if (rank() == 0) Check(HcclGetRootInfo(&root));
  std::vector<std::vector<u8>> all;
  Check(group_->Exchange({root.internal, root.internal + (rank() == 0 ? sizeof(root.internal) : 0)}, all));
  std::memcpy(root.internal, all[0].data(), all[0].size());
  HcclCommConfig comm_config;
  HcclCommConfigInit(&comm_config);
  comm_config.hcclExecTimeOut = seat_.timeout_seconds;
  Check(HcclCommInitRootInfoConfig(size(), &root, rank(), &comm_config, &comm_));
}

void CommRank::Load(const OperatorCase& what, const std::vector<std::byte>& input) {
  if (input.empty()) return;
  void* const to = (what.what == Operator::kBroadcast ? output_ : input_).ptr();
  Check(aclrtMemcpy(to, input.size(), input.data(), input.size(), ACL_MEMCPY_HOST_TO_DEVICE));
}

void CommRank::Queue(const OperatorCase& what) {
  void* const input = input_.ptr();
  void* const output = output_.ptr();
  const auto [kind, count, type, operation, root, seed] = what;
  switch (kind) {
    case Operator::kAllReduce:
      return Check(HcclAllReduce(input, output, count, type, operation, comm_, stream_));
    case Operator::kAllGather:
      return Check(HcclAllGather(input, output, count, type, comm_, stream_));
    case Operator::kReduceScatter:
      return Check(HcclReduceScatter(input, output, count, type, operation, comm_, stream_));
    case Operator::kBroadcast:
      return Check(HcclBroadcast(output, count, type, root, comm_, stream_));
    case Operator::kReduce:
      return Check(HcclReduce(input, output, count, type, operation, root, comm_, stream_));
    case Operator::kScatter:
      return Check(HcclScatter(input, output, count, type, root, comm_, stream_));
    case Operator::kAllToAll:
      return Check(HcclAlltoAll(input, count, type, output, count, type, comm_, stream_));
    case Operator::kAllToAllV: {
      const std::vector<std::uint64_t> counts(size(), count);
      std::vector<std::uint64_t> places(size());
      for (u32 peer = 0; peer < size(); ++peer)
        places[peer] = peer * count;
      return Check(HcclAlltoAllV(input, counts.data(), places.data(), type, output, counts.data(),
                                 places.data(), type, comm_, stream_));
    }
  }
}

void CommRank::Synchronize() {
  Check(aclrtSynchronizeStream(stream_));
}

void CommRank::Meet() {
  Check(HcclBarrier(comm_, stream_));
  Synchronize();
}

std::string CommRank::WhyWrong(const OperatorCase& what) {
  const std::vector<std::byte> expected = ExpectedOf(what, rank(), size());
  Check(aclrtMemset(output_.ptr(), RoomFor(what, size()).output_bytes, 0xA5,
                    RoomFor(what, size()).output_bytes));
  Load(what, InputOf(what, rank(), size()));
  Meet();  // the others may write into this rank's output
  Queue(what);
  Synchronize();
  if (expected.empty()) return "";
  std::vector<std::byte> found(expected.size());
  Check(aclrtMemcpy(found.data(), found.size(), output_.ptr(), found.size(), ACL_MEMCPY_DEVICE_TO_HOST));
  const auto wrong = FirstDifference(found, expected);
  if (!wrong) return "";
  return sampan::Text(Describe(what, size()), ": byte ", *wrong, " of rank ", rank(), "'s output ",
                      DifferenceText(found[*wrong], expected[*wrong]));
}

}  // namespace bench
