// Builds the text of one event.
#pragma once

#include <algorithm>
#include <array>
#include <charconv>
#include <concepts>
#include <cstdint>
#include <cstring>
#include <string_view>

namespace sampan::trace {

/// A time, printed as microseconds with three decimals.
struct Microseconds {
  std::int64_t ns;
};

/// External text, printed as a JSON string and cut if it is too long.
struct Quoted {
  std::string_view text;
};

struct HexAddress {
  std::uint64_t value;
};

/// Appends and never overflows. Leaves out all parts that do not fit. The limits on names and lists prevent
/// that. Not thread-safe.
class EventLine {
 public:
  static constexpr std::size_t kMaxBytes = 4000;

  template <typename... Parts>
  EventLine& Add(const Parts&... parts) {
    if ((std::size_t{0} + ... + MaxBytesOf(parts)) > kMaxBytes - bytes_) return *this;
    char* at = text_.data() + bytes_;
    ((at = Put(at, parts)), ...);
    bytes_ = static_cast<std::size_t>(at - text_.data());
    return *this;
  }
  std::string_view text() const { return {text_.data(), bytes_}; }
  void Clear() { bytes_ = 0; }

 private:
  static constexpr std::size_t kMaxDigits = 24, kMaxQuoted = 300;

  // How many bytes a part takes at most.
  static constexpr std::size_t MaxBytesOf(std::string_view text) { return text.size(); }
  template <std::size_t kSize>
  static constexpr std::size_t MaxBytesOf(const char (&)[kSize]) {
    return kSize - 1;
  }
  static constexpr std::size_t MaxBytesOf(std::integral auto) { return kMaxDigits; }
  static constexpr std::size_t MaxBytesOf(Microseconds) { return kMaxDigits + 4; }
  static constexpr std::size_t MaxBytesOf(HexAddress) { return kMaxDigits; }
  static constexpr std::size_t MaxBytesOf(Quoted quoted) {
    constexpr std::size_t kMaxEscapedBytes = 6;
    return 2 + kMaxEscapedBytes * std::min(quoted.text.size(), kMaxQuoted);
  }

  // Each returns the position of the next part.
  static char* Put(char* at, std::string_view text) {
    std::memcpy(at, text.data(), text.size());
    return at + text.size();
  }
  /// A literal, with a length known at compile time.
  template <std::size_t kSize>
  static char* Put(char* at, const char (&text)[kSize]) {
    std::memcpy(at, text, kSize - 1);
    return at + kSize - 1;
  }
  static char* Put(char* at, std::integral auto number) {
    return std::to_chars(at, at + kMaxDigits, number).ptr;
  }
  static char* Put(char* at, Microseconds time) {
    at = Put(at, time.ns / 1000);
    const auto rest = static_cast<unsigned>(time.ns % 1000);
    at[0] = '.';
    at[1] = static_cast<char>('0' + rest / 100);
    at[2] = static_cast<char>('0' + rest / 10 % 10);
    at[3] = static_cast<char>('0' + rest % 10);
    return at + 4;
  }
  static char* Put(char* at, HexAddress address) {
    at = Put(at, "\"0x");
    return Put(std::to_chars(at, at + kMaxDigits, address.value, 16).ptr, "\"");
  }
  static char* Put(char* at, Quoted quoted) {
    constexpr std::string_view kHex = "0123456789abcdef";
    *at++ = '"';
    for (const char character : quoted.text.substr(0, kMaxQuoted)) {
      const auto value = static_cast<unsigned char>(character);
      if (value < 0x20 || value >= 0x7f) {  // one byte each, because the encoding is unknown
        at = Put(at, "\\u00");
        *at++ = kHex[value >> 4];
        *at++ = kHex[value & 15];
        continue;
      }
      if (character == '"' || character == '\\') *at++ = '\\';
      *at++ = character;
    }
    *at++ = '"';
    return at;
  }

  std::array<char, kMaxBytes> text_;
  std::size_t bytes_ = 0;
};

}  // namespace sampan::trace
