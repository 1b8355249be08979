// A line of output in memory of its own, so that a signal handler can write one.
#pragma once

#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <cstring>
#include <string_view>
#include <type_traits>

#include "base/system/file_size_signal.h"

namespace sampan::check {

/// Allocates nothing. What does not fit is left out, and then the line is not sent.
template <std::size_t kMaxBytes>
class FixedText {
 public:
  FixedText& Add(std::string_view text) noexcept {
    const std::size_t fits = std::min(text.size(), text_.size() - length_);
    cut_ |= fits != text.size();
    std::memcpy(text_.data() + length_, text.data(), fits);
    length_ += fits;
    return *this;
  }
  template <typename Number>
  requires std::is_integral_v<Number> FixedText& Add(Number number) noexcept { return AddDigits(number, 10); }
  FixedText& AddHex(std::uint64_t number) noexcept { return Add("0x").AddDigits(number, 16); }
  /// As a JSON string.
  FixedText& AddQuoted(std::string_view text) noexcept {
    Add("\"");
    for (const char c : text) {
      if (c == '"' || c == '\\') {
        Add("\\").Add(std::string_view(&c, 1));
      } else if (static_cast<unsigned char>(c) < 0x20) {
        constexpr std::string_view kDigits = "0123456789abcdef";
        const auto value = static_cast<unsigned char>(c);
        Add("\\u00").Add(kDigits.substr(value >> 4, 1)).Add(kDigits.substr(value & 15, 1));
      } else {
        Add(std::string_view(&c, 1));
      }
    }
    return Add("\"");
  }
  /// Writes all of it with one call, and empties it.
  void Send(int file) noexcept {
    if (!cut_ && length_ != 0) {
      const NoFileSizeSignal no_signal;
      [[maybe_unused]] const ssize_t written = ::write(file, text_.data(), length_);
    }
    Clear();
  }
  std::string_view text() const noexcept { return {text_.data(), length_}; }
  void Clear() noexcept {
    length_ = 0;
    cut_ = false;
  }

 private:
  template <typename Number>
  FixedText& AddDigits(Number number, int base) noexcept {
    std::array<char, 24> digits;  // NOLINT(cppcoreguidelines-pro-type-member-init): to_chars fills it
    const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), number, base).ptr;
    return Add({digits.data(), static_cast<std::size_t>(end - digits.data())});
  }

  std::array<char, kMaxBytes> text_;
  std::size_t length_ = 0;
  bool cut_ = false;
};

using OutputLine = FixedText<65536>;
using MessageText = FixedText<512>;

}  // namespace sampan::check
