// Hands tasks that move bytes to the driver, in the order of one CUDA stream.
#include "backend/cuda/task_launch.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <utility>

#include "backend/api/task_memory.h"
#include "base/log.h"
#include "base/text.h"
#include "trace/trace.h"

namespace sampan::cuda {
namespace {

constexpr std::size_t kVectorBytes = 16, kWordBytes = 4;
constexpr unsigned kMostTeamBits = 5;  // a warp
/// Pieces of a kernel: short enough to spread over the threads, long enough to be worth a descriptor.
constexpr std::size_t kLeastPieceBytes = std::size_t{4} << 10;
constexpr std::size_t kMostPieceBytes = std::size_t{64} << 10;
constexpr std::size_t kPiecesPerTeam = 4;
/// Room in a table of device memory, so that it seldom has to grow.
constexpr std::size_t kLeastTableRanges = 4096;

/// What a block of the kernel for few pieces copies, where there are enough blocks; and how much longer than
/// the mean a piece may be.
constexpr std::size_t kFewBlockBytes = kThreadsPerBlock * kVectorBytes;
constexpr std::size_t kMostFewImbalance = 4;

static_assert(sizeof(PieceArgument) == sizeof(Segment) &&
              sizeof(RangeArgument) == sizeof(ReservedMemory::Range));

std::size_t DivideUp(std::size_t value, std::size_t unit) {
  return (value + unit - 1) / unit;
}

CuAddress AddressOf(const void* pointer) {
  return reinterpret_cast<CuAddress>(pointer);
}

bool OnDevice(const AllocationUse& use) {
  return use && use->facts.place.on_device();
}

Direction DirectionOf(bool dst_on_device, bool src_on_device) {
  if (src_on_device) return dst_on_device ? Direction::kDeviceToDevice : Direction::kDeviceToHost;
  return dst_on_device ? Direction::kHostToDevice : Direction::kHostToHost;
}

bool OneDevice(const AllocationUse& dst, const AllocationUse& src) {
  return OnDevice(dst) && OnDevice(src) && dst->facts.place == src->facts.place;
}

/// A batch has one direction: that of its first entry.
Direction DirectionOf(const BatchTask::Content& content) {
  const auto on_device = [&](const void* pointer) {
    const auto address = reinterpret_cast<std::uintptr_t>(pointer);
    const auto use = std::find_if(content.memory.begin(), content.memory.end(),
                                  [&](const AllocationUse& each) { return each->Contains(address); });
    return use != content.memory.end() && OnDevice(*use);
  };
  const Segment& first = content.segments.front();
  return DirectionOf(on_device(first.dst), on_device(first.src));
}

/// Calls `each(segment)` for the segments of a batch, those that continue the one before joined with it.
template <typename Each>
Status ForJoined(std::span<const Segment> segments, Each each) {
  Segment joined = segments.front();
  for (const Segment& next : segments.subspan(1)) {
    if (next.dst == joined.dst + joined.bytes && next.src == joined.src + joined.bytes) {
      joined.bytes += next.bytes;
      continue;
    }
    if (Status status = each(joined); !status.ok()) return status;
    joined = next;
  }
  return each(joined);
}

unsigned TeamBitsFor(std::size_t piece_bytes) {
  const std::size_t vectors = std::max<std::size_t>(piece_bytes / kVectorBytes, 1);
  return std::min(static_cast<unsigned>(std::bit_width(vectors - 1)), kMostTeamBits);
}

/// The widest access that every row permits.
std::size_t RowsUnit(const Rows& rows) {
  const std::size_t all = AddressOf(rows.dst) | AddressOf(rows.src) | rows.width |
                          (rows.height > 1 ? rows.dst_pitch | rows.src_pitch : 0);
  return all % kVectorBytes == 0 ? kVectorBytes : all % kWordBytes == 0 ? kWordBytes : 1;
}

/// Whether the destination has no gaps.
bool Dense(const Rows& rows) {
  return rows.dst_pitch == rows.width || rows.height == 1;
}

std::size_t PieceBytesFor(std::size_t bytes, unsigned blocks) {
  const std::size_t teams = std::size_t{blocks} * (kThreadsPerBlock >> kMostTeamBits);
  const std::size_t share = bytes / (teams * kPiecesPerTeam) / kVectorBytes * kVectorBytes;
  return std::clamp(share, kLeastPieceBytes, kMostPieceBytes);
}

summary::Path TracePath(CopyPath path) {
  switch (path) {
    case CopyPath::kEngine:
      return summary::Path::kEngine;
    case CopyPath::kBatchCall:
      return summary::Path::kBatchCall;
    case CopyPath::kKernel:
      return summary::Path::kKernel;
  }
  return summary::Path::kNone;
}

/// Cuts long segments; gives the number of pieces.
std::size_t CutSegments(std::span<const Segment> segments, std::size_t piece_bytes, PieceArgument* pieces) {
  std::size_t count = 0;
  for (const Segment& segment : segments) {
    for (std::size_t done = 0; done < segment.bytes; done += piece_bytes) {
      pieces[count++] = {AddressOf(segment.dst) + done, AddressOf(segment.src) + done,
                         std::min(piece_bytes, segment.bytes - done)};
    }
  }
  return count;
}

/// `what` is only put together where somebody reads it.
template <typename... What>
void LogChoice(Direction direction, const PathChoice& choice, const What&... what) {
  trace::NotePath(TracePath(choice.path), choice.why);
  if (!LogEnabled(LogLevel::kDebug, "RUNTIME")) return;
  Log(LogLevel::kDebug, "RUNTIME",
      Text(what..., ", ", Describe(direction), ": path ", Describe(choice.path), ", because ", choice.why));
}

}  // namespace

TaskLauncher::TaskLauncher(const LaunchSite& site, CuStream stream)
    : site_(site), stream_(stream), ring_(site.pinned_memory) {}

Result<std::unique_ptr<TaskLauncher>> TaskLauncher::Create(const LaunchSite& site) {
  const ContextScope scope(site.gpu);
  CuStream stream = nullptr;
  const CuResult made = site.gpu.driver().StreamCreate(&stream, cu::kStreamNonBlocking, 0);
  if (Status checked = site.gpu.Check(made, "cuStreamCreate"); !checked.ok()) return checked;
  return std::unique_ptr<TaskLauncher>(new TaskLauncher(site, stream));
}

TaskLauncher::~TaskLauncher() {
  Abandon();
  if (site_.gpu.lost()) return;  // it all went with the context
  const ContextScope scope(site_.gpu);
  old_tables_.push_back(table_);
  for (const CuAddress table : old_tables_) {
    if (table != 0) site_.gpu.driver().MemFree(table);
  }
  for (const CuEvent event : {side_begin_, side_end_}) {
    if (event != nullptr) site_.gpu.driver().EventDestroy(event);
  }
  if (side_stream_ != nullptr) site_.gpu.driver().StreamDestroy(side_stream_);
  site_.gpu.driver().StreamDestroy(stream_);
}

std::uint64_t TaskLauncher::BusyUntil(const Task& task) const {
  if (const auto* batch = std::get_if<BatchTask>(&task)) {
    const BatchTask::Content& content = *batch->content;
    const PieceShape shape = ShapeOf(content);
    std::size_t bytes = 0;
    if (content.captured != nullptr) {
      bytes = content.bytes;
    } else if (content.longest > shape.bytes) {
      bytes = shape.MostPieces(content) * sizeof(PieceArgument);
    }
    return bytes != 0 && bytes <= PinnedRing::kBytes ? ring_.BusyUntil(bytes) : 0;
  }
  if (std::holds_alternative<IndirectTask>(task)) return ring_.BusyUntil(sizeof(IndirectRecord));
  return 0;
}

Status TaskLauncher::Launch(Task& task, std::uint64_t value) {
  const ContextScope scope(site_.gpu);
  return std::visit([&](auto& body) { return LaunchBody(body, value); }, task);
}

Status TaskLauncher::CopyLinear(const Segment& segment, Direction direction, bool one_device) {
  const Driver& driver = site_.gpu.driver();
  const auto [dst, src, bytes] = segment;
  switch (direction) {
    case Direction::kHostToDevice:
      return site_.gpu.Check(driver.CopyHostToDevice(AddressOf(dst), src, bytes, stream_),
                             "cuMemcpyHtoDAsync");
    case Direction::kDeviceToHost:
      return site_.gpu.Check(driver.CopyDeviceToHost(dst, AddressOf(src), bytes, stream_),
                             "cuMemcpyDtoHAsync");
    case Direction::kDeviceToDevice:
      if (!one_device) break;
      return site_.gpu.Check(driver.CopyDeviceToDevice(AddressOf(dst), AddressOf(src), bytes, stream_),
                             "cuMemcpyDtoDAsync");
    case Direction::kHostToHost:
      break;
  }
  return site_.gpu.Check(driver.CopyAny(AddressOf(dst), AddressOf(src), bytes, stream_), "cuMemcpyAsync");
}

Status TaskLauncher::LaunchBody(CopyTask& task, std::uint64_t) {
  if (Status live = CheckLive(task.dst, task.src); !live.ok()) return live;
  return CopyLinear(task.segment, DirectionOf(OnDevice(task.dst), OnDevice(task.src)),
                    OneDevice(task.dst, task.src));
}

Status TaskLauncher::LaunchBody(RowsTask& task, std::uint64_t) {
  if (Status live = CheckLive(task.dst, task.src); !live.ok()) return live;
  const Rows& rows = task.rows;
  const bool dst_on_device = OnDevice(task.dst);
  const bool src_on_device = OnDevice(task.src);
  const Direction direction = DirectionOf(dst_on_device, src_on_device);
  const std::size_t most_pitch = site_.gpu.facts().most_pitch;
  const bool reachable = task.dst && task.src;  // a kernel cannot touch pageable memory
  PathChoice choice = site_.paths.ForRows(
      direction, {.width = rows.width,
                  .unit = RowsUnit(rows),
                  .dense = Dense(rows),
                  .engine_takes = rows.dst_pitch <= most_pitch && rows.src_pitch <= most_pitch});
  if (!reachable) choice = {CopyPath::kEngine, "a kernel cannot touch pageable memory"};
  LogChoice(direction, choice, rows.height, " rows of ", rows.width, " bytes");
  if (choice.path == CopyPath::kKernel) return CopyRowsByKernel(rows, direction);
  CuCopy2d copy{};
  copy.src_type = src_on_device ? cu::kMemoryDevice : cu::kMemoryHost;
  copy.src_host = rows.src;
  copy.src_device = AddressOf(rows.src);
  copy.src_pitch = rows.src_pitch;
  copy.dst_type = dst_on_device ? cu::kMemoryDevice : cu::kMemoryHost;
  copy.dst_host = rows.dst;
  copy.dst_device = AddressOf(rows.dst);
  copy.dst_pitch = rows.dst_pitch;
  copy.width = rows.width;
  copy.height = rows.height;
  return site_.gpu.Check(site_.gpu.driver().Copy2d(&copy, stream_), "cuMemcpy2DAsync");
}

Status TaskLauncher::CopyRowsByKernel(const Rows& rows, Direction direction) {
  RowsArgument argument{AddressOf(rows.dst), AddressOf(rows.src), rows.dst_pitch,
                        rows.src_pitch,      rows.width,          rows.height};
  const Kernels& kernels = site_.gpu.kernels();
  const std::size_t unit = RowsUnit(rows);
  std::array<void*, 2> arguments = {&argument};
  // Over a link whole vectors count most; within a GPU, few instructions.
  if (Dense(rows) && (unit == 1 || (unit == kWordBytes && direction == Direction::kDeviceToHost))) {
    const std::size_t vectors = DivideUp(rows.width * rows.height, kVectorBytes);
    return Launch(kernels.pack_rows,
                  site_.paths.BlocksForPacking(direction, DivideUp(vectors, kThreadsPerBlock)), arguments);
  }
  const std::size_t units = std::min<std::size_t>(rows.width / unit, kThreadsPerBlock);
  const std::size_t rows_of_block = kThreadsPerBlock / std::max<std::size_t>(units, 1) * kRowsInFlight;
  const unsigned blocks = site_.paths.BlocksForRows(direction, DivideUp(rows.height, rows_of_block));
  if (unit == kVectorBytes) return Launch(kernels.rows_of_vectors, blocks, arguments);
  if (unit == kWordBytes) return Launch(kernels.rows_of_words, blocks, arguments);
  if (direction == Direction::kDeviceToDevice) return Launch(kernels.rows_of_bytes, blocks, arguments);
  unsigned team_bits = TeamBitsFor(rows.width);
  arguments[1] = &team_bits;
  return Launch(kernels.rows, blocks, arguments);
}

Status TaskLauncher::LaunchBody(FillTask& task, std::uint64_t) {
  if (Status live = CheckLive(task.memory); !live.ok()) return live;
  const Driver& driver = site_.gpu.driver();
  const auto byte = static_cast<unsigned char>(task.pattern);
  if (task.pattern == byte * 0x01010101U)
    return site_.gpu.Check(driver.FillBytes(AddressOf(task.dst), byte, task.bytes, stream_),
                           "cuMemsetD8Async");
  constexpr std::size_t kWord = sizeof(task.pattern);
  return site_.gpu.Check(driver.FillWords(AddressOf(task.dst), task.pattern, task.bytes / kWord, stream_),
                         "cuMemsetD32Async");
}

Status TaskLauncher::LaunchBody(BatchTask& task, std::uint64_t value) {
  const BatchTask::Content& content = *task.content;
  for (const AllocationUse& use : content.memory) {
    if (Status live = CheckLive(use); !live.ok()) return live;
  }
  if (content.captured != nullptr) return CopyCaptured(content, value);
  const Direction direction = DirectionOf(content);
  PathChoice choice = site_.paths.ForBatch(direction, content.segments.size(), content.bytes);
  if (choice.path == CopyPath::kBatchCall && site_.gpu.driver().CopyBatch == nullptr)
    choice = {CopyPath::kEngine, "the driver has no batch call"};
  if (content.pageable) choice = {CopyPath::kEngine, "a kernel cannot touch pageable memory"};
  LogChoice(direction, choice, "a batch of ", content.segments.size(), " entries, ", content.bytes, " bytes");
  switch (choice.path) {
    case CopyPath::kEngine:
      break;
    case CopyPath::kBatchCall:
      return CopyByBatchCall(content);
    case CopyPath::kKernel:
      return CopyByKernel(content, value);
  }
  return CopySegments(content, direction);
}

Status TaskLauncher::CopySegments(const BatchTask::Content& content, Direction direction) {
  return ForJoined(content.segments.all(),
                   [&](const Segment& segment) { return CopyLinear(segment, direction, true); });
}

Status TaskLauncher::CopyByBatchCall(const BatchTask::Content& content) {
  batch_dsts_.clear();
  batch_srcs_.clear();
  batch_sizes_.clear();
  static_cast<void>(ForJoined(content.segments.all(), [&](const Segment& segment) -> Status {
    batch_dsts_.push_back(AddressOf(segment.dst));
    batch_srcs_.push_back(AddressOf(segment.src));
    batch_sizes_.push_back(segment.bytes);
    return {};
  }));
  const std::size_t entries = batch_sizes_.size();
  if (!site_.paths.BatchCallTwice(entries, content.bytes)) return CallBatch(0, entries, stream_);
  // Two engines share the work: each loses time between its entries.
  const Driver& driver = site_.gpu.driver();
  if (Status made = MakeSideStream(); !made.ok()) return made;
  CuResult result = driver.EventRecord(side_begin_, stream_);
  if (result == cu::kSuccess) result = driver.StreamWaitEvent(side_stream_, side_begin_, 0);
  if (result != cu::kSuccess) return site_.gpu.Check(result, "dividing a batch");
  Status status = CallBatch(0, entries / 2, side_stream_);
  if (status.ok()) status = CallBatch(entries / 2, entries, stream_);
  // Also after a failure: part of it may be under way.
  result = driver.EventRecord(side_end_, side_stream_);
  if (result == cu::kSuccess) result = driver.StreamWaitEvent(stream_, side_end_, 0);
  return status.ok() ? site_.gpu.Check(result, "dividing a batch") : std::move(status);
}

Status TaskLauncher::CallBatch(std::size_t begin, std::size_t end, CuStream stream) {
  CuBatchAttributes attributes;
  std::size_t first = 0;
  std::size_t failed = 0;
  return site_.gpu.Check(site_.gpu.driver().CopyBatch(batch_dsts_.data() + begin, batch_srcs_.data() + begin,
                                                      batch_sizes_.data() + begin, end - begin, &attributes,
                                                      &first, 1, &failed, stream),
                         "cuMemcpyBatchAsync");
}

Status TaskLauncher::MakeSideStream() {
  if (side_stream_ != nullptr) return {};
  const Driver& driver = site_.gpu.driver();
  CuResult made = cu::kSuccess;
  for (CuEvent* const event : {&side_begin_, &side_end_}) {
    if (*event == nullptr && made == cu::kSuccess) made = driver.EventCreate(event, cu::kEventWithoutTime);
  }
  if (made == cu::kSuccess) made = driver.StreamCreate(&side_stream_, cu::kStreamNonBlocking, 0);
  return site_.gpu.Check(made, "a second stream for a batch");
}

PieceShape TaskLauncher::ShapeOf(const BatchTask::Content& content) const {
  const unsigned blocks =
      site_.paths.BlocksForPieces(content.segments.size() + content.bytes / kLeastPieceBytes);
  return {blocks, PieceBytesFor(content.bytes, blocks)};
}

Status TaskLauncher::CopyFew(const BatchTask::Content& content) {
  const auto count = static_cast<unsigned>(content.segments.size());
  const unsigned most_each = std::max(site_.paths.BlocksForPieces(SIZE_MAX) / count, 1U);
  const auto wanted_each = static_cast<unsigned>(DivideUp(content.longest, kFewBlockBytes));
  FewArgument argument;
  argument.blocks_each = std::min(wanted_each, most_each);
  std::memcpy(argument.pieces, content.segments.all().data(), content.segments.all().size_bytes());
  std::array<void*, 1> arguments = {&argument};
  return Launch(site_.gpu.kernels().few, count * static_cast<unsigned>(argument.blocks_each), arguments);
}

Status TaskLauncher::CopyByKernel(const BatchTask::Content& content, std::uint64_t value) {
  // Where one is much longer than the others its blocks would be alone with it for most of the time.
  if (content.segments.size() <= kMostFewPieces &&
      content.longest * content.segments.size() <= kMostFewImbalance * content.bytes)
    return CopyFew(content);
  const PieceShape shape = ShapeOf(content);
  unsigned team_bits = TeamBitsFor(std::min(shape.bytes, content.bytes / content.segments.size()));
  CuAddress first = AddressOf(content.segments.all().data());
  auto count = static_cast<unsigned>(content.segments.size());
  if (content.longest > shape.bytes) {
    auto memory = TakePinned(shape.MostPieces(content) * sizeof(PieceArgument), value);
    if (!memory.ok()) return memory.TakeStatus();
    count = static_cast<unsigned>(
        CutSegments(content.segments.all(), shape.bytes, reinterpret_cast<PieceArgument*>(*memory)));
    first = AddressOf(*memory);
  }
  std::array<void*, 3> arguments = {&first, &count, &team_bits};
  return Launch(site_.gpu.kernels().pieces, shape.blocks, arguments);
}

Status TaskLauncher::CopyCaptured(const BatchTask::Content& content, std::uint64_t value) {
  auto memory = TakePinned(content.bytes, value);
  if (!memory.ok()) return memory.TakeStatus();
  std::memcpy(*memory, content.captured.get(), content.bytes);
  for (const Segment& segment : content.segments.all()) {
    const std::byte* const source = *memory + (segment.src - content.captured.get());
    if (Status copied = CopyLinear({segment.dst, source, segment.bytes}, DirectionOf(content), true);
        !copied.ok())
      return copied;
  }
  return {};
}

Status TaskLauncher::Launch(CuFunction kernel, unsigned blocks, std::span<void*> arguments) {
  return site_.gpu.Check(site_.gpu.driver().LaunchKernel(kernel, blocks, 1, 1, kThreadsPerBlock, 1, 1, 0,
                                                         stream_, arguments.data(), nullptr),
                         "cuLaunchKernel");
}

Result<std::byte*> TaskLauncher::TakePinned(std::size_t bytes, std::uint64_t value) {
  if (bytes <= PinnedRing::kBytes && ring_.BusyUntil(bytes) == 0) return ring_.Take(bytes, value);
  auto block = site_.pinned_memory.Allocate(bytes, Pages::kBySize);
  if (!block.ok()) return block.TakeStatus();
  attachments_.push_back({.value = value, .pinned = *block});
  return reinterpret_cast<std::byte*>(block->address);
}

Status TaskLauncher::UpdateRanges(std::uint64_t value) {
  if (table_ != 0 && ranges_version_ == site_.device_memory.version()) return {};
  const std::uint64_t version = site_.device_memory.CopyRanges(ranges_);
  if (table_ranges_ < ranges_.size()) {
    const std::size_t room = std::max(ranges_.size() * 2, kLeastTableRanges);
    CuAddress table = 0;
    if (Status made = site_.gpu.Check(site_.gpu.driver().MemAlloc(&table, room * sizeof(RangeArgument)),
                                      "a table of device memory");
        !made.ok()) {
      return made;
    }
    if (table_ != 0) old_tables_.push_back(table_);
    table_ = table;
    table_ranges_ = room;
  }
  const std::size_t bytes = ranges_.size() * sizeof(RangeArgument);
  auto memory = TakePinned(bytes, value);
  if (!memory.ok()) return memory.TakeStatus();
  std::memcpy(*memory, ranges_.data(), bytes);
  ranges_version_ = version;
  return site_.gpu.Check(site_.gpu.driver().CopyHostToDevice(table_, *memory, bytes, stream_),
                         "uploading the table of device memory");
}

Status TaskLauncher::LaunchBody(IndirectTask& task, std::uint64_t value) {
  const IndirectTask::Content& content = *task.content;
  if (Status live = CheckLive(content.operands_memory[0], content.operands_memory[1]); !live.ok())
    return live;
  auto held = site_.device_memory
                  .HoldFreed();  // before the table is made: what is freed now stays until this is over
  if (Status updated = UpdateRanges(value); !updated.ok()) return updated;
  auto memory = TakePinned(sizeof(IndirectRecord), value);
  if (!memory.ok()) return memory.TakeStatus();
  auto* const record = reinterpret_cast<IndirectRecord*>(*memory);
  *record = {};
  const bool descriptor = content.form == IndirectTask::Content::Form::kDescriptor;
  IndirectArgument argument{
      .dst_cell = AddressOf(content.operands[0]) + (descriptor ? content.dst_at : 0),
      .src_cell = AddressOf(content.operands[descriptor ? 0 : 1]) + (descriptor ? content.src_at : 0),
      .length_cell = descriptor ? AddressOf(content.operands[0]) + content.length_at : 0,
      .dst_offset = content.dst_offset,
      .src_offset = content.src_offset,
      .bytes = content.bytes,
      .ranges = table_,
      .range_count = ranges_.size(),
      .record = AddressOf(record)};
  attachments_.push_back(
      {.value = value, .freed_memory = std::move(held), .record = record, .indirect = &content});
  std::array<void*, 1> arguments = {&argument};
  const std::size_t bytes = descriptor ? last_indirect_bytes_ : content.bytes;
  return Launch(site_.gpu.kernels().indirect, site_.paths.BlocksForBytes(bytes), arguments);
}

template <typename Other>
Status TaskLauncher::LaunchBody(Other&, std::uint64_t) {
  return {Code::kInternalError, "a task that only a queue can execute"};
}

namespace {

/// The message of whoever looks the operands up, as if it had been looked up on the device.
Status FailureOf(const IndirectRecord& record, const IndirectTask::Content& content) {
  using Access = AddressResolver::Access;
  for (const auto& [address, access] : {std::pair{record.dst, Access::kWrite}, {record.src, Access::kRead}}) {
    auto memory = content.resolver->ResolveDevice(address, record.bytes, content.device, access);
    if (!memory.ok()) return memory.TakeStatus();
  }
  return {Code::kSdmaCopyError,
          Text("the operands of a copy were not allocated device memory when it executed: ", record.bytes,
               " bytes from ", Hex(static_cast<std::uintptr_t>(record.src)), " to ",
               Hex(static_cast<std::uintptr_t>(record.dst)))};
}

}  // namespace

void TaskLauncher::Retire(std::uint64_t done, std::vector<DeviceFailure>& failures) {
  while (!attachments_.empty() && attachments_.front().value <= done) {
    const Attachment attachment = std::move(attachments_.front());
    attachments_.pop_front();
    if (attachment.pinned.bytes != 0) site_.pinned_memory.Free(attachment.pinned);
    if (attachment.record == nullptr) continue;
    last_indirect_bytes_ = attachment.record->bytes;
    if (attachment.record->failed != 0)
      failures.push_back({attachment.value, FailureOf(*attachment.record, *attachment.indirect)});
  }
  ring_.Retire(done);
}

void TaskLauncher::Abandon() {
  for (const Attachment& attachment : attachments_) {
    if (attachment.pinned.bytes != 0) site_.pinned_memory.Free(attachment.pinned);
  }
  attachments_.clear();
  ring_.Retire(UINT64_MAX);
}

}  // namespace sampan::cuda
