// Turns linear, row, fill and operand-driven requests into the task that does them.
#include "core/copy_plan.h"

#include <array>
#include <cstring>
#include <utility>

#include "base/text.h"
#include "core/copy_rules.h"
#include "core/memory_location.h"

namespace sampan {
namespace {

constexpr std::size_t kDescriptorAlignment = 64;
constexpr std::size_t kMostDescriptorBytes = 64;

struct Ends {
  Location dst, src;
  Timing timing() const { return dst.use && src.use ? Timing::kQueued : Timing::kDrainThenNow; }
};

/// Memory of another device has to be opened to the one that touches it.
Status CheckPeer(const Location& end, const PlanContext& context) {
  if (context.peers.Enabled(context.device, end.place.device)) return {};
  return {Code::kParamInvalid, Text("device ", context.device, " may not touch ", Describe(*end.use.get()),
                                    ": call aclrtDeviceEnablePeerAccess(", end.place.device,
                                    ", 0) on device ", context.device, " first")};
}

/// A blocking copy belongs to no stream, and so to no device: within one device it needs no permission.
Status CheckPeers(const Ends& ends, CopyForm form, const PlanContext& context) {
  if (!ends.dst.place.on_device() || !ends.src.place.on_device()) return {};
  if (form == CopyForm::kBlocking && ends.dst.place == ends.src.place) return {};
  if (Status may = CheckPeer(ends.dst, context); !may.ok()) return may;
  return CheckPeer(ends.src, context);
}

Status LocateEnds(const MemoryArgument& dst, const MemoryArgument& src, CopyForm form,
                  const PlanContext& context, Ends& ends) {
  if (Status located = Locate(context.registry, dst, ends.dst); !located.ok()) return located;
  if (Status located = Locate(context.registry, src, ends.src); !located.ok()) return located;
  if (Status may = CheckRights(ends.dst, dst, HostAccess::kWrite, context.device); !may.ok()) return may;
  if (Status may = CheckRights(ends.src, src, HostAccess::kRead, context.device); !may.ok()) return may;
  return CheckPeers(ends, form, context);
}

std::string Describe(const MemoryArgument& argument, const Location& found) {
  return Describe(argument, found.place, found.use.get());
}

/// Both ends, for messages about how they go together.
std::string DescribeEnds(const Ends& ends, const MemoryArgument& dst, const MemoryArgument& src) {
  return Text(Describe(src, ends.src), ", ", Describe(dst, ends.dst));
}

Result<CopyKind> ResolveKind(CopyKind given, const Ends& ends, const MemoryArgument& dst,
                             const MemoryArgument& src, const Profile& profile) {
  if (const auto kind = sampan::ResolveKind(given, ends.src.place, ends.dst.place, profile)) return *kind;
  return Error{Code::kParamInvalid,
               Text("kind ", Describe(given), " contradicts the addresses: ", DescribeEnds(ends, dst, src))};
}

Status ProbeEnds(const Ends& ends, const MemoryArgument& dst, const MemoryArgument& src) {
  if (!ends.dst.use) {
    if (Status probed = ProbeHostMemory(dst, HostAccess::kWrite); !probed.ok()) return probed;
  }
  if (!ends.src.use) return ProbeHostMemory(src, HostAccess::kRead);
  return {};
}

/// Looks at the rows of ordinary host memory and, where whole pages lie between them, at nothing else: those
/// need not be there.
Status ProbeRows(const Location& end, const MemoryArgument& extent, std::size_t pitch,
                 const RowsRequest& request, HostAccess access) {
  constexpr std::size_t kSmallestPage = 4096;
  if (end.use) return {};
  if (pitch - request.width < kSmallestPage) return ProbeHostMemory(extent, access);
  HostProbe probe;
  const auto* row = static_cast<const std::byte*>(extent.address);
  for (std::size_t left = request.height; left > 0; --left, row += pitch) {
    if (Status probed = probe.Check({extent.name, row, request.width}, access); !probed.ok()) return probed;
  }
  return {};
}

/// Adds the uses of the neighbours, where the task's memory consists of several allocations.
void AddNeighbours(Task& task, Location& first, Location& second) {
  if (first.more.empty() && second.more.empty()) return;
  SpanTask span;
  span.content = std::make_unique<SpanTask::Content>();
  span.content->memory = std::move(first.more);
  span.content->memory.insert(span.content->memory.end(), std::move_iterator(second.more.begin()),
                              std::move_iterator(second.more.end()));
  span.content->task = std::move(task);
  task = std::move(span);
}

/// Takes the source's bytes now, so that the program may reuse it on return.
Result<Plan> PlanCaptured(const LinearRequest& request, Ends ends, const PlanContext& context) {
  auto content = std::make_unique<BatchTask::Content>(context.backend.segment_store());
  if (Status room = content->segments.Reserve(1); !room.ok()) return room;
  content->captured = std::make_unique_for_overwrite<std::byte[]>(request.bytes);
  std::memcpy(content->captured.get(), ends.src.engine, request.bytes);
  content->segments.Append({ends.dst.engine, content->captured.get(), request.bytes});
  content->bytes = content->longest = request.bytes;
  const Timing timing = ends.dst.use ? Timing::kQueued : Timing::kDrainThenNow;
  if (ends.dst.use) content->memory.push_back(std::move(ends.dst.use));
  content->memory.insert(content->memory.end(), std::move_iterator(ends.dst.more.begin()),
                         std::move_iterator(ends.dst.more.end()));
  return Plan{BatchTask{std::move(content)}, timing};
}

/// Bytes from the first to behind the last row; fails when they do not fit the address space.
Status SetExtent(MemoryArgument& argument, std::string_view pitch_name, std::size_t pitch,
                 const RowsRequest& request) {
  if (!__builtin_mul_overflow(pitch, request.height - 1, &argument.bytes) &&
      !__builtin_add_overflow(argument.bytes, request.width, &argument.bytes)) {
    return {};
  }
  return {Code::kParamInvalid, Text(pitch_name, " ", pitch, " of ", argument.name, " ", Hex(argument.address),
                                    " times height ", request.height, " is more than there are addresses")};
}

}  // namespace

Result<Plan> PlanLinear(const LinearRequest& request, CopyForm form, const PlanContext& context) {
  const MemoryArgument dst{"dst", request.dst, request.bytes};
  const MemoryArgument src{"src", request.src, request.bytes};
  Ends ends;
  if (Status located = LocateEnds(dst, src, form, context, ends); !located.ok()) return located;
  const bool captures = request.kind == CopyKind::kHostToBufferToDevice;
  if (form == CopyForm::kAsynchronous && !captures) {
    auto kind = ResolveKind(request.kind, ends, dst, src, context.profile);
    if (!kind.ok()) return kind.TakeStatus();
    if (*kind == CopyKind::kHostToHost) {
      return Error{Code::kFeatureNotSupport,
                   Text("a host-to-host copy cannot be asynchronous: ", DescribeEnds(ends, dst, src)),
                   Error::kNoItem, true};
    }
    if (request.dst == request.src) return Plan{.timing = Timing::kNothing};
  }
  if (Status probed = ProbeEnds(ends, dst, src); !probed.ok()) return probed;
  if (form == CopyForm::kAsynchronous && captures) {
    if (context.profile.attached && DirectionOf(ends.src.place, ends.dst.place) != CopyKind::kHostToDevice) {
      return Error{Code::kParamInvalid, Text("kind ", Describe(request.kind), " copies from the host to a ",
                                             "device: ", DescribeEnds(ends, dst, src))};
    }
    return PlanCaptured(request, std::move(ends), context);
  }
  Result<Plan> plan(std::in_place);
  plan->timing = ends.timing();
  plan->task.emplace<CopyTask>(CopyTask{
      {ends.dst.engine, ends.src.engine, request.bytes}, std::move(ends.dst.use), std::move(ends.src.use)});
  AddNeighbours(plan->task, ends.dst, ends.src);
  return plan;
}

Result<Plan> PlanRows(const RowsRequest& request, CopyForm form, const PlanContext& context) {
  MemoryArgument dst{"dst", request.dst, 0}, src{"src", request.src, 0};
  if (Status known = SetExtent(dst, "dpitch", request.dst_pitch, request); !known.ok()) return known;
  if (Status known = SetExtent(src, "spitch", request.src_pitch, request); !known.ok()) return known;
  Ends ends;
  if (Status located = LocateEnds(dst, src, form, context, ends); !located.ok()) return located;
  auto kind = ResolveKind(request.kind, ends, dst, src, context.profile);
  if (!kind.ok()) return kind.TakeStatus();
  const bool allowed = *kind == CopyKind::kHostToDevice || *kind == CopyKind::kDeviceToHost ||
                       (*kind == CopyKind::kDeviceToDevice && form == CopyForm::kAsynchronous &&
                        context.profile.rows_between_devices);
  if (!allowed) {
    return Error{Code::kParamInvalid, Text("a 2D copy goes between host and device, this one is ",
                                           Describe(*kind), ": ", DescribeEnds(ends, dst, src))};
  }
  if (Status probed = ProbeRows(ends.dst, dst, request.dst_pitch, request, HostAccess::kWrite); !probed.ok())
    return probed;
  if (Status probed = ProbeRows(ends.src, src, request.src_pitch, request, HostAccess::kRead); !probed.ok())
    return probed;
  const Timing timing = ends.timing();
  Plan plan{RowsTask{{ends.dst.engine, ends.src.engine, request.dst_pitch, request.src_pitch, request.width,
                      request.height},
                     std::move(ends.dst.use),
                     std::move(ends.src.use)},
            timing};
  AddNeighbours(plan.task, ends.dst, ends.src);
  return plan;
}

Result<Plan> PlanFill(const FillRequest& request, const PlanContext& context) {
  const MemoryArgument dst{request.name, request.dst, request.bytes};
  Location location;
  if (Status located = Locate(context.registry, dst, location); !located.ok()) return located;
  if (!location.use) {
    if (Status probed = ProbeHostMemory(dst, HostAccess::kWrite); !probed.ok()) return probed;
  }
  if (Status may = CheckRights(location, dst, HostAccess::kWrite, context.device); !may.ok()) return may;
  const Timing timing = location.place.on_device() ? Timing::kQueued : Timing::kNow;
  Plan plan{FillTask{location.engine, request.bytes, request.pattern, std::move(location.use)}, timing};
  Location none;
  AddNeighbours(plan.task, location, none);
  return plan;
}

Result<Plan> PlanReduce(const ReduceRequest& request, const PlanContext& context) {
  const MemoryArgument dst{"dst", request.dst, request.bytes};
  const MemoryArgument src{"src", request.src, request.bytes};
  Ends ends;
  if (Status located = LocateEnds(dst, src, CopyForm::kAsynchronous, context, ends); !located.ok())
    return located;
  for (const auto& [end, argument] : {std::pair{&ends.dst, &dst}, {&ends.src, &src}}) {
    if (end->place.on_device()) continue;
    return Error{Code::kParamInvalid, Text(Describe(*argument, *end), ", it must be device memory")};
  }
  Plan plan{ReduceTask{{ends.dst.engine, ends.src.engine, request.bytes},
                       std::move(ends.dst.use),
                       std::move(ends.src.use),
                       request.operation,
                       request.element}};
  AddNeighbours(plan.task, ends.dst, ends.src);
  return plan;
}

namespace {

Status LocateOnDevice(const MemoryArgument& argument, const PlanContext& context, Location& location) {
  if (Status located = Locate(context.registry, argument, location); !located.ok()) return located;
  if (location.place.on_device()) return {};
  return {Code::kParamInvalid, Text(Describe(argument, location), ", it must be device memory")};
}

/// Operands lie in device memory that may be accessed so.
Status LocateOperand(const MemoryArgument& argument, HostAccess access, const PlanContext& context,
                     Location& location) {
  if (Status located = LocateOnDevice(argument, context, location); !located.ok()) return located;
  return CheckRights(location, argument, access, context.device);
}

Status LocateDescriptor(void* descriptor, HostAccess access, const PlanContext& context, Location& location) {
  const MemoryArgument argument{"desc", descriptor, context.profile.descriptor.bytes};
  if (Status located = LocateOperand(argument, access, context, location); !located.ok()) return located;
  if (reinterpret_cast<std::uintptr_t>(descriptor) % kDescriptorAlignment == 0) return {};
  return {Code::kParamInvalid,
          Text("desc ", Hex(descriptor), " must be aligned to ", kDescriptorAlignment, " bytes")};
}

}  // namespace

Result<Plan> PlanDescriptor(const DescriptorRequest& request, const PlanContext& context) {
  Location location;
  if (Status located = LocateDescriptor(request.descriptor, HostAccess::kRead, context, location);
      !located.ok())
    return located;
  if (Status may = CheckPeer(location, context); !may.ok()) return may;
  const DescriptorLayout& layout = context.profile.descriptor;
  auto content = std::make_unique<IndirectTask::Content>();
  content->form = IndirectTask::Content::Form::kDescriptor;
  content->operands[0] = location.engine;
  content->operands_memory[0] = std::move(location.use);
  content->length_at = layout.length_at;
  content->src_at = layout.src_at;
  content->dst_at = layout.dst_at;
  content->device = context.device;
  content->resolver = &context.registry;
  Result<Plan> plan(std::in_place);
  plan->task = IndirectTask{std::move(content)};
  return plan;
}

Result<Plan> PlanOffset(const OffsetRequest& request, const PlanContext& context) {
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
  content->device = context.device;
  content->resolver = &context.registry;
  Result<Plan> plan(std::in_place);
  plan->task = IndirectTask{std::move(content)};
  AddNeighbours(plan->task, locations[0], locations[1]);
  return plan;
}

Result<DescriptorWrite> PlanDescriptorWrite(const SetDescriptorRequest& request, const PlanContext& context) {
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
                                           Describe({"srcAddr", request.src, length}, src), ", ",
                                           Describe({"dstAddr", request.dst, length}, dst))};
  }
  return DescriptorWrite{.memory = std::move(descriptor.use),
                         .at = descriptor.engine,
                         .layout = context.profile.descriptor,
                         .src = reinterpret_cast<std::uint64_t>(request.src),
                         .dst = reinterpret_cast<std::uint64_t>(request.dst),
                         .length = length};
}

Status DescriptorWrite::Apply(BackendDevice& device) && {
  std::array<std::byte, kMostDescriptorBytes> bytes{};
  std::memcpy(bytes.data() + layout.length_at, &length, sizeof(length));
  std::memcpy(bytes.data() + layout.src_at, &src, sizeof(src));
  std::memcpy(bytes.data() + layout.dst_at, &dst, sizeof(dst));
  return device.RunNow(CopyTask{{at, bytes.data(), layout.bytes}, std::move(memory), {}});
}

}  // namespace sampan
