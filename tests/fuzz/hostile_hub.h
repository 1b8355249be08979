// A hub that sends a rank what the fuzzer says, and nothing that a rank could expect of it.
#pragma once

#include <poll.h>
#include <sys/socket.h>

#include <cerrno>
#include <span>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "hccl/group/introduction.h"
#include "hccl/group/meeting_point.h"
#include "tests/fuzz/fuzz_failure.h"

namespace sampan::fuzz {

/// Listens where the rank looks for its hub, and knows the token. When the rank has introduced itself, it
/// sends all bytes, then says that rank 0 leaves, and sends nothing more: so no wait of the rank lasts. The
/// destructor waits for the rank's connection to end.
class HostileHub {
 public:
  HostileHub(const hccl::MeetingPoint& meeting, std::vector<u8> bytes)
      : secret_(meeting.secret), listener_(hccl::Listen(meeting)), bytes_(std::move(bytes)) {
    if (listener_.get() < 0) FailInput("Listen", errno);
    const auto farewell = hccl::Encode({hccl::FrameKind::kLeft, 0, 0, 0, {}});
    bytes_.insert(bytes_.end(), farewell->begin(), farewell->end());
    thread_ = std::thread([this] { Serve(); });
  }
  ~HostileHub() {
    ::shutdown(listener_.get(), SHUT_RDWR);  // if no rank has come
    thread_.join();
  }
  HostileHub(const HostileHub&) = delete;
  HostileHub& operator=(const HostileHub&) = delete;

 private:
  void Serve() {
    pollfd waiting{listener_.get(), POLLIN, 0};
    ::poll(&waiting, 1, -1);
    hccl::FrameSocket rank(Descriptor(::accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC)),
                           hccl::FrameSocket::kMaxFrameBytes);
    if (rank.descriptor() < 0) return;
    rank.Queue({hccl::FrameKind::kChallenge, 0, 0, 0, hccl::ContentOf(Key{})});
    static_cast<void>(rank.Send());
    bool has_sent = false;
    for (;;) {
      pollfd said{rank.descriptor(), POLLIN, 0};
      ::poll(&said, 1, -1);
      const bool is_alive = rank.Receive();
      while (const auto frame = rank.Next()) {
        if (std::exchange(has_sent, true)) continue;
        const auto hello = hccl::DataIn<hccl::Hello>(frame->content);
        if (!hello) FailInput("a rank that does not introduce itself");
        const Digest proof = hccl::ProofOfHub(secret_, hello->introduction, {});
        rank.Queue({hccl::FrameKind::kAdmitted, 0, 0, 0, hccl::ContentOf(proof)});
        static_cast<void>(rank.Send());
        SendAll(rank.descriptor());
      }
      if (!is_alive) return;
    }
  }
  void SendAll(int socket) const {
    std::span<const u8> rest = bytes_;
    while (!rest.empty()) {
      const ssize_t sent = ::send(socket, rest.data(), rest.size(), MSG_NOSIGNAL);
      if (sent <= 0) break;
      rest = rest.subspan(static_cast<std::size_t>(sent));
    }
    ::shutdown(socket, SHUT_WR);
  }

  const Key secret_;
  Descriptor listener_;
  std::vector<u8> bytes_;
  std::thread thread_;
};

}  // namespace sampan::fuzz
