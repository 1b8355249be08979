// Builds the text of one event.
#pragma once

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

/// Text that came from outside, printed as a JSON string, cut where it is too long.
struct Quoted {
  std::string_view text;
};

struct HexAddress {
  std::uint64_t value;
};

/// Appends without ever overflowing: what does not fit is left out, which the bounds on names and lists keep
/// from happening. Not thread-safe.
class EventLine {
 public:
  static constexpr std::size_t kMostBytes = 4000;

  template <typename... Parts>
  EventLine& Add(const Parts&... parts) {
    (Append(parts), ...);
    return *this;
  }
  std::string_view text() const { return {text_.data(), bytes_}; }
  void Clear() { bytes_ = 0; }

 private:
  void Append(std::string_view text) {
    if (text.size() > kMostBytes - bytes_) return;
    std::memcpy(text_.data() + bytes_, text.data(), text.size());
    bytes_ += text.size();
  }
  template <typename Text>
  requires std::same_as<Text, const char*>
  void Append(const Text& text) { Append(std::string_view(text)); }
  /// A literal, whose length is known when this is compiled.
  template <std::size_t kSize>
  void Append(const char (&text)[kSize]) {
    if (kSize - 1 > kMostBytes - bytes_) return;
    std::memcpy(text_.data() + bytes_, text, kSize - 1);
    bytes_ += kSize - 1;
  }
  void Append(std::integral auto number) {
    if (kMostBytes - bytes_ < kMostDigits) return;
    bytes_ = static_cast<std::size_t>(std::to_chars(At(), At() + kMostDigits, number).ptr - text_.data());
  }
  void Append(Microseconds time) {
    Append(time.ns / 1000);
    const auto rest = static_cast<unsigned>(time.ns % 1000);
    if (kMostBytes - bytes_ < kMostDigits) return;
    char* const at = At();
    at[0] = '.';
    at[1] = static_cast<char>('0' + rest / 100);
    at[2] = static_cast<char>('0' + rest / 10 % 10);
    at[3] = static_cast<char>('0' + rest % 10);
    bytes_ += 4;
  }
  void Append(HexAddress address) {
    if (kMostBytes - bytes_ < kMostDigits) return;
    Append("\"0x");
    bytes_ = static_cast<std::size_t>(std::to_chars(At(), At() + kMostDigits, address.value, 16).ptr -
                                      text_.data());
    Append("\"");
  }
  void Append(Quoted quoted) {
    constexpr std::size_t kMostQuoted = 300;
    constexpr std::string_view kHex = "0123456789abcdef";
    Append("\"");
    for (const char character : quoted.text.substr(0, kMostQuoted)) {
      const auto value = static_cast<unsigned char>(character);
      if (character == '"' || character == '\\') {
        Append("\\");
        Append(std::string_view(&character, 1));
      } else if (value < 0x20 || value >= 0x7f) {  // one byte each: no encoding is known
        Append("\\u00");
        Append(kHex.substr(value >> 4, 1));
        Append(kHex.substr(value & 15, 1));
      } else {
        Append(std::string_view(&character, 1));
      }
    }
    Append("\"");
  }
  char* At() { return text_.data() + bytes_; }

  static constexpr std::size_t kMostDigits = 24;
  std::array<char, kMostBytes> text_;
  std::size_t bytes_ = 0;
};

}  // namespace sampan::trace
