// Output on the terminal: notes, colours, progress.
#pragma once

#include <string>
#include <string_view>

namespace sampan::tool {

enum class Colour { kGood, kBad, kFaint, kTitle };

/// Adds a colour if standard output is a terminal and NO_COLOR is not set.
std::string Coloured(Colour colour, std::string_view text);

/// Replaces control characters by \\x and their number, so that text from files is safe for the terminal.
/// Line feeds stay.
std::string Printable(std::string_view text);

/// Prints a line on standard error that begins with the command's name. Makes the text printable.
void Note(std::string_view text);
void ErrorNote(std::string_view text);

/// A bar on standard error, only on a terminal. The destructor removes it.
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

/// Writes results to standard output immediately. Throws a Failure if not all of it can be written.
void Print(std::string_view text);

}  // namespace sampan::tool
