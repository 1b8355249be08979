// libFuzzer target: bytes become what strangers send to the gate of a process that exports memory.
#include <errno.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <cstring>
#include <vector>

#include "backend/fabric/gate/handshake.h"
#include "base/network/interface.h"
#include "base/system/descriptor.h"
#include "tests/fuzz/fuzz_fabric.h"
#include "tests/fuzz/fuzz_input.h"

namespace sampan::fuzz {
namespace {

constexpr std::size_t kMaxStrangers = 8;

/// What a stranger says: right, nearly right or any bytes.
std::vector<std::byte> MakeWords(Input& input, const PeerName& name) {
  fabric::Hello hello;
  hello.cell = input.Below(3) == 0 ? input.Byte() : name.cell;
  hello.process = static_cast<std::int32_t>(input.Short());
  hello.port = input.Below(8) == 0 ? static_cast<std::uint32_t>(input.Long()) : input.Short();
  hello.nonce = {input.Long(), input.Byte()};
  if (input.Below(8) == 0) hello.mark ^= 1U << input.Below(32);
  fabric::Proof proof;
  for (auto& word : proof.digest)
    word = input.Long();
  // A proof for another challenge than the one that will come.
  if (input.Below(4) == 0) proof.digest = fabric::ProofOfImporter(name.secret, hello, fabric::Challenge());
  std::vector<std::byte> words(sizeof(hello) + sizeof(proof));
  std::memcpy(words.data(), &hello, sizeof(hello));
  std::memcpy(words.data() + sizeof(hello), &proof, sizeof(proof));
  switch (input.Below(6)) {
    case 0:
      words.resize(input.Below(words.size()));
      break;
    case 1:
      words.resize(words.size() + input.Byte(), static_cast<std::byte>(input.Byte()));
      break;
    case 2:
      for (std::byte& each : words)
        each = static_cast<std::byte>(input.Byte());
      break;
    default:
      break;
  }
  return words;
}

/// Returns all that the gate says until it closes the connection, at most for the time.
std::vector<std::byte> Listen(int socket, int timeout_ms) {
  std::vector<std::byte> heard;
  for (;;) {
    pollfd waited = {socket, POLLIN, 0};
    if (::poll(&waited, 1, timeout_ms) <= 0) return heard;
    std::byte bytes[256];
    const ssize_t count = ::recv(socket, bytes, sizeof(bytes), MSG_DONTWAIT);
    if (count <= 0) return heard;
    heard.insert(heard.end(), bytes, bytes + count);
  }
}

void Knock(Input& input, const PeerName& name) {
  const SocketAddress address = ToSocket(name.address);
  const Descriptor socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (::connect(socket.get(), address.get(), address.length) != 0)
    FailInput("the gate does not listen", errno);
  const std::vector<std::byte> words = MakeWords(input, name);
  for (std::size_t sent = 0; sent < words.size();) {
    const std::size_t part = std::min(words.size() - sent, 1 + input.Below(words.size()));
    if (::send(socket.get(), words.data() + sent, part, MSG_NOSIGNAL) < 0) return;  // it was refused already
    sent += part;
  }
  const bool is_whole = words.size() >= sizeof(fabric::Hello) + sizeof(fabric::Proof);
  const std::vector<std::byte> heard = Listen(socket.get(), is_whole ? 5000 : 0);
  if (heard.size() < sizeof(fabric::Challenge) + sizeof(fabric::Welcome)) return;
  fabric::Welcome welcome;
  std::memcpy(&welcome, heard.data() + sizeof(fabric::Challenge), sizeof(welcome));
  if (welcome.code == 0) FailInput("a stranger is let in");
  if (welcome.ticket != Key{} || welcome.port != 0) FailInput("a refusal tells where to connect");
}

}  // namespace
}  // namespace sampan::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace sampan::fuzz;
  static FuzzedOwner& owner = *new FuzzedOwner;
  Input input({data, size});
  for (std::size_t i = 0; i < kMaxStrangers && !input.empty(); ++i)
    Knock(input, owner.name(false));
  owner.UseHonestly();
  return 0;
}
