// Compresses text as gzip members. A file may contain any number of them.
#pragma once

#include <zlib.h>

#include <string>
#include <string_view>

namespace sampan::trace {

/// Not thread-safe.
class GzipMembers {
 public:
  /// Throws std::bad_alloc.
  GzipMembers();
  ~GzipMembers();
  GzipMembers(const GzipMembers&) = delete;
  GzipMembers& operator=(const GzipMembers&) = delete;

  /// Appends the text as a member.
  void Append(std::string_view text, std::string& out) { Append(packed_, text, out); }
  /// The same without compression: texts of one length give members of one length.
  void AppendStored(std::string_view text, std::string& out) { Append(stored_, text, out); }
  /// The member of the closing bracket.
  std::string_view tail() const { return tail_; }

 private:
  static void Append(z_stream& stream, std::string_view text, std::string& out);

  z_stream packed_{}, stored_{};
  std::string tail_;
};

}  // namespace sampan::trace
