// Turns a batch request into one task; every entry is checked before any byte moves.
#include <algorithm>
#include <cstdint>
#include <utility>

#include "base/text.h"
#include "core/batch_run.h"
#include "core/copy_plan.h"
#include "core/copy_rules.h"
#include "core/memory_location.h"

namespace sampan {
namespace {

Error AtEntry(std::size_t entry, std::string_view text) {
  return {Code::kParamInvalid, Text("entry ", entry, ": ", text), entry};
}

/// Appends an entry, in several segments where it is long, and keeps room for one each of those behind it.
Status AppendCut(const Segment& entry, std::size_t entries_behind, BatchTask::Content& content) {
  const std::size_t segments = (entry.bytes - 1) / BatchTask::kMostSegmentBytes + 1;
  const std::size_t needed = content.segments.size() + segments + entries_behind;
  if (needed > content.segments.room()) {
    if (Status room = content.segments.Reserve(2 * needed); !room.ok()) return room;
  }
  for (std::size_t done = 0; done < entry.bytes; done += BatchTask::kMostSegmentBytes) {
    content.segments.Append(
        {entry.dst + done, entry.src + done, std::min(BatchTask::kMostSegmentBytes, entry.bytes - done)});
  }
  content.bytes += entry.bytes;
  content.longest = std::max(content.longest, std::min(BatchTask::kMostSegmentBytes, entry.bytes));
  return {};
}

/// Finds the memory of one side's entries; neighbours mostly lie in the same allocation.
class SideLocator {
 public:
  SideLocator(std::string_view name, HostAccess access, const PlanContext& context,
              BatchTask::Content& content)
      : name_(name),
        access_(access),
        registry_(context.registry),
        device_(context.device),
        content_(content) {}

  struct Found {
    Place place;
    std::byte* engine;
    const Allocation* memory;  ///< null: pageable; else it stays for as long as the content
  };

  /// The allocation found last, if the range lies in it; otherwise null.
  const Allocation* Again(const void* pointer, std::size_t bytes) const {
    const auto address = reinterpret_cast<std::uintptr_t>(pointer);
    const bool same = last_ != nullptr && last_->Contains(address) && bytes <= last_->BytesFrom(address);
    return same ? last_ : nullptr;
  }
  /// What is known of the memory around a range that was found; nothing of pageable memory.
  KnownRange RangeAt(const void* pointer, std::size_t bytes) const {
    const Allocation* const allocation = Again(pointer, bytes);
    if (allocation == nullptr) return {};
    return {allocation->facts.address, allocation->facts.bytes, allocation->facts.engine_delta};
  }

  Result<Found> Find(const void* pointer, std::size_t bytes) {
    const auto address = reinterpret_cast<std::uintptr_t>(pointer);
    if (const Allocation* same = Again(pointer, bytes))
      return Found{same->facts.place, same->EngineView(address), same};
    const MemoryArgument argument{name_, pointer, bytes};
    Location location;
    if (Status located = Locate(registry_, argument, location); !located.ok()) return located;
    if (Status may = CheckRights(location, argument, access_, device_); !may.ok()) return may;
    const Allocation* const memory = location.use.get();
    if (location.use) {
      // Rights may differ from piece to piece: only plain allocations are remembered.
      last_ = memory->facts.has_rights ? nullptr : memory;
      content_.memory.push_back(std::move(location.use));
      for (AllocationUse& each : location.more)
        content_.memory.push_back(std::move(each));
    } else {
      pageable_ = true;
      if (Status probed = probe_.Check(argument, access_); !probed.ok()) return probed;
    }
    return Found{location.place, location.engine, memory};
  }

  bool pageable() const { return pageable_; }

