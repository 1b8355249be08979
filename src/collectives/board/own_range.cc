// The device memory that ranks of this process have told other ranks of.
#include "collectives/board/own_range.h"

#include <map>
#include <mutex>
#include <utility>

namespace sampan::collectives {
namespace {

/// How often each range is announced. Thread-safe. Never destroyed: streams may still run when the process
/// exits.
class KnownRanges {
 public:
  using Range = std::pair<const std::byte*, u64>;

  void Add(const Range& range) {
    const std::lock_guard lock(mutex_);
    ++counts_[range];
  }
  void Remove(const Range& range) {
    const std::lock_guard lock(mutex_);
    const auto found = counts_.find(range);
    if (--found->second == 0) counts_.erase(found);
  }
  bool Has(const Range& range) const {
    const std::lock_guard lock(mutex_);
    return counts_.contains(range);
  }

 private:
  mutable std::mutex mutex_;
  std::map<Range, u64> counts_;
};

KnownRanges& TheKnownRanges() {
  static auto* const known = new KnownRanges;
  return *known;
}

}  // namespace

OwnRange::OwnRange(const std::byte* engine, u64 bytes) : engine_(engine), bytes_(bytes) {
  if (engine_ != nullptr) TheKnownRanges().Add({engine_, bytes_});
}

OwnRange::~OwnRange() {
  if (engine_ != nullptr) TheKnownRanges().Remove({engine_, bytes_});
}

OwnRange::OwnRange(OwnRange&& that) noexcept
    : engine_(std::exchange(that.engine_, nullptr)), bytes_(that.bytes_) {}

OwnRange& OwnRange::operator=(OwnRange&& that) noexcept {
  std::swap(engine_, that.engine_);
  std::swap(bytes_, that.bytes_);
  return *this;
}

bool OwnRange::IsKnown(const std::byte* engine, u64 bytes) {
  return TheKnownRanges().Has({engine, bytes});
}

}  // namespace sampan::collectives
