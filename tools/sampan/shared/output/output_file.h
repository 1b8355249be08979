// A file that appears whole or not at all.
#pragma once

#include <filesystem>
#include <string_view>

namespace sampan::tool {

/// Reserves a name beside the wanted one at once, so that a folder that cannot be written to is noticed
/// before the work and not after it. Nothing stays behind unless Commit succeeds.
class OutputFile {
 public:
  explicit OutputFile(std::filesystem::path path);
  ~OutputFile();
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;

  /// Throws a Failure when not all of it can be written.
  void Commit(std::string_view contents);

 private:
  std::filesystem::path path_;
  std::filesystem::path temporary_;
  int file_ = -1;
};

}  // namespace sampan::tool
