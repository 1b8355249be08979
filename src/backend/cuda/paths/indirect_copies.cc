// Copies with operands in device memory. A kernel reads the operands when it runs.
#include "backend/cuda/paths/indirect_copies.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

#include "backend/api/indirect_operand.h"
#include "backend/cuda/paths/copy_ends.h"
#include "base/error/text.h"

namespace sampan::cuda {
namespace {

/// The minimum capacity of a table of device memory, so that it rarely has to grow.
constexpr std::size_t kMinTableRanges = 4096;

static_assert(sizeof(RangeArgument) == sizeof(ReservedMemory::Range));

bool IsDescriptor(const IndirectTask::Content& content) {
  return content.form == IndirectTask::Content::Form::kDescriptor;
}

/// The error of an invalid operand, with the message that a lookup on the host would give.
Status FailureOf(const IndirectRecord& record, const IndirectTask::Content& content) {
  using Access = AddressResolver::Access;
  for (const auto& [address, access] : {std::pair{record.dst, Access::kWrite}, {record.src, Access::kRead}}) {
    auto memory = ResolveOperand(content, access, address, record.bytes);
    if (!memory.ok()) return memory.TakeStatus();
  }
  return {Code::kSdmaCopyError,
          Text(DescribeOperand(content, Access::kWrite), ", ", DescribeOperand(content, Access::kRead),
               ": the operands were not allocated device memory when it executed: ", record.bytes,
               " bytes from ", Hex(static_cast<std::uintptr_t>(record.src)), " to ",
               Hex(static_cast<std::uintptr_t>(record.dst)))};
}

}  // namespace

IndirectCopies::~IndirectCopies() {
  if (records_.bytes != 0) stream_.site().pinned_memory.Free(records_);
  if (stream_.gpu().lost()) return;  // the tables are gone with the context
  const ContextScope scope(stream_.gpu());
  old_tables_.push_back(table_);
  for (const CuAddress table : old_tables_) {
    if (table != 0) stream_.driver().MemFree(table);
  }
}

Status IndirectCopies::UpdateRanges(std::uint64_t sequence) {
  if (table_ != 0 && ranges_version_ == stream_.site().device_memory.version()) return {};
  const std::uint64_t version = stream_.site().device_memory.CopyRanges(ranges_);
  if (ranges_.empty()) {  // a kernel reads nothing of the table
    ranges_version_ = version;
    return {};
  }
  if (table_ranges_ < ranges_.size()) {
    const std::size_t room = std::max(ranges_.size() * 2, kMinTableRanges);
    CuAddress table = 0;
    if (Status made = stream_.gpu().Check(stream_.driver().MemAlloc(&table, room * sizeof(RangeArgument)),
                                          "a table of device memory");
        !made.ok()) {
      return made;
    }
    if (table_ != 0) old_tables_.push_back(table_);
    table_ = table;
    table_ranges_ = room;
  }
  const std::size_t bytes = ranges_.size() * sizeof(RangeArgument);
  auto memory = stream_.TakePinned(bytes, sequence);
  if (!memory.ok()) return memory.TakeStatus();
  std::memcpy(*memory, ranges_.data(), bytes);
  ranges_version_ = version;
  return stream_.gpu().Check(stream_.driver().CopyHostToDevice(table_, *memory, bytes, stream_.get()),
                             "uploading the table of device memory");
}

Result<IndirectRecord*> IndirectCopies::RecordOf(std::uint64_t sequence) {
  if (records_.bytes == 0) {
    auto block = stream_.site().pinned_memory.Allocate(kMaxTasks * sizeof(IndirectRecord), Pages::kBySize);
    if (!block.ok()) return block.TakeStatus();
    records_ = *block;
  }
  return reinterpret_cast<IndirectRecord*>(records_.address) + sequence % kMaxTasks;
}

Status IndirectCopies::Launch(const IndirectTask::Content& content, std::uint64_t sequence) {
  // Taken before the table is made, so that memory freed from now on stays until this copy completes.
  auto held = stream_.site().device_memory.HoldFreed();
  if (Status updated = UpdateRanges(sequence); !updated.ok()) return updated;
  auto record = RecordOf(sequence);
  if (!record.ok()) return record.TakeStatus();
  const bool descriptor = IsDescriptor(content);
  const std::size_t expected = descriptor ? last_bytes_ : content.bytes;
  **record = {.bytes = expected};
  IndirectArgument argument{
      .dst_cell = AddressOf(content.operands[0]) + (descriptor ? content.dst_at : 0),
      .src_cell = AddressOf(content.operands[descriptor ? 0 : 1]) + (descriptor ? content.src_at : 0),
      .length_cell = descriptor ? AddressOf(content.operands[0]) + content.length_at : 0,
      .dst_offset = content.dst_offset,
      .src_offset = content.src_offset,
      .bytes = content.bytes,
      .expected_bytes = expected,
      .ranges = table_,
      .range_count = ranges_.size(),
      .record = AddressOf(*record)};
  launched_.push_back({sequence, std::move(held), *record, &content});
  std::array<void*, 1> arguments = {&argument};
  return stream_.Launch(stream_.gpu().kernels().indirect, {stream_.site().paths.BlocksForBytes(expected)},
                        arguments);
}

void IndirectCopies::Retire(std::uint64_t done, std::vector<DeviceFailure>& failures) {
  for (; !launched_.empty() && launched_.front().sequence <= done; launched_.pop_front()) {
    const Launched& each = launched_.front();
    if (IsDescriptor(*each.content)) last_bytes_ = each.record->bytes;
    if (each.record->failed != 0) failures.push_back({each.sequence, FailureOf(*each.record, *each.content)});
  }
}

}  // namespace sampan::cuda
