// Submits commands to the runtime, in pieces that fit into one task.
#include "hccl/dispatcher/command_submit.h"

#include <algorithm>
#include <cstddef>
#include <type_traits>

#include "acl/acl_rt.h"
#include "hccl/dispatcher/reduction.h"
#include "hccl/dispatcher/route.h"
#include "hccl/dtype_common.h"
#include "hccl/report.h"
#include "hccl/traced_call.h"

namespace sampan::hccl {
namespace {

using ::hccl::TaskPara;
using ::hccl::TaskType;

constexpr u64 kMaxTaskBytes = HCCL_SDMA_MAX_COUNT_4GB;

TaskPara RecordSignal(TaskType type, HcclRtNotify notify, const SignalRecord& signal) {
  const u64 offset = signal.offset != INVALID_U64 ? signal.offset : NotifyOffset(notify);
  ::hccl::TaskParaNotify record;
  record.notifyID = (static_cast<u64>(signal.rank) << 32) | (offset & 0xFFFFFFFFULL);
  record.stage = signal.stage;
  record.remoteUserRank = signal.remote;
  return {type, record};
}

HcclResult FromRuntime(aclError code) {
  return code == ACL_SUCCESS ? HCCL_SUCCESS : HCCL_E_RUNTIME;
}

/// The type and the operation have rows: the caller checked them.
HcclResult SubmitPiece(const ReduceCommand& reduce, void* stream) {
  const ReduceTypeRow& type = *TypeRowOf(reduce.type);
  const ReduceOperationRow& operation = *OperationRowOf(reduce.operation);
  if (!reduce.is_inline) {
    return FromRuntime(
        sampanReduceVector(reduce.dst, reduce.src, reduce.count, operation.operation, type.element, stream));
  }
  return FromRuntime(aclrtReduceAsync(reduce.dst, reduce.src, reduce.count * type.bytes,
                                      static_cast<aclrtReduceKind>(operation.acl),
                                      static_cast<aclDataType>(type.acl), stream, nullptr));
}

template <typename T>
T* At(T* base, u64 offset) {
  using Byte = std::conditional_t<std::is_const_v<T>, const std::byte, std::byte>;
  return static_cast<Byte*>(base) + offset;
}

}  // namespace

void SubmissionWatch::Accepted(const TaskPara& record) const {
  if (LogsDebug()) LogDebug(Describe(record, stream));
  Observe(record);
}

void SubmissionWatch::Observe(TaskPara record) const {
  if (observer == nullptr) return;
  record.stream = stream;
  record.isMainStream = is_main_stream;
  record.beginTime = begin_ns;
  observer(observer_user, &record, sizeof(record));
}

HcclResult SubmitCommand(const CopyCommand& copy, void* stream, const SubmissionWatch* watch) {
  const TracedTasks traced(copy.peer);
  for (u64 done = 0; done < copy.bytes; done += kMaxTaskBytes) {
    CopyCommand piece = copy;
    piece.dst = At(copy.dst, done);
    piece.dst_bytes = copy.dst_bytes - done;
    piece.src = At(copy.src, done);
    piece.bytes = std::min(kMaxTaskBytes, copy.bytes - done);
    // The two enumerations agree in the four directions. The caller refused all others.
    const aclError code = aclrtMemcpyAsync(piece.dst, piece.dst_bytes, piece.src, piece.bytes,
                                           static_cast<aclrtMemcpyKind>(piece.kind), stream);
    if (code != ACL_SUCCESS) return HCCL_E_RUNTIME;
    if (watch != nullptr) watch->Accepted(RecordOf(piece));
  }
  return HCCL_SUCCESS;
}

HcclResult SubmitCommand(const ReduceCommand& reduce, void* stream, const SubmissionWatch* watch) {
  const TracedTasks traced(reduce.peer);
  const u64 element = HcclDataTypeBytes(reduce.type);
  const u64 max_count = kMaxTaskBytes / element;  // NOLINT(clang-analyzer-core.DivideZero): it was checked
  for (u64 done = 0; done < reduce.count; done += max_count) {
    ReduceCommand piece = reduce;
    piece.dst = At(reduce.dst, done * element);
    piece.src = At(reduce.src, done * element);
    piece.count = std::min(max_count, reduce.count - done);
    if (const HcclResult result = SubmitPiece(piece, stream); result != HCCL_SUCCESS) return result;
    if (watch != nullptr && reduce.is_inline) watch->Accepted(RecordOf(piece));
  }
  // A reduction of the vector unit has one record, of the whole.
  if (watch != nullptr && !reduce.is_inline) watch->Accepted(RecordOf(reduce));
  return HCCL_SUCCESS;
}

HcclResult SubmitCommand(const PostCommand& post, void* stream, const SubmissionWatch* watch) {
  const TracedTasks traced({post.record.remote, post.record.link});
  const HcclResult result =
      FromRuntime(post.link != nullptr ? sampanRecordLinked(post.notify, stream, post.link)
                                       : aclrtRecordNotify(post.notify, stream));
  if (result == HCCL_SUCCESS && watch != nullptr) watch->Accepted(RecordOf(post));
  return result;
}

HcclResult SubmitCommand(const WaitCommand& wait, void* stream, const SubmissionWatch* watch) {
  const TracedTasks traced({wait.record.remote, wait.record.link});
  const HcclResult result =
      FromRuntime(wait.link != nullptr ? sampanWaitLinked(wait.notify, stream, wait.seconds, wait.link)
                                       : aclrtWaitAndResetNotify(wait.notify, stream, wait.seconds));
  if (result == HCCL_SUCCESS && watch != nullptr) watch->Accepted(RecordOf(wait));
  return result;
}

TaskPara RecordOf(const CopyCommand& copy) {
  return {TaskType::TASK_SDMA,
          ::hccl::TaskParaDMA(copy.src, copy.dst, copy.bytes, copy.peer.link, copy.peer.rank)};
}

/// Records count inline reductions in bytes, those of the vector unit in elements. The latter are always
/// on-chip.
TaskPara RecordOf(const ReduceCommand& reduce) {
  ::hccl::TaskParaReduce record;
  record.src = reduce.src;
  record.dst = reduce.dst;
  record.size = reduce.is_inline ? reduce.count * HcclDataTypeBytes(reduce.type) : reduce.count;
  record.op = reduce.operation;
  record.dataType = reduce.type;
  record.linkType = reduce.is_inline ? reduce.peer.link : ::hccl::LinkType::LINK_ONCHIP;
  record.remoteUserRank = reduce.peer.rank;
  return {reduce.is_inline ? TaskType::TASK_REDUCE_INLINE : TaskType::TASK_REDUCE_TBE, record};
}

TaskPara RecordOf(const PostCommand& post) {
  return RecordSignal(TaskType::TASK_NOTIFY_RECORD, post.notify, post.record);
}

TaskPara RecordOf(const WaitCommand& wait) {
  return RecordSignal(TaskType::TASK_NOTIFY_WAIT, wait.notify, wait.record);
}

u64 NotifyOffset(HcclRtNotify notify) {
  u32 id = 0;
  return aclrtGetNotifyId(notify, &id) == ACL_SUCCESS ? id : INVALID_U64;
}

std::string Describe(const TaskPara& record, const void* stream) {
  const auto with = [](::hccl::LinkType link, u32 rank) {
    return rank == INVALID_VALUE_RANKID ? Text(" over ", Name(link))
                                        : Text(" over ", Name(link), " with rank ", rank);
  };
  const std::string where = Text(" in stream ", Hex(stream));
  switch (record.type) {
    case TaskType::TASK_SDMA:
      return Text("copy of ", record.dma.size, " bytes from ", Hex(record.dma.src), " to ",
                  Hex(record.dma.dst), with(record.dma.linkType, record.dma.remoteUserRank), where);
    case TaskType::TASK_REDUCE_INLINE:
    case TaskType::TASK_REDUCE_TBE:
      return Text("reduce of ", record.reduce.size,
                  record.type == TaskType::TASK_REDUCE_TBE ? " elements from " : " bytes from ",
                  Hex(record.reduce.src), " to ", Hex(record.reduce.dst),
                  with(record.reduce.linkType, record.reduce.remoteUserRank), where);
    default:
      return Text(record.type == TaskType::TASK_NOTIFY_RECORD ? "record of notify " : "wait for notify ",
                  record.notify.notifyID & 0xFFFFFFFFULL, " with rank ", record.notify.remoteUserRank, where);
  }
}

}  // namespace sampan::hccl
