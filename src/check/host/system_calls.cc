// The calls of the C library that the checker takes part in: those that access or free memory.
#include "check/host/system_calls.h"

#include <malloc.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <new>
#include <span>
#include <utility>

#include "check/host/host_aliases.h"
#include "check/host/signal_calls.h"
#include "check/host/symbol_slots.h"
#include "check/session.h"

extern "C" {
// The C library has them, and declares them only where they are used.
// NOLINTBEGIN(bugprone-reserved-identifier)
ssize_t __read_chk(int file, void* buffer, std::size_t bytes, std::size_t room);
ssize_t __pread64_chk(int file, void* buffer, std::size_t bytes, off64_t offset, std::size_t room);
ssize_t __recv_chk(int socket, void* buffer, std::size_t bytes, std::size_t room, int flags);
std::size_t __fread_chk(void* buffer, std::size_t room, std::size_t size, std::size_t count, FILE* file);
// NOLINTEND(bugprone-reserved-identifier)
}

namespace sampan::check {
namespace {

/// What a call may do to a buffer.
enum class Buffer : bool { kIsRead, kIsWritten };

/// The buffers of a call, and the addresses at which the system may access them at any time: the engines',
/// which are never kept from the host. A call may wait for long, and the program's pages may be kept
/// meanwhile. Allocates nothing for a few buffers, because handlers of signals may call these functions.
class SystemBuffers {
 public:
  SystemBuffers(const char* name, std::span<const iovec> program, Buffer use)
      : checker_(TheChecker()), name_(name), program_(program), use_(use), all_(program) {
    if (checker_ == nullptr) return;
    std::span<iovec> room(own_);
    if (program.size() + kMorePieces > own_.size()) {
      const std::size_t size =
          std::max(std::min<std::size_t>(program.size() + kMorePieces, IOV_MAX), program.size());
      more_.reset(new (std::nothrow) iovec[size]);
      if (more_ == nullptr) return;
      room = {more_.get(), size};
    }
    std::size_t count = 0;
    for (std::size_t i = 0; i < program.size(); ++i)
      count += Split(program[i], room.subspan(count, room.size() - count - (program.size() - i - 1)));
    all_ = room.first(count);
  }

  std::span<const iovec> all() const { return all_; }
  int count() const { return static_cast<int>(all_.size()); }
  /// The call has returned this.
  void Judge(ssize_t result) const {
    if (checker_ == nullptr || result <= 0) return;
    const int error = errno;
    std::size_t left = static_cast<std::size_t>(result);
    for (const iovec& buffer : program_) {
      const std::size_t done = std::min(left, buffer.iov_len);
      left -= done;
      checker_->OnSystemCall(
          {reinterpret_cast<std::uintptr_t>(buffer.iov_base), done, use_ == Buffer::kIsWritten, name_});
    }
    errno = error;
  }

 private:
  static constexpr std::size_t kMorePieces = 16;

  /// Puts the pieces of a buffer there. If there are more of them, the last one has the program's address.
  std::size_t Split(const iovec& buffer, std::span<iovec> room) const {
    auto address = reinterpret_cast<std::uintptr_t>(buffer.iov_base);
    std::size_t left = buffer.iov_len, count = 0;
    do {
      Checker::SystemPiece piece = checker_->PieceForSystem({address, address + left});
      if (count + 1 == room.size() && piece.bytes != left) piece = {address, left};
      room[count++] = {reinterpret_cast<void*>(piece.address), piece.bytes};
      address += piece.bytes;
      left -= piece.bytes;
    } while (left != 0);
    return count;
  }

