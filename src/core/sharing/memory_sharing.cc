// Device memory that several processes use: exports, imports by key, and when memory is freed.
#include "core/sharing/memory_sharing.h"

#include <algorithm>
#include <utility>

#include "base/containers/round.h"
#include "base/error/text.h"
#include "core/copy/memory_location.h"
#include "core/memory/mapped/peer_mapping.h"
#include "core/sharing/network_key.h"

namespace sampan::core {
namespace {

/// How many blocks an allocation checks. A check takes one system call for each key of the block.
constexpr std::size_t kMaxParkedBlockChecks = 16;

/// Keeps imported memory mapped, and keeps its owner from reusing it.
class ImportedMemory final : public MemoryKeeper {
 public:
  ImportedMemory(std::shared_ptr<ForeignCell> cell, VirtualMemory& views, const AddressRange& range)
      : cell_(std::move(cell)), views_(views), range_(range) {}
  ~ImportedMemory() override { views_.UnmapAnywhere(range_); }
  ImportedMemory(const ImportedMemory&) = delete;
  ImportedMemory& operator=(const ImportedMemory&) = delete;

 private:
  const std::shared_ptr<ForeignCell> cell_;
  VirtualMemory& views_;
  const AddressRange range_;
};

/// Addresses for memory of another host, where nothing is.
class ImportedFromPeer final : public PeerMapping {
 public:
  ImportedFromPeer(std::shared_ptr<PeerMemory> peer, VirtualMemory& views, const AddressRange& range)
      : peer_(std::move(peer)), views_(views), range_(range) {}
  ~ImportedFromPeer() override { views_.Release(range_); }
  ImportedFromPeer(const ImportedFromPeer&) = delete;
  ImportedFromPeer& operator=(const ImportedFromPeer&) = delete;

  std::shared_ptr<PeerMemory> peer() const override { return peer_; }

