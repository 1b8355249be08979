// Real memory of every kind on an emulated backend, for tables of plans.
#pragma once

#include <gtest/gtest.h>
#include <sys/mman.h>

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "backend/emulated/emulated_backend.h"
#include "base/error/fault.h"
#include "core/copy/copy_plan.h"

namespace sampan::core::plan_tests {

enum class Memory {
  kDevice,        ///< device 0
  kOther,         ///< a second allocation of device 0
  kPeer,          ///< device 1
  kFreed,         ///< device 0, freed
  kPinned,        ///< of the runtime
  kRegistered,    ///< two registrations of a page each, behind them a page of pageable memory
  kReadOnly,      ///< two read-only registrations of a page each
  kPageable,      ///< ordinary host memory
  kUnwritable,    ///< a page of the host that can only be read
  kInaccessible,  ///< a page of the host that cannot be read either
  kMapped,        ///< three pieces of one reservation, on device 0: two with all rights, one without any
  kReserved,      ///< the rest of that reservation, where nothing is mapped
};

struct Spot {
  Memory memory;
  std::size_t offset = 0;
};

inline constexpr std::size_t kPage = 4096;
inline constexpr std::size_t kBlock = 2 * kPage;  ///< of device and pinned allocations
inline constexpr std::size_t kPiece = VirtualMemory::kGranularity;
inline constexpr std::size_t kLong = 3 * BatchTask::kMaxSegmentBytes;

/// What a row of a table varies besides its request.
struct Setting {
  std::int32_t device = 0;  ///< the one that would do it
  bool peers_open = false;  ///< each device may touch the other one's memory
  std::string_view profile = "ascend910b,cann8";
};

/// What a plan must come to. An empty message: it succeeds.
struct Outcome {
  Code code = Code::kOk;
  std::string_view message;
  std::size_t entry = Error::kNoItem;
};
constexpr Outcome Refused(std::string_view message) {
  return {Code::kParamInvalid, message};
}
constexpr Outcome RefusedAt(std::size_t entry, std::string_view message) {
  return {Code::kParamInvalid, message, entry};
}

/// The memory, and what plans depend on. Its destructor checks that no use of the memory is left.
class World {
 public:
  World() {
    registry_.AddSource(backend_->pinned_memory());
    registry_.AddSource(*backend_->virtual_memory());
    for (std::int32_t device = 0; device < 2; ++device) {
      registry_.AddSource(DeviceMemory(device));
      free_bytes_[device] = DeviceMemory(device).Info().free_bytes;
    }
    device_ = Allocate(DeviceMemory(0), {PlaceKind::kDevice, 0}, kBlock);
    other_ = Allocate(DeviceMemory(0), {PlaceKind::kDevice, 0}, kLong);
    peer_ = Allocate(DeviceMemory(1), {PlaceKind::kDevice, 1}, kBlock);
    pinned_ = Allocate(backend_->pinned_memory(), {PlaceKind::kPinned, 0}, kLong);
    freed_ = Allocate(DeviceMemory(0), {PlaceKind::kDevice, 0}, kBlock);
    Free(freed_, MemoryOrigin::kDevice);
    host_ = static_cast<std::byte*>(
        ::mmap(nullptr, kHostPages * kPage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    EXPECT_NE(static_cast<void*>(host_), MAP_FAILED);
    EXPECT_EQ(::mprotect(host_ + kUnwritableAt, kPage, PROT_READ), 0);
    EXPECT_EQ(::mprotect(host_ + kInaccessibleAt, kPage, PROT_NONE), 0);
    for (const std::size_t at : {kRegisteredAt, kRegisteredAt + kPage})
      Register(host_ + at, false);
    for (const std::size_t at : {kReadOnlyAt, kReadOnlyAt + kPage})
      Register(host_ + at, true);
    MapPieces();
  }
  ~World() {
    for (std::size_t piece = 0; piece < 3; ++piece)
      Free(At({Memory::kMapped, piece * kPiece}), MemoryOrigin::kMapped);
    backend_->virtual_memory()->Release(reservation_);
    for (const std::size_t at : {kRegisteredAt, kRegisteredAt + kPage, kReadOnlyAt, kReadOnlyAt + kPage})
      Free(host_ + at, MemoryOrigin::kRegistered);
    ::munmap(host_, kHostPages * kPage);
    Free(device_, MemoryOrigin::kDevice);
    Free(other_, MemoryOrigin::kDevice);
    Free(peer_, MemoryOrigin::kDevice);
    Free(pinned_, MemoryOrigin::kPinned);
    for (std::int32_t device = 0; device < 2; ++device)
      EXPECT_EQ(DeviceMemory(device).Info().free_bytes, free_bytes_[device]) << "a plan kept a use";
  }
  World(const World&) = delete;
  World& operator=(const World&) = delete;

  std::byte* At(Spot spot) const { return Begin(spot.memory) + spot.offset; }
  /// The address by which the engines know it.
  std::byte* EngineAt(Spot spot) const {
    const auto address = reinterpret_cast<std::uintptr_t>(At(spot));
    const AllocationUse use = registry_.Find(address);
    return use ? use->EngineView(address) : At(spot);
  }
  MemoryRegistry& registry() { return registry_; }
  BackendDevice& device(std::int32_t id) { return **backend_->Device(id); }

  /// Calls `plan(context, plan)` under a setting and returns its status.
  template <typename PlanCall>
  Status Under(const Setting& setting, Plan& plan, PlanCall call) {
    const Profile profile = *FindProfile(setting.profile);
    PeerAccess peers;
    if (setting.peers_open) peers.Enable(0, 1), peers.Enable(1, 0);
    const PlanParts parts{registry_, profile, peers, *backend_};
    return call(PlanContext(parts, setting.device), plan);
  }

 private:
  static constexpr std::size_t kRegisteredAt = 0, kReadOnlyAt = 3 * kPage, kPageableAt = 6 * kPage,
                               kUnwritableAt = 10 * kPage, kInaccessibleAt = 12 * kPage;
  static constexpr std::size_t kHostPages = 14;
  static constexpr std::uint64_t kReservation = 77;

  MemorySource& DeviceMemory(std::int32_t id) { return device(id).memory(); }
  std::byte* Allocate(MemorySource& source, Place place, std::size_t bytes) {
    return static_cast<std::byte*>(*registry_.Allocate({source, place, bytes, bytes, "the test"}));
  }
  void Register(void* address, bool read_only) {
    EXPECT_TRUE(registry_.Register({backend_->host_registrar(), address, kPage, read_only, "the test"}).ok());
  }
  void Free(void* address, MemoryOrigin origin) {
    EXPECT_TRUE(registry_.End("memory", address, origin, Code::kParamInvalid).ok());
  }
  std::byte* Begin(Memory memory) const {
    switch (memory) {
      case Memory::kDevice:
        return device_;
      case Memory::kOther:
        return other_;
      case Memory::kPeer:
        return peer_;
      case Memory::kFreed:
        return freed_;
      case Memory::kPinned:
        return pinned_;
      case Memory::kRegistered:
        return host_ + kRegisteredAt;
      case Memory::kReadOnly:
        return host_ + kReadOnlyAt;
      case Memory::kPageable:
        return host_ + kPageableAt;
      case Memory::kUnwritable:
        return host_ + kUnwritableAt;
      case Memory::kInaccessible:
        return host_ + kInaccessibleAt;
      case Memory::kMapped:
        return reinterpret_cast<std::byte*>(reservation_.address);
      case Memory::kReserved:
        return reinterpret_cast<std::byte*>(reservation_.address + 3 * kPiece);
    }
    return nullptr;
  }

  /// The memory of a mapped piece.
  struct Piece final : MemoryKeeper {
    Piece(VirtualMemory& to, MemorySource& from, const AddressRange& at)
        : views(to), source(from), part(at), block(*from.Allocate(kPiece, Pages::kBySize)) {
      EXPECT_TRUE(views.Map(part, *source.FileOf(block), MapAccess::kReadWrite).ok());
    }
    ~Piece() override {
      views.Unmap(part);
      source.Free(block);
    }
    VirtualMemory& views;
    MemorySource& source;
    const AddressRange part;
    const MemoryBlock block;
  };
  void MapPieces() {
    VirtualMemory& views = *backend_->virtual_memory();
    reservation_ = *views.Reserve(4 * kPiece, 0);
    for (std::size_t i = 0; i < 3; ++i) {
      const AddressRange part{reservation_.address + i * kPiece, kPiece, reservation_.engine_delta};
      const auto piece = std::make_shared<Piece>(views, DeviceMemory(0), part);
      EXPECT_TRUE(registry_
                      .Adopt({.address = part.address,
                              .bytes = kPiece,
                              .asked_bytes = kPiece,
                              .engine_delta = part.engine_delta,
                              .place = {PlaceKind::kDevice, 0},
                              .has_rights = true,
                              .reservation = kReservation,
                              .made_by = "the test",
                              .backtrace = {}},
                             piece, MemoryOrigin::kMapped, i < 2 ? 1U : 0U)
                      .ok());
    }
  }

  FaultPlan faults_;
  const std::unique_ptr<emulated::EmulatedBackend> backend_ =
      std::move(*emulated::EmulatedBackend::Create({.devices = 2,
                                                    .device_bytes = std::size_t{64} << 20,
                                                    .engines = 1,
                                                    .schedule = {},
                                                    .faults = &faults_}));
  MemoryRegistry registry_{false};
  std::size_t free_bytes_[2] = {};
  std::byte* device_ = nullptr;
  std::byte* other_ = nullptr;
  std::byte* peer_ = nullptr;
  std::byte* freed_ = nullptr;
  std::byte* pinned_ = nullptr;
  std::byte* host_ = nullptr;
  AddressRange reservation_;
};

/// True if the plan succeeded, as it should; otherwise the failure must be the row's.
inline bool Succeeds(const Status& status, const Outcome& outcome) {
  EXPECT_EQ(status.code(), outcome.code) << (status.ok() ? "" : status.error().message);
  if (status.ok() || outcome.code == Code::kOk) return status.ok() && outcome.code == Code::kOk;
  EXPECT_NE(status.error().message.find(outcome.message), std::string::npos) << status.error().message;
  EXPECT_EQ(status.error().item, outcome.entry);
  return false;
}

/// The task of a span, or the task itself; counts the neighbours.
inline const Task& Inner(const Task& task, std::size_t& neighbours) {
  const auto* const span = std::get_if<MultiAllocationTask>(&task);
  neighbours = span == nullptr ? 0 : span->content->uses.size();
  return span == nullptr ? task : span->content->task;
}

}  // namespace sampan::core::plan_tests
