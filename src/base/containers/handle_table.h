// Checked handles: numbers that name objects. A handle of a removed object is detected.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

namespace sampan {

/// The type of object that a handle names. The handle contains it, so that a stream's handle is not taken for
/// an event's.
enum class HandleKind : std::uint64_t {
  kStream = 0xA1,
  kEvent = 0xA2,
  kContext = 0xA3,
  kNotify = 0xA4,
  kPhysical = 0xA5,
  kPool = 0xA6,
  kDispatcher = 0xA7,
  kBinary = 0xA8,
};

/// Maps handles to shared objects. Thread-safe. Find takes only the lock of one slot. A handle consists of
/// kind, generation and slot. It is a non-canonical address: a program that dereferences it faults.
template <typename T, HandleKind kKind>
class HandleTable {
 public:
  HandleTable() = default;
  ~HandleTable() {
    for (auto& chunk : chunks_)
      delete chunk.load(std::memory_order_relaxed);
  }
  HandleTable(const HandleTable&) = delete;
  HandleTable& operator=(const HandleTable&) = delete;

  /// Returns a new handle, or null if all slots are taken. May throw std::bad_alloc, and then changes
  /// nothing.
  void* Insert(std::shared_ptr<T> object) {
    const auto index = TakeSlot();
    if (!index) return nullptr;
    Slot& slot = *SlotAt(*index);
    const std::lock_guard lock(slot.mutex);
    slot.object = std::move(object);
    return Encode(*index, slot.generation);
  }

  /// Returns the object, or null if the handle is removed, of another kind, or invalid.
  std::shared_ptr<T> Find(const void* handle) const {
    const Parts parts = Decode(handle);
    Slot* slot = parts.kind == kKind ? SlotAt(parts.index) : nullptr;
    if (slot == nullptr) return nullptr;
    const std::lock_guard lock(slot->mutex);
    return slot->generation == parts.generation ? slot->object : nullptr;
  }

  /// Removes the handle and returns its object. Returns null if the handle was not live.
  std::shared_ptr<T> Remove(const void* handle) {
    const Parts parts = Decode(handle);
    Slot* slot = parts.kind == kKind ? SlotAt(parts.index) : nullptr;
    if (slot == nullptr) return nullptr;
    std::shared_ptr<T> object;
    {
      const std::lock_guard lock(slot->mutex);
      if (slot->generation != parts.generation || slot->object == nullptr) return nullptr;
      object = std::move(slot->object);
      slot->object = nullptr;
      slot->generation = (slot->generation + 1) & kGenerationMask;
    }
    removals_.fetch_add(1, std::memory_order_release);
    const std::lock_guard lock(free_mutex_);
    free_.push_back(parts.index);  // cannot throw: TakeSlot keeps room for every slot handed out
    return object;
  }

  /// The number of removals so far. While it is unchanged, every object that was found is still in the table.
  std::uint64_t removals() const { return removals_.load(std::memory_order_acquire); }

 private:
  static constexpr std::uint32_t kSlotsPerChunk = 1024;
  static constexpr std::uint32_t kChunks = 1024;
  static constexpr std::uint64_t kIndexBits = 20;
  static constexpr std::uint32_t kGenerationMask = (1U << 28) - 1;

  struct Slot {
    mutable std::mutex mutex;
    std::uint32_t generation = 1;
    std::shared_ptr<T> object;
  };
  using Chunk = std::array<Slot, kSlotsPerChunk>;
  struct Parts {
    HandleKind kind;
    std::uint32_t generation;
    std::uint32_t index;
  };

  static void* Encode(std::uint32_t index, std::uint32_t generation) {
    const std::uint64_t value = (static_cast<std::uint64_t>(kKind) << 56) | (1ULL << 55) |
                                (static_cast<std::uint64_t>(generation) << (kIndexBits + 3)) |
                                (static_cast<std::uint64_t>(index) << 3);
    return reinterpret_cast<void*>(value);
  }
  static Parts Decode(const void* handle) {
    const auto value = reinterpret_cast<std::uint64_t>(handle);
    const auto generation = static_cast<std::uint32_t>(value >> (kIndexBits + 3)) & kGenerationMask;
    const auto index = static_cast<std::uint32_t>(value >> 3) & ((1U << kIndexBits) - 1);
    // The kind is this table's only if Encode gives exactly this handle again.
    return {Encode(index, generation) == handle ? kKind : HandleKind{}, generation, index};
  }
  Slot* SlotAt(std::uint32_t index) const {
    Chunk* chunk = chunks_[index / kSlotsPerChunk].load(std::memory_order_acquire);
    return chunk == nullptr ? nullptr : &(*chunk)[index % kSlotsPerChunk];
  }
  std::optional<std::uint32_t> TakeSlot() {
    const std::lock_guard lock(free_mutex_);
    if (free_.empty()) {
      if (chunk_count_ == kChunks) return std::nullopt;
      const std::uint32_t first = chunk_count_ * kSlotsPerChunk;
      free_.reserve(first + kSlotsPerChunk);
      auto chunk = std::make_unique<Chunk>();
      for (std::uint32_t i = kSlotsPerChunk; i > 0; --i)
        free_.push_back(first + i - 1);
      chunks_[chunk_count_++].store(chunk.release(), std::memory_order_release);
    }
    const std::uint32_t index = free_.back();
    free_.pop_back();
    return index;
  }

  std::array<std::atomic<Chunk*>, kChunks> chunks_{};
  std::atomic<std::uint64_t> removals_{0};
  std::mutex free_mutex_;
  std::vector<std::uint32_t> free_;
  std::uint32_t chunk_count_ = 0;
};

}  // namespace sampan
