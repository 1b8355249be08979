// How many allocations and streams the process holds, by the place that made them.
#include "check/findings/held_counts.h"

#include "base/system/surviving_file.h"
#include "check/findings/findings_file.h"

namespace sampan::check {

void HeldCounts::Start(const std::string& path) noexcept {
  const auto memory = MapSurvivingFile(path, kHeldCounters * sizeof(std::uint64_t));
  if (memory.empty()) return;
  counts_ = {reinterpret_cast<std::atomic<std::uint64_t>*>(memory.data()), kHeldCounters};
}

HeldCounts::Counter HeldCounts::Add(const Key& key, bool of_device) {
  if (!on()) return {};
  const auto known = numbers_.find(key);
  const bool is_new = known == numbers_.end();
  const auto number = is_new ? static_cast<std::uint32_t>(numbers_.size() + 1) : known->second;
  if (number == counts_.size()) return {};
  if (is_new) {
    if (of_device) of_devices_.push_back(number);
    numbers_.emplace(key, number);
  }
  counts_[number].fetch_add(1, std::memory_order_relaxed);
  return {number, is_new};
}

void HeldCounts::Remove(std::uint32_t number) noexcept {
  if (number != 0 && counts_[number].load(std::memory_order_relaxed) != 0)
    counts_[number].fetch_sub(1, std::memory_order_relaxed);
}

void HeldCounts::ForgetDevices() noexcept {
  for (const std::uint32_t number : of_devices_)
    counts_[number].store(0, std::memory_order_relaxed);
}

}  // namespace sampan::check
