// Strangers at the ports of a process that exports memory: none gets in, and none holds up honest importers.
// Rules of docs/BEHAVIOUR.md: share-14. SAMPAN_STRANGERS sets how many there are.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <future>
#include <iostream>
#include <list>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "backend/fabric/gate/gate.h"
#include "backend/fabric/network.h"
#include "tests/hosts/lent_bytes.h"
#include "tests/support/random_bytes.h"

namespace sampan::fabric::strangers_test {
namespace {

using sampan::test::Bytes;
using sampan::test::Random;
using namespace std::chrono_literals;

constexpr std::size_t kBytes = 1 << 20;

int StrangerCount() {
  const char* const wish = std::getenv("SAMPAN_STRANGERS");
  return wish != nullptr ? std::atoi(wish) : 600;
}

/// A connection of a stranger, or an attempt.
Descriptor Knock(const PeerAddress& address) {
  const SocketAddress socket = ToSocket(address);
  Descriptor made(::socket(socket.storage.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  ::connect(made.get(), socket.get(), socket.length);  // completes by itself
  return made;
}

void Say(const Descriptor& socket, const void* bytes, std::size_t count) {
  for (int i = 0; i < 1000; ++i) {  // until it is connected
    if (::send(socket.get(), bytes, count, MSG_NOSIGNAL) >= 0 || (errno != EAGAIN && errno != ENOTCONN))
      return;
    std::this_thread::sleep_for(10us);
  }
}

class StrangersTest : public ::testing::Test {
 protected:
  void SetUp() override {
    auto listening = owner.Listen();
    ASSERT_TRUE(listening.ok()) << listening.error().message;
    name = {*listening, ::getpid(), 7, {random.Next(), random.Next()}};
    memory = random.Fill(kBytes);
    owner.Lend(name.cell, name.secret, std::make_shared<test::LentBytes>(memory));
  }
  /// Imports, reads all, and compares.
  bool HonestImportWorks() {
    auto imported = importer.Import(name);
    EXPECT_TRUE(imported.ok()) << imported.error().message;
    return imported.ok() && HonestReadWorks(**imported);
  }
  bool HonestReadWorks(PeerMemory& peer) {
    Bytes received(kBytes);
    std::promise<Code> ended;
    peer.Start({PeerTransfer::Kind::kRead, {{received.data(), 0, kBytes}}},
               [&](Status status) { ended.set_value(status.code()); });
    return ended.get_future().get() == Code::kOk && received == memory;
  }
  /// Where libfabric listens.
  PeerAddress BehindTheGate() {
    auto admission = AskForAdmission(name, 3s, "the owner");
    EXPECT_TRUE(admission.ok()) << admission.error().message;
    return admission.ok() ? admission->fabric : name.address;
  }

  Random random;
  Network owner{test::Loopback()}, importer{test::Loopback()};
  PeerName name;
  Bytes memory;
};

TEST_F(StrangersTest, SilentSlowAndWrongOnesDoNotStopHonestOnes) {
  std::list<Descriptor> open;
  const int count = StrangerCount();
  for (int i = 0; i < count; ++i) {
    if (open.size() > 300) open.pop_front();
    open.push_back(Knock(name.address));
    const Bytes noise = random.Fill(1 + random.Next() % 200);
    Hello hello;
    hello.cell = name.cell;
    hello.port = static_cast<std::uint32_t>(random.Next() % 70000);
    switch (i % 5) {
      case 0:
        break;  // says nothing
      case 1:
        Say(open.back(), &hello, 1 + random.Next() % (sizeof(hello) - 1));  // and waits
        break;
      case 2:
        Say(open.back(), noise.data(), noise.size());
        break;
      case 3:
        Say(open.back(), &hello, sizeof(hello));
        Say(open.back(), noise.data(), noise.size());  // as a proof
        break;
      default:
        Say(open.back(), &hello, sizeof(hello));
        open.pop_back();  // gone before the challenge
        break;
    }
    if (i % 50 == 49) {
      ASSERT_TRUE(HonestImportWorks()) << "after " << i << " strangers";
    }
  }
}

/// A gate that refuses all callers.
class GateTest : public ::testing::Test {
 protected:
  void SetUp() override {
    address.version = 4;
    address.host = {127, 0, 0, 1};
    auto opened = Gate::Open(address);
    ASSERT_TRUE(opened.ok()) << opened.error().message;
    gate.emplace(std::move(*opened));
  }
  static Welcome Refuse(const Hello&, const Challenge&, const Proof&, const PeerAddress&) { return {}; }

  PeerAddress address;
  std::optional<Gate> gate;
};

TEST_F(GateTest, SleepsWhileTheProcessHasNoDescriptorLeft) {
  const Descriptor caller = Knock(address);
  Say(caller, "hello", 5);
  rlimit before = {};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &before), 0);
  const int next = ::dup(0);
  ::close(next);
  const rlimit none = {static_cast<rlim_t>(next), before.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &none), 0);
  pollfd ready = {gate->descriptor(), POLLIN, 0};
  const int knocked = ::poll(&ready, 1, 20'000);
  const Deadline again = gate->Serve(Refuse);
  const int wakes = ::poll(&ready, 1, 0);
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &before), 0);
  EXPECT_EQ(knocked, 1);
  EXPECT_EQ(wakes, 0) << "it wakes the thread again and again";
  std::this_thread::sleep_until(std::min(again, sampan::Clock::now() + 1s));
  EXPECT_LT(gate->Serve(Refuse), kNever) << "the caller is not heard";
}