 private:
  const std::string_view name_;
  const HostAccess access_;
  const MemoryRegistry& registry_;
  const std::int32_t device_;
  BatchTask::Content& content_;
  const Allocation* last_ = nullptr;  // kept alive by content_.memory
  bool pageable_ = false;
  HostProbe probe_;
};

std::string Describe(const ClaimedPlace& claim) {
  if (!claim.known) return "a location type that no memory has";
  return claim.on_device ? Text("memory of device ", claim.device) : std::string("host memory");
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

Result<Plan> PlanBatch(const BatchRequest& request, const PlanContext& context) {
  auto content = std::make_unique<BatchTask::Content>(context.backend.segment_store());
  if (Status room = content->segments.Reserve(request.sizes.size()); !room.ok()) return room;
  content->memory.reserve(2);  // mostly one allocation on either side
  SideLocator dsts("dst", HostAccess::kWrite, context, *content);
  SideLocator srcs("src", HostAccess::kRead, context, *content);
  CopyKind batch_direction{};
  std::size_t next_attribute = 0;
  const BatchAttribute* attribute = nullptr;
  for (std::size_t i = 0; i < request.sizes.size(); ++i) {
    if (next_attribute < request.attributes.size() && request.attributes[next_attribute].first_entry == i) {
      attribute = &request.attributes[next_attribute++];
    }
    const std::size_t bytes = request.sizes[i];
    if (bytes == 0 && !request.zero_sizes_allowed) return AtEntry(i, "its size is 0");
    if (request.dsts[i] == nullptr) return AtEntry(i, "its dst is NULL");
    if (request.srcs[i] == nullptr) return AtEntry(i, "its src is NULL");
    if (bytes == 0) continue;
    const auto fail = [i](Status status) { return AtEntry(i, status.error().message); };
    auto dst = dsts.Find(request.dsts[i], bytes);
    if (!dst.ok()) return fail(dst.TakeStatus());
    auto src = srcs.Find(request.srcs[i], bytes);
    if (!src.ok()) return fail(src.TakeStatus());
    const auto dst_text = [&] { return Describe({"dst", request.dsts[i], bytes}, dst->place, dst->memory); };
    const auto src_text = [&] { return Describe({"src", request.srcs[i], bytes}, src->place, src->memory); };
    if (!Matches(attribute->dst, dst->place))
      return AtEntry(i, Text(dst_text(), ", its attribute says ", Describe(attribute->dst)));
    if (!Matches(attribute->src, src->place))
      return AtEntry(i, Text(src_text(), ", its attribute says ", Describe(attribute->src)));
    if (dst->place.on_device() == src->place.on_device()) {
      return AtEntry(i, Text("a batch copies between host and device: ", src_text(), ", ", dst_text()));
    }
    const CopyKind direction = DirectionOf(src->place, dst->place);
    if (content->segments.empty()) batch_direction = direction;
    if (direction != batch_direction) {
      return AtEntry(
          i, Text("a batch has one direction: this entry is ", Describe(direction), ", the ones before are ",
                  Describe(batch_direction), ": ", src_text(), ", ", dst_text()));
    }
    if (Status cut = AppendCut({dst->engine, src->engine, bytes}, request.sizes.size() - i - 1, *content);
        !cut.ok()) {
      return cut;
    }
    // What holds for this entry holds for those behind it that lie in the same two allocations.
    while (next_attribute < request.attributes.size() &&
           SameClaims(request.attributes[next_attribute], *attribute)) {
      ++next_attribute;
    }
    const std::size_t run_end = next_attribute < request.attributes.size()
                                    ? request.attributes[next_attribute].first_entry
                                    : request.sizes.size();
    const std::size_t next = i + 1;
    const RunTotals run =
        DescribeRun({request.dsts.subspan(next, run_end - next), request.srcs.subspan(next, run_end - next),
                     request.sizes.subspan(next, run_end - next), dsts.RangeAt(request.dsts[i], bytes),
                     srcs.RangeAt(request.srcs[i], bytes)},
                    content->segments.next());
    content->segments.Added(run.entries);
    content->bytes += run.bytes;
    content->longest = std::max(content->longest, run.longest);
    i += run.entries;
  }
  if (content->segments.empty()) return Plan{.timing = Timing::kNothing};
  content->pageable = dsts.pageable() || srcs.pageable();
  const bool pageable = content->pageable;
  // One entry is a copy like any other, unless it lies in several mappings.
  if (request.sizes.size() == 1 && !pageable && content->memory.size() == 2) {
    const Segment& first = content->segments.front();
    return Plan{CopyTask{{first.dst, first.src, content->bytes},
                         std::move(content->memory[0]),
                         std::move(content->memory[1])},
                Timing::kQueued};
  }
  return Plan{BatchTask{std::move(content)}, pageable ? Timing::kDrainThenNow : Timing::kQueued};
}

}  // namespace sampan
