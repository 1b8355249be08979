// Host memory that is registered with the driver, and registered again when a context is replaced.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>

#include "backend/api/backend.h"
#include "backend/cuda/gpu.h"

namespace sampan::cuda {

/// Registrations apply to all contexts but belong to one: that of the first opened GPU. Thread-safe.
class HostRegistrations final : public HostRegistrar {
 public:
  /// `sweep` retires completed tasks, which releases their memory.
  explicit HostRegistrations(std::function<void()> sweep) : sweep_(std::move(sweep)) {}

  /// Uses this GPU's context for all registrations, also for pending ones. Has no effect after the first GPU.
  Status Use(Gpu& gpu);
  Status Register(void* address, std::size_t bytes, bool read_only) override;
  /// The same for new memory, which has no registration yet. Pending until there is a GPU.
  Status RegisterNew(void* address, std::size_t bytes);
  void Unregister(void* address) noexcept override;
  /// A driver copy must be inside one registration.
  bool joins_neighbours() const override { return false; }
  /// Gives a lost and unused GPU a new context. If registrations belong to that GPU, repeats them before its
  /// first use. No registration changes meanwhile.
  Status Revive(Gpu& gpu);

 private:
  struct Entry {
    std::size_t bytes;
    bool read_only;
  };
  // Call it with the lock held.
  Status Add(void* address, const Entry& entry);
  static Status Make(Gpu& gpu, void* address, const Entry& entry);
  Status MakeAll(Gpu& gpu);

  const std::function<void()> sweep_;
  std::mutex mutex_;
  Gpu* gpu_ = nullptr;
  std::map<void*, Entry> entries_;
};

}  // namespace sampan::cuda
