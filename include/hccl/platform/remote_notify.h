/* A notify that a peer waits for: streams post it from here. */
#ifndef SAMPAN_HCCL_PLATFORM_REMOTE_NOTIFY_H
#define SAMPAN_HCCL_PLATFORM_REMOTE_NOTIFY_H

#include <vector>

#include "dispatcher.h"

namespace hccl {

/** A notify of a peer, which streams post here. The object does not own the notify; it owns the import if the
 * notify belongs to another process.
 * @async Post queues a task and returns. The others are synchronous.
 * @threads Post from any thread. The others one thread at a time.
 */
class HCCL_PLF_VISIBILITY RemoteNotify {
 public:
  /** An object without a notify. */
  RemoteNotify();
  virtual ~RemoteNotify();
  RemoteNotify(const RemoteNotify&) = delete;
  RemoteNotify& operator=(const RemoteNotify&) = delete;

  /** Uses byteVector, which LocalNotify::Serialize wrote.
   * @error HCCL_E_PARA byteVector is malformed.
   */
  HcclResult Init(const std::vector<u8>& byteVector);

  /** Uses the notify of this process that notifyInfo names. type has no effect.
   * @error HCCL_E_PARA notifyInfo names not a valid notify.
   */
  HcclResult Init(const HcclSignalInfo& notifyInfo,
                  const NotifyLoadType type = NotifyLoadType::DEVICE_NOTIFY);

  /** Imports the notify, or closes the import.
   * @error HCCL_E_PTR The object was not initialized.
   * @error HCCL_E_NOT_FOUND The notify no longer exists.
   * @error HCCL_E_PARA The key is malformed.
   * @error HCCL_E_RUNTIME The runtime refused the import, for example because this process was not granted
   *     it.
   */
  HcclResult Open();
  HcclResult Close();

  /** Posts the notify in the order of stream. With dispatcher the task is recorded, and held between
   * InitTask and LaunchTask. stage is for records.
   * @error HCCL_E_PTR There is no notify, or stream is empty.
   * @error HCCL_E_RUNTIME The runtime refused the task.
   */
  HcclResult Post(Stream& stream, HcclDispatcher dispatcher, s32 stage = INVALID_VALUE_STAGE);
  HcclResult Post(Stream& stream);

  /** The notify as a handle of the runtime, its offset in bytes in notifyOffset, and its data in
   * notifyInfo.
   * @error HCCL_E_RUNTIME There is no notify.
   */
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
