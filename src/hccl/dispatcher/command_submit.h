// Submits commands to the runtime, in pieces that fit into one task.
#pragma once

#include <string>

#include "hccl/dispatcher/command.h"

namespace sampan::hccl {

/// For each piece that the runtime accepted: writes a debug line and gives the observer a record.
struct SubmissionWatch {
  void* stream;
  bool is_main_stream = false;
  u64 begin_ns = 0;  ///< when the call began
  void* observer_user = nullptr;
  LoadTaskCallBack observer = nullptr;  ///< null: no record

  void Accepted(const ::hccl::TaskPara& record) const;
  /// Adds the stream and the time to the record and gives it to the observer.
  void Observe(::hccl::TaskPara record) const;
};

/// Submits a command; `watch` may be null. Pieces that were accepted before a failure stay queued.
HcclResult SubmitCommand(const CopyCommand& copy, void* stream, const SubmissionWatch* watch);
HcclResult SubmitCommand(const ReduceCommand& reduce, void* stream, const SubmissionWatch* watch);
HcclResult SubmitCommand(const PostCommand& post, void* stream, const SubmissionWatch* watch);
HcclResult SubmitCommand(const WaitCommand& wait, void* stream, const SubmissionWatch* watch);

/// The record of a whole command, without stream and time.
::hccl::TaskPara RecordOf(const CopyCommand& copy);
::hccl::TaskPara RecordOf(const ReduceCommand& reduce);
::hccl::TaskPara RecordOf(const PostCommand& post);
::hccl::TaskPara RecordOf(const WaitCommand& wait);

/// The text of a record: operation, addresses, size, link and rank.
std::string Describe(const ::hccl::TaskPara& record, const void* stream);

/// The number of a notify on its device; all ones if the runtime does not know the notify.
u64 NotifyOffset(HcclRtNotify notify);

}  // namespace sampan::hccl
