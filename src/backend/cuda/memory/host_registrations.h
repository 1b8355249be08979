// Host memory that the GPUs can reach: registered with the driver, and registered again when a context is
// replaced.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>

#include "backend/api/backend.h"
#include "backend/cuda/gpu.h"

namespace sampan::cuda {

/// Registrations hold for all contexts but are made in one: that of the first GPU that is opened.
/// Thread-safe.
class HostRegistrations final : public HostRegistrar {
 public:
  /// `sweep` lets memory go whose users are done but have not been noticed.
  explicit HostRegistrations(std::function<void()> sweep) : sweep_(std::move(sweep)) {}

  /// From now on registrations are made here, and those of new memory that waited for it. The first GPU
  /// stays.
  Status Use(Gpu& gpu);
  Status Register(void* address, std::size_t bytes, bool read_only) override;
  /// The same for memory that cannot be known yet. Before there is a GPU it waits for one.
  Status RegisterNew(void* address, std::size_t bytes);
  void Unregister(void* address) noexcept override;
  /// The driver takes a copy of one registration alone.
  bool joins_neighbours() const override { return false; }
  /// Gives a lost and unused GPU a new context. If registrations were made in that GPU, they are repeated
  /// before its first use. Meanwhile none is added and none ends.
  Status Revive(Gpu& gpu);

 private:
  struct Entry {
    std::size_t bytes;
    bool read_only;
  };
  // With the lock.
  Status Add(void* address, const Entry& entry);
  static Status Make(Gpu& gpu, void* address, const Entry& entry);
  Status MakeAll(Gpu& gpu);

  const std::function<void()> sweep_;
  std::mutex mutex_;
  Gpu* gpu_ = nullptr;
  std::map<void*, Entry> entries_;
};

}  // namespace sampan::cuda
