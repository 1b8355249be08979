/* A notify of this process: streams wait for it here. */
#ifndef SAMPAN_HCCL_PLATFORM_LOCAL_NOTIFY_H
#define SAMPAN_HCCL_PLATFORM_LOCAL_NOTIFY_H

#include <memory>
#include <vector>

#include "dispatcher.h"

namespace hccl {

/* Binary: posting twice is posting once, a wait takes it back. Owns its notify, unless it was told of one. */
class HCCL_PLF_VISIBILITY LocalNotify {
 public:
  LocalNotify();
  virtual ~LocalNotify();
  LocalNotify(const LocalNotify&) = delete;
  LocalNotify& operator=(const LocalNotify&) = delete;

  /* Makes a notify on the current device. */
  HcclResult Init(const NotifyLoadType type = NotifyLoadType::HOST_NOTIFY);
  /* Takes the notify that GetNotifyData told of, of this process; does not own it. */
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
  /* Makes the notify known to other processes: Serialize works from here on. */
  virtual HcclResult SetIpc();
  /* The process that may open the notify. */
  HcclResult Grant(s64 recvPid);
  /* What RemoteNotify::Init takes, in any process that was granted it. */
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

/* The name by which transports know a notify that others may open. */
using LocalIpcNotify = LocalNotify;

}  // namespace hccl

#endif /* SAMPAN_HCCL_PLATFORM_LOCAL_NOTIFY_H */
