// Hands tasks to the runtime: cut to the size that one task may have, each piece with its record.
#include "hccl/task_submit.h"

#include <algorithm>
#include <optional>

#include "acl/acl_rt.h"
#include "hccl/dtype_common.h"
#include "hccl/reduction.h"
#include "hccl/report.h"
#include "hccl/route.h"
#include "hccl/traced_call.h"

namespace sampan::plf {
namespace {

using hccl::TaskPara;
using hccl::TaskType;

TaskPara Framed(TaskPara para, const Task& task) {
  para.stream = task.stream;
  para.isMainStream = task.main_stream;
  para.beginTime = task.begin_ns;
  return para;
}

TaskPara Record(const CopyTask& copy) {
  return {TaskType::TASK_SDMA,
          hccl::TaskParaDMA(copy.src, copy.dst, copy.bytes, copy.peer.link, copy.peer.rank)};
}

/// Inline reduces are told in bytes, vector ones in elements and always as on the chip.
TaskPara Record(const ReduceTask& reduce) {
  hccl::TaskParaReduce para;
  para.src = reduce.src;
  para.dst = reduce.dst;
  para.size = reduce.inlined ? reduce.count * HcclDataTypeBytes(reduce.type) : reduce.count;
  para.op = reduce.operation;
  para.dataType = reduce.type;
  para.linkType = reduce.inlined ? reduce.peer.link : hccl::LinkType::LINK_ONCHIP;
  para.remoteUserRank = reduce.peer.rank;
  return {reduce.inlined ? TaskType::TASK_REDUCE_INLINE : TaskType::TASK_REDUCE_TBE, para};
}

TaskPara RecordSignal(TaskType type, HcclRtNotify notify, const SignalRecord& signal) {
  const u64 offset = signal.offset != INVALID_U64 ? signal.offset : NotifyOffset(notify);
  hccl::TaskParaNotify para;
  para.notifyID = (static_cast<u64>(signal.rank) << 32) | (offset & 0xFFFFFFFFULL);
  para.stage = signal.stage;
  para.remoteUserRank = signal.remote;
  return {type, para};
}

TaskPara Record(const PostTask& post) {
  return RecordSignal(TaskType::TASK_NOTIFY_RECORD, post.notify, post.record);
}

TaskPara Record(const WaitTask& wait) {
  return RecordSignal(TaskType::TASK_NOTIFY_WAIT, wait.notify, wait.record);
}

HcclResult FromRuntime(aclError code) {
  return code == ACL_SUCCESS ? HCCL_SUCCESS : HCCL_E_RUNTIME;
}

HcclResult Submit(const CopyTask& copy, void* stream) {
  const TracedTasks traced(copy.peer);
  // The two enumerations agree in the four directions; others were refused before.
  return FromRuntime(aclrtMemcpyAsync(copy.dst, copy.dst_bytes, copy.src, copy.bytes,
                                      static_cast<aclrtMemcpyKind>(copy.kind), stream));
}

aclDataType RuntimeType(HcclDataType type) {
  switch (type) {
    case HCCL_DATA_TYPE_INT8:
      return ACL_INT8;
    case HCCL_DATA_TYPE_INT16:
      return ACL_INT16;
    case HCCL_DATA_TYPE_INT32:
      return ACL_INT32;
    case HCCL_DATA_TYPE_FP16:
      return ACL_FLOAT16;
    case HCCL_DATA_TYPE_FP32:
      return ACL_FLOAT;
    default:
      return ACL_BF16;
  }
}

aclrtReduceKind RuntimeKind(HcclReduceOp operation) {
  switch (operation) {
    case HCCL_REDUCE_SUM:
      return ACL_RT_MEMCPY_SDMA_AUTOMATIC_SUM;
    case HCCL_REDUCE_MAX:
      return ACL_RT_MEMCPY_SDMA_AUTOMATIC_MAX;
    default:
      return ACL_RT_MEMCPY_SDMA_AUTOMATIC_MIN;
  }
}

HcclResult Submit(const ReduceTask& reduce, void* stream) {
  const TracedTasks traced(reduce.peer);
  if (!reduce.inlined) {
    return FromRuntime(sampanReduceVector(reduce.dst, reduce.src, reduce.count,
                                          *OperationOf(reduce.operation), *ElementOf(reduce.type), stream));
  }
  return FromRuntime(aclrtReduceAsync(reduce.dst, reduce.src, reduce.count * HcclDataTypeBytes(reduce.type),
                                      RuntimeKind(reduce.operation), RuntimeType(reduce.type), stream,
                                      nullptr));
}

HcclResult Submit(const PostTask& post, void* stream) {
  const TracedTasks traced({post.record.remote, post.record.link});
  if (post.link != nullptr) return FromRuntime(sampanRecordLinked(post.notify, stream, post.link));
  return FromRuntime(aclrtRecordNotify(post.notify, stream));
}

HcclResult Submit(const WaitTask& wait, void* stream) {
  const TracedTasks traced({wait.record.remote, wait.record.link});
  if (wait.link != nullptr)
    return FromRuntime(sampanWaitLinked(wait.notify, stream, wait.seconds, wait.link));
  return FromRuntime(aclrtWaitAndResetNotify(wait.notify, stream, wait.seconds));
}

template <typename T>
T* At(T* base, u64 offset) {
  using Byte = std::conditional_t<std::is_const_v<T>, const std::byte, std::byte>;
  return static_cast<Byte*>(base) + offset;
}

/// Calls `submit` with each piece of a copy; the bound shrinks with what is left.
template <typename Each>
HcclResult ForEachPiece(const CopyTask& whole, u64 most_bytes, Each submit) {
  for (u64 done = 0; done < whole.bytes; done += most_bytes) {
    CopyTask piece = whole;
    piece.dst = At(whole.dst, done);
    piece.src = At(whole.src, done);
    piece.dst_bytes = whole.dst_bytes - done;
    piece.bytes = std::min(most_bytes, whole.bytes - done);
    if (const HcclResult result = submit(piece); result != HCCL_SUCCESS) return result;
  }
  return HCCL_SUCCESS;
}

template <typename Each>
HcclResult ForEachPiece(const ReduceTask& whole, u64 most_bytes, Each submit) {
  const u64 element = HcclDataTypeBytes(whole.type);
  const u64 most_count = most_bytes / element;  // NOLINT(clang-analyzer-core.DivideZero): it was checked
  for (u64 done = 0; done < whole.count; done += most_count) {
    ReduceTask piece = whole;
    piece.dst = At(whole.dst, done * element);
    piece.src = At(whole.src, done * element);
    piece.count = std::min(most_count, whole.count - done);
    if (const HcclResult result = submit(piece); result != HCCL_SUCCESS) return result;
  }
  return HCCL_SUCCESS;
}

template <typename Signal, typename Each>
HcclResult ForEachPiece(const Signal& signal, u64, Each submit) {
  return submit(signal);
}

}  // namespace

u64 NotifyOffset(HcclRtNotify notify) {
  u32 id = 0;
  return aclrtGetNotifyId(notify, &id) == ACL_SUCCESS ? id : INVALID_U64;
}

std::string Describe(const TaskPara& para) {
  const auto with = [](hccl::LinkType link, u32 rank) {
    return rank == INVALID_VALUE_RANKID ? Text(" over ", Name(link))
                                        : Text(" over ", Name(link), " with rank ", rank);
  };
  const std::string stream = Text(" in stream ", Hex(para.stream));
  switch (para.type) {
    case TaskType::TASK_SDMA:
      return Text("copy of ", para.dma.size, " bytes from ", Hex(para.dma.src), " to ", Hex(para.dma.dst),
                  with(para.dma.linkType, para.dma.remoteUserRank), stream);
    case TaskType::TASK_REDUCE_INLINE:
    case TaskType::TASK_REDUCE_TBE:
      return Text("reduce of ", para.reduce.size,
                  para.type == TaskType::TASK_REDUCE_TBE ? " elements from " : " bytes from ",
                  Hex(para.reduce.src), " to ", Hex(para.reduce.dst),
                  with(para.reduce.linkType, para.reduce.remoteUserRank), stream);
    default:
      return Text(para.type == TaskType::TASK_NOTIFY_RECORD ? "record of notify " : "wait for notify ",
                  para.notify.notifyID & 0xFFFFFFFFULL, " with rank ", para.notify.remoteUserRank, stream);
  }
}

TaskPara RecordOf(const Task& task) {
  return std::visit([&](const auto& content) { return Framed(Record(content), task); }, task.content);
}

HcclResult SubmitTask(const Task& task, u64 most_bytes, const Recorder& recorder) {
  const auto submit = [&](const auto& piece) {
    const HcclResult result = Submit(piece, task.stream);
    if (result == HCCL_SUCCESS && recorder) recorder(Framed(Record(piece), task));
    return result;
  };
  const auto submit_all = [&](const auto& content) {
    // The vector unit's reduce has one record, of the whole.
    using Content = std::decay_t<decltype(content)>;
    if constexpr (std::is_same_v<Content, ReduceTask>) {
      if (!content.inlined) {
        const HcclResult result = ForEachPiece(
            content, most_bytes, [&](const ReduceTask& piece) { return Submit(piece, task.stream); });
        if (result == HCCL_SUCCESS && recorder) recorder(Framed(Record(content), task));
        return result;
      }
    }
    return ForEachPiece(content, most_bytes, submit);
  };
  return std::visit(submit_all, task.content);
}

}  // namespace sampan::plf
