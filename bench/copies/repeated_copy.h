// A copy that is made over and over, for its times.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "bench/copies/copy_case.h"
#include "bench/copies/session.h"

namespace bench {

/// All members throw a Failure when the runtime refuses the copy.
class RepeatedCopy {
 public:
  /// The session must outlive it.
  RepeatedCopy(const CopyPlan& plan, const Session& session);

  /// Warms up; false when the imitated chip has no such copy.
  bool Begin();
  double TimeOnce();
  /// Clears the destination, copies once more and says what is wrong with the bytes.
  std::optional<std::string> Verify();
  const CopyCase& copy() const { return copy_; }
  /// What messages call it.
  const std::string& name() const { return name_; }

 private:
  void Once();

  CopyCase copy_;
  const Session& session_;
  const std::string name_;
};

/// Calls `round` often enough, for about so long; less once `stopped` returns true.
void RepeatFor(double seconds, bool (*stopped)(), const std::function<void()>& round);

}  // namespace bench
