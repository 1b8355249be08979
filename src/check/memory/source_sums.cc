// What queued copies read from host memory that cannot be kept from the program, as checksums.
#include "check/memory/source_sums.h"

#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <optional>
#include <utility>

namespace sampan::check {
namespace {

constexpr std::uint64_t kMinBlockBytes = 64, kMaxBlockBytes = 16384;
/// Of a copy, as long as blocks can grow.
constexpr std::uint64_t kMaxBlocks = 65536, kMaxRows = 65536;

/// Bytes of the program, read through the system: they may be unmapped by now.
class SafeReader {
 public:
  explicit SafeReader(std::uintptr_t memory) : memory_(memory) {}

  /// Of at most kMaxBlockBytes. None: they cannot be read.
  std::optional<std::uint64_t> SumOf(const Range& range) {
    if (!known_.Holds(range) && !ReadFrom(range)) return std::nullopt;
    const std::byte* const bytes = bytes_.data() + (range.begin - known_.begin);
    constexpr std::uint64_t kFactor = 0x9E3779B97F4A7C15;
    std::uint64_t sum = 0;
    for (std::uint64_t i = 0; i < range.bytes(); i += sizeof(std::uint64_t)) {
      std::uint64_t word = 0;
      std::memcpy(&word, bytes + i, std::min<std::uint64_t>(range.bytes() - i, sizeof word));
      sum = (sum ^ word) * kFactor;
      sum ^= sum >> 29;
    }
    return sum;
  }
  /// The next read also reads what lies before `end`.
  void ReadAhead(std::uint64_t end) { ahead_ = end; }

 private:
  bool ReadFrom(const Range& range) {
    const std::uint64_t end = std::max(range.end, ahead_);
    const iovec own{bytes_.data(), std::min<std::uint64_t>(end - range.begin, bytes_.size())};
    const iovec program{reinterpret_cast<void*>(memory_ + range.begin), own.iov_len};
    const ssize_t done = ::process_vm_readv(::getpid(), &own, 1, &program, 1, 0);
    if (done <= 0) return false;
    known_ = {range.begin, range.begin + static_cast<std::uint64_t>(done)};
    return known_.Holds(range);
  }

  const std::uintptr_t memory_;
  std::uint64_t ahead_ = 0;
  Range known_;
  std::array<std::byte, kMaxBlockBytes> bytes_;
};

Range Cut(const Range& one, const Range& other) {
  const std::uint64_t begin = std::max(one.begin, other.begin);
  return {begin, std::max(begin, std::min(one.end, other.end))};
}

}  // namespace

template <typename Each>
void SourceSums::Source::ForEachBlock(Each each) const {
  const std::uint64_t pitch = shape.is_rows() ? shape.pitch : shape.range.bytes();
  const std::uint64_t width = shape.is_rows() ? shape.width : shape.range.bytes();
  for (std::uint64_t row = shape.range.begin; row < shape.range.end; row += pitch) {
    const Range bytes = Cut({row, row + width}, unguarded);
    for (std::uint64_t at = bytes.begin; at < bytes.end; at += block_bytes) {
      if (!each(Range{at, std::min(at + block_bytes, bytes.end)})) return;
    }
  }
}

bool SourceSums::Source::Sum(std::uintptr_t memory) {
  SafeReader reader(memory);
  if (!shape.is_rows()) reader.ReadAhead(Cut(shape.range, unguarded).end);
  bool readable = true;
  ForEachBlock([&](const Range& block) {
    const auto sum = reader.SumOf(block);
    readable = sum.has_value();
    if (readable) sums.push_back(*sum);
    return readable;
  });
  return readable && !sums.empty();
}

Range SourceSums::Source::ChangedIn(std::uintptr_t memory) const {
  SafeReader reader(memory);
  if (!shape.is_rows()) reader.ReadAhead(Cut(shape.range, unguarded).end);
  Range changed;
  auto sum = sums.begin();
  ForEachBlock([&](const Range& block) {
    const auto now = reader.SumOf(block);
    if (!now) return false;
    const bool differs = *now != *sum++;
    if (changed.bytes() != 0 && (!differs || changed.end != block.begin)) return false;
    if (differs) changed = {changed.bytes() == 0 ? block.begin : changed.begin, block.end};
    return true;
  });
  return changed;
}

void SourceSums::Add(std::uintptr_t memory, const TaskAccess& access, const Range& unguarded,
                     const SharedSite& site) {
  const std::uint64_t bytes = Cut(access.shape.range, unguarded).bytes();
  const bool too_many_rows =
      access.shape.is_rows() && access.shape.range.bytes() / access.shape.pitch >= kMaxRows;
  if (bytes == 0 || too_many_rows || sources_.size() >= kMaxSources) return;
  const std::uint64_t block = (bytes + kMaxBlocks - 1) / kMaxBlocks;
  Source source{.site = site,
                .all = access.shape.range,
                .entry = access.entry,
                .shape = access.shape,
                .unguarded = unguarded,
                .block_bytes = std::clamp((block + 7) / 8 * 8, kMinBlockBytes, kMaxBlockBytes)};
  if (source.Sum(memory)) sources_.push_back(std::move(source));
}

void SourceSums::Drop(const Shape& written) noexcept {
  for (Source& source : sources_)
    source.dropped = source.dropped || source.shape.Common(written).has_value();
}

void SourceSums::DropAll() noexcept {
  for (Source& source : sources_)
    source.dropped = true;
}

void SourceSums::ForgetQueue(std::uint64_t queue) {
  std::erase_if(sources_, [queue](const Source& source) { return source.site->queue.number == queue; });
}

}  // namespace sampan::check
