// Hands memory to other processes that cannot open it by themselves: descriptors, over a socket.
#include "core/file_giver.h"

#include <sys/random.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string>
#include <utility>

#include "base/abstract_address.h"
#include "base/log.h"
#include "base/system_error.h"
#include "base/text.h"

namespace sampan {
namespace {

/// How long either side waits for the other: it has nothing to do but to answer.
constexpr timeval kPatience{10, 0};
/// A process that connects and says nothing does not hold up the others for longer.
constexpr timeval kPatienceForRequest{1, 0};

AbstractAddress NameOf(std::int32_t process, std::uint64_t giver) {
  return AbstractAddress(Text("sampan files of ", process, " ", Hex(static_cast<std::uintptr_t>(giver))));
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

void SetPatience(const Descriptor& connection, const timeval& patience) {
  ::setsockopt(connection.get(), SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
  ::setsockopt(connection.get(), SOL_SOCKET, SO_SNDTIMEO, &kPatience, sizeof(kPatience));
}

/// A message of one byte, and the descriptor that travels with it.
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
    cmsghdr* const header = CMSG_FIRSTHDR(&message_);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(sizeof(int));
    const int sent = descriptor.get();
    std::memcpy(CMSG_DATA(header), &sent, sizeof(sent));
    ::sendmsg(connection.get(), &message_, MSG_NOSIGNAL);
  }
  /// Nothing where none came.
  Descriptor Receive(const Descriptor& connection) {
    if (::recvmsg(connection.get(), &message_, MSG_CMSG_CLOEXEC) <= 0) return Descriptor();
    const cmsghdr* const header = CMSG_FIRSTHDR(&message_);
    if (header == nullptr || header->cmsg_type != SCM_RIGHTS) return Descriptor();
    int received = -1;
    std::memcpy(&received, CMSG_DATA(header), sizeof(received));
    return Descriptor(received);
  }

 private:
  char byte_ = 0;
  iovec part_{&byte_, 1};
  alignas(cmsghdr) char control_[CMSG_SPACE(sizeof(int))] = {};
  msghdr message_{};
};

}  // namespace

Result<std::unique_ptr<FileGiver>> FileGiver::Start() {
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
  std::unique_ptr<FileGiver> giver(new FileGiver(number, std::move(socket)));
  giver->thread_ = StartThread("sampan-files", [self = giver.get()] { self->Loop(); });
  return giver;
}

FileGiver::~FileGiver() {
  ::shutdown(socket_.get(), SHUT_RDWR);  // wakes the thread
  if (thread_.joinable()) thread_.Join();
}

void FileGiver::Offer(const FileRequest& request, std::shared_ptr<const MemoryHandle> handle) {
  const std::lock_guard lock(mutex_);
  offered_.insert_or_assign(request.cell, Offered{request.secret, std::move(handle)});
}

void FileGiver::Withdraw(std::uint32_t cell) noexcept {
  std::shared_ptr<const MemoryHandle> ended;  // without the lock
  const std::lock_guard lock(mutex_);
  const auto offered = offered_.find(cell);
  if (offered == offered_.end()) return;
  ended = std::move(offered->second.handle);
  offered_.erase(offered);
}

void FileGiver::Loop() noexcept {
  for (;;) {
    const Descriptor connection(::accept4(socket_.get(), nullptr, nullptr, SOCK_CLOEXEC));
    if (connection.get() < 0) {
      if (errno == EINTR || errno == ECONNABORTED) continue;
      if (errno == EMFILE || errno == ENFILE || errno == ENOMEM || errno == ENOBUFS) {
        ::usleep(1000);  // until the program has closed some
        continue;
      }
      return;
    }
    try {
      Answer(connection);
    } catch (const std::exception& failure) {
      Log(LogLevel::kWarning, "RUNTIME", Text("memory was not handed over: ", failure.what()));
    }
  }
}

void FileGiver::Answer(const Descriptor& connection) {
  SetPatience(connection, kPatienceForRequest);
  FileRequest request;
  if (!SameUser(connection) || ::recv(connection.get(), &request, sizeof(request), 0) != sizeof(request))
    return;
  const auto descriptor = Open(request);
  if (!descriptor.ok()) {
    Log(LogLevel::kWarning, "RUNTIME", descriptor.error().message);
    return;  // the end of the connection is the answer
  }
  DescriptorMessage().Send(connection, descriptor.value());
}

Result<Descriptor> FileGiver::Open(const FileRequest& request) {
  const std::lock_guard lock(mutex_);
  const auto offered = offered_.find(request.cell);
  if (offered == offered_.end() || offered->second.secret != request.secret)
    return Error{Code::kParamInvalid, "a process asked for memory that is not offered, or no more"};
  return offered->second.handle->Export();
}

Result<Descriptor> ReceiveFile(std::int32_t process, std::uint64_t giver, const FileRequest& request) {
  const auto failure = [&](std::string_view why) {
    return Error{Code::kParamInvalid, Text("process ", process, " does not hand over its memory: ", why)};
  };
  const Descriptor socket = NewSocket();
  if (socket.get() < 0) return CannotStart("a socket");
  SetPatience(socket, kPatience);
  const AbstractAddress name = NameOf(process, giver);
  if (::connect(socket.get(), reinterpret_cast<const sockaddr*>(&name.address), name.bytes) != 0 ||
      ::send(socket.get(), &request, sizeof(request), MSG_NOSIGNAL) != sizeof(request)) {
    return failure(SystemError(errno));
  }
  Descriptor descriptor = DescriptorMessage().Receive(socket);
  if (descriptor.get() < 0) return failure("it is not offered any more, or the process has stopped");
  return descriptor;
}

}  // namespace sampan
