// The process's place in libfabric: a listener, and the queues of events and completions of all endpoints.
#include "backend/fabric/provider/port.h"

#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <rdma/fi_errno.h>
#include <sys/epoll.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>

#include "backend/fabric/provider/wake_at.h"
#include "base/error/system_error.h"
#include "base/error/text.h"
#include "base/network/interface.h"

namespace sampan::fabric {
namespace {

constexpr const char* kProvider = "tcp";
/// Longer than another host takes to answer a short request, when it does not have to wake up. Waking costs
/// either side about 20 us (bench_hosts).
constexpr std::chrono::microseconds kMaxSpin{30};

}  // namespace

Status Port::Failure(const char* what, int error) const {
  return {Code::kResourceAllocFail,
          Text("the network cannot be used: ", std::string_view(what),
               " of libfabric: ", std::string_view(library_.error_text(error < 0 ? -error : error)))};
}

Result<Info> Port::GetInfo(const char* node, const char* service, std::uint64_t flags) const {
  const Info hints(library_.dup_info(nullptr), library_.free_info);
  if (hints == nullptr) return Failure("fi_dupinfo", FI_ENOMEM);
  hints->caps = FI_MSG;
  hints->ep_attr->type = FI_EP_MSG;
  hints->fabric_attr->prov_name = ::strdup(kProvider);  // hints own it
  fi_info* found = nullptr;
  const int error = library_.get_info(FI_VERSION(1, 17), node, service, flags, hints.get(), &found);
  if (error == 0) return Info(found, library_.free_info);
  if (error == -FI_ENODATA) {
    return Error{Code::kFeatureNotSupport,
                 Text("libfabric has no provider '", std::string_view(kProvider), "' for ",
                      std::string_view(node != nullptr ? node : "this host"))};
  }
  return Failure("fi_getinfo", error);
}

Result<std::unique_ptr<Port>> Port::Open(const Library& library) {
  std::unique_ptr<Port> port(new Port(library));
  auto info = port->GetInfo(nullptr, nullptr, 0);
  if (!info.ok()) return info.TakeStatus();
  port->info_ = std::move(*info);
  if (Status opened = port->OpenQueues(); !opened.ok()) return opened;
  return port;
}

Status Port::OpenQueues() {
  fid_fabric* fabric = nullptr;
  if (const int error = library_.open_fabric(info_->fabric_attr, &fabric, nullptr); error != 0)
    return Failure("fi_fabric", error);
  fabric_.reset(fabric);
  fid_domain* domain = nullptr;
  if (const int error = ::fi_domain(fabric, info_.get(), &domain, nullptr); error != 0)
    return Failure("fi_domain", error);
  domain_.reset(domain);
  fi_eq_attr event_options = {};
  event_options.wait_obj = FI_WAIT_FD;
  fid_eq* events = nullptr;
  if (const int error = ::fi_eq_open(fabric, &event_options, &events, nullptr); error != 0)
    return Failure("fi_eq_open", error);
  events_.reset(events);
  fi_cq_attr completion_options = {};
  completion_options.format = FI_CQ_FORMAT_MSG;
  completion_options.wait_obj = FI_WAIT_FD;
  fid_cq* completions = nullptr;
  if (const int error = ::fi_cq_open(domain, &completion_options, &completions, nullptr); error != 0)
    return Failure("fi_cq_open", error);
  completions_.reset(completions);
  int event_wait = -1;
  if (const int error = ::fi_control(&events->fid, FI_GETWAIT, &event_wait); error != 0)
    return Failure("fi_control", error);
  if (const int error = ::fi_control(&completions->fid, FI_GETWAIT, &completion_wait_); error != 0)
    return Failure("fi_control", error);
  signs_ = Descriptor(::epoll_create1(EPOLL_CLOEXEC));
  if (signs_.get() < 0) return {Code::kResourceAllocFail, Text("epoll_create1: ", SystemError(errno))};
  ::fcntl(event_wait, F_SETFD, FD_CLOEXEC);
  ::fcntl(completion_wait_, F_SETFD, FD_CLOEXEC);
  if (Status woken = WakeBy(event_wait, kEvents); !woken.ok()) return woken;
  return WakeBy(completion_wait_, kCompletions);
}

Status Port::Listen(PeerAddress& address, std::chrono::milliseconds limit) {
  auto info = GetInfo(HostText(address).c_str(), nullptr, FI_SOURCE | FI_NUMERICHOST);
  if (!info.ok()) return info.TakeStatus();
  fid_pep* listener = nullptr;
  if (const int error = ::fi_passive_ep(fabric_.get(), info->get(), &listener, nullptr); error != 0)
    return Failure("fi_passive_ep", error);
  Owned<fid_pep> owned(listener);
  if (const int error = ::fi_pep_bind(listener, &events_->fid, 0); error != 0)
    return Failure("fi_pep_bind", error);
  SocketAddress name;
  std::size_t bytes = sizeof(name.storage);
  if (const int error = ::fi_getname(&listener->fid, &name.storage, &bytes); error != 0)
    return Failure("fi_getname", error);
  const PeerAddress bound = FromSocket(*name.get());
  auto guard = ListenerGuard::Find(bound);
  if (!guard.ok()) return guard.TakeStatus();
  guard->LimitSilence(static_cast<int>(limit.count()));
  if (const int error = ::fi_listen(listener); error != 0) return Failure("fi_listen", error);
  address.port = bound.port;
  listens_at_ = bound;
  PrepareSockets(bound);
  guard_.emplace(*guard);
  listener_ = std::move(owned);
  return {};
}

Result<Info> Port::Route(const PeerAddress& address, const PeerAddress& local) const {
  auto info = GetInfo(HostText(address).c_str(), Text(address.port).c_str(), FI_NUMERICHOST);
  if (!info.ok()) return info;
  const SocketAddress from = ToSocket(local);
  std::free((*info)->src_addr);
  (*info)->src_addr = std::malloc(from.length);  // the information owns it
  if ((*info)->src_addr == nullptr) return Failure("malloc", FI_ENOMEM);
  std::memcpy((*info)->src_addr, from.get(), from.length);
  (*info)->src_addrlen = from.length;
  return info;
}

Result<Owned<fid_ep>> Port::MakeEndpoint(fi_info& info, void* context) {
  fid_ep* endpoint = nullptr;
  if (const int error = ::fi_endpoint(domain_.get(), &info, &endpoint, context); error != 0)
    return Failure("fi_endpoint", error);
  Owned<fid_ep> owned(endpoint);
  if (const int error = ::fi_ep_bind(endpoint, &events_->fid, 0); error != 0)
    return Failure("fi_ep_bind", error);
  // A send has a completion only if it asks for one.
  constexpr std::uint64_t kSends = FI_TRANSMIT | FI_SELECTIVE_COMPLETION;
  if (const int error = ::fi_ep_bind(endpoint, &completions_->fid, kSends); error != 0)
    return Failure("fi_ep_bind", error);
  if (const int error = ::fi_ep_bind(endpoint, &completions_->fid, FI_RECV); error != 0)
    return Failure("fi_ep_bind", error);
  if (const int error = ::fi_enable(endpoint); error != 0) return Failure("fi_enable", error);
  contexts_[&endpoint->fid] = context;
  return owned;
}

void Port::Close(Owned<fid_ep>& endpoint) {
  if (endpoint == nullptr) return;
  contexts_.erase(&endpoint->fid);
  endpoint.reset();
}

void Port::Refuse(fi_info& info) {
  ::fi_reject(listener_.get(), info.handle, nullptr, 0);
}

void* Port::ContextOf(fid_t endpoint) const {
  const auto found = contexts_.find(endpoint);
  return found != contexts_.end() ? found->second : nullptr;
}

bool Port::ReadEvent(ConnectionEvent& event) {
  std::uint32_t kind = 0;
  const ssize_t length = ::fi_eq_read(events_.get(), &kind, event_bytes_, sizeof(event_bytes_), 0);
  if (length == -FI_EAVAIL) {
    fi_eq_err_entry failure = {};
    failure.err_data = event_bytes_;
    failure.err_data_size = sizeof(event_bytes_);
    if (::fi_eq_readerr(events_.get(), &failure, 0) <= 0) return false;
    const std::size_t bytes = std::min<std::size_t>(failure.err_data_size, sizeof(event_bytes_));
    const auto* const data = static_cast<const std::byte*>(failure.err_data);
    event.kind = ConnectionEvent::Kind::kRefused;
    event.context = ContextOf(failure.fid);
    event.error = failure.err;
    event.data = {data, data != nullptr ? bytes : 0};
    return true;
  }
  if (length < static_cast<ssize_t>(sizeof(fi_eq_cm_entry))) return false;
  const auto& entry = *reinterpret_cast<const fi_eq_cm_entry*>(event_bytes_);
  event.context = ContextOf(entry.fid);
  event.error = 0;
  event.data = {};
  if (static_cast<std::size_t>(length) > sizeof(entry))
    event.data = {reinterpret_cast<const std::byte*>(entry.data),
                  static_cast<std::size_t>(length) - sizeof(entry)};
  switch (kind) {
    case FI_CONNREQ:
      event.kind = ConnectionEvent::Kind::kRequest;
      event.info = Info(entry.info, library_.free_info);
      return true;
    case FI_CONNECTED:
      event.kind = ConnectionEvent::Kind::kConnected;
      return true;
    default:
      event.kind = ConnectionEvent::Kind::kShutDown;
      return true;
  }
}

std::size_t Port::ReadCompletions(std::span<Completion> completions) {
  std::array<fi_cq_msg_entry, 16> entries;
  const std::size_t room = std::min(entries.size(), completions.size());
  const ssize_t count = ::fi_cq_read(completions_.get(), entries.data(), room);
  if (count == -FI_EAVAIL) {
    fi_cq_err_entry failure = {};
    if (::fi_cq_readerr(completions_.get(), &failure, 0) <= 0) return 0;
    completions[0] = {failure.op_context, 0, false, failure.err != 0 ? failure.err : FI_EOTHER};
    return 1;
  }
  if (count <= 0) return 0;
  for (std::size_t i = 0; i < static_cast<std::size_t>(count); ++i)
    completions[i] = {entries[i].op_context, entries[i].len, (entries[i].flags & FI_RECV) != 0, 0};
  return static_cast<std::size_t>(count);
}

Status Port::WakeBy(int descriptor, Sign sign) {
  return WakeAt(signs_, descriptor, sign);
}

void Port::WaitMuted(std::chrono::microseconds at_most) {
  const auto wait = [&](std::chrono::nanoseconds time) {
    pollfd completions = {completion_wait_, POLLIN, 0};
    const timespec left = {0, time.count()};
    return ::ppoll(&completions, 1, &left, nullptr) != 0;
  };
  if (!before_muted_wait_(kMaxSpin, [&] { return wait({}); })) wait(at_most);
}

bool Port::MaySleep(std::uint32_t signs) {
  fid_t waited[] = {&completions_->fid, &events_->fid};
  return ::fi_trywait(fabric_.get(), waited, (signs & kEvents) != 0 ? 2 : 1) == 0;
}

std::uint32_t Port::Wait(Deadline until) {
  int timeout_ms = -1;
  if (until != kNever) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(until - Clock::now()).count();
    timeout_ms = static_cast<int>(std::clamp<std::int64_t>(left, 0, 60'000));
  }
  std::array<epoll_event, 4> events;
  int count = 0;
  const auto wait = [&](int time_ms) {
    count = ::epoll_wait(signs_.get(), events.data(), events.size(), time_ms);
    return count != 0;
  };
  if (!before_wait_(kMaxSpin, [&] { return wait(0); })) wait(timeout_ms);
  std::uint32_t signs = 0;
  for (int i = 0; i < count; ++i)
    signs |= events[static_cast<std::size_t>(i)].data.u32;
  return signs;
}

void Port::MuteCompletions(bool muted) {
  epoll_event event = {};
  event.events = muted ? 0U : std::uint32_t{EPOLLIN};
  event.data.u32 = kCompletions;
  ::epoll_ctl(signs_.get(), EPOLL_CTL_MOD, completion_wait_, &event);
}

}  // namespace sampan::fabric
