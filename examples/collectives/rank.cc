// Joins a group, makes streams and buffers, and connects.
#include "rank.h"

#include <chrono>

#include "check.h"

namespace collectives {
namespace {

void TakeDevice(u32 rank) {
  uint32_t devices = 0;
  Check(aclrtGetDeviceCount(&devices));
  Check(aclrtSetDevice(static_cast<int32_t>(rank % devices)));
}

hccl::Stream MakeStream(bool is_main) {
  hccl::Stream stream(hccl::StreamType::STREAM_TYPE_ONLINE, is_main);
  if (!stream) Fail("hccl::Stream", HCCL_E_RUNTIME);
  return stream;
}

}  // namespace

void Fail(const char* what, int code) {
  const char* const message = aclGetRecentErrMsg();
  throw Failure(std::string(what) + " " + std::to_string(code) + ": " +
                (message != nullptr ? message : "no message"));
}

hccl::RankGroupConfig ConfigOf(const Seat& seat) {
  hccl::RankGroupConfig config;
  config.name = seat.group;
  config.token = seat.token;
  config.file = seat.token_file;
  config.address = seat.address;
  config.rank = seat.rank;
  config.rankSize = seat.size;
  config.timeout = std::chrono::seconds(seat.timeout_seconds);
  return config;
}

Rank::Rank(const Seat& seat, const Room& room) : seat_(seat) {
  TakeDevice(seat.rank);
  Check(hccl::DeviceMem::alloc(input_, room.input_bytes));
  Check(hccl::DeviceMem::alloc(output_, room.output_bytes));
  MakeDispatcher();
  stream_ = MakeStream(true);
  MakeSideStreams();

  Check(hccl::RankGroup::Join(ConfigOf(seat), group_));
  hccl::MachinePara mine;
  mine.inputMem = input_;
  mine.outputMem = output_;
  Check(group_->Connect(dispatcher(), mine, links_));
}

void Rank::MakeDispatcher() {
  HcclDispatcher made = nullptr;
  Check(HcclDispatcherInit(DispatcherType::DISPATCHER_NORMAL, -1, &made));
  dispatcher_.reset(made);
  Check(HcclSetNotifyWaitMode(made, SyncMode::CONFIGURABLE_TIMEWAITSYNCMODE));
  Check(HcclSetExecTimeOut(made, seat_.timeout_seconds));
}

void Rank::MakeSideStreams() {
  side_streams_.resize(size());
  for (u32 distance = 1; distance < size(); ++distance) {
    SideStream& side = side_streams_[RankAt(distance)];
    side.stream = MakeStream(false);
    for (auto* notify : {&side.begin, &side.end}) {
      *notify = std::make_shared<hccl::LocalNotify>();
      Check((*notify)->Init());
    }
  }
}

void Rank::Fork() {
  for (u32 distance = 1; distance < size(); ++distance) {
    SideStream& side = side_streams_[RankAt(distance)];
    Check(hccl::LocalNotify::Post(stream_, dispatcher(), side.begin));
    Check(hccl::LocalNotify::Wait(side.stream, dispatcher(), side.begin));
  }
}

void Rank::Join() {
  for (u32 distance = 1; distance < size(); ++distance) {
    SideStream& side = side_streams_[RankAt(distance)];
    Check(hccl::LocalNotify::Post(side.stream, dispatcher(), side.end));
    Check(hccl::LocalNotify::Wait(stream_, dispatcher(), side.end));
  }
}

void Rank::Synchronize() {
  Check(aclrtSynchronizeStream(stream_.ptr()));
}

}  // namespace collectives
