// The functions of dispatcher.h, in the order of that header.
#include "hccl/platform/dispatcher.h"

#include <algorithm>

#include "acl/acl_rt.h"
#include "hccl/dispatcher/dispatcher_call.h"
#include "hccl/dispatcher/reduction.h"
#include "hccl/dtype_common.h"

namespace sampan::hccl {
namespace {

HcclResult RefuseDeviceSide(const char* function) {
  return Fail(function, HCCL_E_NOT_SUPPORT, "this function belongs to the device side, which is not there");
}

[[gnu::cold]] HcclResult FailTooSmall(const char* function, const ::hccl::DeviceMem& dst,
                                      const ::hccl::DeviceMem& src) {
  return Fail(function, HCCL_E_PTR,
              Text("dst ", Hex(dst.ptr()), " has ", dst.size(), " bytes, fewer than the ", src.size(),
                   " of src ", Hex(src.ptr())));
}

/// A copy without a stream runs on the calling thread, like a bounded memcpy.
[[gnu::noinline]] HcclResult CopyNow(const char* function, const CopyCommand& copy) {
  if (copy.dst_bytes == 0 || copy.bytes > copy.dst_bytes) {
    return Fail(function, HCCL_E_INTERNAL,
                Text("without a stream: ", copy.bytes, " bytes do not go into the ", copy.dst_bytes, " at ",
                     Hex(copy.dst)));
  }
  const auto dst = reinterpret_cast<std::uintptr_t>(copy.dst);
  const auto src = reinterpret_cast<std::uintptr_t>(copy.src);
  const std::uintptr_t distance = std::max(dst, src) - std::min(dst, src);
  if (distance != 0 && distance < copy.bytes) {
    return Fail(function, HCCL_E_INTERNAL,
                Text("without a stream: the ", copy.bytes, " bytes at ", Hex(copy.src), " and at ",
                     Hex(copy.dst), " overlap"));
  }
  const aclError code = sampanCopyAtOnce(copy.dst, copy.dst_bytes, copy.src, copy.bytes);
  return code == ACL_SUCCESS ? HCCL_SUCCESS : HCCL_E_INTERNAL;
}

/// The kinds that aclrtMemcpyAsync accepts.
bool IsRuntimeKind(HcclRtMemcpyKind kind) {
  return kind >= HcclRtMemcpyKind::HCCL_RT_MEMCPY_KIND_HOST_TO_HOST &&
         kind <= HcclRtMemcpyKind::HCCL_RT_MEMCPY_KIND_DEVICE_TO_DEVICE;
}

/// True if the copy moves no byte.
bool IsEmpty(const CopyCommand& copy) {
  return copy.bytes == 0 || copy.dst == copy.src;
}

::hccl::TaskLogicInfo LogicInfo(::hccl::TaskLogicFuncType function) {
  ::hccl::TaskLogicInfo info;
  info.taskLogicCmd.taskLogicType = ::hccl::TaskLogicType::DISPATCHER_TASK;
  info.taskFuncType = function;
  return info;
}

/// A virtual dispatcher stores a record in the stream instead of copying.
[[gnu::noinline]] HcclResult LeaveRecord(const CopyCommand& copy, ::hccl::Stream& stream) {
  auto info = LogicInfo(::hccl::TaskLogicFuncType::DISPATCHER_MEMCPYASYNC_TYPE);
  info.src = const_cast<void*>(copy.src);
  info.dst = copy.dst;
  info.size = copy.bytes;
  info.remoteUserRank = copy.peer.rank;
  info.linkType = copy.peer.link;
  stream.PushTaskLogicInfo(info);
  return HCCL_SUCCESS;
}

/// Posts or waits for a signal. A virtual dispatcher stores a record in the stream instead.
template <typename Command>
HcclResult Signal(const char* function, Dispatcher& dispatcher, const Command& command,
                  ::hccl::Stream& stream, ::hccl::TaskLogicInfo info) {
  const HcclRtNotify signal = command.notify;
  if (const HcclResult result = RequirePointer(function, "signal", signal); result != HCCL_SUCCESS)
    return result;
  if (dispatcher.is_virtual()) {
    info.signal = signal;
    stream.PushTaskLogicInfo(info);
    return HCCL_SUCCESS;
  }
  if (const HcclResult result = RequirePointer(function, "stream.ptr()", stream.ptr());
      result != HCCL_SUCCESS)
    return result;
  return dispatcher.Submit(command, stream);
}

HcclResult CheckReduction(const char* function, const ReduceCommand& reduce) {
  const ReduceTypeRow* const type = TypeRowOf(reduce.type);
  const ReduceOperationRow* const operation = OperationRowOf(reduce.operation);
  const bool is_known = type != nullptr && operation != nullptr;
  if (!is_known || (reduce.is_inline && !(type->by_copy_engine && operation->by_copy_engine))) {
    return Fail(function, reduce.is_inline ? HCCL_E_PARA : HCCL_E_NOT_SUPPORT,
                Text("type ", static_cast<int>(reduce.type), " with operation ",
                     static_cast<int>(reduce.operation), " cannot be reduced",
                     reduce.is_inline ? " inline: " : ": ", NamesInWords(kReduceTypeRows, reduce.is_inline),
                     " can, by ", NamesInWords(kReduceOperationRows, reduce.is_inline)));
  }
  if (reduce.count > INVALID_U64 / type->bytes)
    return Fail(function, HCCL_E_PARA, Text("count ", reduce.count, " is more than there are addresses"));
  return HCCL_SUCCESS;
}

HcclResult LaunchAll(const char* function, HcclDispatcher handle, ::hccl::Stream& stream) {
  return WithDispatcher(function, handle, [&](Dispatcher& dispatcher) -> HcclResult {
    Platform& platform = ThePlatform();
    if (const HcclResult result = platform.Call(platform.launch_callback(), handle, stream);
        result != HCCL_SUCCESS)
      return result;
    if (dispatcher.is_virtual()) return HCCL_SUCCESS;
    if (dispatcher.is_holding() && stream.ptr() == nullptr)
      return Fail(function, HCCL_E_PTR, "the stream is empty: there is nothing to launch in");
    return dispatcher.Launch(stream.ptr());
  });
}

}  // namespace
}  // namespace sampan::hccl

