// libFuzzer target: bytes become what one rank of a group posts to the others, and other frames of it.
#include <poll.h>
#include <sys/socket.h>

#include <array>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "hccl/group/byte_stream.h"
#include "hccl/group/hub.h"
#include "tests/fuzz/fuzz_descriptors.h"
#include "tests/fuzz/fuzz_input.h"
#include "tests/fuzz/hub_ranks.h"

namespace sampan::fuzz {
namespace {

using hccl::ByteWriter;
using hccl::Frame;
using hccl::FrameKind;

/// Ranks 0 and 1 are honest.
constexpr u32 kRanks = 3, kHostile = 2;
constexpr int kMaxSteps = 30;

/// A small number, or any.
u32 NumberFrom(Input& input) {
  return input.Below(8) == 7 ? static_cast<u32>(input.Long()) : static_cast<u32>(input.Below(5));
}

/// What a kPost frame has: the number of peers, the peers, the bytes. Some of it may be wrong or missing.
std::vector<u8> PostFrom(Input& input) {
  ByteWriter out;
  const std::size_t peers = input.Below(5);
  out.Put(input.Below(8) == 7 ? NumberFrom(input) : static_cast<u32>(peers));
  for (std::size_t i = 0; i < peers; ++i)
    out.Put(NumberFrom(input));
  std::vector<u8> bytes(input.Byte());
  for (u8& byte : bytes)
    byte = input.Byte();
  if (input.Below(16) == 15) bytes.resize(hccl::kMaxPostBytes + input.Short());
  if (input.Below(8) == 7)
    out.Put(input.Long());  // a length without bytes
  else
    out.PutBytes(bytes);
  std::vector<u8> content = out.Take();
  if (input.Below(8) == 7) content.resize(content.size() * input.Byte() / 256);
  return content;
}

std::vector<u8> FrameFrom(Input& input) {
  Frame frame{.kind = FrameKind::kPost};
  if (input.Below(4) == 3) frame.kind = static_cast<FrameKind>(input.Below(16));
  frame.rank = NumberFrom(input);
  frame.number = NumberFrom(input);
  frame.sequence = input.Below(2);
  frame.content = PostFrom(input);
  std::vector<u8> bytes = *Encode(frame);
  if (input.Below(8) == 7) bytes[input.Below(24)] ^= static_cast<u8>(1 + input.Below(255));  // in its header
  if (input.Below(16) == 15) bytes.resize(bytes.size() / 2);
  return bytes;
}

/// Sends all, unless the hub has closed the connection.
void SendAll(int socket, const std::vector<u8>& bytes) {
  for (std::size_t sent = 0; sent < bytes.size();) {
    const ssize_t now = ::send(socket, bytes.data() + sent, bytes.size() - sent, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (now > 0) {
      sent += static_cast<std::size_t>(now);
      continue;
    }
    pollfd writable{socket, POLLOUT, 0};
    if (errno != EAGAIN || ::poll(&writable, 1, 10'000) == 0 || (writable.revents & POLLHUP) != 0) return;
  }
}

/// An honest rank that posts to the other one, and gets its posts whole and in their order.
class HonestRank {
 public:
  HonestRank(Descriptor connection, u32 rank) : socket_(std::move(connection), rank, kRanks), rank_(rank) {}

  void AwaitWelcome() {
    const auto welcome = socket_.Await();
    if (!welcome || welcome->kind != FrameKind::kWelcome) FailInput("an honest rank is not welcome", rank_);
  }
  void Post() {
    ByteWriter out;
    out.Put(u32{1});
    out.Put(u32{1} - rank_);
    out.PutBytes(TextOf(rank_, posted_++));
    socket_.Say(FrameKind::kPost, out.Take());
    socket_.Push();
  }
  u64 posted() const { return posted_; }
  void AwaitPosts(u64 count) {
    for (u64 heard = 0; heard < count;) {
      const auto frame = socket_.Await();
      if (!frame) FailInput("an honest rank is dropped", rank_);
      if (frame->kind == FrameKind::kBroken || frame->kind == FrameKind::kLeft) continue;
      if (frame->kind != FrameKind::kPosted) FailInput("a frame that no rank asked for", rank_);
      if (frame->rank == kHostile) continue;
      if (frame->rank != 1 - rank_ || frame->text() != TextOf(frame->rank, heard))
        FailInput("not the next post of the other honest rank", frame->rank);
      ++heard;
    }
  }
  void Leave() {
    socket_.Say(FrameKind::kBye);
    socket_.Push();
  }
  void AwaitEnd() {
    while (socket_.Await()) {
    }
  }

 private:
  static std::string TextOf(u32 rank, u64 number) {
    return "post " + std::to_string(number) + " of rank " + std::to_string(rank);
  }

  HubRank socket_;
  const u32 rank_;
  u64 posted_ = 0;
};

void FuzzPosts(Input input) {
  hccl::MeetingPoint meeting{"fuzz", "sampan-fuzz-posts-", HubSecret()};
  if (input.Below(2) == 1) meeting.address = ParseAddress("127.0.0.1");
  Descriptor listener = hccl::Listen(meeting);
  if (listener.get() < 0) FailInput("Listen", errno);
  const HubAddress hub(listener);
  hccl::StartHub(std::move(listener), {meeting.group, meeting.secret, kRanks, kHubTimeout});
  std::array<HonestRank, 2> honest{HonestRank(hub.Connect(), 0), HonestRank(hub.Connect(), 1)};
  {
    const HubRank hostile(hub.Connect(), kHostile, kRanks);
    for (HonestRank& rank : honest)
      rank.AwaitWelcome();
    for (int step = 0; step < kMaxSteps && !input.empty(); ++step) {
      const std::size_t choice = input.Below(8);
      if (choice < 2)
        honest[choice].Post();
      else
        SendAll(hostile.descriptor(), FrameFrom(input));
    }
    for (HonestRank& rank : honest)
      rank.Post();
    for (const u32 rank : {0U, 1U})
      honest[rank].AwaitPosts(honest[1 - rank].posted());
  }
  for (HonestRank& rank : honest)
    rank.Leave();
  for (HonestRank& rank : honest)
    rank.AwaitEnd();
  CheckDescriptorCount();
}

}  // namespace
}  // namespace sampan::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  sampan::fuzz::FuzzPosts(sampan::fuzz::Input({data, size}));
  return 0;
}
