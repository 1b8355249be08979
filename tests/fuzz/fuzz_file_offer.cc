// libFuzzer target: bytes become what processes ask of the server that hands memory over, and what a server
// answers.
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <memory>
#include <thread>
#include <vector>

#include "base/error/text.h"
#include "base/system/abstract_address.h"
#include "base/system/descriptor.h"
#include "core/sharing/file_server.h"
#include "tests/fuzz/fuzz_descriptors.h"
#include "tests/fuzz/fuzz_failure.h"
#include "tests/fuzz/fuzz_input.h"

namespace sampan::fuzz {
namespace {

constexpr std::size_t kClients = 6, kCells = 4;
constexpr int kMaxSteps = 60;

AbstractAddress NameOf(std::uint64_t server) {
  return AbstractAddress(Text("sampan files of ", ::getpid(), " ", Hex(static_cast<std::uintptr_t>(server))));
}

Descriptor NewSocket() {
  return Descriptor(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
}

ino_t NumberOf(int file) {
  struct stat facts = {};
  return ::fstat(file, &facts) == 0 ? facts.st_ino : 0;
}

class OfferedFile final : public MemoryHandle {
 public:
  OfferedFile() : MemoryHandle(4096), file_(::memfd_create("offered", MFD_CLOEXEC)) {}
  Result<Descriptor> Export() const override { return Descriptor(::fcntl(file_.get(), F_DUPFD_CLOEXEC, 0)); }
  ino_t number() const { return NumberOf(file_.get()); }

 private:
  const Descriptor file_;
};

/// One message, with as many descriptors of the input's choice as fit.
void SendMessage(Input& input, int socket, const void* data, std::size_t bytes, std::size_t max_count) {
  constexpr std::size_t kMaxCount = 8;
  iovec part{const_cast<void*>(data), bytes};
  alignas(cmsghdr) char control[CMSG_SPACE(kMaxCount * sizeof(int))] = {};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = bytes == 0 ? 0 : 1;
  const std::size_t count = input.Below(std::min(max_count, kMaxCount) + 1);
  std::vector<Descriptor> sent;
  for (std::size_t i = 0; i < count; ++i) {
    switch (input.Below(3)) {
      case 0:
        sent.emplace_back(::memfd_create("sent", MFD_CLOEXEC));
        break;
      case 1:
        sent.emplace_back(::open("/dev/null", O_RDONLY | O_CLOEXEC));
        break;
      default:
        sent.push_back(NewSocket());
    }
  }
  if (count > 0) {
    message.msg_control = control;
    message.msg_controllen = CMSG_SPACE(count * sizeof(int));
    cmsghdr* const header = CMSG_FIRSTHDR(&message);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(count * sizeof(int));
    for (std::size_t i = 0; i < count; ++i) {
      const int descriptor = sent[i].get();
      std::memcpy(CMSG_DATA(header) + i * sizeof(int), &descriptor, sizeof(descriptor));
    }
  }
  static_cast<void>(::sendmsg(socket, &message, MSG_NOSIGNAL | MSG_DONTWAIT));
}

core::FileRequest RequestFor(std::size_t cell) {
  return {.cell = static_cast<std::uint32_t>(cell), .secret = {1000 + cell, 2000 + cell}};
}

/// Clients that ask for anything, in any form.
void FuzzServer(Input& input) {
  auto started = core::FileServer::Start();
  if (!started.ok()) FailInput("FileServer::Start");
  core::FileServer& server = **started;
  const AbstractAddress name = NameOf(server.number());
  std::array<Descriptor, kClients> clients;
  std::array<std::shared_ptr<OfferedFile>, kCells> offered;
  for (int step = 0; step < kMaxSteps && !input.empty(); ++step) {
    const std::size_t choice = input.Below(8);
    Descriptor& client = clients[input.Below(kClients)];
    const std::size_t cell = input.Below(kCells);
    if (choice < 5 && client.get() < 0) {
      client = NewSocket();
      if (::connect(client.get(), reinterpret_cast<const sockaddr*>(&name.address), name.bytes) != 0)
        client.Close();
    }
    switch (choice) {
      case 0: {
        std::array<std::uint8_t, 64> bytes{};
        const std::size_t length = input.Below(bytes.size() + 1);
        for (std::uint8_t& byte : bytes)
          byte = input.Byte();
        SendMessage(input, client.get(), bytes.data(), length, 3);
        break;
      }
      case 1:
      case 2: {
        core::FileRequest request = RequestFor(cell);
        if (input.Below(4) == 0) request.secret[input.Below(2)] ^= input.Long();
        if (input.Below(8) == 0) request.cell ^= static_cast<std::uint32_t>(input.Long());
        SendMessage(input, client.get(), &request, sizeof(request), 2);
        break;
      }
      case 3:
        ::shutdown(client.get(), static_cast<int>(input.Below(3)));
        break;
      case 4: {
        std::array<char, 16> answer;
        static_cast<void>(::recv(client.get(), answer.data(), answer.size(), MSG_DONTWAIT));
        break;
      }
      case 5:
        client.Close();
        break;
      case 6:
        offered[cell] = std::make_shared<OfferedFile>();
        server.Offer(RequestFor(cell), offered[cell]);
        break;
      default:
        server.Withdraw(static_cast<std::uint32_t>(cell));
        offered[cell].reset();
    }
  }
  for (std::size_t cell = 0; cell < kCells; ++cell) {
    const auto received = ReceiveFile(::getpid(), server.number(), RequestFor(cell));
    if (received.ok() != (offered[cell] != nullptr))
      FailInput("an honest process is not served as it should be");
    if (received.ok() && NumberOf(received.value().get()) != offered[cell]->number())
      FailInput("another file was handed over");
  }
  core::FileRequest wrong = RequestFor(0);
  ++wrong.secret[1];
  if (ReceiveFile(::getpid(), server.number(), wrong).ok()) FailInput("a wrong secret is accepted");
}

/// A server that answers anything. Every connection ends, so that no wait lasts.
void FuzzAnswer(Input& input) {
  static std::uint64_t number = 0;
  Descriptor listener = NewSocket();
  const AbstractAddress name = NameOf(++number);
  if (::bind(listener.get(), reinterpret_cast<const sockaddr*>(&name.address), name.bytes) != 0 ||
      ::listen(listener.get(), 1) != 0)
    FailInput("bind", errno);
  // A connection that waits to be accepted takes what is sent to it.
  std::thread server([&] {
    Descriptor connection;
    while (connection.get() < 0)
      connection = Descriptor(::accept4(listener.get(), nullptr, nullptr, SOCK_CLOEXEC));
    const std::size_t messages = 1 + input.Below(3);
    for (std::size_t i = 0; i < messages; ++i) {
      const std::array<char, 8> bytes{};
      SendMessage(input, connection.get(), bytes.data(), input.Below(4), 8);
    }
    core::FileRequest request;
    static_cast<void>(::recv(connection.get(), &request, sizeof(request), 0));
  });
  const auto received = core::ReceiveFile(::getpid(), number, {.cell = 1});
  server.join();
  if (received.ok() && ::fcntl(received.value().get(), F_GETFD) != FD_CLOEXEC)
    FailInput("a descriptor that programs inherit");
}

void FuzzOffer(Input input) {
  const long before = OpenDescriptorCount();
  input.Below(2) == 0 ? FuzzServer(input) : FuzzAnswer(input);
  if (const long after = OpenDescriptorCount(); after != before)
    FailInput("descriptors are leaked", after - before);
}

}  // namespace
}  // namespace sampan::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  sampan::fuzz::FuzzOffer(sampan::fuzz::Input({data, size}));
  return 0;
}
