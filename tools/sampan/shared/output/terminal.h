// What is told to a person on the terminal: notes, colours, progress.
#pragma once

#include <string>
#include <string_view>

namespace sampan::tool {

enum class Colour { kGood, kBad, kFaint, kTitle };

/// The text in a colour when standard output is a terminal and NO_COLOR is not set; else as it is.
std::string Coloured(Colour colour, std::string_view text);

/// Text from a file or a name as it may be shown: control characters become \\x and their number, so that
/// none of them reaches the terminal. Line feeds stay.
std::string Printable(std::string_view text);

/// A line on standard error that begins with the command's name. The text is made printable.
void Note(std::string_view text);
void ErrorNote(std::string_view text);

/// A bar on standard error, on a terminal only. It is gone when this ends.
class ProgressBar {
 public:
  explicit ProgressBar(std::size_t steps);
  ~ProgressBar();
  ProgressBar(const ProgressBar&) = delete;
  ProgressBar& operator=(const ProgressBar&) = delete;

  void Show(std::size_t done, std::string_view doing) const;

 private:
  std::size_t steps_;
  bool visible_;
};

/// Writes results to standard output, at once. Throws a Failure when not all of it could be written.
void Print(std::string_view text);

}  // namespace sampan::tool
