// Plans a batch as one task. Checks every entry before any byte moves.
#include <algorithm>
#include <cstdint>
#include <memory>
#include <utility>

#include "base/error/assert.h"
#include "base/error/text.h"
#include "base/threads/threads.h"
#include "core/copy/batch_run.h"
#include "core/copy/copy_plan.h"
#include "core/copy/copy_rules.h"
#include "core/copy/memory_location.h"

namespace sampan {
namespace {

Error AtEntry(std::size_t entry, std::string_view text) {
  return {Code::kParamInvalid, Text("entry ", entry, ": ", text), entry};
}

/// Appends an entry, cut into several segments if it is long. Keeps room for one segment of each later entry.
Status AppendCut(const Segment& entry, std::size_t entries_behind, BatchTask& batch) {
  const std::size_t segments = (entry.bytes - 1) / BatchTask::kMaxSegmentBytes + 1;
  const std::size_t needed = batch.segments.size() + segments + entries_behind;
  if (needed > batch.segments.room()) {
    if (Status room = batch.segments.Reserve(2 * needed); !room.ok()) return room;
  }
  SAMPAN_ASSERT(entry.bytes != 0 && batch.segments.room() >= needed);
  for (std::size_t done = 0; done < entry.bytes; done += BatchTask::kMaxSegmentBytes) {
    batch.segments.Append(
        {entry.dst + done, entry.src + done, std::min(BatchTask::kMaxSegmentBytes, entry.bytes - done)});
  }
  batch.bytes += entry.bytes;
  batch.longest = std::max(batch.longest, std::min(BatchTask::kMaxSegmentBytes, entry.bytes));
  return {};
}

/// Finds the memory of one side's entries. Neighbours are usually in the same allocation.
class SideLocator {
 public:
  SideLocator(std::string_view name, HostAccess access, PlanContext context, BatchTask& batch)
      : name_(name), access_(access), context_(context), batch_(batch) {}

  struct Found {
    Place place;
    std::byte* engine = nullptr;
    const Allocation* memory = nullptr;  ///< null: pageable; otherwise the batch keeps it alive
  };

  Status Find(const void* pointer, std::size_t bytes, Found& found) {
    const auto address = reinterpret_cast<std::uintptr_t>(pointer);
    if (last_ == nullptr || !last_->Holds(address, bytes)) {
      Allocation* const memory = context_.registry().FindCounted(address);
      if (memory == nullptr || !memory->Holds(address, bytes) || memory->facts.has_rights)
        return FindInFull({name_, pointer, bytes}, AllocationUse(memory), found);
      last_ = memory;
      batch_.memory.push_back(AllocationUse(memory));
    }
    found = {last_->facts.place, last_->EngineView(address), last_};
    return {};
  }
  /// The allocation around a range that was just found. Empty for pageable memory.
  KnownRange RangeOf(const Found& found) const {
    if (found.memory == nullptr || found.memory != last_) return {};
    return {last_->facts.address, last_->facts.bytes, last_->facts.engine_delta};
  }
  bool pageable() const { return probe_ != nullptr; }

 private:
  /// Continues with a use of the allocation at the start of the range, if there is one.
  [[gnu::noinline]] Status FindInFull(MemoryArgument argument, AllocationUse first, Found& found) {
    const NoCancellation no_cancellation;
    Location location;
    location.use = std::move(first);
    if (Status located = LocateFound(context_.registry(), argument, location); !located.ok()) return located;
    if (Status may = CheckRights(location, argument, access_, context_.device()); !may.ok()) return may;
    const Allocation* const memory = location.use.get();
    if (memory != nullptr) {
      // Caches only plain allocations, because rights may differ between pieces.
      last_ = memory->facts.has_rights ? nullptr : memory;
      batch_.memory.push_back(std::move(location.use));
      if (location.neighbours != nullptr) {
        for (AllocationUse& each : *location.neighbours)
          batch_.memory.push_back(std::move(each));
      }
    } else {
      if (probe_ == nullptr) probe_ = std::make_unique<HostProbe>();
      if (Status probed = probe_->Check(argument, access_); !probed.ok()) return probed;
    }
    found = {location.place, location.engine, memory};
    return {};
  }

  const std::string_view name_;
  const HostAccess access_;
  PlanContext context_;
  BatchTask& batch_;
  const Allocation* last_ = nullptr;  // kept alive by the batch
  std::unique_ptr<HostProbe> probe_;  // created for the first pageable entry
};

std::string Describe(const ClaimedPlace& claim) {
  if (!claim.known) return "a location type that no memory has";
  return claim.on_device ? Text("memory of device ", claim.device) : std::string("host memory");
}

/// The places of an entry, and what they are checked against.
struct EntryPlaces {
  const SideLocator::Found& dst;
  const SideLocator::Found& src;
  const BatchAttribute& claimed;
  Direction batch_direction;  ///< of the entries before it

