// What is told to a person on the terminal: notes, colours, progress.
#include "tools/sampan/shared/output/terminal.h"

#include <unistd.h>

#include <cerrno>
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

void Note(std::string_view text) {
  std::cerr << In(Colour::kTitle, "sampan:", STDERR_FILENO) + " " + std::string(text) + "\n" << std::flush;
}

void ErrorNote(std::string_view text) {
  std::cerr << In(Colour::kBad, "sampan:", STDERR_FILENO) + " " + std::string(text) + "\n" << std::flush;
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
                    "standard output could not be written: " + std::generic_category().message(errno));
    }
    if (written > 0) text.remove_prefix(static_cast<std::size_t>(written));
  }
}

}  // namespace sampan::tool
