// Turns a batch request into one task; every entry is checked before any byte moves.
#include <algorithm>
#include <utility>

#include "base/text.h"
#include "core/copy_plan.h"
#include "core/copy_rules.h"
#include "core/memory_location.h"

namespace sampan {
namespace {

/// Longer entries are cut, so that engines can share them.
constexpr std::size_t kMostSegmentBytes = std::size_t{1} << 20;

Error AtEntry(std::size_t entry, std::string_view text) {
  return {Code::kParamInvalid, Text("entry ", entry, ": ", text), entry};
}

/// An allocation as entries are held against it. Empty: nothing fits.
struct KnownRange {
  std::uintptr_t address = 0;
  std::size_t bytes = 0;
  std::ptrdiff_t engine_delta = 0;

  bool Holds(const void* pointer, std::size_t length) const {
    const std::size_t offset = reinterpret_cast<std::uintptr_t>(pointer) - address;
    return offset < bytes && length <= bytes - offset;
  }
  std::byte* EngineView(const void* pointer) const {
    return reinterpret_cast<std::byte*>(reinterpret_cast<std::uintptr_t>(pointer) +
                                        static_cast<std::uintptr_t>(engine_delta));
  }
};

/// Takes entries from `first` on for as long as they lie in the two ranges; gives the first that does not, or
/// `end`.
std::size_t AppendRun(const BatchRequest& request, std::size_t first, std::size_t end,
                      const KnownRange& dst_range, const KnownRange& src_range, BatchTask::Content& content) {
  std::size_t total = 0;
  std::size_t i = first;
  for (; i < end; ++i) {
    const std::size_t bytes = request.sizes[i];
    const void* const dst = request.dsts[i];
    const void* const src = request.srcs[i];
    if (bytes - 1 >= kMostSegmentBytes || !dst_range.Holds(dst, bytes) || !src_range.Holds(src, bytes)) break;
    content.segments.push_back({dst_range.EngineView(dst), src_range.EngineView(src), bytes});
    total += bytes;
  }
  content.bytes += total;
  return i;
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
      return Found{same->facts.place, same->EngineView(address)};
    const MemoryArgument argument{name_, pointer, bytes};
    Location location;
    if (Status located = Locate(registry_, argument, location); !located.ok()) return located;
    if (Status may = CheckRights(location, argument, access_, device_); !may.ok()) return may;
    if (location.use) {
      // Rights may differ from piece to piece: only plain allocations are remembered.
      last_ = location.use->facts.has_rights ? nullptr : location.use.get();
      content_.memory.push_back(std::move(location.use));
      for (AllocationUse& each : location.more)
        content_.memory.push_back(std::move(each));
    } else {
      pageable_ = true;
      if (Status probed = ProbeHostMemory(argument, access_); !probed.ok()) return probed;
    }
    return Found{location.place, location.engine};
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
};

std::string Describe(const ClaimedPlace& claim) {
  if (!claim.known) return "a location type that no memory has";
  return claim.on_device ? Text("memory of device ", claim.device) : std::string("host memory");
}

bool SameClaims(const BatchAttribute& one, const BatchAttribute& other) {
  return one.dst == other.dst && one.src == other.src;
}

bool Matches(const ClaimedPlace& claim, const Place& place) {
  return claim.known && claim.on_device == place.on_device() &&
         (!claim.on_device || claim.device == static_cast<std::uint32_t>(place.device));
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
  auto content = std::make_unique<BatchTask::Content>();
  content->segments.reserve(request.sizes.size());
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
    if (!Matches(attribute->dst, dst->place)) {
      return AtEntry(i, Text("dst ", Hex(request.dsts[i]), " is ", Describe(dst->place),
                             ", its attribute says ", Describe(attribute->dst)));
    }
    if (!Matches(attribute->src, src->place)) {
      return AtEntry(i, Text("src ", Hex(request.srcs[i]), " is ", Describe(src->place),
                             ", its attribute says ", Describe(attribute->src)));
    }
    if (dst->place.on_device() == src->place.on_device()) {
      return AtEntry(i, Text("a batch copies between host and device, this is ", Describe(src->place), " to ",
                             Describe(dst->place)));
    }
    const CopyKind direction = DirectionOf(src->place, dst->place);
    if (content->segments.empty()) batch_direction = direction;
    if (direction != batch_direction) {
      return AtEntry(i, Text("a batch has one direction: this entry is ", Describe(direction),
                             ", the ones before are ", Describe(batch_direction)));
    }
    for (std::size_t done = 0; done < bytes; done += kMostSegmentBytes) {
      content->segments.push_back(
          {dst->engine + done, src->engine + done, std::min(kMostSegmentBytes, bytes - done)});
    }
    content->bytes += bytes;
    // What holds for this entry holds for those behind it that lie in the same two allocations.
    while (next_attribute < request.attributes.size() &&
           SameClaims(request.attributes[next_attribute], *attribute)) {
      ++next_attribute;
    }
    const std::size_t run_end = next_attribute < request.attributes.size()
                                    ? request.attributes[next_attribute].first_entry
                                    : request.sizes.size();
    i = AppendRun(request, i + 1, run_end, dsts.RangeAt(request.dsts[i], bytes),
                  srcs.RangeAt(request.srcs[i], bytes), *content) -
        1;
  }
  if (content->segments.empty()) return Plan{.timing = Timing::kNothing};
  content->pageable = dsts.pageable() || srcs.pageable();
  const bool pageable = content->pageable;
  if (request.sizes.size() == 1 && !pageable) {  // one entry is a copy like any other
    const Segment& first = content->segments.front();
    return Plan{CopyTask{{first.dst, first.src, content->bytes},
                         std::move(content->memory[0]),
                         std::move(content->memory[1])},
                Timing::kQueued};
  }
  return Plan{BatchTask{std::move(content)}, pageable ? Timing::kDrainThenNow : Timing::kQueued};
}

}  // namespace sampan
