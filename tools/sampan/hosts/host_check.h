// Two processes find out whether their hosts can copy to each other: one exports, the other one imports and
// measures.
#pragma once

#include <acl/acl.h>

#include <cstdint>
#include <string>

#include "bench/copies/session.h"

namespace sampan::tool {

/// What the importer needs: the exporter's host and its handle.
struct Invitation {
  std::uint32_t server = 0;
  aclrtMemFabricHandle handle = {};

  /// Digits and letters.
  std::string Encode() const;
  /// Throws a Failure if the text is no invitation.
  static Invitation Decode(const std::string& text);
};

/// The exporter's side. Keeps its memory exported while it exists.
class HostExport {
 public:
  HostExport();
  const Invitation& invitation() const { return invitation_; }
  /// Waits until an importer has ended its measurement. Returns false if none has in that time.
  bool WaitForImporter(double seconds) const;

 private:
  Invitation invitation_;
  std::byte* memory_ = nullptr;
};

struct HostMeasurement {
  bool same_host = false;
  double short_write_seconds = 0, short_read_seconds = 0;  ///< of 4 KiB, medians
  double write_rate = 0, read_rate = 0;                    ///< of 64 MiB, in GB/s, the best of three

  std::string Text() const;
};

/// The importer's side: proves that bytes arrive, and measures. Throws a Failure with the runtime's message.
HostMeasurement MeasureHost(const bench::Session& session, const Invitation& invitation);

}  // namespace sampan::tool
