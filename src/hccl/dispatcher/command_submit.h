// Submits commands to the runtime, in pieces of the size that one task may have.
#pragma once

#include <string>

#include "hccl/dispatcher/command.h"

namespace sampan::hccl {

/// What is done for each piece that the runtime has accepted: a debug line, and a record for the observer.
struct SubmissionWatch {
  void* stream;
  bool is_main_stream = false;
  u64 begin_ns = 0;  ///< when the call began
  void* observer_user = nullptr;
  LoadTaskCallBack observer = nullptr;  ///< null: no record

  void Accepted(const ::hccl::TaskPara& record) const;
  /// Hands the record to the observer, completed by the stream and the time.
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

/// A record in words: what, where, how much, over which link and with which rank.
std::string Describe(const ::hccl::TaskPara& record, const void* stream);

/// The number of a notify on its device; all ones if the runtime does not know the notify.
u64 NotifyOffset(HcclRtNotify notify);

}  // namespace sampan::hccl