using sampan::Hex;
using sampan::Text;
using namespace sampan::hccl;

HcclResult HcclDispatcherInit(DispatcherType type, const s32 devicePhyId, HcclDispatcher* dispatcher) {
  constexpr const char* kFunction = "HcclDispatcherInit";
  return Guard(kFunction, [&]() -> HcclResult {
    if (dispatcher == nullptr) return Fail(kFunction, HCCL_E_PTR, "dispatcher is NULL");
    s32 logical = -1;
    if (devicePhyId != HOST_DEVICE_ID && aclrtGetLogicDevIdByPhyDevId(devicePhyId, &logical) != ACL_SUCCESS)
      return HCCL_E_RUNTIME;
    if (type != DispatcherType::DISPATCHER_NORMAL && type != DispatcherType::DISPATCHER_VIRTURAL) {
      return Fail(kFunction, HCCL_E_NOT_SUPPORT,
                  Text("type is ", static_cast<int>(type), ", there are NORMAL (0) and VIRTURAL (1)"));
    }
    void* const handle = ThePlatform().dispatchers().Open(type);
    if (handle == nullptr) return Fail(kFunction, HCCL_E_MEMORY, "no handle is left for another dispatcher");
    *dispatcher = handle;
    return HCCL_SUCCESS;
  });
}

HcclResult HcclDispatcherDestroy(HcclDispatcher dispatcher) {
  return Guard("HcclDispatcherDestroy", [&] {
    if (dispatcher != nullptr && !ThePlatform().dispatchers().Close(dispatcher))
      LogWarning(Text("HcclDispatcherDestroy: ", Hex(dispatcher), " is not a living dispatcher"));
    return HCCL_SUCCESS;
  });
}

HcclResult HcclDispatcherAicpuInit(HcclDispatcher*, const u32, const u32, DispatcherType) {
  return RefuseDeviceSide("HcclDispatcherAicpuInit");
}

HcclResult HcclSetGlobalWorkSpace(HcclDispatcher dispatcherPtr, std::vector<void*>&) {
  // Only chips older than the emulated ones return an overflow address.
  return WithDispatcher("HcclSetGlobalWorkSpace", dispatcherPtr, [](Dispatcher&) { return HCCL_SUCCESS; });
}

