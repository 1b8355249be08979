// Events with flags, of both kinds, and the deprecated query that tests still make.
#pragma once

#include <cstdint>
#include <ostream>

#include "acl/acl.h"
#include "tests/support/acl_expect.h"

namespace sampan::test {

enum class EventKind {
  kLegacy,  ///< aclrtCreateEventWithFlag
  kEx,      ///< aclrtCreateEventExWithFlag
};

inline std::ostream& operator<<(std::ostream& out, EventKind kind) {
  return out << (kind == EventKind::kEx ? "ex" : "legacy");
}

/// Owns an event of the current context.
class FlaggedEvent {
 public:
  FlaggedEvent(EventKind kind, std::uint32_t flags) {
    EXPECT_ACL(ACL_SUCCESS, kind == EventKind::kEx ? aclrtCreateEventExWithFlag(&event_, flags)
                                                   : aclrtCreateEventWithFlag(&event_, flags));
  }
  ~FlaggedEvent() { EXPECT_ACL(ACL_SUCCESS, aclrtDestroyEvent(event_)); }
  FlaggedEvent(const FlaggedEvent&) = delete;
  FlaggedEvent& operator=(const FlaggedEvent&) = delete;
  operator aclrtEvent() const { return event_; }

 private:
  aclrtEvent event_ = nullptr;
};

inline aclError QueryEvent(aclrtEvent event, aclrtEventStatus* status) {
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
  return aclrtQueryEvent(event, status);
#pragma GCC diagnostic pop
}

}  // namespace sampan::test
