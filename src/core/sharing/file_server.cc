// Sends descriptors of memory, over a socket, to processes that cannot open the memory by themselves.
#include "core/sharing/file_server.h"

#include <poll.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <string>
#include <utility>

#include "base/error/system_error.h"
#include "base/error/text.h"
#include "base/log/log.h"
#include "base/system/abstract_address.h"
#include "base/time/clock.h"

namespace sampan::core {
namespace {

/// How long either side waits for an answer.
constexpr timeval kTransferTimeout{10, 0};
/// How long a connected process may be silent, and how many may be silent at a time. One more replaces the
/// oldest. A silent process does not delay others.
constexpr std::chrono::seconds kRequestTimeout{1};
constexpr std::size_t kMaxSilent = 64;

AbstractAddress NameOf(std::int32_t process, std::uint64_t server) {
  return AbstractAddress(Text("sampan files of ", process, " ", Hex(static_cast<std::uintptr_t>(server))));
}

Descriptor NewSocket() {
  return Descriptor(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0));
}

Status CannotStart(std::string_view what) {
  return {Code::kResourceAllocFail,
          Text("memory cannot be handed to other processes: ", what, ": ", SystemError(errno))};
}

bool SameUser(const Descriptor& connection) {
  ucred peer{};
  socklen_t bytes = sizeof(peer);
  return ::getsockopt(connection.get(), SOL_SOCKET, SO_PEERCRED, &peer, &bytes) == 0 &&
         peer.uid == ::geteuid();
}

void SetTimeouts(const Descriptor& connection) {
  ::setsockopt(connection.get(), SOL_SOCKET, SO_RCVTIMEO, &kTransferTimeout, sizeof(kTransferTimeout));
  ::setsockopt(connection.get(), SOL_SOCKET, SO_SNDTIMEO, &kTransferTimeout, sizeof(kTransferTimeout));
}

/// A message of one byte with a descriptor attached.
class DescriptorMessage {
 public:
  DescriptorMessage() {
    message_.msg_iov = &part_;
    message_.msg_iovlen = 1;
    message_.msg_control = control_;
    message_.msg_controllen = sizeof(control_);
  }
  DescriptorMessage(const DescriptorMessage&) = delete;
  DescriptorMessage& operator=(const DescriptorMessage&) = delete;

  void Send(const Descriptor& connection, const Descriptor& descriptor) {
    message_.msg_controllen = CMSG_SPACE(sizeof(int));
    cmsghdr* const header = CMSG_FIRSTHDR(&message_);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(sizeof(int));
    const int sent = descriptor.get();
    std::memcpy(CMSG_DATA(header), &sent, sizeof(sent));
    ::sendmsg(connection.get(), &message_, MSG_NOSIGNAL | MSG_DONTWAIT);
  }
  /// Returns nothing if not exactly one descriptor arrived, and then closes all that arrived.
  Descriptor Receive(const Descriptor& connection) {
    const ssize_t length = ::recvmsg(connection.get(), &message_, MSG_CMSG_CLOEXEC);
    if (length < 0) return Descriptor();
    Descriptor received;
    std::size_t count = 0;
    for (cmsghdr* header = CMSG_FIRSTHDR(&message_); header != nullptr;
         header = CMSG_NXTHDR(&message_, header)) {
      if (header->cmsg_level != SOL_SOCKET || header->cmsg_type != SCM_RIGHTS) continue;
      const std::size_t bytes = header->cmsg_len - CMSG_LEN(0);
      for (std::size_t at = 0; at + sizeof(int) <= bytes; at += sizeof(int), ++count) {
        int descriptor = -1;
        std::memcpy(&descriptor, CMSG_DATA(header) + at, sizeof(descriptor));
        received = Descriptor(descriptor);  // closes the one before
      }
    }
    const bool whole = length > 0 && (message_.msg_flags & MSG_CTRUNC) == 0;
    return whole && count == 1 ? std::move(received) : Descriptor();
  }

 private:
  char byte_ = 0;
  iovec part_{&byte_, 1};
  // Has room for more descriptors than expected: the system closes those that do not fit, we close the rest.
  alignas(cmsghdr) char control_[CMSG_SPACE(4 * sizeof(int))] = {};
  msghdr message_{};
};

}  // namespace

Result<std::unique_ptr<FileServer>> FileServer::Start() {
  std::uint64_t number = 0;
  if (::getrandom(&number, sizeof(number), 0) != sizeof(number)) return CannotStart("getrandom");
  number |= 1;
  Descriptor socket = NewSocket();
  const AbstractAddress name = NameOf(::getpid(), number);
  if (socket.get() < 0 ||
      ::bind(socket.get(), reinterpret_cast<const sockaddr*>(&name.address), name.bytes) != 0 ||
      ::listen(socket.get(), SOMAXCONN) != 0) {
    return CannotStart("a socket");
  }
  std::unique_ptr<FileServer> server(new FileServer(number, std::move(socket)));
  server->thread_ = StartThread("sampan-files", [self = server.get()] { self->Loop(); });
  return server;
}

FileServer::~FileServer() {
  ::shutdown(socket_.get(), SHUT_RDWR);  // wakes the thread
  if (thread_.joinable()) thread_.Join();
}

