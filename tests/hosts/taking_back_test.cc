// Memory is taken back, or the network goes, while bytes of it move.
#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>
#include <functional>
#include <future>
#include <memory>
#include <thread>

#include "backend/fabric/links/endpoint.h"
#include "backend/fabric/links/frames.h"
#include "backend/fabric/wide_network.h"
#include "tests/hosts/lent_bytes.h"
#include "tests/hosts/raw_importer.h"
#include "tests/support/random_bytes.h"

namespace sampan::fabric::taking_back_test {
namespace {

using namespace std::chrono_literals;

constexpr auto kLimit = 2s;
constexpr std::uint32_t kCell = 7, kSignalCell = 8;

/// An importer that asks for bytes and receives none, so that the owner's system never ends sending them.
class StuckReader {
 public:
  explicit StuckReader(const PeerName& name) : importer_(name, kLimit) {
    const FramePiece piece{0, kMaxDirectBytes};
    for (std::uint64_t request = 1; request <= Endpoint::kSlots; ++request) {
      importer_.Send(
          {.kind = FrameKind::kRead, .pieces = 1, .request = request, .payload_bytes = kMaxDirectBytes},
          piece);
    }
    std::this_thread::sleep_for(100ms);  // until the owner sends
  }

 private:
  test::RawImporter importer_;
};

/// Does something when it is set, on the network's thread.
class SignalThatActs final : public LentMemory {
 public:
  explicit SignalThatActs(std::function<void()> act) : act_(std::move(act)) {}
  const PeerMemoryFacts& facts() const override { return facts_; }
  bool Admits(const PeerProcess&) const override { return true; }
  bool Signal() noexcept override {
    act_();
    return true;
  }
  Result<std::byte*> Map() override { return &nothing_; }

 private:
  const std::function<void()> act_;
  const PeerMemoryFacts facts_;
  std::byte nothing_{};
};

std::chrono::milliseconds TimeOf(const std::function<void()>& act) {
  const auto begin = std::chrono::steady_clock::now();
  act();
  return std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::steady_clock::now() - begin);
}

class TakingBackTest : public ::testing::Test {
 protected:
  static NetworkOptions Options() {
    NetworkOptions options = test::Loopback();
    options.limit = kLimit;
    return options;
  }
  void SetUp() override {
    auto listening = owner->Listen();
    ASSERT_TRUE(listening.ok()) << listening.error().message;
    first = {*listening, ::getpid(), kCell, {random.Next(), random.Next()}};
    second = first;
    second.address.port = first.address.second_port;
    lent = std::make_shared<test::LentBytes>(memory);
    owner->Lend(kCell, first.secret, lent);
  }

  sampan::test::Random random;
  std::unique_ptr<WideNetwork> owner = std::make_unique<WideNetwork>(Options());
  PeerName first, second;  // the memory by the first and by the second network
  test::Bytes memory = random.Fill(kMaxDirectBytes);
  std::shared_ptr<test::LentBytes> lent;
};

TEST_F(TakingBackTest, WaitsForBytesThatMoveUntilTheLimit) {
  const StuckReader one(first), other(second);
  const auto time = TimeOf([&] { owner->TakeBack(kCell); });
  EXPECT_GE(time, kLimit / 2) << "no bytes were moving";
  EXPECT_LT(time, 2 * kLimit - 500ms);
}

TEST_F(TakingBackTest, ByAThreadOfOneNetworkDoesNotWaitForTheOther) {
  const StuckReader reader(second);
  std::chrono::milliseconds time{-1};
  PeerName signal = first;
  signal.cell = kSignalCell;
  owner->Lend(kSignalCell, signal.secret,
              std::make_shared<SignalThatActs>([&] { time = TimeOf([&] { owner->TakeBack(kCell); }); }));
  Network importer(Options());
  auto imported = importer.Import(signal);
  ASSERT_TRUE(imported.ok()) << imported.error().message;
  const std::weak_ptr<LentMemory> alive = std::exchange(lent, nullptr);
  std::promise<Code> ended;
  (*imported)->Start({PeerTransfer::Kind::kSignal, {}},
                     [&](Status status) { ended.set_value(status.code()); });
  EXPECT_EQ(ended.get_future().get(), Code::kOk);
  EXPECT_GE(time, 0ms) << "it was not set";
  EXPECT_LT(time, kLimit / 2);
  for (int i = 0; i < 1000 && !alive.expired(); ++i)
    std::this_thread::sleep_for(5ms);
  EXPECT_TRUE(alive.expired()) << "the memory is kept";
}

TEST_F(TakingBackTest, AnOwnerDoesNotServeWithoutEndWhatIsNotRead) {
  memory[0] = std::byte{1};
  test::RawImporter importer(first, kLimit);
  std::uint64_t request = 1;
  const auto ask = [&](FrameKind kind, std::uint32_t bytes) {
    importer.Send({.kind = kind, .pieces = 1, .request = request++, .payload_bytes = bytes}, {0, bytes});
  };
  for (int i = 0; i < 2000; ++i)
    ask(FrameKind::kRead, kMaxDirectBytes);
  ask(FrameKind::kFill, 1);  // writes 0
  std::this_thread::sleep_for(200ms);
  EXPECT_NE(memory[0], std::byte{}) << "it has queued bytes for 2000 requests";
}

TEST_F(TakingBackTest, ANetworkMayGoWhileBytesMove) {
  const StuckReader reader(first);
  owner.reset();
}

}  // namespace
}  // namespace sampan::fabric::taking_back_test