  /// True if they fit the attribute and the entries before it.
  bool Fit() const {
    return Matches(claimed.dst, dst.place) && Matches(claimed.src, src.place) &&
           dst.place.on_device() != src.place.on_device() &&
           DirectionBetween(src.place, dst.place) == batch_direction;
  }
};

/// The error for places that do not fit.
[[gnu::noinline]] Status RefusePlaces(const BatchRequest& request, std::size_t i, EntryPlaces entry) {
  const auto& [dst, src, claimed, batch_direction] = entry;
  const Direction direction = DirectionBetween(src.place, dst.place);
  const std::size_t bytes = request.sizes[i];
  const std::string dst_text = Describe({"dst", request.dsts[i], bytes}, dst.place, dst.memory);
  const std::string src_text = Describe({"src", request.srcs[i], bytes}, src.place, src.memory);
  if (!Matches(claimed.dst, dst.place))
    return AtEntry(i, Text(dst_text, ", its attribute says ", Describe(claimed.dst)));
  if (!Matches(claimed.src, src.place))
    return AtEntry(i, Text(src_text, ", its attribute says ", Describe(claimed.src)));
  if (dst.place.on_device() == src.place.on_device())
    return AtEntry(i, Text("a batch copies between host and device: ", src_text, ", ", dst_text));
  return AtEntry(
      i, Text("a batch has one direction: this entry is ", Describe(KindOf(direction)),
              ", the ones before are ", Describe(KindOf(batch_direction)), ": ", src_text, ", ", dst_text));
}

bool SameClaims(const BatchAttribute& one, const BatchAttribute& other) {
  return one.dst == other.dst && one.src == other.src;
}

}  // namespace

Status CheckBatchAttributes(const BatchRequest& request) {
  const std::size_t entries = request.sizes.size();
  const auto refuse = [](std::string text) { return Status(Code::kParamInvalid, std::move(text)); };
  if (request.attributes.empty()) return refuse("numAttrs is 0");
  if (request.attributes.size() > entries) {
    return refuse(Text("numAttrs ", request.attributes.size(), " is more than numBatches ", entries));
  }
  if (request.attributes.front().first_entry != 0) {
    return refuse(Text("attrsIndexes[0] is ", request.attributes.front().first_entry, ", it must be 0"));
  }
  for (std::size_t k = 1; k < request.attributes.size(); ++k) {
    const std::size_t first = request.attributes[k].first_entry;
    if (first <= request.attributes[k - 1].first_entry) {
      return refuse(Text("attrsIndexes[", k, "] is ", first, ", not more than the one before"));
    }
    if (first >= entries)
      return refuse(Text("attrsIndexes[", k, "] is ", first, ", numBatches is ", entries));
  }
  return {};
}

Status PlanBatch(const BatchRequest& request, PlanContext context, Plan& plan) {
  const std::size_t entries = request.sizes.size();
  SAMPAN_ASSERT(request.dsts.size() == entries && request.srcs.size() == entries);
  BatchTask& batch = plan.Make<BatchTask>(context.backend().segment_store());
  if (Status room = batch.segments.Reserve(entries); !room.ok()) return room;
  SideLocator dsts("dst", HostAccess::kWrite, context, batch);
  SideLocator srcs("src", HostAccess::kRead, context, batch);
  std::size_t next_attribute = 0;
  const BatchAttribute* attribute = nullptr;
  for (std::size_t i = 0; i < entries; ++i) {
    if (next_attribute < request.attributes.size() && request.attributes[next_attribute].first_entry == i) {
      attribute = &request.attributes[next_attribute++];
    }
    SAMPAN_ASSERT(attribute != nullptr);  // CheckBatchAttributes: the first applies from entry 0 on
    const std::size_t bytes = request.sizes[i];
    if (bytes == 0 && !request.zero_sizes_allowed) return AtEntry(i, "its size is 0");
    if (request.dsts[i] == nullptr) return AtEntry(i, "its dst is NULL");
    if (request.srcs[i] == nullptr) return AtEntry(i, "its src is NULL");
    if (bytes == 0) continue;
    SideLocator::Found dst, src;
    if (Status found = dsts.Find(request.dsts[i], bytes, dst); !found.ok())
      return AtEntry(i, found.error().message);
    if (Status found = srcs.Find(request.srcs[i], bytes, src); !found.ok())
      return AtEntry(i, found.error().message);
    const Direction direction = DirectionBetween(src.place, dst.place);
    if (batch.segments.empty()) batch.direction = direction;
    const EntryPlaces places{dst, src, *attribute, batch.direction};
    if (!places.Fit()) [[unlikely]]
      return RefusePlaces(request, i, places);
    if (Status cut = AppendCut({dst.engine, src.engine, bytes}, entries - i - 1, batch); !cut.ok())
      return cut;
    // These checks also cover later entries in the same two allocations.
    while (next_attribute < request.attributes.size() &&
           SameClaims(request.attributes[next_attribute], *attribute)) {
      ++next_attribute;
    }
    const std::size_t run_end =
        next_attribute < request.attributes.size() ? request.attributes[next_attribute].first_entry : entries;
    const std::size_t next = i + 1;
    if (next == run_end) continue;
    const RunTotals run =
        WriteSegments({request.dsts.subspan(next, run_end - next), request.srcs.subspan(next, run_end - next),
                       request.sizes.subspan(next, run_end - next), dsts.RangeOf(dst), srcs.RangeOf(src)},
                      batch.segments.next());
    batch.segments.Added(run.entries);
    batch.bytes += run.bytes;
    batch.longest = std::max(batch.longest, run.longest);
    i += run.entries;
  }
  batch.pageable = dsts.pageable() || srcs.pageable();
  plan.timing = batch.segments.empty() ? Timing::kNothing
                : batch.pageable       ? Timing::kDrainThenNow
                                       : Timing::kQueued;
  return {};
}

}  // namespace sampan
