// The lines of a text file that may be compressed.
#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace sampan::tool {

/// Reads from beginning to end in bounded memory. Detects gzip (any number of members) by its content. If the
/// file cannot be read, throws a Failure that names file and line. Not thread-safe.
class TraceLines {
 public:
  explicit TraceLines(std::filesystem::path path);
  ~TraceLines();
  TraceLines(const TraceLines&) = delete;
  TraceLines& operator=(const TraceLines&) = delete;

  /// Gives the next line without its line feed. Returns false after the last one. Valid until the next call.
  bool Next(std::string_view& line);

  /// Number of the line that Next returned last, from 1.
  std::size_t number() const { return number_; }
  /// True if the last line of Next had no line feed.
  bool is_unfinished() const { return is_unfinished_; }
  /// The part of the file that has been read, from 0 to 1; 0 for a pipe.
  double share() const;
  /// True if the compressed file is incomplete.
  bool is_cut() const { return is_cut_; }

 private:
  struct File;

  bool Refill();

  std::filesystem::path path_;
  std::unique_ptr<File> file_;
  std::vector<char> buffer_;
  std::size_t begin_ = 0;  ///< of the text that Next has not returned yet
  std::size_t end_ = 0;
  std::size_t number_ = 0;
  double file_bytes_ = 0;
  bool is_unfinished_ = false;
  bool is_cut_ = false;
  bool is_over_ = false;
  bool is_full_ = false;  ///< the last read filled the buffer
};

}  // namespace sampan::tool
