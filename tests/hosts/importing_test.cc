// Imports beside what else a program does: handlers of signals, children, other sockets.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <list>
#include <memory>

#include "backend/fabric/gate/gate.h"
#include "backend/fabric/network.h"
#include "tests/hosts/lent_bytes.h"
#include "tests/support/random_bytes.h"

namespace sampan::fabric::importing_test {
namespace {

class ImportingTest : public ::testing::Test {
 protected:
  void SetUp() override {
    auto listening = owner.Listen();
    ASSERT_TRUE(listening.ok()) << listening.error().message;
    name = {*listening, ::getpid(), 7, {random.Next(), random.Next()}};
    owner.Lend(name.cell, name.secret, std::make_shared<test::LentBytes>(memory));
  }

  sampan::test::Random random;
  Network owner{test::Loopback()}, importer{test::Loopback()};
  PeerName name;
  test::Bytes memory = random.Fill(4096);
};

/// Interrupts the process every millisecond. Its handler does not have the system's calls restart.
class Interruptions {
 public:
  Interruptions() {
    struct sigaction action = {};
    action.sa_handler = [](int) { count.fetch_add(1); };
    ::sigaction(SIGALRM, &action, &before_);
    const itimerval every = {{0, 1000}, {0, 1000}};
    ::setitimer(ITIMER_REAL, &every, nullptr);
  }
  ~Interruptions() {
    const itimerval never = {};
    ::setitimer(ITIMER_REAL, &never, nullptr);
    ::sigaction(SIGALRM, &before_, nullptr);
  }
  Interruptions(const Interruptions&) = delete;
  Interruptions& operator=(const Interruptions&) = delete;

  inline static std::atomic<int> count{0};

 private:
  struct sigaction before_ = {};
};

TEST_F(ImportingTest, AHandlerOfASignalDoesNotFailAnImport) {
  const Interruptions interruptions;
  for (int i = 0; i < 200; ++i) {
    auto imported = importer.Import(name);
    ASSERT_TRUE(imported.ok()) << i << ": " << imported.error().message;
  }
  EXPECT_GT(Interruptions::count.load(), 10);
}

TEST_F(ImportingTest, NoOtherSocketGetsThePortThatTheOwnerExpects) {
  auto admission = AskForAdmission(name, std::chrono::seconds(3), "the owner");
  ASSERT_TRUE(admission.ok()) << admission.error().message;
  const SocketAddress local = ToSocket(admission->local);
  const Descriptor other(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  EXPECT_NE(::bind(other.get(), local.get(), local.length), 0) << Describe(admission->local) << " is free";
  admission->place.Close();
  EXPECT_EQ(::bind(other.get(), local.get(), local.length), 0) << "it is kept for too long";
}

TEST_F(ImportingTest, ImportersWaitWhileTooManyOthersConnect) {
  NetworkOptions options = test::Loopback();
  options.limit = std::chrono::milliseconds(500);  // as long as a place is kept
  Network crowded(options);
  name.address = *crowded.Listen();
  crowded.Lend(name.cell, name.secret, std::make_shared<test::LentBytes>(memory));
  std::list<Admission> places;
  for (std::size_t i = 0; i < Network::kMaxExpected; ++i) {
    auto admission = AskForAdmission(name, std::chrono::seconds(20), "the owner");
    ASSERT_TRUE(admission.ok()) << i << ": " << admission.error().message;
    places.push_back(std::move(*admission));
  }
  auto imported = importer.Import(name);
  EXPECT_TRUE(imported.ok()) << imported.error().message;
}

}  // namespace
}  // namespace sampan::fabric::importing_test
