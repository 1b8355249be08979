// The dispatchers of the process by their handles.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>

#include "base/containers/handle_table.h"
#include "hccl/dispatcher/dispatcher_object.h"

namespace sampan::hccl {

/// Thread-safe. Find takes no lock and counts no reference, because a dispatcher's memory is reused but never
/// freed. If another thread destroys the dispatcher during a call, the call sees a closed or reopened one. A
/// handle is a non-canonical address, made of kind, generation and slot, as in HandleTable.
class DispatcherTable {
 public:
  /// Opens a dispatcher and returns its handle, or null if kMaxSlots are open. May throw std::bad_alloc, and
  /// then changes nothing.
  void* Open(DispatcherType type) {
    const std::lock_guard lock(mutex_);
    if (free_ == nullptr && !Grow()) return nullptr;
    Slot& slot = *free_;
    free_ = slot.next_free;
    slot.dispatcher.Open(type);
    slot.generation = (slot.generation + 1) & kGenerationMask;
    const std::uintptr_t handle = Encode(slot.index, slot.generation);
    slot.handle.store(handle, std::memory_order_release);
    return reinterpret_cast<void*>(handle);
  }

  /// Returns null if the handle is null, closed, of another kind, or invalid.
  Dispatcher* Find(const void* handle) const {
    Slot* const slot = SlotOf(handle);
    return slot != nullptr ? &slot->dispatcher : nullptr;
  }

  /// Closes the dispatcher. Returns false if the handle names none.
  bool Close(const void* handle) {
    Slot* const slot = SlotOf(handle);
    auto expected = reinterpret_cast<std::uintptr_t>(handle);
    if (slot == nullptr || !slot->handle.compare_exchange_strong(expected, kNoHandle)) return false;
    slot->dispatcher.Close();
    const std::lock_guard lock(mutex_);
    slot->next_free = free_;
    free_ = slot;
    return true;
  }

 private:
  static constexpr std::uint32_t kSlotsPerChunk = 64;
  static constexpr std::uint32_t kMaxChunks = 1024;
  static constexpr std::uint32_t kMaxSlots = kSlotsPerChunk * kMaxChunks;
  static constexpr std::uint32_t kIndexBits = 16;
  static_assert(kMaxSlots == std::uint32_t{1} << kIndexBits);
  static constexpr std::uint32_t kGenerationMask = (1U << 28) - 1;
  static constexpr std::uintptr_t kNoHandle = 0;

  struct Slot {
    std::atomic<std::uintptr_t> handle{kNoHandle};
    std::uint32_t generation = 0, index = 0;  // guarded by the table's mutex
    Slot* next_free = nullptr;                // guarded by the table's mutex
    Dispatcher dispatcher;
  };
  using Chunk = std::array<Slot, kSlotsPerChunk>;

  static std::uintptr_t Encode(std::uint32_t index, std::uint32_t generation) {
    return (static_cast<std::uintptr_t>(HandleKind::kDispatcher) << 56) | (std::uintptr_t{1} << 55) |
           (static_cast<std::uintptr_t>(generation) << (kIndexBits + 3)) |
           (static_cast<std::uintptr_t>(index) << 3);
  }
  Slot* SlotOf(const void* handle) const {
    const auto value = reinterpret_cast<std::uintptr_t>(handle);
    const std::uintptr_t index = (value >> 3) % kMaxSlots;
    Chunk* const chunk = chunks_[index / kSlotsPerChunk].load(std::memory_order_acquire);
    if (chunk == nullptr || value == kNoHandle) return nullptr;
    Slot& slot = (*chunk)[index % kSlotsPerChunk];
    return slot.handle.load(std::memory_order_acquire) == value ? &slot : nullptr;
  }
  bool Grow() {
    if (chunk_count_ == kMaxChunks) return false;
    auto chunk = std::make_unique<Chunk>();
    for (std::uint32_t i = kSlotsPerChunk; i > 0; --i) {
      Slot& slot = (*chunk)[i - 1];
      slot.index = chunk_count_ * kSlotsPerChunk + i - 1;
      slot.next_free = free_;
      free_ = &slot;
    }
    chunks_[chunk_count_++].store(chunk.release(), std::memory_order_release);
    return true;
  }

  std::array<std::atomic<Chunk*>, kMaxChunks> chunks_{};
  std::mutex mutex_;  // guards what follows
  Slot* free_ = nullptr;
  std::uint32_t chunk_count_ = 0;
};

}  // namespace sampan::hccl
