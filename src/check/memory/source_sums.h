// What queued copies read from host memory that cannot be kept from the program, as checksums.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "check/order/access_history.h"
#include "check/order/shape.h"

namespace sampan::check {

/// Sums are taken when a copy is submitted, and again when the host learns that it is over. If the bytes
/// differ, the host has changed them in between: everything else that writes there is told, and drops the
/// sums. Not thread-safe.
class SourceSums {
 public:
  /// Bytes that a copy read and that were changed.
  struct Change {
    const TaskSite* site = nullptr;
    Range all;  ///< of the copy's access
    Range changed;
    std::int32_t entry = -1;
  };

  /// The copy reads bytes of the memory at that address. More copies than a limit are not looked at.
  void Add(std::uintptr_t memory, const TaskAccess& access, const Range& unguarded, const SharedSite& site);
  /// Work that observers are told of writes there, so changed bytes prove nothing. Allocates and frees
  /// nothing.
  void Drop(const Shape& written) noexcept;
  void DropAll() noexcept;
  /// The queue is gone.
  void ForgetQueue(std::uint64_t queue);
  bool empty() const { return sources_.empty(); }

  /// Ends the sums of copies that the host knows to be over. Calls `each(change)` for those that differ.
  template <typename Each>
  void TakeKnown(std::uintptr_t memory, const OrderClock& host, Each each) {
    std::erase_if(sources_, [&](const Source& source) {
      if (source.site->number > host.At(source.site->queue.number)) return false;
      const Range changed = source.dropped ? Range{} : source.ChangedIn(memory);
      if (changed.bytes() != 0) each(Change{source.site.get(), source.all, changed, source.entry});
      return true;
    });
  }

 private:
  static constexpr std::size_t kMaxSources = 256;

  struct Source {
    SharedSite site;
    Range all;
    std::int32_t entry = -1;
    bool dropped = false;
    Shape shape;      // of the unguarded bytes
    Range unguarded;  // the rows of the shape are cut to it
    std::uint64_t block_bytes = 0;
    std::vector<std::uint64_t> sums;  // by block

    /// Calls `each(bytes of the memory)` for each block, until it returns false.
    template <typename Each>
    void ForEachBlock(Each each) const;
    /// False: the system does not let us read there.
    bool Sum(std::uintptr_t memory);
    /// The first blocks in a row that differ.
    Range ChangedIn(std::uintptr_t memory) const;
  };

  std::vector<Source> sources_;
};

}  // namespace sampan::check
