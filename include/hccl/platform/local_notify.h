/* A notify of this rank: its streams wait for it. */
#ifndef SAMPAN_HCCL_PLATFORM_LOCAL_NOTIFY_H
#define SAMPAN_HCCL_PLATFORM_LOCAL_NOTIFY_H

#include <memory>
#include <vector>

#include "dispatcher.h"

namespace hccl {

/* Binary: two posts count as one, and a wait resets it. Owns the notify that it created. */
class HCCL_PLF_VISIBILITY LocalNotify {
 public:
  LocalNotify();
  virtual ~LocalNotify();
  LocalNotify(const LocalNotify&) = delete;
  LocalNotify& operator=(const LocalNotify&) = delete;

  /* Creates a notify on the current device. */
  HcclResult Init(const NotifyLoadType type = NotifyLoadType::HOST_NOTIFY);
  /* Takes a notify of this process, from GetNotifyData; does not own it. */
  HcclResult Init(const HcclSignalInfo& notifyInfo,
                  const NotifyLoadType type = NotifyLoadType::DEVICE_NOTIFY);
  /* Of the device side. */
  HcclResult InitNotifyLite(const HcclSignalInfo& notifyInfo);

  HcclResult Wait(Stream& stream, HcclDispatcher dispatcher, s32 stage = INVALID_VALUE_STAGE,
                  u32 timeOut = NOTIFY_INVALID_WAIT_TIME);
  HcclResult Wait(Stream& stream, u32 timeOut = NOTIFY_INVALID_WAIT_TIME);
  HcclResult Post(Stream& stream, HcclDispatcher dispatcher, s32 stage = INVALID_VALUE_STAGE);
  HcclResult Post(Stream& stream);

  static HcclResult Wait(Stream& stream, HcclDispatcher dispatcher,
                         const std::shared_ptr<LocalNotify>& notify, s32 stage = INVALID_VALUE_STAGE,
                         u32 timeOut = NOTIFY_INVALID_WAIT_TIME);
  static HcclResult Post(Stream& stream, HcclDispatcher dispatcher,
                         const std::shared_ptr<LocalNotify>& notify, s32 stage = INVALID_VALUE_STAGE);

  virtual HcclResult Destroy();
  /* Allows other processes: Serialize adds a key for them from here on. */
  virtual HcclResult SetIpc();
  /* The process that may open the notify. */
  HcclResult Grant(s64 recvPid);
  /* The bytes that RemoteNotify::Init takes, in a process that Grant named. */
  HcclResult Serialize(std::vector<u8>& byteVector);

  HcclResult GetNotifyData(HcclSignalInfo& notifyInfo);
  HcclResult SetNotifyData(HcclSignalInfo& notifyInfo);
  HcclRtNotify ptr() { return notify_; }
  HcclResult GetNotifyOffset(u64& notifyOffset);

  u32 notifyId_;

 private:
  HcclRtNotify notify_;
  bool owner_;
  bool ipc_;
};

/* The name that transports use. */
using LocalIpcNotify = LocalNotify;

}  // namespace hccl

#endif /* SAMPAN_HCCL_PLATFORM_LOCAL_NOTIFY_H */
