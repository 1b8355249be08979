// Sends descriptors of memory, over a socket, to processes that cannot open the memory by themselves.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>

#include "backend/api/virtual_memory.h"
#include "base/error/status.h"
#include "base/system/descriptor.h"
#include "base/threads/threads.h"

namespace sampan::core {

/// A request of another process: a cell of the server, and the secret that it read there.
struct FileRequest {
  std::uint32_t cell = 0, reserved = 0;
  std::array<std::uint64_t, 2> secret{};
};

/// One per process, with a thread that answers. The socket has an abstract name, so no file is left behind.
/// Answers only processes of the same user. Thread-safe.
class FileServer {
 public:
  static Result<std::unique_ptr<FileServer>> Start();
  ~FileServer();
  FileServer(const FileServer&) = delete;
  FileServer& operator=(const FileServer&) = delete;

  /// Identifies the server for other processes. Never 0.
  std::uint64_t number() const { return number_; }
  void Offer(const FileRequest& request, std::shared_ptr<const MemoryHandle> handle);
  /// On return, the server no longer uses the handle of this cell.
  void Withdraw(std::uint32_t cell) noexcept;

 private:
  struct Offered {
    std::array<std::uint64_t, 2> secret;
    std::shared_ptr<const MemoryHandle> handle;
  };
  FileServer(std::uint64_t number, Descriptor socket) : number_(number), socket_(std::move(socket)) {}
  struct Silent;
  void Loop() noexcept;
  /// Accepts the next connection. Returns false if the socket is shut down.
  bool Accept(Silent& silent) noexcept;
  void TryAnswer(const Descriptor& connection) noexcept;
  void Answer(const Descriptor& connection);
  Result<Descriptor> Open(const FileRequest& request);

  const std::uint64_t number_;
  const Descriptor socket_;
  std::mutex mutex_;
  std::map<std::uint32_t, Offered> offered_;  // by cell
  Thread thread_;
};

/// Returns the descriptor that a process offers, or why there is none.
Result<Descriptor> ReceiveFile(std::int32_t process, std::uint64_t server, const FileRequest& request);

}  // namespace sampan::core