void FileServer::Offer(const FileRequest& request, std::shared_ptr<const MemoryHandle> handle) {
  const std::lock_guard lock(mutex_);
  offered_.insert_or_assign(request.cell, Offered{request.secret, std::move(handle)});
}

void FileServer::Withdraw(std::uint32_t cell) noexcept {
  std::shared_ptr<const MemoryHandle> ended;  // destroyed after the lock is released
  const std::lock_guard lock(mutex_);
  const auto offered = offered_.find(cell);
  if (offered == offered_.end()) return;
  ended = std::move(offered->second.handle);
  offered_.erase(offered);
}

/// Connections without a request, the oldest first. Their number is fixed, so nothing here allocates.
struct FileServer::Silent {
  std::array<Descriptor, kMaxSilent> connections;
  std::array<Deadline, kMaxSilent> until;
  std::size_t count = 0;

  void Add(Descriptor connection) {
    if (count == kMaxSilent) Remove(0);
    connections[count] = std::move(connection);
    until[count++] = Clock::now() + kRequestTimeout;
  }
  void Remove(std::size_t index) {
    std::move(connections.begin() + static_cast<std::ptrdiff_t>(index) + 1,
              connections.begin() + static_cast<std::ptrdiff_t>(count),
              connections.begin() + static_cast<std::ptrdiff_t>(index));
    std::copy(until.begin() + static_cast<std::ptrdiff_t>(index) + 1,
              until.begin() + static_cast<std::ptrdiff_t>(count),
              until.begin() + static_cast<std::ptrdiff_t>(index));
    connections[--count].Close();
  }
  /// The time until the oldest connection must have sent its request.
  int TimeoutMs() const {
    if (count == 0) return -1;
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(until[0] - Clock::now());
    return static_cast<int>(std::max<std::int64_t>(left.count(), 0));
  }
};

void FileServer::Loop() noexcept {
  Silent silent;
  std::array<pollfd, kMaxSilent + 1> watched;
  for (;;) {
    watched[0] = {socket_.get(), POLLIN, 0};
    for (std::size_t i = 0; i < silent.count; ++i)
      watched[i + 1] = {silent.connections[i].get(), POLLIN, 0};
    if (::poll(watched.data(), silent.count + 1, silent.TimeoutMs()) < 0 && errno != EINTR) return;
    const Deadline now = Clock::now();
    for (std::size_t i = silent.count; i > 0; --i) {
      if (watched[i].revents != 0) TryAnswer(silent.connections[i - 1]);
      if (watched[i].revents != 0 || silent.until[i - 1] <= now) silent.Remove(i - 1);
    }
    if (watched[0].revents != 0 && !Accept(silent)) return;
  }
}

bool FileServer::Accept(Silent& silent) noexcept {
  Descriptor connection(::accept4(socket_.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
  if (connection.get() >= 0) {
    if (SameUser(connection)) silent.Add(std::move(connection));
    return true;
  }
  if (errno == EMFILE || errno == ENFILE || errno == ENOMEM || errno == ENOBUFS) {
    ::usleep(1000);  // until the program has closed descriptors
    return true;
  }
  return errno == EINTR || errno == ECONNABORTED || errno == EAGAIN;
}

void FileServer::TryAnswer(const Descriptor& connection) noexcept {
  try {
    Answer(connection);
  } catch (const std::exception& failure) {
    Log(LogLevel::kWarning, "RUNTIME", Text("memory was not handed over: ", failure.what()));
  }
}

void FileServer::Answer(const Descriptor& connection) {
  FileRequest request;
  if (::recv(connection.get(), &request, sizeof(request), 0) != sizeof(request)) return;
  const auto descriptor = Open(request);
  if (!descriptor.ok()) {
    Log(LogLevel::kWarning, "RUNTIME", descriptor.error().message);
    return;  // the closed connection is the answer
  }
  DescriptorMessage().Send(connection, descriptor.value());
}

Result<Descriptor> FileServer::Open(const FileRequest& request) {
  const std::lock_guard lock(mutex_);
  const auto offered = offered_.find(request.cell);
  if (offered == offered_.end() || offered->second.secret != request.secret)
    return Error{Code::kParamInvalid, "a process asked for memory that is not offered, or no more"};
  return offered->second.handle->Export();
}

Result<Descriptor> ReceiveFile(std::int32_t process, std::uint64_t server, const FileRequest& request) {
  const auto failure = [&](std::string_view why) {
    return Error{Code::kParamInvalid, Text("process ", process, " does not hand over its memory: ", why)};
  };
  const Descriptor socket = NewSocket();
  if (socket.get() < 0) return CannotStart("a socket");
  SetTimeouts(socket);
  const AbstractAddress name = NameOf(process, server);
  if (::connect(socket.get(), reinterpret_cast<const sockaddr*>(&name.address), name.bytes) != 0 ||
      !SameUser(socket) || ::send(socket.get(), &request, sizeof(request), MSG_NOSIGNAL) != sizeof(request)) {
    return failure(SystemError(errno));
  }
  Descriptor descriptor = DescriptorMessage().Receive(socket);
  if (descriptor.get() < 0) return failure("it is not offered any more, or the process has stopped");
  return descriptor;
}

}  // namespace sampan::core
