// A range of addresses backed by one memory file, which is mapped twice: for the program and for the engines.
#include "backend/emulated/memory/arena.h"

#include <fcntl.h>
#include <sys/mman.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <optional>
#include <system_error>
#include <utility>

#include "base/containers/round.h"
#include "base/error/text.h"
#include "base/system/memory_file.h"

namespace sampan::emulated {
namespace {

constexpr std::size_t kHugePage = std::size_t{2} << 20;
/// Blocks above this size are aligned to huge pages, as the device's driver does.
constexpr std::size_t kHugePageThreshold = std::size_t{1} << 20;
/// Addresses beyond the capacity: three times as many, and no more than this.
constexpr std::size_t kMaxSpareAddresses = std::size_t{16} << 30;

Status SystemFailure(const std::string& what, const std::string& name) {
  const std::string reason = std::generic_category().message(errno);
  return {Code::kDeviceSetupError, Text("cannot set up ", name, ": ", what, ": ", reason)};
}

}  // namespace

Arena::Arena(const ArenaOptions& options, std::size_t address_space_bytes)
    : options_(options), address_space_bytes_(address_space_bytes), free_ranges_(kHugePage) {
  free_ranges_.Add({0, address_space_bytes_});
}

std::size_t Arena::AddressBytes(std::size_t capacity_bytes) {
  const std::size_t capacity = std::max(capacity_bytes, kHugePage);
  return RoundUp(capacity + std::min(3 * capacity, kMaxSpareAddresses), kHugePage);
}

Result<std::unique_ptr<Arena>> Arena::Create(const ArenaOptions& options) {
  std::unique_ptr<Arena> arena(new Arena(options, AddressBytes(options.capacity_bytes)));
  if (Status mapped = arena->Map(); !mapped.ok()) return mapped;
  return arena;
}

Status Arena::Map() {
  auto file = CreateMemoryFile(options_.name, address_space_bytes_, Code::kDeviceSetupError);
  if (!file.ok()) return file.TakeStatus();
  file_ = std::move(*file);
  const int user_access = options_.host_visible ? PROT_READ | PROT_WRITE : PROT_NONE;
  for (const auto& [access, base] :
       {std::pair{user_access, &user_base_}, {PROT_READ | PROT_WRITE, &engine_base_}}) {
    // One huge page extra, so that the view can begin at a huge-page boundary.
    const std::size_t reserve_bytes = address_space_bytes_ + kHugePage;
    void* reserved =
        ::mmap(nullptr, reserve_bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (reserved == MAP_FAILED)
      return SystemFailure(Text(reserve_bytes, " bytes of addresses"), options_.name);
    const std::uintptr_t start = reinterpret_cast<std::uintptr_t>(reserved);
    const std::uintptr_t aligned = RoundUp(start, kHugePage);
    if (aligned > start) ::munmap(reserved, aligned - start);
    ::munmap(reinterpret_cast<void*>(aligned + address_space_bytes_), start + kHugePage - aligned);
    *base = aligned;
    if (::mmap(reinterpret_cast<void*>(aligned), address_space_bytes_, access,
               MAP_SHARED | MAP_NORESERVE | MAP_FIXED, file_.get(), 0) == MAP_FAILED) {
      return SystemFailure("mapping the memory file", options_.name);
    }
    // A core dump should contain the program's memory, not the device's.
    ::madvise(reinterpret_cast<void*>(aligned), address_space_bytes_, MADV_DONTDUMP);
    // The memory is shared: writes of a forked child would appear in the parent, and disturb its queued
    // copies.
    ::madvise(reinterpret_cast<void*>(aligned), address_space_bytes_, MADV_DONTFORK);
  }
  if (options_.written_from != nullptr)
    options_.written_from->Watch(file_.get(), engine_base_, address_space_bytes_);
  if (options_.reserved_from != nullptr) options_.reserved_from->Watch(file_.get());
  return {};
}

Arena::~Arena() {
  if (options_.reserved_from != nullptr) options_.reserved_from->Forget(file_.get());
  for (const std::uintptr_t base : {user_base_, engine_base_}) {
    if (base != 0) ::munmap(reinterpret_cast<void*>(base), address_space_bytes_);
  }
  GiveBackToBudgets(used_bytes_);
}

Result<MemoryBlock> Arena::Allocate(std::size_t bytes, Pages pages) {
  const auto out_of_memory = [&](std::string_view why) {
    const MemoryInfo info = Info();
    return Error{Code::kMemoryAllocation, Text(options_.name, ": ", bytes, " bytes asked for, ",
                                               info.free_bytes, " of ", info.total_bytes, " free: ", why)};
  };
  if (options_.faults->ShouldFail(FaultKind::kMemory))
    return out_of_memory("failure ordered by SAMPAN_FAULT");
  if (bytes > options_.capacity_bytes) return out_of_memory("more than the capacity (SAMPAN_DEVICE_MEMORY)");
  const bool huge = pages == Pages::kHuge || (pages == Pages::kBySize && bytes > kHugePageThreshold);
  const std::size_t whole = RoundUp(bytes, kDevicePageBytes);
  std::optional<std::size_t> offset;
  {
    const std::lock_guard lock(mutex_);
    if (whole <= options_.capacity_bytes - used_bytes_)
      offset = free_ranges_.TakeNext(whole + options_.gap_bytes,
                                     huge ? FreeRanges::Align::kAligned : FreeRanges::Align::kAnywhere);
    if (offset) used_bytes_ += whole;
  }
  if (!offset) return out_of_memory("the capacity is used up (SAMPAN_DEVICE_MEMORY)");
  const MemoryBlock block{user_base_ + *offset, whole, static_cast<std::ptrdiff_t>(engine_base_ - user_base_),
                          static_cast<std::uint32_t>(huge ? kHugePage : kDevicePageBytes)};
  if (const char* const why = TakeFromBudgets(whole)) {
    Return(block);
    return out_of_memory(why);
  }
  if (options_.fresh_byte) [[unlikely]] {
    if (Status filled = FillFresh(block); !filled.ok()) {
      Free(block);
      return filled;
    }
  }
  return block;
}

Status Arena::FillFresh(const MemoryBlock& block) {
  void* const memory =
      reinterpret_cast<void*>(block.address + static_cast<std::uintptr_t>(block.engine_delta));
  if (WriteBudget* const budget = options_.written_from; budget != nullptr && budget->Counts()) {
    Status admitted = budget->Admit(block.bytes, [&] { return budget->MissingBytes(memory, block.bytes); });
    if (!admitted.ok()) return admitted;
  }
  std::memset(memory, std::to_integer<int>(*options_.fresh_byte), block.bytes);
  return {};
}

const char* Arena::TakeFromBudgets(std::size_t bytes) {
  if (options_.written_from != nullptr) {
    if (bytes > options_.written_from->host_bytes()) return "more than all memory of the host";
    options_.written_from->Promise(bytes);
  }
  if (options_.reserved_from != nullptr && !options_.reserved_from->TryTake(bytes)) {
    if (options_.written_from != nullptr) options_.written_from->Withdraw(bytes);
    return "the host has no more memory to spare";
  }
  return nullptr;
}

void Arena::GiveBackToBudgets(std::size_t bytes) {
  if (options_.written_from != nullptr) options_.written_from->Withdraw(bytes);
  if (options_.reserved_from != nullptr) options_.reserved_from->GiveBack(bytes);
}

void Arena::Free(const MemoryBlock& block) noexcept {
  ::fallocate(file_.get(), FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
              static_cast<off_t>(block.address - user_base_), static_cast<off_t>(block.bytes));
  Return(block);
  GiveBackToBudgets(block.bytes);
}

void Arena::Return(const MemoryBlock& block) noexcept {
  const std::lock_guard lock(mutex_);
  used_bytes_ -= block.bytes;
  free_ranges_.Return({block.address - user_base_, block.bytes + options_.gap_bytes},
                      {0, address_space_bytes_});
}

MemoryInfo Arena::Info() const {
  std::size_t used = 0;
  {
    const std::lock_guard lock(mutex_);
    used = used_bytes_;
  }
  std::size_t free = options_.capacity_bytes - used;
  if (options_.reserved_from != nullptr) free = std::min(free, options_.reserved_from->left_bytes());
  return {free, options_.capacity_bytes};
}

}  // namespace sampan::emulated
