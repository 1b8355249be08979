// What a user would write instead of fabric handles: four TCP connections, a thread for each, send and recv.
#pragma once

#include <array>
#include <barrier>
#include <cstddef>
#include <cstdint>
#include <thread>

namespace bench {

/// The other side: memory that is written and read through sockets. Its threads run until the process exits.
class PlainServer {
 public:
  /// Listens at the address; the port is told to `port`.
  PlainServer(const char* address, std::byte* memory, std::size_t bytes);
  std::uint16_t port() const { return port_; }

 private:
  void Serve(int listener, std::byte* memory, std::size_t bytes);

  std::uint16_t port_ = 0;
};

/// This side. All calls return when the bytes are in place at the other side, or here.
class PlainClient {
 public:
  PlainClient(const char* address, std::uint16_t port);
  ~PlainClient();
  PlainClient(const PlainClient&) = delete;
  PlainClient& operator=(const PlainClient&) = delete;

  /// `bytes` is a multiple of the number of sockets.
  void Write(const std::byte* from, std::size_t bytes);
  void Read(std::byte* to, std::size_t bytes);
  /// There and back over the first socket, on the calling thread.
  void PingPong(std::byte* message, std::size_t bytes);

 private:
  static constexpr std::size_t kSockets = 4;
  enum class Work : std::uint32_t { kWrite, kRead, kEnd };
  void Run(std::size_t index);
  void Together(Work work, std::byte* memory, std::size_t bytes);

  std::array<int, kSockets> sockets_{};
  std::array<std::thread, kSockets> threads_;
  std::barrier<> begin_{kSockets + 1}, end_{kSockets + 1};
  Work work_ = Work::kWrite;
  std::byte* memory_ = nullptr;
  std::size_t share_ = 0;  // bytes of a socket
};

}  // namespace bench
