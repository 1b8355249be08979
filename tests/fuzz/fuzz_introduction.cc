// libFuzzer target: bytes become what a stranger says to a rank that takes it for its hub.
#include <sys/socket.h>

#include <cerrno>
#include <cstdint>
#include <span>

#include "hccl/group/introduction.h"
#include "tests/fuzz/fuzz_descriptors.h"

namespace sampan::fuzz {
namespace {

void FuzzIntroduction(std::span<const std::uint8_t> bytes) {
  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends) != 0)
    FailInput("socketpair", errno);
  hccl::FrameSocket rank(Descriptor(ends[0]), hccl::kMaxReasonBytes);
  const Descriptor stranger(ends[1]);
  static_cast<void>(::send(stranger.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL));
  ::shutdown(stranger.get(), SHUT_WR);  // so the rank need not wait for its time limit
  const hccl::Introduction introduction{1, 2, {}};
  if (Introduce(rank, hccl::SecretOf("fuzz", "0123456789abcdef"), introduction,
                Clock::now() + std::chrono::seconds(5))
          .ok())
    FailInput("a rank is admitted by a stranger");
}

}  // namespace
}  // namespace sampan::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  sampan::fuzz::FuzzIntroduction({data, size});
  sampan::fuzz::CheckDescriptorCount();
  return 0;
}
