// The handing over of memory: silent connections kept honest ones waiting, and a second descriptor leaked.
// Processes of other users are neither served nor asked.
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
#include "tests/support/second_user.h"

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

bool Connect(const Descriptor& socket, const AbstractAddress& name) {
  return ::connect(socket.get(), reinterpret_cast<const sockaddr*>(&name.address), name.bytes) == 0;
}

bool Listen(const Descriptor& socket, const AbstractAddress& name) {
  return ::bind(socket.get(), reinterpret_cast<const sockaddr*>(&name.address), name.bytes) == 0 &&
         ::listen(socket.get(), 1) == 0;
}

/// A server with one offer.
class HostileGiver : public ::testing::Test {
 protected:
  void SetUp() override {
    auto started = core::FileServer::Start();
    ASSERT_TRUE(started.ok());
    server_ = std::move(*started);
    server_->Offer(request_, std::make_shared<SharedFile>());
  }
  AbstractAddress name() const { return NameOf(server_->number()); }
  Result<Descriptor> Receive() const { return ReceiveFile(::getpid(), server_->number(), request_); }
  void ExpectServedDespite(int silent_count) const {
    std::vector<Descriptor> silent;
    for (int i = 0; i < silent_count; ++i) {
      silent.push_back(NewSocket());
      ASSERT_TRUE(Connect(silent.back(), name()));
    }
    const auto received = Receive();
    EXPECT_TRUE(received.ok()) << received.error().message;
  }

  const core::FileRequest request_{.cell = 5, .secret = {11, 22}};
  std::unique_ptr<core::FileServer> server_;
};

TEST_F(HostileGiver, SilentConnectionsDoNotKeepOthersWaiting) {
  // An honest process waits for ten seconds; each silent one took a second of them.
  ExpectServedDespite(30);
}

TEST_F(HostileGiver, MoreSilentConnectionsThanAreKeptDoNotMatter) {
  ExpectServedDespite(200);
}

TEST_F(HostileGiver, AnotherUserIsNotServed) {
  REQUIRE_SECOND_USER();
  struct Outcome {
    bool connected = false;
    ssize_t received = 0;
  };
  const AbstractAddress at = name();
  const TalkingChild thief([&](TalkingChild& parent) {
    Outcome outcome;
    const Descriptor socket = NewSocket();
    outcome.connected = BecomeSecondUser() && Connect(socket, at);
    static_cast<void>(::send(socket.get(), &request_, sizeof(request_), MSG_NOSIGNAL));
    char byte = 0;
    outcome.received = ::recv(socket.get(), &byte, 1, 0);
    parent.Tell(outcome);
  });
  const auto outcome = thief.Hear<Outcome>();
  EXPECT_TRUE(outcome.connected);
  EXPECT_LE(outcome.received, 0) << "another user, who knows the secret, got an answer";
  EXPECT_TRUE(Receive().ok()) << "the owner is served";
}

TEST_F(HostileGiver, AnotherUsersServerIsNotAsked) {
  REQUIRE_SECOND_USER();
  // Any user can take the name of a server that has ended.
  constexpr std::uint64_t kTaken = 0x5EED;
  const AbstractAddress at = NameOf(kTaken);
  const TalkingChild squatter([&](TalkingChild& parent) {
    const Descriptor listener = NewSocket();
    parent.Tell(BecomeSecondUser() && Listen(listener, at));
    const Descriptor connection(::accept4(listener.get(), nullptr, nullptr, SOCK_CLOEXEC));
    core::FileRequest heard;
    parent.Tell(::recv(connection.get(), &heard, sizeof(heard), 0));
  });
  ASSERT_TRUE(squatter.Hear<bool>());
  EXPECT_FALSE(ReceiveFile(::getpid(), kTaken, request_).ok());
  EXPECT_LE(squatter.Hear<ssize_t>(), 0) << "the secret was told to another user";
}

/// Answers one request with so many descriptors.
void AnswerWith(const Descriptor& listener, int count) {
  const Descriptor connection(::accept4(listener.get(), nullptr, nullptr, SOCK_CLOEXEC));
  core::FileRequest request;
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

TEST(HostileServer, DescriptorsTooManyAreClosed) {
  for (const int count : {2, 3, 8}) {
    const std::uint64_t number = 4711 + static_cast<std::uint64_t>(count);
    const Descriptor listener = NewSocket();
    ASSERT_TRUE(Listen(listener, NameOf(number)));
    const std::size_t before = OpenDescriptors();
    std::thread server([&] { AnswerWith(listener, count); });
    EXPECT_FALSE(core::ReceiveFile(::getpid(), number, {}).ok()) << count;
    server.join();
    EXPECT_EQ(OpenDescriptors(), before) << count << " descriptors were sent";
  }
}

}  // namespace
}  // namespace sampan::test::hostile_file_server_test
