// Memory of processes on other hosts, and the network that reaches it.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/error/status.h"
#include "base/network/peer_address.h"

namespace sampan {

/// A contiguous piece of a transfer.
struct PeerPiece {
  std::byte* local = nullptr;  ///< unused by fills
  std::uint64_t offset = 0;    ///< in the peer's memory
  std::uint64_t bytes = 0;
};

struct PeerTransfer {
  /// A signal has no pieces. A write of one aligned word of 64 bits is never seen in part.
  enum class Kind : std::uint8_t { kWrite, kRead, kFill, kSignal };
  Kind kind = Kind::kWrite;
  std::vector<PeerPiece> pieces;  ///< none is empty
  std::uint32_t pattern = 0;      ///< of a fill: four bytes, from the first one in each piece
  /// Counts the bytes that it sends and receives. Null, or valid until the transfer is over.
  std::atomic<std::uint64_t>* wire_bytes = nullptr;
};

/// What the owner says about its memory. The values are those of the public header.
struct PeerMemoryFacts {
  std::uint64_t bytes = 0;      ///< 0: a signal
  std::uint32_t on_host = 0;    ///< 1: host memory
  std::uint32_t attribute = 0;  ///< of a signal: its number
  std::uint32_t location_type = 0;
  std::uint32_t read_only = 0;  ///< 1: writes are refused
};

/// Imported memory of another host, or a signal. Thread-safe.
class PeerMemory {
 public:
  virtual ~PeerMemory() = default;
  virtual const PeerMemoryFacts& facts() const = 0;
  /// Never blocks. Calls `done` once, on any thread: the bytes are in place, or why they are not. The local
  /// memory must stay until then. `done` must not block.
  virtual void Start(PeerTransfer transfer, std::function<void(Status)> done) noexcept = 0;
  /// Works on the network on the calling thread, which waits for a transfer. Returns at `enough()`, or when
  /// sleeping would be faster.
  virtual void Help(const std::function<bool()>& enough) noexcept = 0;
  /// Text for messages: the owner's process and host.
  virtual std::string Describe() const = 0;
};

/// What an importer knows from a handle.
struct PeerName {
  PeerAddress address;
  std::int32_t process = 0;
  std::uint32_t cell = 0;
  std::array<std::uint64_t, 2> secret{};
};

/// A process that wants to import, as it says itself.
struct PeerProcess {
  std::uint32_t server = 0;  ///< ServerNumber of its host
  std::int32_t process = 0;
};

/// Memory that this process lets others use, or a signal. Thread-safe.
class LentMemory {
 public:
  virtual ~LentMemory() = default;
  virtual const PeerMemoryFacts& facts() const = 0;
  /// Returns true if the process may import it.
  virtual bool Admits(const PeerProcess& importer) const = 0;
  /// Sets the signal. Returns false if this is memory.
  virtual bool Signal() noexcept { return false; }
  /// Its first byte, for the engines. It is mapped by the first call, when a process imports it.
  virtual Result<std::byte*> Map() = 0;
};

/// Thread-safe. The network's thread runs until the process exits.
class PeerNetwork {
 public:
  virtual ~PeerNetwork() = default;
  /// Begins to listen, if it does not yet. Fails with 207000 if the engine is not installed.
  virtual Result<PeerAddress> Listen() = 0;
  virtual void Lend(std::uint32_t cell, const std::array<std::uint64_t, 2>& secret,
                    std::shared_ptr<LentMemory> memory) = 0;
  /// On return no peer touches the memory, and none will.
  virtual void TakeBack(std::uint32_t cell) noexcept = 0;
  /// Connects to the owner. Blocks until it answers, at most for the time limit.
  virtual Result<std::shared_ptr<PeerMemory>> Import(const PeerName& name) = 0;
};

}  // namespace sampan