TEST_F(GateTest, RestsAfterARowOfStrangers) {
  Random random;
  std::vector<Descriptor> strangers;
  for (int i = 0; i < 20; ++i) {
    strangers.push_back(Knock(address));
    const Bytes noise = random.Fill(sizeof(Hello));
    Say(strangers.back(), noise.data(), noise.size());
  }
  const auto is_readable = [](int descriptor, int wait_ms) {
    pollfd ready = {descriptor, POLLIN, 0};
    return ::poll(&ready, 1, wait_ms) == 1;
  };
  ASSERT_TRUE(is_readable(gate->descriptor(), 20'000));
  Deadline again = gate->Serve(Refuse);
  EXPECT_FALSE(is_readable(gate->descriptor(), 20)) << "more strangers wake the thread again";
  EXPECT_LT(again, sampan::Clock::now() + 1s) << "they are never heard";
  for (const Descriptor& stranger : strangers) {
    while (!is_readable(stranger.get(), 0)) {  // until the gate has closed it
      ASSERT_LT(again, kNever);
      std::this_thread::sleep_until(again);
      again = std::min(gate->Serve(Refuse), sampan::Clock::now() + 1ms);
    }
  }
}

TEST_F(StrangersTest, NoneReachesTheEngineBehindTheGate) {
  const PeerAddress engine = BehindTheGate();
  ASSERT_NE(engine.port, name.address.port);
  auto peer = importer.Import(name);
  ASSERT_TRUE(peer.ok());
  // The beginning of a connection of libfabric: its header announces 16 bytes, which never come.
  const unsigned char header[32] = {3, 0, 0, 16};
  std::vector<Descriptor> strangers;
  for (int i = 0; i < 50; ++i) {
    strangers.push_back(Knock(engine));
    ::send(strangers.back().get(), header, sizeof(header), MSG_NOSIGNAL);
    ASSERT_TRUE(HonestReadWorks(**peer));
  }
  std::this_thread::sleep_for(50ms);
  for (const Descriptor& stranger : strangers) {
    sockaddr_storage other;
    socklen_t length = sizeof(other);
    EXPECT_NE(::getpeername(stranger.get(), reinterpret_cast<sockaddr*>(&other), &length), 0)
        << "a stranger is connected";
  }
  EXPECT_TRUE(HonestImportWorks());
}

TEST_F(StrangersTest, AStolenPlaceInFrontOfTheGateIsOfNoUse) {
  // The importer was admitted, but another process connects from another port.
  auto admission = AskForAdmission(name, 3s, "the owner");
  ASSERT_TRUE(admission.ok());
  const Descriptor thief = Knock(admission->fabric);
  std::this_thread::sleep_for(20ms);
  sockaddr_storage other;
  socklen_t length = sizeof(other);
  EXPECT_NE(::getpeername(thief.get(), reinterpret_cast<sockaddr*>(&other), &length), 0);
  EXPECT_TRUE(HonestImportWorks());
}

TEST_F(StrangersTest, HonestTrafficGoesOnBesideAFlood) {
  auto peer = importer.Import(name);
  ASSERT_TRUE(peer.ok());
  std::atomic<int> strangers{0};
  std::atomic<bool> over{false};
  /// Reads per second, while `goes_on(reads)`.
  const auto rate_while = [&](const auto& goes_on) {
    const auto begin = sampan::Clock::now();
    int reads = 0;
    for (; goes_on(reads); ++reads)
      EXPECT_TRUE(HonestReadWorks(**peer));
    return reads / std::chrono::duration<double>(sampan::Clock::now() - begin).count();
  };
  const double alone = rate_while([](int reads) { return reads < 100; });
  std::thread flood([&] {
    Random noise_source;
    for (; !over.load(); ++strangers) {
      const Descriptor stranger = Knock(name.address);
      const Bytes noise = noise_source.Fill(sizeof(Hello));
      Say(stranger, noise.data(), noise.size());
    }
  });
  const int count = StrangerCount();
  const double beside = rate_while([&](int reads) { return reads < 100 || strangers.load() < count; });
  EXPECT_TRUE(HonestImportWorks());
  over.store(true);
  flood.join();
  std::cout << strangers.load() << " strangers; honest reads go on at " << beside / alone
            << " of their rate\n";
}

}  // namespace
}  // namespace sampan::fabric::strangers_test
