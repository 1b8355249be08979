// Copies with operands in device memory: descriptors and offsets.
#include "acl/acl_rt.h"
#include "acl/caller.h"
#include "acl/guard.h"
#include "core/copy/copy_plan.h"
#include "core/copy/copy_rules.h"

namespace sampan::acl {
namespace {

constexpr std::size_t kMaxBytes = std::size_t{4} << 30;
constexpr std::size_t kMaxOffset = 0xFFFFFFFFFFFF;
constexpr int kKinds = 8;

Status CheckKnownKind(aclrtMemcpyKind kind) {
  const auto value = static_cast<unsigned>(kind);
  return value < kKinds ? Status() : InvalidArgument(Text("kind is ", value, ", it must be 0 to 7"));
}

Status CheckDescriptorKind(aclrtMemcpyKind kind, const core::Profile& profile) {
  if (!profile.descriptors) return CopyUnsupported(Text(profile.chip, " has no copy descriptors"));
  if (kind == ACL_MEMCPY_INNER_DEVICE_TO_DEVICE) return {};
  return CopyUnsupported(Text("kind is ", Describe(static_cast<core::CopyKind>(kind)),
                              ", descriptors take ACL_MEMCPY_INNER_DEVICE_TO_DEVICE"));
}

/// `name` and `address` are the argument that the count belongs to.
Status CheckCount(std::size_t bytes, std::string_view name, const void* address) {
  if (bytes <= kMaxBytes) return {};
  return {Code::kParamInvalid, Text("count ", bytes, " of ", name, " ", Hex(address), " is more than 4 GiB")};
}

/// For plans that are checked before the context. Without a context, the device does not matter.
core::PlanContext PlanContextOf(core::Runtime& runtime, Result<Caller>& caller) {
  return runtime.PlanContextOf(caller.ok() ? caller->device().id() : 0);
}

Status SetDescriptor(const core::SetDescriptorRequest& request, aclrtMemcpyKind kind, const void* config) {
  if (Status present = RequireNonNull("desc", request.descriptor); !present.ok()) return present;
  if (Status known = CheckKnownKind(kind); !known.ok()) return known;
  if (Status present = RequireNonNull("srcAddr", request.src, "dstAddr", request.dst); !present.ok())
    return present;
  if (request.bytes == 0)
    return InvalidArgument(Text("count of desc ", Hex(request.descriptor), " is 0, it must be more"));
  if (config != nullptr) {
    return InvalidArgument(
        Text("config of desc ", Hex(request.descriptor), " is ", Hex(config), ", it must be NULL"));
  }
  auto calling_thread = ThisCaller();
  if (!calling_thread.ok()) return calling_thread.TakeStatus();
  if (Status checked = CheckDescriptorKind(kind, calling_thread->runtime.profile()); !checked.ok())
    return checked;
  if (Status checked = CheckCount(request.bytes, "desc", request.descriptor); !checked.ok()) return checked;
  // Memory errors come before the error of a missing context.
  auto caller = CallerWithContext();
  auto write = PlanDescriptorWrite(request, PlanContextOf(calling_thread->runtime, caller));
  if (!write.ok()) return write.TakeStatus();
  if (!caller.ok()) return caller.TakeStatus();
  core::Device& of_caller = caller->device();
  if (Status own = of_caller.memory().CheckHandover(write->memory); !own.ok()) return own;
  auto device = of_caller.Open();
  if (!device.ok()) return device.TakeStatus();
  return std::move(*write).Apply(**device);
}

Status CheckOffsetsOffered(const core::Profile& profile) {
  return profile.offsets ? Status() : CopyUnsupported(Text(profile.chip, " has no copies with offsets"));
}

Status CheckOffsets(const core::OffsetRequest& request) {
  const auto refuse = [](std::string text) { return Status(Code::kParamInvalid, std::move(text)); };
  if (request.dst == nullptr) return refuse("dst is NULL");
  if (request.src == nullptr) return refuse("src is NULL");
  const auto of_dst = [&] { return Text(" of dst ", Hex(request.dst)); };
  if (request.bytes > request.dst_max)
    return refuse(Text("count ", request.bytes, " is more than destMax ", request.dst_max, of_dst()));
  if (Status checked = CheckCount(request.bytes, "dst", request.dst); !checked.ok()) return checked;
  if (request.src_offset > kMaxOffset) {
    return refuse(
        Text("srcDataOffset ", request.src_offset, " of src ", Hex(request.src), " is more than 48 bits"));
  }
  if (request.dst_offset > kMaxOffset)
    return refuse(Text("dstDataOffset ", request.dst_offset, of_dst(), " is more than 48 bits"));
  if (request.dst_offset >= request.dst_max) {
    return refuse(
        Text("dstDataOffset ", request.dst_offset, " is not less than destMax ", request.dst_max, of_dst()));
  }
  if (request.bytes > request.dst_max - request.dst_offset) {
    return refuse(Text("count ", request.bytes, " at dstDataOffset ", request.dst_offset,
                       " is more than destMax ", request.dst_max, of_dst()));
  }
  return {};
}

Status CopyWithOffset(const core::OffsetRequest& request, aclrtStream stream_handle) {
  if (request.bytes == 0) return {};
  if (request.kind != core::CopyKind::kInnerDeviceToDevice) {
    return {Code::kParamInvalid,
            Text("kind is ", Describe(request.kind), ", it must be ACL_MEMCPY_INNER_DEVICE_TO_DEVICE")};
  }
  auto calling_thread = ThisCaller();
  if (!calling_thread.ok()) return calling_thread.TakeStatus();
  if (Status offered = CheckOffsetsOffered(calling_thread->runtime.profile()); !offered.ok()) return offered;
  auto stream = FindStream(*calling_thread, stream_handle);
  if (!stream.ok()) return stream.TakeStatus();
  if (Status checked = CheckOffsets(request); !checked.ok()) return checked;
  auto caller = CallerWithContext();
  if (!caller.ok()) return caller.TakeStatus();
  core::Plan plan;
  if (Status planned = PlanOffset(request, caller->runtime.PlanContextOf(*caller->context), plan);
      !planned.ok())
    return planned;
  return SubmitPlan({caller->context, *stream}, std::move(plan));
}

Status CopyWithDescriptor(const core::DescriptorRequest& request, aclrtMemcpyKind kind,
                          aclrtStream stream_handle) {
  if (Status present = RequireNonNull("desc", request.descriptor); !present.ok()) return present;
  if (Status known = CheckKnownKind(kind); !known.ok()) return known;
  if (Status present = RequireNonNull("stream", stream_handle); !present.ok()) return present;
  auto calling_thread = ThisCaller();
  if (!calling_thread.ok()) return calling_thread.TakeStatus();
  auto stream = FindStream(*calling_thread, stream_handle);
  if (!stream.ok()) return stream.TakeStatus();
  if (Status checked = CheckDescriptorKind(kind, calling_thread->runtime.profile()); !checked.ok())
    return checked;
  auto caller = CallerWithContext();
  core::Plan plan;
  if (Status planned = PlanDescriptor(request, PlanContextOf(calling_thread->runtime, caller), plan);
      !planned.ok())
    return planned;
  if (!caller.ok()) return caller.TakeStatus();
  return SubmitPlan({caller->context, *stream}, std::move(plan));
}

}  // namespace
}  // namespace sampan::acl

