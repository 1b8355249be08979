// Where importers prove what they know, before libfabric sees a connection.
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <functional>
#include <list>
#include <map>
#include <span>

#include "backend/fabric/gate/handshake.h"
#include "base/network/interface.h"
#include "base/system/descriptor.h"
#include "base/time/clock.h"

namespace sampan::fabric {

/// A listening socket and at most kMaxCallers connections, none of which is ever waited for. If all are
/// taken, the address with the most connections loses its oldest one. Used with the network's turn.
class Gate {
 public:
  static constexpr std::size_t kMaxCallers = 256;
  /// A handshake takes at most this long.
  static constexpr std::chrono::seconds kHandshakeTimeout{2};
  /// Answers a caller whose Proof has arrived. `from` is its address, with the port that it named.
  using Judge = std::function<Welcome(const Hello&, const Challenge&, const Proof&, const PeerAddress& from)>;

  /// Listens at any port of the address. Sets the address's port.
  static Result<Gate> Open(PeerAddress& address);

  /// Readable when there is something to do.
  int descriptor() const { return epoll_.get(); }
  /// Does what can be done at once. Returns when to look again at the latest.
  Deadline Serve(const Judge& judge);

 private:
  struct Caller {
    Descriptor socket;
    PeerAddress address;
    Deadline deadline;
    std::size_t received = 0;
    std::array<std::byte, sizeof(Hello) + sizeof(Proof)> bytes{};
    Challenge challenge;
    bool challenged = false;
  };
  using Callers = std::list<Caller>;  // the oldest first

  Gate(Descriptor listener, Descriptor epoll) : listener_(std::move(listener)), epoll_(std::move(epoll)) {}
  void Accept(const Judge& judge);
  void Pause(std::chrono::milliseconds time);
  /// Whether the listener is a reason to wake up.
  void Listen(bool listens);
  void MakeRoom();
  /// Returns false when the caller is to be closed.
  bool Hear(Caller& caller, const Judge& judge);

  Descriptor listener_, epoll_;
  Deadline listens_at_{};  // accepts no callers before
  Callers callers_;
  std::map<int, Callers::iterator> by_socket_;
};

/// What an importer has after the handshake.
struct Admission {
  Welcome welcome;
  PeerAddress fabric;  ///< where to connect by libfabric
  PeerAddress local;   ///< and from where
  Descriptor place;    ///< keeps the local port free until it is connected
};

/// The importer's side. Blocks, at most for the limit. `peer` is text for messages.
Result<Admission> AskForAdmission(const PeerName& name, std::chrono::milliseconds limit,
                                  const std::string& peer);

}  // namespace sampan::fabric