HcclResult HcclSetNotifyWaitMode(HcclDispatcher dispatcherPtr, const SyncMode notifyWaitMode) {
  return WithDispatcher("HcclSetNotifyWaitMode", dispatcherPtr, [&](Dispatcher& dispatcher) {
    dispatcher.set_wait_mode(notifyWaitMode);
    return HCCL_SUCCESS;
  });
}

HcclResult HcclGetNotifyWaitMode(HcclDispatcher dispatcherPtr, SyncMode* notifyWaitMode) {
  constexpr const char* kFunction = "HcclGetNotifyWaitMode";
  return WithDispatcher(kFunction, dispatcherPtr, [&](Dispatcher& dispatcher) {
    if (notifyWaitMode == nullptr) return Fail(kFunction, HCCL_E_PTR, "notifyWaitMode is NULL");
    *notifyWaitMode = dispatcher.wait_mode();
    return HCCL_SUCCESS;
  });
}

HcclResult HcclSetExecTimeOut(HcclDispatcher dispatcherPtr, const s32 execTimeOut) {
  constexpr const char* kFunction = "HcclSetExecTimeOut";
  return WithDispatcher(kFunction, dispatcherPtr, [&](Dispatcher& dispatcher) {
    if (execTimeOut < 0)
      return Fail(kFunction, HCCL_E_PARA, Text("execTimeOut is ", execTimeOut, ", it must not be negative"));
    dispatcher.set_exec_seconds(static_cast<u32>(execTimeOut));
    return HCCL_SUCCESS;
  });
}

HcclResult SetMultiQpMode(HcclDispatcher dispatcherPtr, bool) {
  // The mode turns caching off, and this library caches nothing.
  return WithDispatcher("SetMultiQpMode", dispatcherPtr, [](Dispatcher&) { return HCCL_SUCCESS; });
}

HcclResult HcclD2DMemcpyAsync(HcclDispatcher dispatcherPtr, ::hccl::DeviceMem& dst,
                              const ::hccl::DeviceMem& src, ::hccl::Stream& stream, u32 remoteUserRank,
                              ::hccl::LinkType inLinkType) {
  constexpr const char* kFunction = "HcclD2DMemcpyAsync";
  const Peer peer{remoteUserRank, inLinkType};
  return WithDispatcher(kFunction, dispatcherPtr, peer, [&](Dispatcher& dispatcher) -> HcclResult {
    if (const HcclResult result = RequirePointer(kFunction, "dst.ptr()", dst.ptr()); result != HCCL_SUCCESS)
      return result;
    if (const HcclResult result = RequirePointer(kFunction, "src.ptr()", src.ptr()); result != HCCL_SUCCESS)
      return result;
    if (dst.size() < src.size()) return FailTooSmall(kFunction, dst, src);
    const CopyCommand copy{
        dst.ptr(), dst.size(), src.ptr(), src.size(), HcclRtMemcpyKind::HCCL_RT_MEMCPY_KIND_DEVICE_TO_DEVICE,
        peer};
    if (dispatcher.is_virtual()) return LeaveRecord(copy, stream);
    if (stream.ptr() == nullptr) return CopyNow(kFunction, copy);
    // An empty copy is held as well: its stream takes part in the launch.
    if (IsEmpty(copy) && !dispatcher.is_holding()) return HCCL_SUCCESS;
    return dispatcher.Submit(copy, stream);
  });
}

HcclResult HcclMemcpyAsync(HcclDispatcher dispatcherPtr, void* dst, const u64 destMax, const void* src,
                           const u64 count, const HcclRtMemcpyKind kind, ::hccl::Stream& stream,
                           const u32 remoteUserRank, ::hccl::LinkType inLinkType) {
  constexpr const char* kFunction = "HcclMemcpyAsync";
  const Peer peer{remoteUserRank, inLinkType};
  return WithDispatcher(kFunction, dispatcherPtr, peer, [&](Dispatcher& dispatcher) -> HcclResult {
    if (const HcclResult result = RequirePointer(kFunction, "dst", dst); result != HCCL_SUCCESS)
      return result;
    if (const HcclResult result = RequirePointer(kFunction, "src", src); result != HCCL_SUCCESS)
      return result;
    const CopyCommand copy{dst, destMax, src, count, kind, peer};
    if (stream.ptr() == nullptr) return CopyNow(kFunction, copy);
    if (IsEmpty(copy)) return HCCL_SUCCESS;
    if (destMax < count) {
      return Fail(kFunction, HCCL_E_PARA,
                  Text("count ", count, " is more than destMax ", destMax, " of dst ", Hex(dst)));
    }
    if (!IsRuntimeKind(kind)) {
      return Fail(kFunction, HCCL_E_PARA, Text("kind is ", static_cast<int>(kind), ", it must be 0 to 3"));
    }
    return dispatcher.SubmitNow(copy, stream);  // a raw copy is never held
  });
}

