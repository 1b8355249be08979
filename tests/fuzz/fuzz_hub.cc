// libFuzzer target: bytes become what connections send to the hub of a rank group.
#include <linux/sockios.h>
#include <poll.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <string>
#include <vector>

#include "hccl/group/byte_stream.h"
#include "hccl/group/hub.h"
#include "tests/fuzz/fuzz_descriptors.h"
#include "tests/fuzz/fuzz_failure.h"
#include "tests/fuzz/fuzz_input.h"
#include "tests/fuzz/hub_ranks.h"

namespace sampan::fuzz {
namespace {

using hccl::Bytes;
using hccl::ByteWriter;
using hccl::Frame;
using hccl::FrameKind;
using hccl::FrameSocket;

constexpr u32 kRanks = 2;
constexpr std::size_t kAttackers = 3;
constexpr int kMaxSteps = 40;

/// Returns when the hub has received what was sent, or no longer receives.
void AwaitReceipt(const Descriptor& socket) {
  for (int tries = 0; tries < 200; ++tries) {
    int unread = 0;
    if (::ioctl(socket.get(), SIOCOUTQ, &unread) != 0 || unread == 0) return;
    ::sched_yield();
  }
}

void Send(const Descriptor& socket, const void* data, std::size_t bytes) {
  if (socket.get() < 0) return;
  static_cast<void>(::send(socket.get(), data, bytes, MSG_NOSIGNAL | MSG_DONTWAIT));
  AwaitReceipt(socket);
}

/// The hub's challenge, which stays in the socket; zeros if it does not come.
Key PeekChallenge(const Descriptor& socket) {
  const std::size_t length =
      hccl::Encode({FrameKind::kChallenge, 0, 0, 0, std::vector<u8>(sizeof(Key))})->size();
  std::vector<u8> bytes(length);
  pollfd watched{socket.get(), POLLIN, 0};
  Key challenge{};
  if (::poll(&watched, 1, 1000) > 0 &&
      ::recv(socket.get(), bytes.data(), length, MSG_PEEK | MSG_DONTWAIT) == static_cast<ssize_t>(length))
    std::memcpy(&challenge, bytes.data() + length - sizeof(challenge), sizeof(challenge));
  return challenge;
}

/// A frame whose fields are small numbers, so that some of them are right.
std::vector<u8> MakeFrame(Input& input, const Descriptor& socket, bool& shows_token) {
  Frame frame{static_cast<FrameKind>(input.Below(12)),
              static_cast<u32>(input.Below(4)),
              static_cast<u32>(input.Below(4)),
              input.Below(3),
              {}};
  const std::size_t content = input.Below(4);
  if (content == 0) {
    const auto rank = static_cast<u32>(input.Below(4)), rank_size = static_cast<u32>(input.Below(4));
    const hccl::Introduction introduction = IntroductionOf(rank, rank_size);
    frame.content = ContentOf(
        hccl::Hello{introduction, hccl::ProofOfRank(HubSecret(), introduction, PeekChallenge(socket))});
    shows_token = true;
  } else if (content == 1) {  // a hello with a wrong proof
    hccl::Hello hello{IntroductionOf(static_cast<u32>(input.Below(4)), kRanks), {input.Long(), input.Long()}};
    frame.content = ContentOf(hello);
  } else {
    frame.content.resize(input.Byte());
    for (u8& byte : frame.content)
      byte = input.Byte();
  }
  return *Encode(frame);
}

struct Attack {
  bool shows_token = false;
};

/// What strangers, and ranks that went wrong, send.
Attack RunAttack(Input& input, const HubAddress& hub) {
  std::array<Descriptor, kAttackers> sockets;
  Attack attack;
  for (int step = 0; step < kMaxSteps && !input.empty(); ++step) {
    const std::size_t choice = input.Below(16);
    Descriptor& socket = sockets[input.Below(kAttackers)];
    if (choice == 15) {
      socket.Close();
      continue;
    }
    if (socket.get() < 0) socket = hub.Connect();
    if (choice == 14) {
      if (socket.get() >= 0) ::shutdown(socket.get(), SHUT_WR);
    } else if (choice >= 8) {
      const std::vector<u8> frame = MakeFrame(input, socket, attack.shows_token);
      // The last part of a frame may be missing.
      Send(socket, frame.data(), choice == 8 ? frame.size() / 2 : frame.size());
    } else {
      std::vector<u8> bytes(input.Short() % 2048);
      for (u8& byte : bytes)
        byte = input.Byte();
      Send(socket, bytes.data(), bytes.size());
    }
  }
  return attack;
}

enum class Outcome { kServed, kTurnedAway, kGone };

/// Both ranks join, exchange and leave.
Outcome RunHonestGroup(const HubAddress& hub, const std::string& host) {
  std::array<Descriptor, kRanks> connections;
  for (Descriptor& connection : connections) {
    connection = hub.Connect();
    if (connection.get() < 0) return Outcome::kGone;
  }
  std::array<HubRank, kRanks> ranks{HubRank(std::move(connections[0]), 0, kRanks),
                                    HubRank(std::move(connections[1]), 1, kRanks)};
  for (HubRank& rank : ranks)
    rank.Push();
  ByteWriter places;
  for (u32 rank = 0; rank < kRanks; ++rank) {
    places.Put(IntroductionOf(rank, kRanks).process);
    places.PutBytes(host);
  }
  const std::vector<u8> expected_places = places.Take();
  for (HubRank& rank : ranks) {
    const auto welcome = rank.Await();
    if (!welcome || welcome->kind != FrameKind::kWelcome) return Outcome::kTurnedAway;
    if (welcome->content != expected_places) FailInput("the hub names other processes");
  }
  const std::array<std::vector<u8>, kRanks> parts{std::vector<u8>{1, 2, 3}, std::vector<u8>{40, 50}};
  ByteWriter both;
  for (u32 rank = 0; rank < kRanks; ++rank) {
    both.PutBytes(parts[rank]);
    ranks[rank].Say(FrameKind::kGather, parts[rank]);
    ranks[rank].Push();
  }
  const std::vector<u8> expected = both.Take();
  for (HubRank& rank : ranks) {
    const auto gathered = rank.Await();
    if (!gathered || gathered->kind != FrameKind::kGathered || gathered->content != expected)
      FailInput("an exchange between honest ranks went wrong");
    rank.Say(FrameKind::kBye);
    rank.Push();
  }
  for (HubRank& rank : ranks) {
    while (rank.Await()) {
    }
  }
  return Outcome::kServed;
}

void FuzzHub(Input input) {
  const bool in_network = input.Below(2) == 1;
  hccl::MeetingPoint meeting{"fuzz", "sampan-fuzz-hub-", HubSecret()};
  if (in_network) meeting.address = ParseAddress("127.0.0.1");
  Descriptor listener = hccl::Listen(meeting);
  if (listener.get() < 0) FailInput("Listen", errno);
  const HubAddress hub(listener);
  const std::string host = in_network ? "127.0.0.1" : "";
  hccl::StartHub(std::move(listener), {meeting.group, meeting.secret, kRanks, kHubTimeout});
  const Attack attack = RunAttack(input, hub);
  // Those that showed the token may have begun the group themselves, or have been its ranks.
  Outcome outcome = RunHonestGroup(hub, host);
  if (!attack.shows_token && outcome != Outcome::kServed)
    FailInput("strangers without the token keep ranks out", static_cast<int>(outcome));
  for (int tries = 0; outcome == Outcome::kTurnedAway; ++tries) {
    if (tries == 20) FailInput("the hub turns every rank away");
    outcome = RunHonestGroup(hub, host);
  }
  CheckDescriptorCount();
}

}  // namespace
}  // namespace sampan::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  sampan::fuzz::FuzzHub(sampan::fuzz::Input({data, size}));
  return 0;
}