 private:
  const std::shared_ptr<PeerMemory> peer_;
  VirtualMemory& views_;
  const AddressRange range_;
};

Status UnknownKey(std::string_view key) {
  return {Code::kParamInvalid,
          Text("'", key, "' is no key that this process has made or imported, or it is closed already")};
}

}  // namespace

Result<std::string> MemorySharing::Export(const ExportRequest& request) {
  Location location;
  if (Status located = Locate(memory_, {"devPtr", request.address, request.bytes}, location); !located.ok())
    return located;
  if (!location.use || memory_.OriginOf(*location.use.get()) != MemoryOrigin::kDevice) {
    return Error{Code::kParamInvalid,
                 Text("devPtr ", Hex(request.address), " is not memory of aclrtMalloc's kind: ",
                      location.use ? Describe(*location.use.get()) : Describe(location.place))};
  }
  Allocation& allocation = *location.use.get();
  const MemoryRegistry::Backing backing = memory_.BackingOf(allocation);
  auto file = backing.source->FileOf(backing.block);
  if (!file.ok()) return file.TakeStatus();
  auto cell = board_.Take(SharedKind::kMemory, ShareBoard::FoundBy::kKey);
  if (!cell.ok()) return cell.TakeStatus();
  const auto address = reinterpret_cast<std::uintptr_t>(request.address);
  file->device = request.physical_device;
  if (Status set = (*cell)->SetExtent(*file, {.offset = file->offset + (address - allocation.facts.address),
                                              .bytes = request.bytes,
                                              .page_bytes = allocation.facts.page_bytes});
      !set.ok()) {
    return set;
  }
  if (request.for_all_processes) (*cell)->AdmitAll();
  std::string key = keys_.KeyOf(**cell, SharedKind::kMemory);
  MemoryFile lent = *file;
  lent.offset += address - allocation.facts.address;
  lent.bytes = request.bytes;
  OwnExport exported{*cell, allocation.facts.serial, std::move(lent), nullptr};
  if (request.for_all_processes && NetworkKey::IsOne(key)) {
    if (Status reachable = Lend(exported); !reachable.ok()) return reachable;
  }
  const std::uint64_t serial = allocation.facts.serial;
  const std::lock_guard lock(mutex_);
  OwnCell& own = **cell;
  const auto entry = shared_[serial].cells.emplace(&own, SharedBlock::Cell{*cell, std::nullopt}).first;
  try {
    entry->second.key = exports_.emplace(key, std::move(exported)).first;
  } catch (...) {
    shared_[serial].cells.erase(entry);
    throw;
  }
  // The use keeps the memory until here, so SharedBlocks will learn when it is freed.
  memory_.MarkShared(allocation);
  if (!allocation.live()) own.Close();
  return key;
}

Result<void*> MemorySharing::Import(const std::string& key, const PlaceOf& place_of) {
  if (views_ == nullptr) return Error{Code::kFeatureNotSupport, "this backend cannot map others' memory"};
  auto target = keys_.Find(key, SharedKind::kMemory);
  if (!target.ok()) return target.TakeStatus();
  if (target->elsewhere) return ImportFromPeer(key, *target->elsewhere, place_of(-1).place);
  auto cell = others_.Import(target->cell, SharedKind::kMemory);
  if (!cell.ok()) return cell.TakeStatus();
  auto extent = (*cell)->Extent();
  if (!extent.ok()) return extent.TakeStatus();
  if (extent->device < 0) return UnknownKey(key);
  const ImportPlace seen = place_of(extent->device);
  auto file = (*cell)->OpenMemory(*views_, *extent, seen.physical_device);
  if (!file.ok()) return file.TakeStatus();
  auto range = views_->MapAnywhere(*file);
  if (!range.ok()) return range.TakeStatus();
  std::shared_ptr<MemoryKeeper> keeper;
  try {
    keeper = std::make_shared<ImportedMemory>(std::move(*cell), *views_, *range);
  } catch (...) {
    views_->UnmapAnywhere(*range);
    throw;
  }
  return AddImport(key,
                   {.address = range->address,
                    .bytes = range->bytes,
                    .asked_bytes = range->bytes,
                    .engine_delta = range->engine_delta,
                    .place = seen.place,
                    .page_bytes = extent->page_bytes,
                    .made_by = "aclrtIpcMemImportByKey",
                    .backtrace = {}},
                   std::move(keeper));
}

Result<void*> MemorySharing::ImportFromPeer(const std::string& key, const PeerName& owner, Place place) {
  auto peer = keys_.Import(owner, SharedKind::kMemory);
  if (!peer.ok()) return peer.TakeStatus();
  const std::size_t bytes = (*peer)->facts().bytes;
  auto range = views_->Reserve(RoundUp(bytes, VirtualMemory::kGranularity), 0);
  if (!range.ok()) return range.TakeStatus();
  std::shared_ptr<MemoryKeeper> keeper;
  try {
    keeper = std::make_shared<ImportedFromPeer>(std::move(*peer), *views_, *range);
  } catch (...) {
    views_->Release(*range);
    throw;
  }
  return AddImport(key,
                   {.address = range->address,
                    .bytes = bytes,
                    .asked_bytes = bytes,
                    .engine_delta = range->engine_delta,
                    .place = place,
                    .has_rights = true,  // so that every copy looks at it closely
                    .open_to_peers = true,
                    .reservation = range->address + 1,  // alone in it
                    .made_by = "aclrtIpcMemImportByKey",
                    .backtrace = {}},
                   std::move(keeper));
}

Result<void*> MemorySharing::AddImport(const std::string& key, AllocationFacts facts,
                                       std::shared_ptr<MemoryKeeper> keeper) {
  void* const pointer = reinterpret_cast<void*>(facts.address);
  const std::lock_guard lock(mutex_);
  const auto entry = imports_.emplace(key, pointer);
  try {
    auto known = memory_.Adopt(std::move(facts), std::move(keeper), MemoryOrigin::kImported);
    if (known.ok()) return pointer;
    imports_.erase(entry);
    return known.TakeStatus();
  } catch (...) {
    imports_.erase(entry);
    throw;
  }
}

Status MemorySharing::Admit(const std::string& key, std::span<const std::int32_t> processes) {
  const std::lock_guard lock(mutex_);
  const auto found = exports_.find(key);
  return found == exports_.end() ? UnknownKey(key) : found->second.cell->Admit(processes);
}

Status MemorySharing::AdmitOfServer(const std::string& key, std::uint32_t server,
                                    std::span<const std::int32_t> processes) {
  const std::lock_guard lock(mutex_);
  const auto found = exports_.find(key);
  if (found == exports_.end()) return UnknownKey(key);
  if (Status reachable = Lend(found->second); !reachable.ok()) return reachable;
  return found->second.cell->AdmitOfServer(server, processes);
}

Status MemorySharing::Lend(OwnExport& exported) {
  if (exported.loan != nullptr) return {};
  auto loan = keys_.Lend(*exported.cell, std::make_shared<LentByKey>(*views_, exported.file, exported.cell));
  if (!loan.ok()) return loan.TakeStatus();
  exported.loan = std::move(*loan);
  return {};
}

Status MemorySharing::CheckExported(const std::string& key) {
  const std::lock_guard lock(mutex_);
  return exports_.contains(key) || imports_.contains(key) ? Status() : UnknownKey(key);
}

Status MemorySharing::Close(const std::string& key) {
  void* imported = nullptr;
  std::shared_ptr<OwnCell> cell;
  std::unique_ptr<Loan> loan;  // ended after the lock is released
  {
    const std::lock_guard lock(mutex_);
    if (const auto import = imports_.upper_bound(key);
        import != imports_.begin() && std::prev(import)->first == key) {
      imported = std::prev(import)->second;
      imports_.erase(std::prev(import));
    } else if (const auto own = exports_.find(key); own != exports_.end()) {
      cell = std::move(own->second.cell);
      loan = std::move(own->second.loan);
      const auto shared = shared_.find(own->second.serial);
      exports_.erase(own);
      cell->Close();
      if (shared != shared_.end()) {
        // If another process holds the cell, it stays with its block and keeps the block from being reused.
        const auto of_block = shared->second.cells.find(cell.get());
        of_block->second.key.reset();
        if (!cell->HeldElsewhere()) shared->second.cells.erase(of_block);
      }
    } else {
      return UnknownKey(key);
    }
  }
  // A reset of the device may have closed it before.
  if (imported != nullptr)
    static_cast<void>(memory_.End("devPtr", imported, MemoryOrigin::kImported, Code::kParamInvalid));
  return {};
}

std::uint64_t MemorySharing::Share(std::shared_ptr<OwnCell> cell) {
  const std::lock_guard lock(mutex_);
  SharedBlock shared;
  shared.cells.emplace(cell.get(), SharedBlock::Cell{cell, std::nullopt});
  shared_.emplace(next_number_, std::move(shared));
  return next_number_++;
}

bool MemorySharing::HeldElsewhere(const SharedBlock& shared) {
  return std::any_of(shared.cells.begin(), shared.cells.end(),
                     [](const auto& entry) { return entry.second.cell->HeldElsewhere(); });
}

void MemorySharing::Ended(std::uint64_t serial) noexcept {
  Exports ended;  // their loans end after the lock is released
  const std::lock_guard lock(mutex_);
  const auto shared = shared_.find(serial);
  if (shared == shared_.end()) return;
  for (auto& [own, entry] : shared->second.cells) {
    entry.cell->Close();
    if (entry.key) ended.insert(exports_.extract(*std::exchange(entry.key, std::nullopt)));
  }
}

void MemorySharing::Free(std::uint64_t serial, MemorySource& source, const MemoryBlock& block) noexcept {
  {
    const std::lock_guard lock(mutex_);
    auto shared = shared_.extract(serial);
    if (!shared.empty() && HeldElsewhere(shared.mapped())) {
      shared.mapped().source = &source;
      shared.mapped().block = block;
      parked_.insert(std::move(shared));
      parked_count_.store(parked_.size());
      return;
    }
  }
  source.Free(block);
}

bool MemorySharing::FreeReleased(Effort effort) noexcept {
  if (parked_count_.load(std::memory_order_relaxed) == 0) return false;
  const std::lock_guard lock(mutex_);
  const std::size_t count = parked_.size();
  std::size_t checks = effort == Effort::kAll ? count : std::min(count, kMaxParkedBlockChecks);
  auto entry = parked_.lower_bound(next_parked_);
  for (; checks > 0; --checks) {
    if (entry == parked_.end()) entry = parked_.begin();
    if (HeldElsewhere(entry->second)) {
      ++entry;
    } else {
      entry->second.source->Free(entry->second.block);
      entry = parked_.erase(entry);
    }
  }
  next_parked_ = entry == parked_.end() ? 0 : entry->first;
  parked_count_.store(parked_.size());
  return parked_.size() < count;
}

}  // namespace sampan::core
