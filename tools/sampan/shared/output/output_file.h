// Writes a result to a file (completely or not at all), a device, a pipe or standard output.
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <string_view>

namespace sampan::tool {

/// Opens the output before the work, so that an unwritable output fails first.
///
/// A regular file gets a temporary file beside it, which replaces it in Commit and keeps its mode. Until then
/// the old contents stay; a temporary file without a Commit is removed. Devices and pipes are written into,
/// `-` is standard output, and symbolic links are refused: the file that they lead to may be another user's.
class OutputFile {
 public:
  /// Throws a Failure if the output cannot be written. A pipe waits for its reader.
  explicit OutputFile(std::filesystem::path path);
  ~OutputFile();
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;

  /// Throws a Failure if not all of it can be written.
  void Commit(std::string_view contents);

  bool is_standard_output() const { return path_ == "-"; }

 private:
  void OpenTemporary(mode_t mode);
  void OpenSpecial(mode_t type);

  std::filesystem::path path_;
  std::filesystem::path temporary_;  ///< empty if the output is written directly
  int file_ = -1;
};

}  // namespace sampan::tool
