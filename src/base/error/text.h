// Builds the text of messages from values.
#pragma once

#include <charconv>
#include <concepts>
#include <cstdint>
#include <string>
#include <string_view>

namespace sampan {

/// An address, printed in hexadecimal.
struct Hex {
  explicit Hex(const void* pointer) : value(reinterpret_cast<std::uintptr_t>(pointer)) {}
  explicit Hex(std::uintptr_t address) : value(address) {}
  std::uintptr_t value;
};

inline void AppendText(std::string& out, std::string_view text) {
  out.append(text);
}
inline void AppendText(std::string& out, char character) {
  out.push_back(character);
}
inline void AppendText(std::string& out, std::integral auto number) {
  char digits[24];
  const auto end = std::to_chars(digits, digits + sizeof(digits), number).ptr;
  out.append(digits, end);
}
inline void AppendText(std::string& out, Hex address) {
  char digits[24];
  const auto end = std::to_chars(digits, digits + sizeof(digits), address.value, 16).ptr;
  out.append("0x").append(digits, end);
}

/// Concatenates the parts.
template <typename... Parts>
std::string Text(const Parts&... parts) {
  std::string out;
  (AppendText(out, parts), ...);
  return out;
}

}  // namespace sampan
