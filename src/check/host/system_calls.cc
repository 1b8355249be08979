// The calls of the C library that the checker takes part in.
#include "check/host/system_calls.h"

#include <malloc.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <span>

#include "check/host/host_aliases.h"
#include "check/host/host_faults.h"
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

HostAccess AccessOf(const void* buffer, std::size_t bytes, Buffer use, const char* call) {
  return {reinterpret_cast<std::uintptr_t>(buffer), bytes, use == Buffer::kIsWritten, call};
}

/// Calls the system while it may access the buffer. Judges the bytes that it did access.
template <typename Call>
ssize_t WithBuffer(const char* name, const void* buffer, std::size_t bytes, Buffer use, Call call) {
  Checker* const checker = TheChecker();
  if (checker == nullptr) return call();
  checker->BeforeSystemCall(AccessOf(buffer, bytes, use, name));
  const ssize_t result = call();
  const int error = errno;
  const std::size_t done = result > 0 ? static_cast<std::size_t>(result) : 0;
  checker->AfterSystemCall(AccessOf(buffer, done == 0 ? 1 : done, use, name), done != 0);
  errno = error;
  return result;
}

template <typename Call>
ssize_t WithBuffers(const char* name, std::span<const iovec> buffers, Buffer use, Call call) {
  Checker* const checker = TheChecker();
  if (checker == nullptr) return call();
  for (const iovec& buffer : buffers)
    checker->BeforeSystemCall(AccessOf(buffer.iov_base, buffer.iov_len, use, name));
  const ssize_t result = call();
  const int error = errno;
  std::size_t left = result > 0 ? static_cast<std::size_t>(result) : 0;
  for (const iovec& buffer : buffers) {
    const std::size_t done = std::min(left, buffer.iov_len);
    left -= done;
    checker->AfterSystemCall(AccessOf(buffer.iov_base, done == 0 ? 1 : done, use, name), done != 0);
  }
  errno = error;
  return result;
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
  return WithBuffer("read", buffer, bytes, Buffer::kIsWritten, [&] { return ::read(file, buffer, bytes); });
}
ssize_t Write(int file, const void* buffer, std::size_t bytes) {
  return WithBuffer("write", buffer, bytes, Buffer::kIsRead, [&] { return ::write(file, buffer, bytes); });
}
ssize_t Pread(int file, void* buffer, std::size_t bytes, off_t offset) {
  return WithBuffer("pread", buffer, bytes, Buffer::kIsWritten,
                    [&] { return ::pread(file, buffer, bytes, offset); });
}
ssize_t Pwrite(int file, const void* buffer, std::size_t bytes, off_t offset) {
  return WithBuffer("pwrite", buffer, bytes, Buffer::kIsRead,
                    [&] { return ::pwrite(file, buffer, bytes, offset); });
}
ssize_t Recv(int socket, void* buffer, std::size_t bytes, int flags) {
  return WithBuffer("recv", buffer, bytes, Buffer::kIsWritten,
                    [&] { return ::recv(socket, buffer, bytes, flags); });
}
ssize_t Send(int socket, const void* buffer, std::size_t bytes, int flags) {
  return WithBuffer("send", buffer, bytes, Buffer::kIsRead,
                    [&] { return ::send(socket, buffer, bytes, flags); });
}
ssize_t RecvFrom(int socket, void* buffer, std::size_t bytes, int flags, sockaddr* from,
                 socklen_t* from_bytes) {
  return WithBuffer("recvfrom", buffer, bytes, Buffer::kIsWritten,
                    [&] { return ::recvfrom(socket, buffer, bytes, flags, from, from_bytes); });
}
ssize_t SendTo(int socket, const void* buffer, std::size_t bytes, int flags, const sockaddr* to,
               socklen_t to_bytes) {
  return WithBuffer("sendto", buffer, bytes, Buffer::kIsRead,
                    [&] { return ::sendto(socket, buffer, bytes, flags, to, to_bytes); });
}
ssize_t Readv(int file, const iovec* buffers, int count) {
  return WithBuffers("readv", {buffers, static_cast<std::size_t>(std::max(count, 0))}, Buffer::kIsWritten,
                     [&] { return ::readv(file, buffers, count); });
}
ssize_t Writev(int file, const iovec* buffers, int count) {
  return WithBuffers("writev", {buffers, static_cast<std::size_t>(std::max(count, 0))}, Buffer::kIsRead,
                     [&] { return ::writev(file, buffers, count); });
}
ssize_t Preadv(int file, const iovec* buffers, int count, off_t offset) {
  return WithBuffers("preadv", {buffers, static_cast<std::size_t>(std::max(count, 0))}, Buffer::kIsWritten,
                     [&] { return ::preadv(file, buffers, count, offset); });
}
ssize_t Pwritev(int file, const iovec* buffers, int count, off_t offset) {
  return WithBuffers("pwritev", {buffers, static_cast<std::size_t>(std::max(count, 0))}, Buffer::kIsRead,
                     [&] { return ::pwritev(file, buffers, count, offset); });
}
ssize_t GetRandom(void* buffer, std::size_t bytes, unsigned flags) {
  return WithBuffer("getrandom", buffer, bytes, Buffer::kIsWritten,
                    [&] { return ::getrandom(buffer, bytes, flags); });
}
ssize_t RecvMessage(int socket, msghdr* message, int flags) {
  return WithBuffers("recvmsg", {message->msg_iov, message->msg_iovlen}, Buffer::kIsWritten,
                     [&] { return ::recvmsg(socket, message, flags); });
}
ssize_t SendMessage(int socket, const msghdr* message, int flags) {
  return WithBuffers("sendmsg", {message->msg_iov, message->msg_iovlen}, Buffer::kIsRead,
                     [&] { return ::sendmsg(socket, message, flags); });
}
std::size_t FileRead(void* buffer, std::size_t size, std::size_t count, FILE* file) {
  std::size_t items = 0;
  WithBuffer("fread", buffer, size * count, Buffer::kIsWritten, [&] {
    items = std::fread(buffer, size, count, file);
    return static_cast<ssize_t>(items * size);
  });
  return items;
}
std::size_t FileWrite(const void* buffer, std::size_t size, std::size_t count, FILE* file) {
  std::size_t items = 0;
  WithBuffer("fwrite", buffer, size * count, Buffer::kIsRead, [&] {
    items = std::fwrite(buffer, size, count, file);
    return static_cast<ssize_t>(items * size);
  });
  return items;
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

/// A handler of the program must not run with our signals blocked: its accesses are judged as well.
int Sigaction(int signal, const struct sigaction* action, struct sigaction* before) {
  if (action == nullptr) {
    if (ReplaceHandler(signal, nullptr, before)) return 0;
    return ::sigaction(signal, action, before);
  }
  struct sigaction open = *action;
  LeaveOurSignals(open.sa_mask);
  if (ReplaceHandler(signal, &open, before)) return 0;
  return ::sigaction(signal, &open, before);
}
sighandler_t Signal(int signal, sighandler_t handler) {
  struct sigaction action = {};
  action.sa_handler = handler;
  action.sa_flags = SA_RESTART;
  struct sigaction before = {};
  if (ReplaceHandler(signal, &action, &before)) return before.sa_handler;
  return ::signal(signal, handler);
}
int ThreadMask(int how, const sigset_t* set, sigset_t* before) {
  if (set == nullptr || how == SIG_UNBLOCK) return ::pthread_sigmask(how, set, before);
  sigset_t open = *set;
  LeaveOurSignals(open);
  return ::pthread_sigmask(how, &open, before);
}
int ProcessMask(int how, const sigset_t* set, sigset_t* before) {
  const int error = ThreadMask(how, set, before);
  if (error == 0) return 0;
  errno = error;
  return -1;
}

// NOLINTEND(readability-identifier-naming)

template <typename Function>
Redirection To(std::string_view name, Function* replacement) {
  return {name, reinterpret_cast<void*>(replacement)};
}

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
                                          To("sendto", &SendTo),
                                          To("readv", &Readv),
                                          To("writev", &Writev),
                                          To("preadv", &Preadv),
                                          To("preadv64", &Preadv),
                                          To("pwritev", &Pwritev),
                                          To("pwritev64", &Pwritev),
                                          To("getrandom", &GetRandom),
                                          To("recvmsg", &RecvMessage),
                                          To("sendmsg", &SendMessage),
                                          To("fread", &FileRead),
                                          To("fwrite", &FileWrite),
                                          To("__read_chk", &CheckedRead),
                                          To("__pread_chk", &CheckedPread),
                                          To("__pread64_chk", &CheckedPread),
                                          To("__recv_chk", &CheckedRecv),
                                          To("__fread_chk", &CheckedFileRead),
                                          To("munmap", &Unmap),
                                          To("free", &Free),
                                          To("sigaction", &Sigaction),
                                          To("signal", &Signal),
                                          To("pthread_sigmask", &ThreadMask),
                                          To("sigprocmask", &ProcessMask)};
  redirector.Redirect(redirections);
}

int SystemSigaction(int signal, const struct sigaction* action, struct sigaction* before) noexcept {
  return ::sigaction(signal, action, before);
}

}  // namespace sampan::check
