/* A notify that another rank waits for: streams of this rank post it. */
#ifndef SAMPAN_HCCL_PLATFORM_REMOTE_NOTIFY_H
#define SAMPAN_HCCL_PLATFORM_REMOTE_NOTIFY_H

#include <vector>

#include "dispatcher.h"

namespace hccl {

/* Does not own the notify. If the notify belongs to another process, owns its import. */
class HCCL_PLF_VISIBILITY RemoteNotify {
 public:
  RemoteNotify();
  virtual ~RemoteNotify();
  RemoteNotify(const RemoteNotify&) = delete;
  RemoteNotify& operator=(const RemoteNotify&) = delete;

  /* Takes the bytes of LocalNotify::Serialize. */
  HcclResult Init(const std::vector<u8>& byteVector);
  /* Takes a notify of this process, from LocalNotify::GetNotifyData. */
  HcclResult Init(const HcclSignalInfo& notifyInfo,
                  const NotifyLoadType type = NotifyLoadType::DEVICE_NOTIFY);
  HcclResult Open();
  HcclResult Close();

  HcclResult Post(Stream& stream, HcclDispatcher dispatcher, s32 stage = INVALID_VALUE_STAGE);
  HcclResult Post(Stream& stream);

  HcclRtNotify ptr() { return notify_; }
  HcclResult GetNotifyOffset(u64& notifyOffset);
  HcclResult GetNotifyData(HcclSignalInfo& notifyInfo);

 private:
  std::vector<u8> serialized_;
  HcclRtNotify notify_;
  bool imported_;
};

}  // namespace hccl

#endif /* SAMPAN_HCCL_PLATFORM_REMOTE_NOTIFY_H */
