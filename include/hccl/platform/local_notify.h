/* A notify of this process: streams wait for it here. */
#ifndef SAMPAN_HCCL_PLATFORM_LOCAL_NOTIFY_H
#define SAMPAN_HCCL_PLATFORM_LOCAL_NOTIFY_H

#include <memory>
#include <vector>

#include "dispatcher.h"

namespace hccl {

/** A notify of this process, for which streams wait here. Posting twice has the effect of posting once; a
 * wait clears the signal. The object owns its notify, unless it was initialized with the data of another.
 * @async Wait and Post queue a task and return. The others are synchronous.
 * @threads Any thread, except for Init and Destroy.
 */
class HCCL_PLF_VISIBILITY LocalNotify {
 public:
  /** An object without a notify. */
  LocalNotify();
  virtual ~LocalNotify();
  LocalNotify(const LocalNotify&) = delete;
  LocalNotify& operator=(const LocalNotify&) = delete;

  /** Creates a notify on the current device. type has no effect.
   * @error HCCL_E_INTERNAL The object has a notify already.
   * @error HCCL_E_RUNTIME The runtime has no notify left.
   */
  HcclResult Init(const NotifyLoadType type = NotifyLoadType::HOST_NOTIFY);

  /** Uses the notify of this process that notifyInfo (from GetNotifyData) names. The object does not own it.
   * type has no effect.
   * @error HCCL_E_PARA notifyInfo names not a valid notify of this process.
   */
  HcclResult Init(const HcclSignalInfo& notifyInfo,
                  const NotifyLoadType type = NotifyLoadType::DEVICE_NOTIFY);

  /** Of the device side: HCCL_E_NOT_SUPPORT. */
  HcclResult InitNotifyLite(const HcclSignalInfo& notifyInfo);

  /** Holds stream until the notify is posted, or posts it in the order of stream. With dispatcher the task is
   * recorded, and held between InitTask and LaunchTask. stage is for records. timeOut is in seconds; by
   * default the mode of the dispatcher applies.
   * @error HCCL_E_PTR There is no notify, or stream is empty.
   * @error HCCL_E_RUNTIME The runtime refused the task.
   */
  HcclResult Wait(Stream& stream, HcclDispatcher dispatcher, s32 stage = INVALID_VALUE_STAGE,
                  u32 timeOut = NOTIFY_INVALID_WAIT_TIME);
  HcclResult Wait(Stream& stream, u32 timeOut = NOTIFY_INVALID_WAIT_TIME);
  HcclResult Post(Stream& stream, HcclDispatcher dispatcher, s32 stage = INVALID_VALUE_STAGE);
  HcclResult Post(Stream& stream);

  /** The same for notify. stream, dispatcher, stage and timeOut are as above.
   * @error HCCL_E_PTR notify is NULL.
   */
  static HcclResult Wait(Stream& stream, HcclDispatcher dispatcher,
                         const std::shared_ptr<LocalNotify>& notify, s32 stage = INVALID_VALUE_STAGE,
                         u32 timeOut = NOTIFY_INVALID_WAIT_TIME);
  static HcclResult Post(Stream& stream, HcclDispatcher dispatcher,
                         const std::shared_ptr<LocalNotify>& notify, s32 stage = INVALID_VALUE_STAGE);

  /** Destroys an owned notify.
   * @error HCCL_E_RUNTIME The runtime refused it.
   */
  virtual HcclResult Destroy();

  /** Makes the notify known to other processes: Serialize works from here on.
   * @error HCCL_E_PTR There is no notify.
   */
  virtual HcclResult SetIpc();

  /** Names the process recvPid as one that may open the notify.
   * @error HCCL_E_RUNTIME The runtime refused it.
   */
  HcclResult Grant(s64 recvPid);

  /** Writes what RemoteNotify::Init takes to byteVector. Processes that were granted the notify can use it.
   * @error HCCL_E_PTR There is no notify.
   */
  HcclResult Serialize(std::vector<u8>& byteVector);

  /** Gets the notify in notifyInfo, or takes the one that notifyInfo names.
   * @error HCCL_E_PTR There is no notify.
   * @error HCCL_E_PARA notifyInfo names not a valid notify of this process.
   */
  HcclResult GetNotifyData(HcclSignalInfo& notifyInfo);
  HcclResult SetNotifyData(HcclSignalInfo& notifyInfo);

  /** The notify as a handle of the runtime, and its offset in bytes in notifyOffset.
   * @error HCCL_E_RUNTIME There is no notify.
   */
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
