// Plans a batch as one task. Checks every entry before any byte moves.
#include <algorithm>
#include <cstdint>
#include <memory>
#include <utility>

#include "base/error/assert.h"
#include "base/error/text.h"
#include "base/threads/threads.h"
#include "core/copy/batch_run.h"
#include "core/copy/copy_ends.h"
#include "core/copy/copy_plan.h"
#include "core/copy/copy_rules.h"
#include "core/copy/memory_location.h"
#include "core/copy/peer_copy.h"

namespace sampan::core {
namespace {

[[gnu::cold, gnu::noinline]] Error AtEntry(std::size_t entry, std::string_view text) {
  return {Code::kParamInvalid, Text("entry ", entry, ": ", text), entry};
}

/// What was found at one side of an entry.
struct Found {
  Place place;
  std::byte* engine;
  const Allocation* memory;  ///< null: pageable; else it stays for as long as the batch
};

std::string Describe(const ClaimedPlace& claim) {
  if (claim.where == ClaimedPlace::kNowhere) return "a location type that no memory has";
  return claim.on_device() ? Text("memory of device ", claim.where) : std::string("host memory");
}

/// Returns true if the places fit the attribute and the entries before, which have that direction.
bool PlacesFit(const Place& dst, const Place& src, const BatchAttribute& claimed, Direction batch_direction) {
  return Matches(claimed.dst, dst) && Matches(claimed.src, src) && dst.on_device() != src.on_device() &&
         DirectionBetween(src, dst) == batch_direction;
}

/// Adds the entries from `first` on, at most up to `end`, that lie in two allocations whose places fit:
/// nothing is left to be checked of those. Returns how many.
std::size_t AddRun(const BatchRequest& request, std::size_t first, std::size_t end, const Allocation& dst,
                   const Allocation& src, BatchTask& batch) {
  const auto range = [](const Allocation& memory) {
    return KnownRange{memory.facts.address, memory.facts.bytes, memory.facts.engine_delta};
  };
  const std::size_t entries = end - first;
  const RunTotals run = WriteSegments({{&request.dsts[first], entries},
                                       {&request.srcs[first], entries},
                                       {&request.sizes[first], entries},
                                       range(dst),
                                       range(src)},
                                      batch.segments.next());
  batch.segments.Added(run.entries);
  batch.bytes += run.bytes;
  batch.longest = std::max(batch.longest, run.longest);
  return run.entries;
}

/// Says what is wrong with places that do not fit.
[[gnu::cold, gnu::noinline]] Status RefusePlaces(const BatchRequest& request, std::size_t i, Found dst,
                                                 Found src, const BatchAttribute& claimed,
                                                 Direction batch_direction) {
  const Direction direction = DirectionBetween(src.place, dst.place);
  const std::size_t bytes = request.sizes[i];
  const std::string dst_text = core::Describe({"dst", request.dsts[i], bytes}, dst.place, dst.memory);
  const std::string src_text = core::Describe({"src", request.srcs[i], bytes}, src.place, src.memory);
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

/// Makes the segments of a batch. Neighbouring entries mostly lie in the same two allocations.
class BatchPlanner {
 public:
  /// The ends are those of the entries that were added before, if there are any; kept alive by the batch.
  BatchPlanner(const BatchRequest& request, PlanContext context, PlainEnds ends, BatchTask& batch)
      : request_(request), context_(context), batch_(batch), dst_(ends.dst), src_(ends.src) {}

  /// Adds an entry by all the rules.
  Status AddEntry(std::size_t i, const BatchAttribute& claimed) {
    const std::size_t bytes = request_.sizes[i];
    known_ = false;
    if (bytes == 0 || request_.dsts[i] == nullptr || request_.srcs[i] == nullptr) [[unlikely]]
      return AddEmpty(i);
    if (!FindKnown(request_.dsts[i], bytes, dst_) || !FindKnown(request_.srcs[i], bytes, src_)) [[unlikely]]
      return AddInFull(i, claimed);
    known_ = true;
    return AddFound(i, claimed, FoundIn(*dst_, request_.dsts[i]), FoundIn(*src_, request_.srcs[i]));
  }
  /// Adds the entries in [first, end) that lie where the one before lies, under the same claims. Returns how
  /// many.
  std::size_t AddAlike(std::size_t first, std::size_t end) {
    if (first == end || !known_) return 0;
    return AddRun(request_, first, end, *dst_, *src_, batch_);
  }
  bool pageable() const { return probe_ != nullptr; }

 private:
  static Found FoundIn(const Allocation& memory, const void* pointer) {
    return {memory.facts.place, memory.EngineView(reinterpret_cast<std::uintptr_t>(pointer)), &memory};
  }
  /// Makes `memory` the allocation that holds the range: the one before, or another that needs no rights.
  /// False where there may be none.
  bool FindKnown(const void* pointer, std::size_t bytes, const Allocation*& memory) {
    const auto address = reinterpret_cast<std::uintptr_t>(pointer);
    if (memory != nullptr && memory->Holds(address, bytes)) return true;
    Allocation* const found = context_.registry().FindHolding(address, bytes);
    AllocationUse use(found);
    if (found == nullptr || found->facts.has_rights) return false;
    batch_.memory.push_back(std::move(use));
    memory = found;
    return true;
  }
  /// Refuses an entry without bytes or addresses, or skips it where that is allowed.
  [[gnu::cold, gnu::noinline]] Status AddEmpty(std::size_t i) {
    if (request_.sizes[i] == 0 && !request_.zero_sizes_allowed) return AtEntry(i, "its size is 0");
    if (request_.dsts[i] == nullptr) return AtEntry(i, "its dst is NULL");
    if (request_.srcs[i] == nullptr) return AtEntry(i, "its src is NULL");
    return {};
  }
  /// For entries in pageable memory, in several pieces, or in memory with rights.
  [[gnu::noinline]] Status AddInFull(std::size_t i, const BatchAttribute& claimed) {
    const NoCancellation no_cancellation;
    const std::size_t bytes = request_.sizes[i];
    Found dst{}, src{};
    if (Status found = FindInFull({"dst", request_.dsts[i], bytes}, HostAccess::kWrite, dst, dst_);
        !found.ok())
      return AtEntry(i, found.error().message);
    if (Status found = FindInFull({"src", request_.srcs[i], bytes}, HostAccess::kRead, src, src_);
        !found.ok())
      return AtEntry(i, found.error().message);
    known_ = dst.memory != nullptr && dst.memory == dst_ && src.memory != nullptr && src.memory == src_;
    return AddFound(i, claimed, dst, src);
  }
  Status FindInFull(MemoryArgument argument, HostAccess access, Found& found, const Allocation*& known) {
    if (FindKnown(argument.address, argument.bytes, known)) {
      found = FoundIn(*known, argument.address);
      return {};
    }
    Location location;
    if (Status located = Locate(context_.registry(), argument, location); !located.ok()) return located;
    if (Status may = CheckRights(location, argument, access, context_.device()); !may.ok()) return may;
    const Allocation* const memory = location.use.get();
    if (memory != nullptr) {
      batch_.memory.push_back(std::move(location.use));
      known = memory;  // its rights count for the whole allocation
      if (location.neighbours != nullptr) {
        for (AllocationUse& each : *location.neighbours)
          batch_.memory.push_back(std::move(each));
      }
    } else {
      if (probe_ == nullptr) probe_ = std::make_unique<HostProbe>();
      if (Status probed = probe_->Check(argument, access); !probed.ok()) return probed;
    }
    found = {location.place, location.engine, memory};
    return {};
  }

  Status AddFound(std::size_t i, const BatchAttribute& claimed, const Found& dst, const Found& src) {
    if (batch_.segments.empty()) batch_.direction = DirectionBetween(src.place, dst.place);
    if (!PlacesFit(dst.place, src.place, claimed, batch_.direction)) [[unlikely]]
      return RefusePlaces(request_, i, dst, src, claimed, batch_.direction);
    return AppendEntry({dst.engine, src.engine, request_.sizes[i]}, request_.sizes.size() - i - 1, batch_);
  }

  const BatchRequest& request_;
  const PlanContext context_;
  BatchTask& batch_;
  // The memory that was found last on each side, with its rights checked; kept alive by the batch.
  const Allocation* dst_;
  const Allocation* src_;
  bool known_ = false;                // the last entry lies there, on both sides
  std::unique_ptr<HostProbe> probe_;  // with the first pageable entry
};

}  // namespace

Status RefuseAttributeCount(std::size_t attributes, std::size_t entries) {
  return {Code::kParamInvalid, attributes == 0
                                   ? std::string("numAttrs is 0")
                                   : Text("numAttrs ", attributes, " is more than numBatches ", entries)};
}

Status CheckManyAttributes(std::span<const BatchAttribute> attributes, std::size_t entries) {
  const auto refuse = [](std::string text) { return Status(Code::kParamInvalid, std::move(text)); };
  if (attributes.front().first_entry != 0)
    return refuse(Text("attrsIndexes[0] is ", attributes.front().first_entry, ", it must be 0"));
  for (std::size_t k = 1; k < attributes.size(); ++k) {
    const std::size_t first = attributes[k].first_entry;
    if (first <= attributes[k - 1].first_entry)
      return refuse(Text("attrsIndexes[", k, "] is ", first, ", not more than the one before"));
    if (first >= entries)
      return refuse(Text("attrsIndexes[", k, "] is ", first, ", numBatches is ", entries));
  }
  return {};
}

namespace {

/// Goes on with the entries that the batch does not have yet, by all the rules. The ends are those of the
/// entries that it has.
[[gnu::noinline]] Status AddOtherEntries(const BatchRequest& request, PlanContext context, PlainEnds ends,
                                         Plan& plan) {
  BatchTask& batch = *std::get_if<BatchTask>(&plan.task);
  BatchPlanner planner(request, context, ends, batch);
  const std::size_t entries = request.sizes.size();
  std::size_t i = batch.segments.size();
  for (auto attribute = request.attributes.begin(); i < entries;) {
    SAMPAN_ASSERT(attribute->first_entry <= i);  // CheckAttributeStarts
    const BatchAttribute& claimed = *attribute;
    while (++attribute != request.attributes.end() && SameClaims(*attribute, claimed)) {
    }
    const std::size_t end = attribute != request.attributes.end() ? attribute->first_entry : entries;
    while (i < end) {
      if (Status added = planner.AddEntry(i, claimed); !added.ok()) return added;
      ++i;
      i += planner.AddAlike(i, end);
    }
  }
  batch.pageable = planner.pageable();
  plan.timing = batch.segments.empty() ? Timing::kNothing
                : batch.pageable       ? Timing::kDrainThenNow
                                       : Timing::kQueued;
  return RouteToPeers(context, plan);
}

}  // namespace

[[gnu::flatten]] Status PlanBatch(const BatchRequest& request, PlanContext context, Plan& plan) {
  const std::size_t entries = request.sizes.size();
  SAMPAN_ASSERT(request.dsts.size() == entries && request.srcs.size() == entries);
  PlainEnds ends;
  if (const std::size_t bytes = request.sizes.front(); bytes != 0) [[likely]]
    ends = PlainEnds::Find({request.dsts.front(), bytes, request.srcs.front(), bytes}, context);
  BatchTask& batch = plan.Make<BatchTask>(context.backend().segment_store());
  if (ends) [[likely]] {
    batch.memory.push_back(ends.TakeDst());
    batch.memory.push_back(ends.TakeSrc());
    batch.direction = ends.direction();
  }
  if (Status room = batch.segments.Reserve(entries); !room.ok()) return room;
  const BatchAttribute& claimed = request.attributes.front();
  if (ends && PlacesFit(ends.dst->facts.place, ends.src->facts.place, claimed, batch.direction)) [[likely]] {
    const std::size_t end = request.attributes.size() == 1 ? entries : request.attributes[1].first_entry;
    if (AddRun(request, 0, end, *ends.dst, *ends.src, batch) == entries) return {};
  }
  return AddOtherEntries(request, context, ends, plan);
}

}  // namespace sampan::core