  Checker* const checker_;
  const char* const name_;
  const std::span<const iovec> program_;
  const Buffer use_;
  std::span<const iovec> all_;
  std::array<iovec, 32> own_;
  std::unique_ptr<iovec[]> more_;
};

/// Calls the system with the one buffer, or with its pieces.
template <typename One, typename Several>
ssize_t WithBuffer(const char* name, const void* buffer, std::size_t bytes, Buffer use, One one,
                   Several several) {
  const iovec program{const_cast<void*>(buffer), bytes};
  const SystemBuffers buffers(name, {&program, 1}, use);
  const ssize_t result = buffers.count() == 1 ? one(buffers.all().front().iov_base)
                                              : several(buffers.all().data(), buffers.count());
  buffers.Judge(result);
  return result;
}

template <typename Call>
ssize_t WithBuffers(const char* name, std::span<const iovec> program, Buffer use, Call call) {
  const SystemBuffers buffers(name, program, use);
  const ssize_t result = call(buffers.all().data(), buffers.count());
  buffers.Judge(result);
  return result;
}

template <typename Call>
ssize_t WithVector(const char* name, const iovec* buffers, int count, Buffer use, Call call) {
  if (count < 0 || count > IOV_MAX) return call(buffers, count);  // the system refuses it
  return WithBuffers(name, {buffers, static_cast<std::size_t>(count)}, use, call);
}

/// Calls the function for piece after piece, until one is not done whole. It answers how many bytes it did.
template <typename Call>
ssize_t PieceByPiece(const char* name, const void* buffer, std::size_t bytes, Buffer use, Call call) {
  const iovec program{const_cast<void*>(buffer), bytes};
  return WithBuffers(name, {&program, 1}, use, [&](const iovec* pieces, int count) {
    ssize_t done = 0;
    for (const iovec& piece : std::span(pieces, static_cast<std::size_t>(count))) {
      const ssize_t more = call(piece.iov_base, piece.iov_len);
      if (more < 0) return done == 0 ? more : done;
      done += more;
      if (static_cast<std::size_t>(more) != piece.iov_len) break;
    }
    return done;
  });
}

msghdr MessageOf(const iovec* pieces, int count, const void* peer, socklen_t peer_bytes) {
  msghdr message = {};
  message.msg_name = const_cast<void*>(peer);
  message.msg_namelen = peer_bytes;
  message.msg_iov = const_cast<iovec*>(pieces);
  message.msg_iovlen = static_cast<std::size_t>(count);
  return message;
}

/// The program is about to free or unmap memory.
void GiveUp(void* memory, std::size_t bytes, const char* call) {
  Checker* const checker = TheChecker();
  const auto address = reinterpret_cast<std::uintptr_t>(memory);
  if (checker == nullptr || !checker->OnHostFreed(address, bytes, call)) return;
  if (HostAliases* const aliases = Aliases()) aliases->Detach({address, address + bytes});
}

// The parameters have the names of the C library's.
// NOLINTBEGIN(readability-identifier-naming)

ssize_t Read(int file, void* buffer, std::size_t bytes) {
  return WithBuffer(
      "read", buffer, bytes, Buffer::kIsWritten, [&](void* at) { return ::read(file, at, bytes); },
      [&](const iovec* pieces, int count) { return ::readv(file, pieces, count); });
}
ssize_t Write(int file, const void* buffer, std::size_t bytes) {
  return WithBuffer(
      "write", buffer, bytes, Buffer::kIsRead, [&](void* at) { return ::write(file, at, bytes); },
      [&](const iovec* pieces, int count) { return ::writev(file, pieces, count); });
}
ssize_t Pread(int file, void* buffer, std::size_t bytes, off_t offset) {
  return WithBuffer(
      "pread", buffer, bytes, Buffer::kIsWritten, [&](void* at) { return ::pread(file, at, bytes, offset); },
      [&](const iovec* pieces, int count) { return ::preadv(file, pieces, count, offset); });
}
ssize_t Pwrite(int file, const void* buffer, std::size_t bytes, off_t offset) {
  return WithBuffer(
      "pwrite", buffer, bytes, Buffer::kIsRead, [&](void* at) { return ::pwrite(file, at, bytes, offset); },
      [&](const iovec* pieces, int count) { return ::pwritev(file, pieces, count, offset); });
}
ssize_t ReceiveFrom(const char* name, int socket, void* buffer, std::size_t bytes, int flags, sockaddr* from,
                    socklen_t* from_bytes) {
  return WithBuffer(
      name, buffer, bytes, Buffer::kIsWritten,
      [&](void* at) { return ::recvfrom(socket, at, bytes, flags, from, from_bytes); },
      [&](const iovec* pieces, int count) {
        msghdr message = MessageOf(pieces, count, from, from_bytes == nullptr ? 0 : *from_bytes);
        const ssize_t result = ::recvmsg(socket, &message, flags);
        if (result >= 0 && from_bytes != nullptr) *from_bytes = message.msg_namelen;
        return result;
      });
}
ssize_t SendTo(const char* name, int socket, const void* buffer, std::size_t bytes, int flags,
               const sockaddr* to, socklen_t to_bytes) {
  return WithBuffer(
      name, buffer, bytes, Buffer::kIsRead,
      [&](void* at) { return ::sendto(socket, at, bytes, flags, to, to_bytes); },
      [&](const iovec* pieces, int count) {
        const msghdr message = MessageOf(pieces, count, to, to_bytes);
        return ::sendmsg(socket, &message, flags);
      });
}
ssize_t Recv(int socket, void* buffer, std::size_t bytes, int flags) {
  return ReceiveFrom("recv", socket, buffer, bytes, flags, nullptr, nullptr);
}
ssize_t Send(int socket, const void* buffer, std::size_t bytes, int flags) {
  return SendTo("send", socket, buffer, bytes, flags, nullptr, 0);
}
ssize_t RecvFrom(int socket, void* buffer, std::size_t bytes, int flags, sockaddr* from,
                 socklen_t* from_bytes) {
  return ReceiveFrom("recvfrom", socket, buffer, bytes, flags, from, from_bytes);
}
ssize_t SendToAddress(int socket, const void* buffer, std::size_t bytes, int flags, const sockaddr* to,
                      socklen_t to_bytes) {
  return SendTo("sendto", socket, buffer, bytes, flags, to, to_bytes);
}
ssize_t Readv(int file, const iovec* buffers, int count) {
  return WithVector("readv", buffers, count, Buffer::kIsWritten,
                    [&](const iovec* all, int size) { return ::readv(file, all, size); });
}
ssize_t Writev(int file, const iovec* buffers, int count) {
  return WithVector("writev", buffers, count, Buffer::kIsRead,
                    [&](const iovec* all, int size) { return ::writev(file, all, size); });
}
ssize_t Preadv(int file, const iovec* buffers, int count, off_t offset) {
  return WithVector("preadv", buffers, count, Buffer::kIsWritten,
                    [&](const iovec* all, int size) { return ::preadv(file, all, size, offset); });
}
ssize_t Pwritev(int file, const iovec* buffers, int count, off_t offset) {
  return WithVector("pwritev", buffers, count, Buffer::kIsRead,
                    [&](const iovec* all, int size) { return ::pwritev(file, all, size, offset); });
}
ssize_t Preadv2(int file, const iovec* buffers, int count, off_t offset, int flags) {
  return WithVector("preadv2", buffers, count, Buffer::kIsWritten,
                    [&](const iovec* all, int size) { return ::preadv2(file, all, size, offset, flags); });
}
ssize_t Pwritev2(int file, const iovec* buffers, int count, off_t offset, int flags) {
  return WithVector("pwritev2", buffers, count, Buffer::kIsRead,
                    [&](const iovec* all, int size) { return ::pwritev2(file, all, size, offset, flags); });
}
ssize_t GetRandom(void* buffer, std::size_t bytes, unsigned flags) {
  return PieceByPiece("getrandom", buffer, bytes, Buffer::kIsWritten,
                      [&](void* at, std::size_t part) { return ::getrandom(at, part, flags); });
}
ssize_t RecvMessage(int socket, msghdr* message, int flags) {
  return WithBuffers("recvmsg", {message->msg_iov, message->msg_iovlen}, Buffer::kIsWritten,
                     [&](const iovec* all, int size) {
                       iovec* const given = std::exchange(message->msg_iov, const_cast<iovec*>(all));
                       const std::size_t count =
                           std::exchange(message->msg_iovlen, static_cast<std::size_t>(size));
                       const ssize_t result = ::recvmsg(socket, message, flags);
                       message->msg_iov = given;
                       message->msg_iovlen = count;
                       return result;
                     });
}
ssize_t SendMessage(int socket, const msghdr* message, int flags) {
  return WithBuffers("sendmsg", {message->msg_iov, message->msg_iovlen}, Buffer::kIsRead,
                     [&](const iovec* all, int size) {
                       msghdr moved = *message;
                       moved.msg_iov = const_cast<iovec*>(all);
                       moved.msg_iovlen = static_cast<std::size_t>(size);
                       return ::sendmsg(socket, &moved, flags);
                     });
}
std::size_t FileRead(void* buffer, std::size_t size, std::size_t count, FILE* file) {
  const ssize_t bytes = PieceByPiece(
      "fread", buffer, size * count, Buffer::kIsWritten,
      [&](void* at, std::size_t part) { return static_cast<ssize_t>(std::fread(at, 1, part, file)); });
  return size == 0 ? 0 : static_cast<std::size_t>(bytes) / size;
}
std::size_t FileWrite(const void* buffer, std::size_t size, std::size_t count, FILE* file) {
  const ssize_t bytes = PieceByPiece(
      "fwrite", buffer, size * count, Buffer::kIsRead,
      [&](void* at, std::size_t part) { return static_cast<ssize_t>(std::fwrite(at, 1, part, file)); });
  return size == 0 ? 0 : static_cast<std::size_t>(bytes) / size;
}

// What the compiler makes of the same calls with _FORTIFY_SOURCE. A buffer that is too short ends the
// program.

ssize_t CheckedRead(int file, void* buffer, std::size_t bytes, std::size_t room) {
  return bytes > room ? ::__read_chk(file, buffer, bytes, room) : Read(file, buffer, bytes);
}
ssize_t CheckedPread(int file, void* buffer, std::size_t bytes, off_t offset, std::size_t room) {
  return bytes > room ? ::__pread64_chk(file, buffer, bytes, offset, room)
                      : Pread(file, buffer, bytes, offset);
}
ssize_t CheckedRecv(int socket, void* buffer, std::size_t bytes, std::size_t room, int flags) {
  return bytes > room ? ::__recv_chk(socket, buffer, bytes, room, flags) : Recv(socket, buffer, bytes, flags);
}
std::size_t CheckedFileRead(void* buffer, std::size_t room, std::size_t size, std::size_t count, FILE* file) {
  const bool fits = size == 0 || count <= room / size;
  return fits ? FileRead(buffer, size, count, file) : ::__fread_chk(buffer, room, size, count, file);
}

int Unmap(void* address, std::size_t bytes) {
  GiveUp(address, bytes, "munmap");
  return ::munmap(address, bytes);
}
void Free(void* memory) {
  Checker* const checker = TheChecker();
  if (memory != nullptr && checker != nullptr && checker->has_registered())
    GiveUp(memory, ::malloc_usable_size(memory), "free");
  std::free(memory);
}

/// Registered memory that grows always moves, so that work that is queued does not meet what lies there next.
void* Reallocate(void* memory, std::size_t bytes) {
  Checker* const checker = TheChecker();
  const bool may_be_ours = memory != nullptr && checker != nullptr && checker->has_registered();
  const std::size_t room = may_be_ours ? ::malloc_usable_size(memory) : 0;
  const auto address = reinterpret_cast<std::uintptr_t>(memory);
  if (bytes <= room || !may_be_ours || !checker->HasRegistered({address, address + room}))
    return std::realloc(memory, bytes);
  void* const moved = std::malloc(bytes);
  if (moved == nullptr) return nullptr;
  std::memcpy(moved, memory, room);
  GiveUp(memory, room, "realloc");
  std::free(memory);
  return moved;
}

// NOLINTEND(readability-identifier-naming)

}  // namespace

void WatchSystemCalls() noexcept {
  static constinit CallRedirector redirector;
  static const std::array redirections = {To("read", &Read),
                                          To("write", &Write),
                                          To("pread", &Pread),
                                          To("pread64", &Pread),
                                          To("pwrite", &Pwrite),
                                          To("pwrite64", &Pwrite),
                                          To("recv", &Recv),
                                          To("send", &Send),
                                          To("recvfrom", &RecvFrom),
                                          To("sendto", &SendToAddress),
                                          To("readv", &Readv),
                                          To("writev", &Writev),
                                          To("preadv", &Preadv),
                                          To("preadv64", &Preadv),
                                          To("pwritev", &Pwritev),
                                          To("pwritev64", &Pwritev),
                                          To("preadv2", &Preadv2),
                                          To("preadv64v2", &Preadv2),
                                          To("pwritev2", &Pwritev2),
                                          To("pwritev64v2", &Pwritev2),
                                          To("getrandom", &GetRandom),
                                          To("recvmsg", &RecvMessage),
                                          To("sendmsg", &SendMessage),
                                          To("fread", &FileRead),
                                          To("fwrite", &FileWrite),
                                          To("fread_unlocked", &FileRead),
                                          To("fwrite_unlocked", &FileWrite),
                                          To("__read_chk", &CheckedRead),
                                          To("__pread_chk", &CheckedPread),
                                          To("__pread64_chk", &CheckedPread),
                                          To("__recv_chk", &CheckedRecv),
                                          To("__fread_chk", &CheckedFileRead),
                                          To("munmap", &Unmap),
                                          To("free", &Free),
                                          To("realloc", &Reallocate)};
  redirector.Redirect({redirections, SignalCalls()});
}

}  // namespace sampan::check
