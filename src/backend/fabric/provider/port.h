// The process's place in libfabric: a listener, and the queues of events and completions of all endpoints.
#pragma once

#include <rdma/fabric.h>
#include <rdma/fi_cm.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_eq.h>

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>

#include "backend/api/peer_network.h"
#include "backend/fabric/provider/kept_sockets.h"
#include "backend/fabric/provider/library.h"
#include "backend/fabric/provider/listener_guard.h"
#include "base/error/status.h"
#include "base/system/descriptor.h"
#include "base/threads/spin.h"
#include "base/time/clock.h"

namespace sampan::fabric {

/// Closes an object of libfabric.
struct FabricClose {
  template <typename Object>
  void operator()(Object* object) const {
    ::fi_close(&object->fid);
  }
};
template <typename Object>
using Owned = std::unique_ptr<Object, FabricClose>;

/// Owns what fi_getinfo returned.
using Info = std::unique_ptr<fi_info, decltype(&::fi_freeinfo)>;

/// A send or a receive that has completed.
struct Completion {
  void* context = nullptr;
  std::size_t bytes = 0;
  bool received = false;
  int error = 0;  ///< of libfabric; 0: success
};

/// Something that happened to a connection.
struct ConnectionEvent {
  enum class Kind { kRequest, kConnected, kShutDown, kRefused } kind{};
  void* context = nullptr;          ///< of the endpoint; null: it was closed
  Info info{nullptr, nullptr};      ///< of a request
  std::span<const std::byte> data;  ///< of the other side, valid until the next event is read
  int error = 0;                    ///< why it was refused
};

/// Used by one thread at a time, apart from Wait.
class Port {
 public:
  /// Signs that there is something to do.
  enum Sign : std::uint32_t { kCommands = 1, kEvents = 2, kCompletions = 4, kCallers = 8, kAll = 15 };

  static Result<std::unique_ptr<Port>> Open(const Library& library);

  /// Listens at any port of the address, for admitted importers. Sets the address's port.
  Status Listen(PeerAddress& address, std::chrono::milliseconds limit);
  /// These importers may connect to the listener, and no others.
  Status Admit(std::span<const PeerAddress> importers) { return guard_->Admit(importers); }
  /// How to reach the address from a local one.
  Result<Info> Route(const PeerAddress& address, const PeerAddress& local) const;
  Result<Owned<fid_ep>> MakeEndpoint(fi_info& info, void* context);
  /// Its events have no context from now on.
  void Close(Owned<fid_ep>& endpoint);
  void Refuse(fi_info& info);
  /// To be called for each connection that was accepted.
  void PrepareAccepted() const { PrepareSockets(listens_at_); }

  /// Returns false if there is no event.
  bool ReadEvent(ConnectionEvent& event);
  /// Returns how many completions were read.
  std::size_t ReadCompletions(std::span<Completion> completions);
  /// Wait returns the sign while the descriptor is readable.
  Status WakeBy(int descriptor, Sign sign);
  /// Returns false if there is something to read. To be asked before Wait, with the signs that the last Wait
  /// returned: only events that were read have to be looked for again, which costs a system call.
  bool MaySleep(std::uint32_t signs);
  /// Waits for signs, at most until the deadline. Returns what has happened, or 0. May run beside all other
  /// calls, on one thread. Spins before it sleeps, while that mostly helps; so does WaitMuted.
  std::uint32_t Wait(Deadline until);
  /// While muted, completions are no sign: a thread that has the turn reads them, and waits for them by
  /// WaitMuted.
  void MuteCompletions(bool muted);
  void WaitMuted(std::chrono::microseconds at_most);

  std::string ErrorText(int error) const { return library_.error_text(error < 0 ? -error : error); }
  std::string provider() const { return info_->fabric_attr->prov_name; }

 private:
  explicit Port(const Library& library) : library_(library), info_(nullptr, library.free_info) {}
  Status OpenQueues();
  Result<Info> GetInfo(const char* node, const char* service, std::uint64_t flags) const;
  void* ContextOf(fid_t endpoint) const;
  Status Failure(const char* what, int error) const;

  const Library& library_;
  Info info_;
  Owned<fid_fabric> fabric_;
  Owned<fid_domain> domain_;
  Owned<fid_eq> events_;
  Owned<fid_cq> completions_;
  Owned<fid_pep> listener_;
  std::optional<ListenerGuard> guard_;
  PeerAddress listens_at_;
  Descriptor signs_;  // an epoll
  TriedSpin before_wait_, before_muted_wait_;
  std::unordered_map<fid_t, void*> contexts_;  // of open endpoints
  int completion_wait_ = -1;
  alignas(fi_eq_cm_entry) std::byte event_bytes_[sizeof(fi_eq_cm_entry) + 256] = {};
};

}  // namespace sampan::fabric
