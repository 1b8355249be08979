// Two networks of one process: handshake, transfers, refusals, endings.
#include "backend/fabric/network.h"

#include <gtest/gtest.h>

#include <chrono>
#include <cstring>
#include <future>
#include <memory>
#include <utility>
#include <vector>

#include "backend/fabric/links/frames.h"
#include "tests/hosts/lent_bytes.h"
#include "tests/hosts/scripted_owner.h"
#include "tests/support/random_bytes.h"

namespace sampan::fabric::network_test {
namespace {

using sampan::test::Bytes;
using sampan::test::Random;

constexpr std::size_t kBytes = std::size_t{5} << 20;
constexpr std::uint32_t kCell = 7;

class NetworkTest : public ::testing::Test {
 protected:
  void SetUp() override {
    auto listening = owner.Listen();
    ASSERT_TRUE(listening.ok()) << listening.error().message;
    name.address = *listening;
    name.process = ::getpid();
    name.cell = kCell;
    name.secret = {random.Next(), random.Next()};
    memory = random.Fill(kBytes);
    lent = std::make_shared<test::LentBytes>(memory);
  }
  std::shared_ptr<PeerMemory> Import() {
    auto imported = importer.Import(name);
    EXPECT_TRUE(imported.ok()) << imported.error().message;
    return imported.ok() ? *imported : nullptr;
  }
  Code CodeOfImport(const PeerName& other) {
    auto imported = importer.Import(other);
    message = imported.ok() ? "" : imported.error().message;
    return imported.ok() ? Code::kOk : imported.code();
  }
  Code Run(PeerMemory& peer, PeerTransfer transfer) {
    std::promise<Code> ended;
    peer.Start(std::move(transfer), [&](Status status) {
      message = status.ok() ? "" : status.error().message;
      ended.set_value(status.code());
    });
    return ended.get_future().get();
  }

