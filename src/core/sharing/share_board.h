// The board of this process: cells in a file that other processes can map, each with a secret key.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "backend/api/gate.h"
#include "backend/api/peer_network.h"
#include "backend/api/virtual_memory.h"
#include "base/error/status.h"
#include "base/error/text.h"
#include "base/system/descriptor.h"
#include "core/sharing/file_server.h"

namespace sampan::core {

/// The type of object that a cell shares.
enum class SharedKind : std::uint32_t { kNotify = 1, kEvent, kMemory, kPhysical };

std::string Describe(SharedKind kind);
/// The kind in a key.
char LetterOf(SharedKind kind);

/// Where shared memory is, from the owner's point of view.
struct SharedExtent {
  std::int32_t descriptor = -1;  ///< of the owner; -1: ask its file server
  std::int32_t device = -1;      ///< physical id; -1: host memory
  std::uint64_t offset = 0, bytes = 0;
  std::uint32_t page_bytes = 4096;
  std::uint32_t attribute = 0;  ///< of physical memory, as the program gave it
  std::uint32_t location_id = 0, location_type = 0;
  std::uint64_t file_server = 0;  ///< number of the owner's file server; 0: none
  std::uint64_t whole_bytes = 0;  ///< of the file server's memory, which is mapped as a whole
};

/// Plain data in memory that several processes map and write. A process may be killed at any instruction, so
/// every state must be valid for the others. A broken process may write anything, so readers check what they
/// read.
struct SharedCell {
  static constexpr std::size_t kMaxProcesses = 64;
  enum State : std::uint32_t { kUnused, kOpen, kClosed };

  std::atomic<std::uint32_t> state{kUnused};
  SharedKind kind{};
  std::array<std::uint64_t, 2> secret{};
  std::atomic<std::uint32_t> for_all_processes{0};  ///< no list of processes
  std::atomic<std::uint32_t> process_count{0};
  std::array<std::atomic<std::int32_t>, kMaxProcesses> processes{};
  std::uint32_t number = 0;  ///< of a notify or an event, for messages
  // Notifies and events.
  SleepWord signal;
  std::atomic<std::uint64_t> recorded{0};  ///< the number of the latest recording
  /// The last recordings, each at its number modulo the size: which process made it (RecordedBy), and the
  /// latest one there that is over (EndedRecording).
  static constexpr std::size_t kRecordings = 8;
  std::array<std::atomic<std::uint64_t>, kRecordings> recorders{}, ended{};
  // Memory.
  SharedExtent extent;
};
static_assert(sizeof(SharedCell) <= 512 && std::atomic<std::uint64_t>::is_always_lock_free);

class ShareBoard;
struct CellAddress;

/// A cell of this process. The destructor returns it to the board. Importers can write to the cell, so this
/// object stores the values that this process relies on. Thread-safe.
class OwnCell {
 public:
  OwnCell(ShareBoard& board, std::uint32_t index, SharedKind kind, const std::array<std::uint64_t, 2>& secret)
      : board_(board), index_(index), kind_(kind), secret_(secret) {}
  ~OwnCell();
  OwnCell(const OwnCell&) = delete;
  OwnCell& operator=(const OwnCell&) = delete;

  SharedCell& operator*() const;
  SharedCell* operator->() const { return &**this; }
  /// Identifies the cell for other processes: a text of at most 64 characters, or a number.
  std::string Key() const;
  std::uint64_t Number() const;
  CellAddress Address() const;
  bool IsAt(const CellAddress& address) const;
  /// Adds processes that may import it.
  Status Admit(std::span<const std::int32_t> processes);
  /// Adds processes of one host, this one or another.
  Status AdmitOfServer(std::uint32_t server, std::span<const std::int32_t> processes);
  void AdmitAll();
  bool Admits(std::int32_t process);
  bool AdmitsOfServer(const PeerProcess& importer);
  /// Sets where the cell's memory is. The file server sends it to processes that cannot open it.
  Status SetExtent(const MemoryFile& file, SharedExtent extent);
  /// No import succeeds from now on.
  void Close() noexcept;
  /// Returns true if a process holds an import of it.
  bool HeldElsewhere() const noexcept;

 private:
  Status AdmitLocked(std::span<const std::int32_t> processes);

  ShareBoard& board_;
  const std::uint32_t index_;
  const SharedKind kind_;
  const std::array<std::uint64_t, 2> secret_;
  std::mutex mutex_;
  bool admits_all_ = false;
  std::vector<std::int32_t> admitted_;  // the list
  std::vector<std::pair<std::uint32_t, std::int32_t>> admitted_of_servers_;
};

/// The cells of this process, in an unnamed memory file that only processes of the same user can open.
/// Thread-safe.
class ShareBoard {
 public:
  static constexpr std::uint32_t kCells = 1U << 17;
  static constexpr std::size_t kCellBytes = 512;
  /// The name of a process's own board, by which others find it among the process's descriptors. Boards of
  /// other processes that it has open have other names.
  static std::string FileName(std::int32_t process) { return Text("sampan board of ", process); }

  ShareBoard() = default;
  ~ShareBoard();
  ShareBoard(const ShareBoard&) = delete;
  ShareBoard& operator=(const ShareBoard&) = delete;

  /// A number has fewer bits of secret, so a cell found by number is at a random place.
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
  /// Offers the memory to processes that know the secret. Returns the number of the file server.
  Result<std::uint64_t> Offer(const FileRequest& request, std::shared_ptr<const MemoryHandle> handle);
  void Withdraw(std::uint32_t index) noexcept;

  std::mutex mutex_;
  Descriptor file_;
  std::byte* cells_ = nullptr;
  std::vector<std::uint32_t> returned_;        // free cells found by key
  std::vector<std::uint32_t> free_by_number_;  // free cells found by number
  std::vector<std::uint32_t> parked_;          // returned here, but held by other processes
  std::size_t next_parked_ = 0;                // the next one to check
  std::uint32_t next_ = 0;
  std::size_t taken_count_ = 0;
  std::mutex file_server_mutex_;
  std::unique_ptr<FileServer> file_server_;  // created by the first offer
};

/// The content of a key or a number.
struct CellAddress {
  std::int32_t process = 0;
  std::uint32_t index = 0;
  std::array<std::uint64_t, 2> secret{};
  bool by_number = false;  ///< if true, only the lowest bits of the secret are known

  static Result<CellAddress> FromKey(std::string_view key, SharedKind kind);
  static Result<CellAddress> FromNumber(std::uint64_t number);
  bool Matches(const SharedCell& cell, SharedKind kind) const;
};

}  // namespace sampan::core