using namespace sampan;
using namespace sampan::acl;

aclError aclrtGetMemcpyDescSize(aclrtMemcpyKind kind, size_t* descSize) {
  return Guard("aclrtGetMemcpyDescSize", [&]() -> Status {
    if (Status present = RequireNonNull("descSize", descSize); !present.ok()) return present;
    if (Status known = CheckKnownKind(kind); !known.ok()) return known;
    auto caller = ThisCaller();
    if (!caller.ok()) return caller.TakeStatus();
    const core::Profile& profile = caller->runtime.profile();
    if (Status checked = CheckDescriptorKind(kind, profile); !checked.ok()) return checked;
    *descSize = profile.descriptor.bytes;
    return {};
  });
}

aclError aclrtSetMemcpyDesc(void* desc, aclrtMemcpyKind kind, void* srcAddr, void* dstAddr, size_t count,
                            void* config) {
  return Guard("aclrtSetMemcpyDesc", [&] {
    return SetDescriptor({desc, srcAddr, dstAddr, count}, kind, config);
  });
}

aclError aclrtMemcpyAsyncWithDesc(void* desc, aclrtMemcpyKind kind, aclrtStream stream) {
  return Guard("aclrtMemcpyAsyncWithDesc", [&] { return CopyWithDescriptor({desc}, kind, stream); });
}

aclError aclrtMemcpyAsyncWithOffset(void** dst, size_t destMax, size_t dstDataOffset, const void** src,
                                    size_t count, size_t srcDataOffset, aclrtMemcpyKind kind,
                                    aclrtStream stream) {
  return Guard("aclrtMemcpyAsyncWithOffset", [&] {
    return CopyWithOffset(
        {dst, destMax, dstDataOffset, src, count, srcDataOffset, static_cast<core::CopyKind>(kind)}, stream);
  });
}
