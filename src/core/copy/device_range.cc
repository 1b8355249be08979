// Device memory for work that other ranks take part in: its engine address, and what keeps it.
#include "core/copy/device_range.h"

#include <memory>
#include <span>
#include <utility>

#include "backend/api/task_memory.h"
#include "base/error/text.h"
#include "core/memory/mapped/peer_mapping.h"

namespace sampan::core {
namespace {

class HeldUses final : public HeldMemory {
 public:
  HeldUses(const MemoryRegistry& memory, AllocationUse use, std::unique_ptr<Uses> neighbours)
      : memory_(memory), use_(std::move(use)), neighbours_(std::move(neighbours)) {}
  Status CheckLive() const override {
    if (Status own = memory_.CheckHandover(use_); !own.ok()) return own;
    Status live = sampan::CheckLive(use_);
    if (!live.ok() || neighbours_ == nullptr) return live;
    return sampan::CheckLive(std::span<const AllocationUse>(*neighbours_));
  }
  FilePlace PlaceInFile(const void* address) const override {
    const Allocation& allocation = *use_.get();
    if (neighbours_ != nullptr || memory_.OriginOf(allocation) != MemoryOrigin::kDevice) return {};
    const MemoryRegistry::Backing backing = memory_.BackingOf(allocation);
    auto file = backing.source->FileOf(backing.block);
    if (!file.ok() || file->descriptor < 0) return {};
    return {file->descriptor,
            file->offset + (reinterpret_cast<std::uintptr_t>(address) - allocation.facts.address)};
  }

  const Allocation* allocation() const { return use_.get(); }

 private:
  const MemoryRegistry& memory_;
  const AllocationUse use_;
  const std::unique_ptr<Uses> neighbours_;
};

}  // namespace

Status FindDeviceRange(const MemoryRegistry& memory, const MemoryArgument& argument, std::int32_t device,
                       DeviceRange& range) {
  Location found;
  if (Status located = Locate(memory, argument, found); !located.ok()) return located;
  if (!found.use || !found.place.on_device()) {
    return {Code::kParamInvalid,
            Text(Describe(argument, found.place, found.use.get()), ": it must be device memory")};
  }
  if (Status here = RefusePeer(memory, found.use, argument.name, found.neighbours.get()); !here.ok())
    return here;
  if (Status may = CheckRights(found, argument, HostAccess::kWrite, device); !may.ok()) return may;
  range.engine = found.engine;
  range.device = device;
  range.address = argument.address;
  range.allocation = found.use->facts.serial;
  range.held = std::make_shared<HeldUses>(memory, std::move(found.use), std::move(found.neighbours));
  return {};
}

const Allocation* AllocationOf(const HeldMemory& held) {
  return static_cast<const HeldUses&>(held).allocation();
}

}  // namespace sampan::core
