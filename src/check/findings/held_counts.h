// How many allocations and streams the process holds, by the place that made them.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <tuple>
#include <vector>

namespace sampan::check {

/// The counters are in a file that outlives the process, so the command knows them however the process ends.
/// The caller holds the checker's lock.
class HeldCounts {
 public:
  /// Without a file nothing is counted.
  void Start(const std::string& path) noexcept;
  bool on() const { return !counts_.empty(); }

  /// What one sentence is true of.
  struct Key {
    std::uint32_t stack;
    std::uint64_t bytes;
    bool is_stream;
    bool operator<(const Key& that) const {
      return std::tie(stack, bytes, is_stream) < std::tie(that.stack, that.bytes, that.is_stream);
    }
  };
  struct Counter {
    std::uint32_t number = 0;  ///< 0: there is no counter left
    bool is_new = false;
  };
  /// One more of the key. Throws without memory.
  Counter Add(const Key& key, bool of_device);
  /// One less. 0 is ignored.
  void Remove(std::uint32_t number) noexcept;
  /// Devices were reset: what is left of theirs does not count.
  void ForgetDevices() noexcept;

 private:
  std::span<std::atomic<std::uint64_t>> counts_;  // by number; the first is not used
  std::map<Key, std::uint32_t> numbers_;
  std::vector<std::uint32_t> of_devices_;
};

}  // namespace sampan::check
