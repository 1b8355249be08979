// What wakes a thread that sleeps in epoll.
#pragma once

#include <sys/epoll.h>

#include <cerrno>
#include <cstdint>

#include "base/error/status.h"
#include "base/error/system_error.h"
#include "base/error/text.h"
#include "base/system/descriptor.h"

namespace sampan::fabric {

/// The epoll returns `mark` while the descriptor is readable.
inline Status WakeAt(const Descriptor& epoll, int descriptor, std::uint32_t mark) {
  epoll_event event = {};
  event.events = EPOLLIN;
  event.data.u32 = mark;
  if (::epoll_ctl(epoll.get(), EPOLL_CTL_ADD, descriptor, &event) == 0) return {};
  return {Code::kResourceAllocFail, Text("epoll_ctl: ", SystemError(errno))};
}

}  // namespace sampan::fabric
