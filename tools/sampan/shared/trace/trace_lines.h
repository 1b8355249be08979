// The lines of a text file that may be compressed.
#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace sampan::tool {

/// Reads from beginning to end in bounded memory; gzip (of any number of members) is noticed by its contents.
/// Throws a Failure that names file and line when the file cannot be read. Used by one thread.
class TraceLines {
 public:
  explicit TraceLines(std::filesystem::path path);
  ~TraceLines();
  TraceLines(const TraceLines&) = delete;
  TraceLines& operator=(const TraceLines&) = delete;

  /// The next line without its end; false behind the last one. Valid until the next call.
  bool Next(std::string_view& line);

  /// Number of the line that Next returned last, from 1.
  std::size_t number() const { return number_; }
  /// Whether the line that Next returned last ended with the file and not with a line feed.
  bool is_unfinished() const { return is_unfinished_; }
  /// The part of the file that has been read, from 0 to 1; 0 for a pipe.
  double share() const;
  /// Whether the compressed file ended before its end.
  bool is_cut() const { return is_cut_; }

 private:
  struct File;

  bool Refill();

  std::filesystem::path path_;
  std::unique_ptr<File> file_;
  std::vector<char> buffer_;
  std::size_t begin_ = 0;  ///< of what Next has not returned yet
  std::size_t end_ = 0;
  std::size_t number_ = 0;
  double file_bytes_ = 0;
  bool is_unfinished_ = false;
  bool is_cut_ = false;
  bool is_over_ = false;
};

}  // namespace sampan::tool