HcclResult HcclReduceAsync(HcclDispatcher dispatcherPtr, void* src, u64 count, const HcclDataType datatype,
                           const HcclReduceOp reduceOp, ::hccl::Stream& stream, void* dst,
                           const u32 remoteUserRank, const ::hccl::LinkType linkType, const u64 reduceAttr) {
  constexpr const char* kFunction = "HcclReduceAsync";
  const Peer peer{remoteUserRank, linkType};
  return WithDispatcher(kFunction, dispatcherPtr, peer, [&](Dispatcher& dispatcher) -> HcclResult {
    if (const HcclResult result = RequirePointer(kFunction, "dst", dst); result != HCCL_SUCCESS)
      return result;
    if (const HcclResult result = RequirePointer(kFunction, "src", src); result != HCCL_SUCCESS)
      return result;
    if (dispatcher.is_virtual()) {
      auto info = LogicInfo(::hccl::TaskLogicFuncType::DISPATCHER_REDUCEASYNC_TYPE);
      info.src = src;
      info.dst = dst;
      info.size = count;
      info.dataType = datatype;
      info.reduceOp = reduceOp;
      info.remoteUserRank = remoteUserRank;
      info.linkType = linkType;
      stream.PushTaskLogicInfo(info);
      return HCCL_SUCCESS;
    }
    if (count == 0) return HCCL_SUCCESS;
    if (const HcclResult result = RequirePointer(kFunction, "stream.ptr()", stream.ptr());
        result != HCCL_SUCCESS)
      return result;
    const bool is_inline = (reduceAttr & INLINE_REDUCE_BITMASK) != 0;
    const ReduceCommand reduce{dst, src, count, datatype, reduceOp, is_inline, peer};
    if (const HcclResult result = CheckReduction(kFunction, reduce); result != HCCL_SUCCESS) return result;
    return dispatcher.Submit(reduce, stream);
  });
}

HcclResult HcclSignalRecord(HcclDispatcher dispatcherPtr, HcclRtNotify signal, ::hccl::Stream& stream,
                            u32 userRank, u64 offset, s32 stage, bool, u64) {
  constexpr const char* kFunction = "HcclSignalRecord";
  return WithDispatcher(kFunction, dispatcherPtr, {userRank, kNoPeer.link}, [&](Dispatcher& dispatcher) {
    auto info = LogicInfo(::hccl::TaskLogicFuncType::DISPATCHER_SIGNALRECORD_TYPE);
    info.userRank = userRank;
    info.offset = offset;
    info.stage = stage;
    const PostCommand post{signal, {userRank, userRank, offset, stage}, nullptr};
    return Signal(kFunction, dispatcher, post, stream, info);
  });
}

HcclResult HcclSignalWait(HcclDispatcher dispatcherPtr, HcclRtNotify signal, ::hccl::Stream& stream,
                          u32 userRank, u32 remoteUserRank, s32 stage, bool) {
  constexpr const char* kFunction = "HcclSignalWait";
  return WithDispatcher(
      kFunction, dispatcherPtr, {remoteUserRank, kNoPeer.link}, [&](Dispatcher& dispatcher) {
        auto info = LogicInfo(::hccl::TaskLogicFuncType::DISPATCHER_SIGNALWAIT_TYPE);
        info.userRank = userRank;
        info.remoteUserRank = remoteUserRank;
        info.stage = stage;
        const u32 seconds = dispatcher.WaitSeconds(NOTIFY_INVALID_WAIT_TIME);
        const WaitCommand wait{signal, seconds, {userRank, remoteUserRank, INVALID_U64, stage}, nullptr};
        return Signal(kFunction, dispatcher, wait, stream, info);
      });
}

HcclResult HcclDispatcherWaitValue(HcclDispatcher dispatcherPtr, ::hccl::Stream&, u64, u64, bool) {
  return WithDispatcher("HcclDispatcherWaitValue", dispatcherPtr, [](Dispatcher&) { return HCCL_SUCCESS; });
}

