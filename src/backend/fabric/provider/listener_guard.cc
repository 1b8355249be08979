// Keeps strangers away from libfabric's listening socket.
#include "backend/fabric/provider/listener_guard.h"

#include <linux/filter.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "backend/fabric/provider/kept_sockets.h"
#include "base/error/system_error.h"
#include "base/error/text.h"
#include "base/network/connecting.h"

namespace sampan::fabric {
namespace {

/// A program that drops all packets, except those from the importers. It sees the header of TCP.
std::vector<sock_filter> FilterFor(std::span<const PeerAddress> importers) {
  std::vector<sock_filter> code;
  const auto add = [&](unsigned what, unsigned value, std::size_t if_true = 0, std::size_t if_false = 0) {
    code.push_back({static_cast<std::uint16_t>(what), static_cast<std::uint8_t>(if_true),
                    static_cast<std::uint8_t>(if_false), value});
  };
  constexpr unsigned kSourceV4 = 12, kSourceV6 = 8;  // in the header of IP
  for (const PeerAddress& importer : importers) {
    const std::size_t words = importer.version == 6 ? 4 : 1;
    const std::size_t behind = 2 * words + 1;  // the rest of this importer's part
    add(BPF_LD | BPF_H | BPF_ABS, 0);
    add(BPF_JMP | BPF_JEQ | BPF_K, importer.port, 0, behind);
    for (std::size_t i = 0; i < words; ++i) {
      std::uint32_t word = 0;
      std::memcpy(&word, importer.host.data() + 4 * i, sizeof(word));
      const unsigned at = (importer.version == 6 ? kSourceV6 : kSourceV4) + static_cast<unsigned>(4 * i);
      add(BPF_LD | BPF_W | BPF_ABS, static_cast<unsigned>(SKF_NET_OFF) + at);
      add(BPF_JMP | BPF_JEQ | BPF_K, ntohl(word), 0, behind - 2 * (i + 1));
    }
    add(BPF_RET | BPF_K, UINT32_MAX);
  }
  add(BPF_RET | BPF_K, 0);
  return code;
}

}  // namespace

Result<ListenerGuard> ListenerGuard::Find(const PeerAddress& bound) {
  for (const int socket : SocketsBoundTo(bound)) {
    const ListenerGuard guard(socket);
    if (Status closed = guard.Admit({}); !closed.ok()) return closed;
    return guard;
  }
  return Error{Code::kResourceAllocFail, Text("libfabric's socket at ", Describe(bound), " is not found")};
}

void ListenerGuard::LimitSilence(int limit_ms) const {
  sampan::LimitSilence(socket_, limit_ms);
}

Status ListenerGuard::Admit(std::span<const PeerAddress> importers) const {
  std::vector<sock_filter> code = FilterFor(importers);
  const sock_fprog program = {static_cast<unsigned short>(code.size()), code.data()};
  if (::setsockopt(socket_, SOL_SOCKET, SO_ATTACH_FILTER, &program, sizeof(program)) == 0) return {};
  return {Code::kResourceAllocFail,
          Text("strangers cannot be kept away: SO_ATTACH_FILTER: ", SystemError(errno))};
}

}  // namespace sampan::fabric
