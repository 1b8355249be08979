// Where a hub listens, and honest ranks as far as it can see.
#pragma once

#include <poll.h>
#include <sys/socket.h>

#include <cerrno>
#include <chrono>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "base/network/connecting.h"
#include "hccl/group/introduction.h"
#include "hccl/group/meeting_point.h"
#include "tests/fuzz/fuzz_failure.h"

namespace sampan::fuzz {

inline constexpr std::string_view kHubToken = "0123456789abcdef0123456789abcdef";
inline constexpr std::chrono::seconds kHubTimeout{30};

/// The address of a hub, and connections to it.
class HubAddress {
 public:
  explicit HubAddress(const Descriptor& listener) {
    if (::getsockname(listener.get(), name_.get(), &name_.length) != 0) FailInput("getsockname", errno);
  }
  /// Empty if the hub no longer listens.
  Descriptor Connect() const {
    Descriptor socket(::socket(name_.storage.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
    if (socket.get() < 0) FailInput("socket", errno);
    if (ConnectBy(socket.get(), name_, Clock::now() + kHubTimeout) != 0) return Descriptor();
    return socket;
  }

 private:
  SocketAddress name_;
};

inline Key HubSecret() {
  return hccl::SecretOf("fuzz", kHubToken);
}

inline hccl::Introduction IntroductionOf(u32 rank, u32 rank_size) {
  auto process = ThisProcess();
  if (!process.ok()) FailInput("ThisProcess");
  return {rank, rank_size, *process};
}

/// An honest rank, as far as the hub can see.
class HubRank {
 public:
  HubRank(Descriptor connection, u32 rank, u32 rank_size)
      : socket_(std::move(connection), hccl::FrameSocket::kMaxFrameBytes), rank_(rank) {
    is_closed_ =
        !Introduce(socket_, HubSecret(), IntroductionOf(rank, rank_size), Clock::now() + kHubTimeout).ok();
  }

  void Say(hccl::FrameKind kind, std::vector<u8> content = {}) {
    socket_.Queue({kind, rank_, 0, 0, content});
  }

  /// The next frame; empty when the hub has closed the connection.
  std::optional<hccl::Frame> Await() {
    const auto deadline = std::chrono::steady_clock::now() + kHubTimeout;
    for (;;) {
      if (const auto frame = socket_.Next()) return frame;
      if (is_closed_) return std::nullopt;
      if (!socket_.Send()) is_closed_ = true;
      pollfd watched{socket_.descriptor(), POLLIN, 0};
      ::poll(&watched, 1, 1000);
      if (!socket_.Receive()) is_closed_ = true;
      if (std::chrono::steady_clock::now() > deadline) FailInput("the hub does not answer a rank", rank_);
    }
  }
  int descriptor() const { return socket_.descriptor(); }
  void Push() { static_cast<void>(socket_.Send()); }

 private:
  hccl::FrameSocket socket_;
  const u32 rank_;
  bool is_closed_ = false;
};

}  // namespace sampan::fuzz