HcclResult HcclDispatcherWriteValue(HcclDispatcher dispatcherPtr, ::hccl::Stream&, u64, u64) {
  return WithDispatcher("HcclDispatcherWriteValue", dispatcherPtr, [](Dispatcher&) { return HCCL_SUCCESS; });
}

HcclResult InitTask(HcclDispatcher dispatcherPtr, ::hccl::Stream& stream, const bool, const std::string&,
                    bool) {
  return WithDispatcher("InitTask", dispatcherPtr, [&](Dispatcher& dispatcher) {
    if (!dispatcher.is_virtual()) dispatcher.BeginLaunch();
    Platform& platform = ThePlatform();
    return platform.Call(platform.init_callback(), dispatcherPtr, stream);
  });
}

HcclResult LaunchTask(HcclDispatcher dispatcherPtr, ::hccl::Stream& stream) {
  return LaunchAll("LaunchTask", dispatcherPtr, stream);
}

HcclResult LaunchTaskExtend(HcclDispatcher dispatcherPtr, ::hccl::Stream& stream,
                            std::vector<::hccl::Stream>&) {
  // Ignores the list of streams: each held command knows its stream.
  return LaunchAll("LaunchTaskExtend", dispatcherPtr, stream);
}

HcclResult SetNormalMode(HcclDispatcher dispatcherPtr) {
  return WithDispatcher("SetNormalMode", dispatcherPtr, [](Dispatcher& dispatcher) {
    dispatcher.EndLaunch("SetNormalMode came before LaunchTask");
    return HCCL_SUCCESS;
  });
}

HcclResult AddRetryPreamble(HcclDispatcher dispatcherPtr, ::hccl::Stream&) {
  return WithDispatcher("AddRetryPreamble", dispatcherPtr, [](Dispatcher&) { return HCCL_SUCCESS; });
}

HcclResult StreamSync(HcclDispatcher dispatcherPtr, ::hccl::Stream&) {
  return WithDispatcher("StreamSync", dispatcherPtr, [](Dispatcher& dispatcher) {
    if (const std::size_t held = dispatcher.held_count(); held != 0)
      LogWarning(Text("StreamSync: ", held, " tasks still wait for LaunchTask"));
    return HCCL_SUCCESS;
  });
}

void RegisterInitTaskCallBack(HcclResult (*p1)(const HcclDispatcher&, ::hccl::Stream&)) {
  ThePlatform().init_callback().store(p1);
}

void RegisterLaunchTaskCallBack(HcclResult (*p1)(const HcclDispatcher&, ::hccl::Stream&)) {
  ThePlatform().launch_callback().store(p1);
}

HcclResult RegisterLoadTaskCallBack(HcclDispatcher dispatcherPtr, void* userPtr, LoadTaskCallBack p1) {
  return WithDispatcher("RegisterLoadTaskCallBack", dispatcherPtr, [&](Dispatcher& dispatcher) {
    dispatcher.SetObserver(userPtr, p1);
    return HCCL_SUCCESS;
  });
}

HcclResult HcclGetCallbackResult(HcclDispatcher dispatcherPtr) {
  return WithDispatcher("HcclGetCallbackResult", dispatcherPtr,
                        [](Dispatcher&) { return ThePlatform().callback_result(); });
}

HcclResult ForceProfOn(HcclDispatcher& dispatcherPtr, bool isForce) {
  return WithDispatcher("ForceProfOn", dispatcherPtr, [&](Dispatcher&) {
    ThePlatform().force_profiling(isForce);
    return HCCL_SUCCESS;
  });
}

// NOLINTNEXTLINE(performance-unnecessary-value-param): the public interface requires it.
HcclResult HcclSetOpExecStatusCallback(HcclDispatcher, std::function<HcclResult()>) {
  return RefuseDeviceSide("HcclSetOpExecStatusCallback");
}

HcclResult HcclSetSqeTimeOut(HcclDispatcher, u64) {
  return RefuseDeviceSide("HcclSetSqeTimeOut");
}

HcclResult HcclSetSqFullWaitTimeOut(HcclDispatcher, u64) {
  return RefuseDeviceSide("HcclSetSqFullWaitTimeOut");
}

HcclResult HcclSetOpRingBufferIdx(HcclDispatcher, u32) {
  return RefuseDeviceSide("HcclSetOpRingBufferIdx");
}
