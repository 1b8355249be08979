// What a user would write instead of fabric handles: four TCP connections, a thread for each, send and recv.
#include "bench/hosts/plain_sockets.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstring>

#include "bench/hosts/two_networks.h"
#include "bench/measure/failure.h"

namespace bench {
namespace {

enum class Request : std::uint32_t { kWrite, kRead, kPingPong };
struct Order {
  Request request;
  std::uint32_t reserved;
  std::uint64_t offset, bytes;
};

sockaddr_in AddressOf(const char* address, std::uint16_t port) {
  sockaddr_in socket = {};
  socket.sin_family = AF_INET;
  socket.sin_port = htons(port);
  ::inet_pton(AF_INET, address, &socket.sin_addr);
  return socket;
}

void SendAtOnce(int socket) {
  const int on = 1;
  ::setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
}

void Obey(int socket, std::byte* memory, std::size_t memory_bytes) {
  for (;;) {
    Order order;
    ReceiveAll(socket, &order, sizeof(order));
    if (order.offset + order.bytes > memory_bytes) throw Failure("an order leaves the memory");
    std::byte* const there = memory + order.offset;
    char done = 1;
    if (order.request != Request::kRead) ReceiveAll(socket, there, order.bytes);
    if (order.request != Request::kWrite) SendAll(socket, there, order.bytes);
    if (order.request == Request::kWrite) SendAll(socket, &done, 1);
  }
}

}  // namespace

PlainServer::PlainServer(const char* address, std::byte* memory, std::size_t bytes) {
  const int listener = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in name = AddressOf(address, 0);
  socklen_t length = sizeof(name);
  if (::bind(listener, reinterpret_cast<const sockaddr*>(&name), length) != 0 ||
      ::listen(listener, 16) != 0 ||
      ::getsockname(listener, reinterpret_cast<sockaddr*>(&name), &length) != 0) {
    throw Failure("the plain program cannot listen");
  }
  port_ = ntohs(name.sin_port);
  std::thread([this, listener, memory, bytes] { Serve(listener, memory, bytes); }).detach();
}

void PlainServer::Serve(int listener, std::byte* memory, std::size_t bytes) {
  for (;;) {
    const int socket = ::accept(listener, nullptr, nullptr);
    if (socket < 0) return;
    SendAtOnce(socket);
    std::thread([socket, memory, bytes] {
      try {
        Obey(socket, memory, bytes);
      } catch (const Failure&) {
        ::close(socket);  // the other side is gone
      }
    }).detach();
  }
}

PlainClient::PlainClient(const char* address, std::uint16_t port) {
  const sockaddr_in name = AddressOf(address, port);
  for (int& socket : sockets_) {
    socket = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (::connect(socket, reinterpret_cast<const sockaddr*>(&name), sizeof(name)) != 0)
      throw Failure("the plain program cannot connect");
    SendAtOnce(socket);
  }
  for (std::size_t i = 0; i < kSockets; ++i)
    threads_[i] = std::thread([this, i] { Run(i); });
}

PlainClient::~PlainClient() {
  work_ = Work::kEnd;
  begin_.arrive_and_wait();
  for (std::size_t i = 0; i < kSockets; ++i) {
    threads_[i].join();
    ::close(sockets_[i]);
  }
}

void PlainClient::Run(std::size_t index) {
  for (;;) {
    begin_.arrive_and_wait();
    if (work_ == Work::kEnd) return;
    const int socket = sockets_[index];
    std::byte* const mine = memory_ + index * share_;
    const Order order{work_ == Work::kWrite ? Request::kWrite : Request::kRead, 0, index * share_, share_};
    SendAll(socket, &order, sizeof(order));
    if (work_ == Work::kWrite) {
      char done = 0;
      SendAll(socket, mine, share_);
      ReceiveAll(socket, &done, 1);
    } else {
      ReceiveAll(socket, mine, share_);
    }
    end_.arrive_and_wait();
  }
}

void PlainClient::Together(Work work, std::byte* memory, std::size_t bytes) {
  work_ = work;
  memory_ = memory;
  share_ = bytes / kSockets;
  begin_.arrive_and_wait();
  end_.arrive_and_wait();
}

void PlainClient::Write(const std::byte* from, std::size_t bytes) {
  Together(Work::kWrite, const_cast<std::byte*>(from), bytes);  // only read
}

void PlainClient::Read(std::byte* to, std::size_t bytes) {
  Together(Work::kRead, to, bytes);
}

void PlainClient::PingPong(std::byte* message, std::size_t bytes) {
  struct {
    Order order;
    std::byte bytes[4096];
  } sent;
  if (bytes > sizeof(sent.bytes)) throw Failure("the message is too long");
  sent.order = {Request::kPingPong, 0, 0, bytes};
  std::memcpy(sent.bytes, message, bytes);
  SendAll(sockets_[0], &sent, sizeof(sent.order) + bytes);
  ReceiveAll(sockets_[0], message, bytes);
}

}  // namespace bench
