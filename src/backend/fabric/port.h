// The process's place in libfabric: a listener, and the queues of events and completions of all endpoints.
#pragma once

#include <rdma/fabric.h>
#include <rdma/fi_cm.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_eq.h>

#include <memory>
#include <span>
#include <string>

#include "backend/api/peer_network.h"
#include "backend/fabric/library.h"
#include "base/error/status.h"
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
  fid_t endpoint = nullptr;
  Info info{nullptr, nullptr};      ///< of a request
  std::span<const std::byte> data;  ///< of the other side, valid until the next event is read
  int error = 0;                    ///< why it was refused
};

/// Used by one thread, apart from Open and Listen, which come first.
class Port {
 public:
  static Result<std::unique_ptr<Port>> Open(const Library& library);

  /// Listens at any port of the address. Sets the address's port.
  Status Listen(PeerAddress& address);
  /// How to reach the address.
  Result<Info> Route(const PeerAddress& address) const;
  Result<Owned<fid_ep>> MakeEndpoint(fi_info& info, void* context);
  /// Refuses a request with data for the other side.
  void Refuse(fi_info& info, std::span<const std::byte> data);

  /// Returns false if there is no event.
  bool ReadEvent(ConnectionEvent& event);
  /// Returns how many completions were read.
  std::size_t ReadCompletions(std::span<Completion> completions);
  /// Sleeps until something may have happened, `wake` is readable, or the time is over.
  void Sleep(int wake, Deadline until);

  std::string ErrorText(int error) const { return library_.error_text(error < 0 ? -error : error); }
  std::string provider() const { return info_->fabric_attr->prov_name; }

 private:
  explicit Port(const Library& library) : library_(library), info_(nullptr, library.free_info) {}
  Status OpenQueues();
  Result<Info> GetInfo(const char* node, const char* service, std::uint64_t flags) const;
  Status Failure(const char* what, int error) const;

  const Library& library_;
  Info info_;
  Owned<fid_fabric> fabric_;
  Owned<fid_domain> domain_;
  Owned<fid_eq> events_;
  Owned<fid_cq> completions_;
  Owned<fid_pep> listener_;
  int event_wait_ = -1, completion_wait_ = -1;
  alignas(fi_eq_cm_entry) std::byte event_bytes_[sizeof(fi_eq_cm_entry) + 256] = {};
};

}  // namespace sampan::fabric
