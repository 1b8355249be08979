// The board of this process: cells in a file that others can map, each with a secret key.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "backend/api/gate.h"
#include "backend/api/virtual_memory.h"
#include "base/error/status.h"
#include "base/error/text.h"
#include "base/system/descriptor.h"
#include "core/sharing/file_server.h"

namespace sampan {

/// What a cell stands for.
enum class SharedKind : std::uint32_t { kNotify = 1, kEvent, kMemory, kPhysical };

std::string Describe(SharedKind kind);

/// Where shared memory is, as its owner sees it.
struct SharedExtent {
  std::int32_t descriptor = -1;  ///< of the owner's; -1: ask its file server
  std::int32_t device = -1;      ///< physical id; -1: host memory
  std::uint64_t offset = 0, bytes = 0;
  std::uint32_t page_bytes = 4096;
  std::uint32_t attribute = 0;  ///< of physical memory, as the program gave it
  std::uint32_t location_id = 0, location_type = 0;
  std::uint64_t file_server = 0;  ///< its number in the owner; 0: none
  std::uint64_t whole_bytes = 0;  ///< of what is given, which is mapped as a whole
};

/// Plain data in memory that several processes map and write. Processes may be killed at any instruction: no
/// state of it needs another one's help. A broken process may write anything: readers check what they read.
struct SharedCell {
  static constexpr std::size_t kMaxProcesses = 64;
  enum State : std::uint32_t { kUnused, kOpen, kClosed };

  std::atomic<std::uint32_t> state{kUnused};
  SharedKind kind{};
  std::array<std::uint64_t, 2> secret{};
  std::atomic<std::uint32_t> for_everybody{0};  ///< no list of processes
  std::atomic<std::uint32_t> process_count{0};
  std::array<std::atomic<std::int32_t>, kMaxProcesses> processes{};
  std::uint32_t number = 0;  ///< of a notify or an event, for messages
  // Notifies and events.
  alignas(64) SleepWord signal;
  std::atomic<std::uint64_t> recorded{0}, completed{0}, recorder{0};
  // Memory.
  SharedExtent extent;
};
static_assert(sizeof(SharedCell) <= 512 && std::atomic<std::uint64_t>::is_always_lock_free);

class ShareBoard;

/// A cell of this process. The destructor returns it to the board. Importers can write to the cell, so the
/// values that this process relies on are kept here. Thread-safe.
class OwnCell {
 public:
  OwnCell(ShareBoard& board, std::uint32_t index, SharedKind kind, const std::array<std::uint64_t, 2>& secret)
      : board_(board), index_(index), kind_(kind), secret_(secret) {}
  ~OwnCell();
  OwnCell(const OwnCell&) = delete;
  OwnCell& operator=(const OwnCell&) = delete;

  SharedCell& operator*() const;
  SharedCell* operator->() const { return &**this; }
  /// For other processes: a text of at most 64 characters, or a number.
  std::string Key() const;
  std::uint64_t Number() const;
  /// Adds processes that may import it.
  Status Admit(std::span<const std::int32_t> processes);
  /// Says where the memory is that the cell stands for; processes that cannot open it are given it.
  Status SetExtent(const MemoryFile& file, SharedExtent extent);
  /// No import succeeds from now on.
  void Close() noexcept;
  /// Whether some process holds an import of it.
  bool HeldElsewhere() const noexcept;

 private:
  ShareBoard& board_;
  const std::uint32_t index_;
  const SharedKind kind_;
  const std::array<std::uint64_t, 2> secret_;
  std::mutex mutex_;
  std::uint32_t admitted_ = 0;  // processes on the list
};

/// The cells of this process, in an unnamed memory file that only processes of the same user can open.
/// Thread-safe.
class ShareBoard {
 public:
  static constexpr std::uint32_t kCells = 1U << 17;
  static constexpr std::size_t kCellBytes = 512;
  /// By which others know the file among this process's descriptors.
  /// The name of a process's own board. Those of others, which it has open as well, have other names.
  static std::string FileName(std::int32_t process) { return Text("sampan board of ", process); }

  ShareBoard() = default;
  ~ShareBoard();
  ShareBoard(const ShareBoard&) = delete;
  ShareBoard& operator=(const ShareBoard&) = delete;

  /// A cell found by number has the more of its secret in its place.
  enum class FoundBy { kKey, kNumber };
  Result<std::shared_ptr<OwnCell>> Take(SharedKind kind, FoundBy found_by);

 private:
  friend class OwnCell;

  Status Open();
  std::uint32_t TakeIndex(FoundBy found_by);
  void Return(std::uint32_t index) noexcept;
  void Vacate(std::uint32_t index) noexcept;
  bool HeldElsewhere(std::uint32_t index) const noexcept;
  SharedCell& At(std::uint32_t index) const;
  /// Has the memory handed to processes that show the secret; the number to ask for.
  Result<std::uint64_t> Offer(const FileRequest& request, std::shared_ptr<const MemoryHandle> handle);
  void Withdraw(std::uint32_t index) noexcept;

  std::mutex mutex_;
  Descriptor file_;
  std::byte* cells_ = nullptr;
  std::vector<std::uint32_t> returned_;        // of those found by key
  std::vector<std::uint32_t> free_by_number_;  // of those found by number, from the first one on
  std::vector<std::uint32_t> parked_;          // given back here, still held elsewhere
  std::size_t next_parked_ = 0;                // the next one to check
  std::uint32_t next_ = 0;
  std::size_t taken_count_ = 0;
  std::mutex file_server_mutex_;
  std::unique_ptr<FileServer> file_server_;  // from the first offer on
};

/// What a key or a number says.
struct CellAddress {
  std::int32_t process = 0;
  std::uint32_t index = 0;
  std::array<std::uint64_t, 2> secret{};
  bool by_number = false;  ///< then only the lowest bits of the secret are known

  static Result<CellAddress> FromKey(std::string_view key, SharedKind kind);
  static Result<CellAddress> FromNumber(std::uint64_t number);
  bool Matches(const SharedCell& cell, SharedKind kind) const;
};

}  // namespace sampan
