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

namespace sampan {

/// What a process asks for: a cell of the server's, with the secret that it read there.
struct FileRequest {
  std::uint32_t cell = 0, reserved = 0;
  std::array<std::uint64_t, 2> secret{};
};

/// One for a process, with a thread that answers. The socket has an abstract name, so no file is left behind,
/// and answers processes of the same user only. Thread-safe.
class FileServer {
 public:
  static Result<std::unique_ptr<FileServer>> Start();
  ~FileServer();
  FileServer(const FileServer&) = delete;
  FileServer& operator=(const FileServer&) = delete;

  /// By which others find it; never 0.
  std::uint64_t number() const { return number_; }
  void Offer(const FileRequest& request, std::shared_ptr<const MemoryHandle> handle);
  /// From now on the handle is not touched any more.
  void Withdraw(std::uint32_t cell) noexcept;

 private:
  struct Offered {
    std::array<std::uint64_t, 2> secret;
    std::shared_ptr<const MemoryHandle> handle;
  };
  FileServer(std::uint64_t number, Descriptor socket) : number_(number), socket_(std::move(socket)) {}
  struct Silent;
  void Loop() noexcept;
  /// Takes the next connection; false once the socket is shut down.
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

/// The descriptor that a process offers, or why there is none.
Result<Descriptor> ReceiveFile(std::int32_t process, std::uint64_t server, const FileRequest& request);

}  // namespace sampan
