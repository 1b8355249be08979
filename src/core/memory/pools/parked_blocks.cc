// Blocks of a pool that were freed in stream order, found by size and by age.
#include "core/memory/pools/parked_blocks.h"

#include "base/error/assert.h"

namespace sampan::core {

void ParkedBlocks::Prepare(ParkableBlock& block, const Timeline* freed_on) {
  block.pending.Prepare();
  if (block.of_size == nullptr) block.of_size = &by_size_[block.usable];
  if (recent_timeline_ != freed_on || recent_by_age_ == nullptr) {
    ByAge& by_age = by_timeline_[freed_on];
    const Timeline* const before = recent_timeline_;
    recent_timeline_ = freed_on;
    recent_by_age_ = &by_age;
    ForgetIfEmpty(before);
  }
  block.by_age = recent_by_age_;
}

void ParkedBlocks::Park(ParkableBlock& block) noexcept {
  SAMPAN_ASSERT(block.of_size != nullptr && block.by_age != nullptr);  // prepared
  block.of_size->PushFront(block);
  block.by_age->PushBack(block);
  ++count_;
}

void ParkedBlocks::ParkAgain(ParkableBlock& block) noexcept {
  block.by_age = &parked_again_;
  Park(block);
}

void ParkedBlocks::Unpark(ParkableBlock& block) noexcept {
  SAMPAN_ASSERT(count_ > 0);
  block.of_size->Remove(block);
  block.by_age->Remove(block);
  --count_;
  if (block.by_age->empty()) ForgetIfEmpty(block.pending.newest().timeline.get());
}

void ParkedBlocks::ForgetIfEmpty(const Timeline* timeline) noexcept {
  if (timeline == recent_timeline_) return;
  const auto list = by_timeline_.find(timeline);
  if (list != by_timeline_.end() && list->second.empty()) by_timeline_.erase(list);
}

ParkableBlock* ParkedBlocks::LastOfSize(std::size_t usable) {
  if (recent_size_ != usable || recent_of_size_ == nullptr) {
    const auto list = by_size_.find(usable);
    if (list == by_size_.end()) return nullptr;
    recent_size_ = usable;
    recent_of_size_ = &list->second;
  }
  return recent_of_size_->first();
}

}  // namespace sampan::core
