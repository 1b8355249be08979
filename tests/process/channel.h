// Lines of text between a test and its peer processes.
#pragma once

#include <poll.h>
#include <unistd.h>

#include <chrono>
#include <optional>
#include <string>
#include <utility>

namespace sampan::test {

/// Two ends of pipes. Not thread-safe. Nothing is received once the other side has ended.
class Channel {
 public:
  Channel(int in, int out) : in_(in), out_(out) {}
  ~Channel() {
    ::close(in_);
    ::close(out_);
  }
  Channel(const Channel&) = delete;
  Channel& operator=(const Channel&) = delete;

  bool Send(std::string line) {
    line += '\n';
    return ::write(out_, line.data(), line.size()) == static_cast<ssize_t>(line.size());
  }
  std::optional<std::string> Receive(std::chrono::milliseconds limit = std::chrono::seconds(60)) {
    const auto deadline = std::chrono::steady_clock::now() + limit;
    for (;;) {
      if (const auto end = buffer_.find('\n'); end != std::string::npos) {
        std::string line = buffer_.substr(0, end);
        buffer_.erase(0, end + 1);
        return line;
      }
      const auto left =
          std::chrono::duration_cast<std::chrono::milliseconds>(deadline - std::chrono::steady_clock::now());
      pollfd readable = {in_, POLLIN, 0};
      if (left.count() <= 0 || ::poll(&readable, 1, static_cast<int>(left.count())) <= 0) return std::nullopt;
      char piece[4096];
      const ssize_t length = ::read(in_, piece, sizeof(piece));
      if (length <= 0) return std::nullopt;
      buffer_.append(piece, static_cast<std::size_t>(length));
    }
  }

 private:
  const int in_, out_;
  std::string buffer_;
};

}  // namespace sampan::test