  Random random;
  Network owner{test::Loopback()}, importer{test::Loopback()};
  PeerName name;
  Bytes memory;
  std::shared_ptr<test::LentBytes> lent;
  std::string message;
};

TEST_F(NetworkTest, WritesReadsAndFillsAreInPlace) {
  owner.Lend(kCell, name.secret, lent);
  const auto peer = Import();
  ASSERT_NE(peer, nullptr);
  EXPECT_EQ(peer->facts().bytes, kBytes);
  EXPECT_EQ(peer->facts().attribute, 4u);
  Bytes expected = memory;
  Bytes sent = random.Fill(3 << 20);
  ASSERT_EQ(Run(*peer, {PeerTransfer::Kind::kWrite, {{sent.data(), 12345, sent.size()}}}), Code::kOk)
      << message;
  std::memcpy(expected.data() + 12345, sent.data(), sent.size());
  EXPECT_EQ(memory, expected);
  Bytes received(kBytes);
  ASSERT_EQ(Run(*peer, {PeerTransfer::Kind::kRead, {{received.data(), 0, kBytes}}}), Code::kOk) << message;
  EXPECT_EQ(received, expected);
  // Odd lengths, many pieces, and more of them than a frame holds.
  PeerTransfer scattered{PeerTransfer::Kind::kWrite, {}};
  for (std::size_t i = 0; i < 3000; ++i) {
    const std::size_t bytes = 1 + i % 700;
    scattered.pieces.push_back({sent.data() + i * 701, i * 900, bytes});
    std::memcpy(expected.data() + i * 900, sent.data() + i * 701, bytes);
  }
  PeerTransfer gathered = scattered;
  ASSERT_EQ(Run(*peer, std::move(scattered)), Code::kOk) << message;
  EXPECT_EQ(memory, expected);
  gathered.kind = PeerTransfer::Kind::kRead;
  Bytes back(sent.size());
  for (PeerPiece& piece : gathered.pieces)
    piece.local = back.data() + (piece.local - sent.data());
  const auto pieces = gathered.pieces;
  ASSERT_EQ(Run(*peer, std::move(gathered)), Code::kOk) << message;
  for (const PeerPiece& piece : pieces)
    ASSERT_EQ(std::memcmp(piece.local, expected.data() + piece.offset, piece.bytes), 0);
  ASSERT_EQ(Run(*peer, {PeerTransfer::Kind::kFill, {{nullptr, 101, kBytes - 101}}, 0x04030201}), Code::kOk);
  for (std::size_t i = 101; i < kBytes; ++i)
    ASSERT_EQ(memory[i], static_cast<std::byte>(1 + (i - 101) % 4)) << i;
  EXPECT_EQ(memory[100], expected[100]);
}

TEST_F(NetworkTest, ManyTransfersAtATimeEndEachOnItsOwn) {
  owner.Lend(kCell, name.secret, lent);
  const auto peer = Import();
  ASSERT_NE(peer, nullptr);
  const Bytes expected = memory;
  constexpr std::size_t kCount = 64, kEach = kBytes / kCount;
  std::vector<Bytes> received(kCount, Bytes(kEach));
  std::vector<std::promise<Code>> ended(kCount);
  for (std::size_t i = 0; i < kCount; ++i) {
    peer->Start({PeerTransfer::Kind::kRead, {{received[i].data(), i * kEach, kEach}}},
                [&, i](Status status) { ended[i].set_value(status.code()); });
  }
  for (std::size_t i = 0; i < kCount; ++i) {
    ASSERT_EQ(ended[i].get_future().get(), Code::kOk);
    ASSERT_EQ(std::memcmp(received[i].data(), expected.data() + i * kEach, kEach), 0) << i;
  }
}

TEST_F(NetworkTest, OnlyTheHoldersOfTheSecretGetIn) {
  EXPECT_EQ(CodeOfImport(name), Code::kParamInvalid) << "nothing is lent";
  owner.Lend(kCell, name.secret, lent);
  for (int bit = 0; bit < 128; bit += 9) {
    PeerName guessed = name;
    guessed.secret[bit / 64] ^= std::uint64_t{1} << bit % 64;
    EXPECT_EQ(CodeOfImport(guessed), Code::kParamInvalid) << message;
  }
  PeerName other = name;
  ++other.cell;
  EXPECT_EQ(CodeOfImport(other), Code::kParamInvalid);
  lent->refused = ::getpid();
  EXPECT_EQ(CodeOfImport(name), Code::kNoPermission);
  EXPECT_NE(message.find(std::to_string(::getpid())), std::string::npos) << message;
  lent->refused = -1;
  EXPECT_EQ(CodeOfImport(name), Code::kOk) << message;
  PeerName nowhere = name;
  nowhere.address.port = 1;
  EXPECT_EQ(CodeOfImport(nowhere), Code::kLostHeartbeat);
  EXPECT_NE(message.find("127.0.0.1:1"), std::string::npos) << message;
}

TEST_F(NetworkTest, EachRequestIsCheckedByTheOwner) {
  auto read_only = std::make_shared<test::LentBytes>(memory, true);
  owner.Lend(kCell, name.secret, read_only);
  const auto peer = Import();
  ASSERT_NE(peer, nullptr);
  const Bytes before = memory;
  Bytes local = random.Fill(4096);
  EXPECT_EQ(Run(*peer, {PeerTransfer::Kind::kWrite, {{local.data(), 0, 4096}}}), Code::kNoPermission);
  EXPECT_EQ(Run(*peer, {PeerTransfer::Kind::kFill, {{nullptr, 0, 4096}}, 1}), Code::kNoPermission);
  EXPECT_EQ(Run(*peer, {PeerTransfer::Kind::kRead, {{local.data(), kBytes - 4095, 4096}}}),
            Code::kParamInvalid);
  EXPECT_EQ(Run(*peer, {PeerTransfer::Kind::kRead, {{local.data(), UINT64_MAX - 100, 4096}}}),
            Code::kParamInvalid);
  EXPECT_EQ(memory, before);
  EXPECT_EQ(Run(*peer, {PeerTransfer::Kind::kRead, {{local.data(), kBytes - 4096, 4096}}}), Code::kOk);
  EXPECT_EQ(std::memcmp(local.data(), memory.data() + kBytes - 4096, 4096), 0);
  owner.TakeBack(kCell);
  EXPECT_EQ(Run(*peer, {PeerTransfer::Kind::kRead, {{local.data(), 0, 4096}}}), Code::kSdmaCopyError);
  EXPECT_NE(message.find("freed"), std::string::npos) << message;
  EXPECT_EQ(CodeOfImport(name), Code::kParamInvalid) << "stale";
}

TEST_F(NetworkTest, AnOwnerThatGoesFailsWhatIsPending) {
  auto leaving = std::make_unique<Network>(test::Loopback());
  name.address = *leaving->Listen();
  leaving->Lend(kCell, name.secret, lent);
  const auto peer = Import();
  ASSERT_NE(peer, nullptr);
  leaving.reset();
  Bytes local(4096);
  EXPECT_EQ(Run(*peer, {PeerTransfer::Kind::kRead, {{local.data(), 0, 4096}}}), Code::kLostHeartbeat);
  EXPECT_NE(message.find("the process has exited"), std::string::npos) << message;
  EXPECT_NE(message.find("127.0.0.1"), std::string::npos) << message;
  EXPECT_NE(message.find(std::to_string(::getpid())), std::string::npos) << message;
}

TEST_F(NetworkTest, AnAnswerThatBreaksTheRulesFailsTheCopy) {
  const auto code_after = [&](PeerTransfer::Kind kind, FrameHeader answer) {
    PeerMemoryFacts facts;
    facts.bytes = kBytes;
    const test::ScriptedOwner broken(name, facts, [answer](const FrameHeader&) { return answer; });
    auto peer = importer.Import(broken.name());
    EXPECT_TRUE(peer.ok());
    const auto local = std::make_shared<Bytes>(64);
    const auto ended = std::make_shared<std::promise<Code>>();
    auto end = ended->get_future();
    (*peer)->Start({kind, {{local->data(), 0, local->size()}}},
                   [local, ended](Status status) { ended->set_value(status.code()); });
    if (end.wait_for(std::chrono::seconds(20)) == std::future_status::ready) return end.get();
    ADD_FAILURE() << "the copy never ends";
    return Code::kInternalError;
  };
  using Kind = PeerTransfer::Kind;
  const FrameHeader right{.kind = FrameKind::kData, .request = 1, .payload_bytes = 64};
  EXPECT_EQ(code_after(Kind::kRead, right), Code::kOk);
  for (auto [kind, bytes] : {std::pair{FrameKind::kDone, 0U},
                             {FrameKind::kDone, 64U},
                             {FrameKind::kData, 63U},
                             {FrameKind::kData, 65U},
                             {FrameKind::kRead, 64U}}) {
    FrameHeader wrong = right;
    wrong.kind = kind;
    wrong.payload_bytes = bytes;
    EXPECT_EQ(code_after(Kind::kRead, wrong), Code::kLostHeartbeat) << static_cast<int>(kind) << " " << bytes;
  }
  EXPECT_EQ(code_after(Kind::kWrite, {.kind = FrameKind::kDone, .request = 1}), Code::kOk);
  EXPECT_EQ(code_after(Kind::kWrite, right), Code::kLostHeartbeat);
  EXPECT_EQ(code_after(Kind::kRead, {.kind = FrameKind::kDone, .request = 2}), Code::kLostHeartbeat);
}

TEST_F(NetworkTest, ACopyDoesNotEndWhileItsBytesAreStillRead) {
  constexpr std::size_t kLong = std::size_t{16} << 20;  // more than the system's buffers hold
  constexpr std::uint64_t kAnswers = 20;
  PeerMemoryFacts facts;
  facts.bytes = kLong;
  const test::ScriptedOwner liar(
      name, facts,
      [](const FrameHeader& request) {
        return FrameHeader{.kind = FrameKind::kDone, .request = request.request};
      },
      kAnswers);
  NetworkOptions options = test::Loopback();
  options.limit = std::chrono::seconds(1);
  Network impatient(options);
  auto peer = impatient.Import(liar.name());
  ASSERT_TRUE(peer.ok()) << peer.error().message;
  Bytes local(kLong);
  EXPECT_EQ(Run(**peer, {PeerTransfer::Kind::kWrite, {{local.data(), 0, local.size()}}}),
            Code::kLostHeartbeat)
      << "all of it was answered, and most of it is not sent";
}

TEST(KeyedHashTest, GivesThePublishedValues) {
  const Key key = {0x0706050403020100, 0x0f0e0d0c0b0a0908};
  EXPECT_EQ(KeyedHash(key, {}), (Digest{0xe6a825ba047f81a3, 0x930255c71472f66d}));
  std::byte one[15];
  for (std::size_t i = 0; i < sizeof(one); ++i)
    one[i] = static_cast<std::byte>(i);
  EXPECT_NE(KeyedHash(key, one), KeyedHash(key, std::span(one).first(14)));
}

}  // namespace
}  // namespace sampan::fabric::network_test
