// Plans copies that have their operands in device memory.
#include <array>
#include <cstring>
#include <memory>
#include <utility>

#include "base/error/text.h"
#include "core/copy/copy_ends.h"
#include "core/copy/copy_plan.h"
#include "core/memory/mapped/peer_mapping.h"
#include "observe/hooks.h"

namespace sampan::core {
namespace {

constexpr std::size_t kDescriptorAlignment = 64;
constexpr std::size_t kMaxDescriptorBytes = 64;

Status LocateOnDevice(const MemoryArgument& argument, PlanContext context, Location& location) {
  if (Status located = Locate(context.registry(), argument, location); !located.ok()) return located;
  if (Status here = RefusePeer(context.registry(), location.use, argument.name); !here.ok()) return here;
  if (location.place.on_device()) return {};
  return {Code::kParamInvalid, Text(DescribeEnd(argument, location), ", it must be device memory")};
}

/// Refuses operands outside device memory, or without the right to this access.
Status LocateOperand(const MemoryArgument& argument, HostAccess access, PlanContext context,
                     Location& location) {
  if (Status located = LocateOnDevice(argument, context, location); !located.ok()) return located;
  return CheckRights(location, argument, access, context.device());
}

Status LocateDescriptor(void* descriptor, HostAccess access, PlanContext context, Location& location) {
  const MemoryArgument argument{"desc", descriptor, context.profile().descriptor.bytes};
  if (Status located = LocateOperand(argument, access, context, location); !located.ok()) return located;
  if (reinterpret_cast<std::uintptr_t>(descriptor) % kDescriptorAlignment == 0) return {};
  return {Code::kParamInvalid,
          Text("desc ", Hex(descriptor), " must be aligned to ", kDescriptorAlignment, " bytes")};
}

}  // namespace

Status PlanDescriptor(const DescriptorRequest& request, PlanContext context, Plan& plan) {
  Location location;
  if (Status located = LocateDescriptor(request.descriptor, HostAccess::kRead, context, location);
      !located.ok())
    return located;
  if (Status may = CheckPeer(location, context); !may.ok()) return may;
  const DescriptorLayout& layout = context.profile().descriptor;
  auto content = std::make_unique<IndirectTask::Content>();
  content->form = IndirectTask::Content::Form::kDescriptor;
  content->operands[0] = location.engine;
  content->operands_memory[0] = std::move(location.use);
  content->length_at = layout.length_at;
  content->src_at = layout.src_at;
  content->dst_at = layout.dst_at;
  content->device = context.device();
  content->resolver = &context.registry();
  plan.Make<IndirectTask>(IndirectTask{std::move(content)});
  return {};
}

Status PlanOffset(const OffsetRequest& request, PlanContext context, Plan& plan) {
  auto content = std::make_unique<IndirectTask::Content>();
  content->form = IndirectTask::Content::Form::kPointerCells;
  const MemoryArgument cells[2] = {{"dst", request.dst, sizeof(void*)}, {"src", request.src, sizeof(void*)}};
  Location locations[2];
  for (int i = 0; i < 2; ++i) {
    Location& location = locations[i];
    if (Status located = LocateOperand(cells[i], HostAccess::kRead, context, location); !located.ok())
      return located;
    if (Status may = CheckPeer(location, context); !may.ok()) return may;
    content->operands[i] = location.engine;
    content->operands_memory[i] = std::move(location.use);
  }
  content->dst_offset = request.dst_offset;
  content->src_offset = request.src_offset;
  content->bytes = request.bytes;
  content->device = context.device();
  content->resolver = &context.registry();
  plan.Make<IndirectTask>(IndirectTask{std::move(content)});
  AddNeighbours(plan.task, std::move(locations[0].neighbours), std::move(locations[1].neighbours));
  return {};
}

Result<DescriptorWrite> PlanDescriptorWrite(const SetDescriptorRequest& request, PlanContext context) {
  Location descriptor, src, dst;
  if (Status located = LocateDescriptor(request.descriptor, HostAccess::kWrite, context, descriptor);
      !located.ok())
    return located;
  const auto length = static_cast<std::uint32_t>(request.bytes);  // 4 GiB becomes 0, as on the device
  if (Status located = LocateOnDevice({"srcAddr", request.src, length}, context, src); !located.ok())
    return located;
  if (Status located = LocateOnDevice({"dstAddr", request.dst, length}, context, dst); !located.ok())
    return located;
  if (src.place != dst.place) {
    return Error{Code::kParamInvalid, Text("srcAddr and dstAddr must be of one device: ",
                                           DescribeEnd({"srcAddr", request.src, length}, src), ", ",
                                           DescribeEnd({"dstAddr", request.dst, length}, dst))};
  }
  return DescriptorWrite{.memory = std::move(descriptor.use),
                         .at = descriptor.engine,
                         .layout = context.profile().descriptor,
                         .src = reinterpret_cast<std::uint64_t>(request.src),
                         .dst = reinterpret_cast<std::uint64_t>(request.dst),
                         .length = length};
}

Status DescriptorWrite::Apply(BackendDevice& device) && {
  std::array<std::byte, kMaxDescriptorBytes> bytes{};
  std::memcpy(bytes.data() + layout.length_at, &length, sizeof(length));
  std::memcpy(bytes.data() + layout.src_at, &src, sizeof(src));
  std::memcpy(bytes.data() + layout.dst_at, &dst, sizeof(dst));
  if (observe::On()) observe::TellHostWrote(observe::EndOf(at, memory.get()), layout.bytes);
  return device.RunNow(
      CopyTask{{at, bytes.data(), layout.bytes}, std::move(memory), {}, Direction::kHostToDevice});
}

}  // namespace sampan::core
