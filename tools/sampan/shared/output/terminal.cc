// Output on the terminal: notes, colours, progress.
#include "tools/sampan/shared/output/terminal.h"

#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <iostream>

#include "tools/sampan/shared/command_line/failure.h"

namespace sampan::tool {
namespace {

bool ColoursOn(int file) {
  const char* refused = std::getenv("NO_COLOR");
  const char* terminal = std::getenv("TERM");
  return ::isatty(file) == 1 && (refused == nullptr || *refused == '\0') &&
         (terminal == nullptr || std::string_view(terminal) != "dumb");
}

std::string_view Code(Colour colour) {
  switch (colour) {
    case Colour::kGood:
      return "\033[32m";
    case Colour::kBad:
      return "\033[31m";
    case Colour::kFaint:
      return "\033[2m";
    case Colour::kTitle:
      return "\033[1m";
  }
  return "";
}

std::string In(Colour colour, std::string_view text, int file) {
  if (!ColoursOn(file)) return std::string(text);
  return std::string(Code(colour)) + std::string(text) + "\033[0m";
}

}  // namespace

std::string Coloured(Colour colour, std::string_view text) {
  return In(colour, text, STDOUT_FILENO);
}

std::string Printable(std::string_view text) {
  std::string shown;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    const auto next = static_cast<unsigned char>(i + 1 < text.size() ? text[i + 1] : 0);
    // The second set of control characters has two bytes in UTF-8, and one byte in other encodings.
    const bool is_second_set = byte == 0xC2 && next >= 0x80 && next < 0xA0;
    const bool is_alone =
        byte >= 0x80 && byte < 0xA0 && (i == 0 || static_cast<unsigned char>(text[i - 1]) < 0x80);
    if ((byte >= 0x20 && byte != 0x7F && !is_second_set && !is_alone) || byte == '\n') {
      shown += text[i];
      continue;
    }
    std::array<char, 8> number{};
    std::snprintf(number.data(), number.size(), "\\x%02x", is_second_set ? next : byte);
    shown += number.data();
    if (is_second_set) ++i;
  }
  return shown;
}

void Note(std::string_view text) {
  std::cerr << In(Colour::kTitle, "sampan:", STDERR_FILENO) + " " + Printable(text) + "\n" << std::flush;
}

void ErrorNote(std::string_view text) {
  std::cerr << In(Colour::kBad, "sampan:", STDERR_FILENO) + " " + Printable(text) + "\n" << std::flush;
}

ProgressBar::ProgressBar(std::size_t steps) : steps_(steps), visible_(::isatty(STDERR_FILENO) == 1) {}

ProgressBar::~ProgressBar() {
  if (visible_) std::cerr << "\r\033[K" << std::flush;
}

void ProgressBar::Show(std::size_t done, std::string_view doing) const {
  if (!visible_) return;
  constexpr std::size_t kWidth = 30;
  const std::size_t full = steps_ == 0 ? kWidth : done * kWidth / steps_;
  std::cerr << "\r\033[K[" + std::string(full, '#') + std::string(kWidth - full, '.') + "] " +
                   std::to_string(done) + "/" + std::to_string(steps_) + " " + std::string(doing)
            << std::flush;
}

void Print(std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = ::write(STDOUT_FILENO, text.data(), text.size());
    if (written < 0 && errno != EINTR) {
      throw Failure(kOutputFailed,
                    "standard output could not be written: " + std::generic_category().message(errno) +
                        "; make room, or send it elsewhere");
    }
    if (written > 0) text.remove_prefix(static_cast<std::size_t>(written));
  }
}

}  // namespace sampan::tool
