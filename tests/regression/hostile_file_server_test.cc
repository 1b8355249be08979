// The handing over of memory: silent connections kept honest ones waiting, and a second descriptor leaked.
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include <chrono>
#include <cstring>
#include <filesystem>
#include <iterator>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "base/error/text.h"
#include "base/system/abstract_address.h"
#include "base/system/descriptor.h"
#include "core/sharing/file_server.h"

namespace sampan::test::hostile_file_server_test {
namespace {

class SharedFile final : public MemoryHandle {
 public:
  SharedFile() : MemoryHandle(4096), file_(::memfd_create("handed over", MFD_CLOEXEC)) {}
  Result<Descriptor> Export() const override { return Descriptor(::dup(file_.get())); }

 private:
  const Descriptor file_;
};

AbstractAddress NameOf(std::uint64_t server) {
  return AbstractAddress(
      Text("sampan files of ", ::getpid(), " ", sampan::Hex(static_cast<std::uintptr_t>(server))));
}

Descriptor NewSocket() {
  return Descriptor(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0));
}

std::size_t OpenDescriptors() {
  return static_cast<std::size_t>(std::distance(std::filesystem::directory_iterator("/proc/self/fd"),
                                                std::filesystem::directory_iterator()));
}

TEST(HostileGiver, SilentConnectionsDoNotKeepOthersWaiting) {
  auto server = FileServer::Start();
  ASSERT_TRUE(server.ok());
  const FileRequest request{.cell = 5, .secret = {11, 22}};
  (*server)->Offer(request, std::make_shared<SharedFile>());
  const AbstractAddress name = NameOf((*server)->number());
  std::vector<Descriptor> silent;
  for (int i = 0; i < 30; ++i) {
    silent.push_back(NewSocket());
    ASSERT_EQ(::connect(silent.back().get(), reinterpret_cast<const sockaddr*>(&name.address), name.bytes),
              0);
  }
  // An honest process waits for ten seconds; each silent one took a second of them.
  auto received = ReceiveFile(::getpid(), (*server)->number(), request);
  EXPECT_TRUE(received.ok()) << received.error().message;
}

TEST(HostileGiver, MoreSilentConnectionsThanAreKeptDoNotMatter) {
  auto server = FileServer::Start();
  ASSERT_TRUE(server.ok());
  const FileRequest request{.cell = 5, .secret = {11, 22}};
  (*server)->Offer(request, std::make_shared<SharedFile>());
  const AbstractAddress name = NameOf((*server)->number());
  std::vector<Descriptor> silent;
  for (int i = 0; i < 200; ++i) {
    silent.push_back(NewSocket());
    ASSERT_EQ(::connect(silent.back().get(), reinterpret_cast<const sockaddr*>(&name.address), name.bytes),
              0);
  }
  EXPECT_TRUE(ReceiveFile(::getpid(), (*server)->number(), request).ok());
}

/// Answers one request with so many descriptors.
void AnswerWith(const Descriptor& listener, int count) {
  const Descriptor connection(::accept4(listener.get(), nullptr, nullptr, SOCK_CLOEXEC));
  FileRequest request;
  ASSERT_EQ(::recv(connection.get(), &request, sizeof(request), 0), static_cast<ssize_t>(sizeof(request)));
  const Descriptor file(::memfd_create("one of several", MFD_CLOEXEC));
  char byte = 0;
  iovec part{&byte, 1};
  alignas(cmsghdr) char control[CMSG_SPACE(8 * sizeof(int))] = {};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = control;
  message.msg_controllen = CMSG_SPACE(static_cast<std::size_t>(count) * sizeof(int));
  cmsghdr* const header = CMSG_FIRSTHDR(&message);
  header->cmsg_level = SOL_SOCKET;
  header->cmsg_type = SCM_RIGHTS;
  header->cmsg_len = CMSG_LEN(static_cast<std::size_t>(count) * sizeof(int));
  for (int i = 0; i < count; ++i) {
    const int descriptor = file.get();
    std::memcpy(CMSG_DATA(header) + static_cast<std::size_t>(i) * sizeof(int), &descriptor,
                sizeof(descriptor));
  }
  EXPECT_EQ(::sendmsg(connection.get(), &message, MSG_NOSIGNAL), 1);
}

TEST(HostileGiver, DescriptorsTooManyAreClosed) {
  for (const int count : {2, 3, 8}) {
    const std::uint64_t number = 4711 + static_cast<std::uint64_t>(count);
    const Descriptor listener = NewSocket();
    const AbstractAddress name = NameOf(number);
    ASSERT_EQ(::bind(listener.get(), reinterpret_cast<const sockaddr*>(&name.address), name.bytes), 0);
    ASSERT_EQ(::listen(listener.get(), 1), 0);
    const std::size_t before = OpenDescriptors();
    std::thread server([&] { AnswerWith(listener, count); });
    EXPECT_FALSE(ReceiveFile(::getpid(), number, {}).ok()) << count;
    server.join();
    EXPECT_EQ(OpenDescriptors(), before) << count << " descriptors were sent";
  }
}

}  // namespace
}  // namespace sampan::test::hostile_file_server_test
