// How seeds of rank tables name the objects that a rank shares.
#pragma once

#include <array>
#include <cstddef>

namespace sampan::fuzz {

/// The length of a key: "sampan:m:", and 48 digits.
inline constexpr std::size_t kKeyTextBytes = 57;
inline constexpr unsigned kNumberedNotifies = 1;

/// In a seed, a key is its letter as often as a key has characters.
struct KeyMark {
  char letter;
  bool is_memory;
};
/// The memory for input and output; the signals 'done' and 'ready', and the numbered one.
inline constexpr std::array<KeyMark, 5> kMarks = {
    {{'I', true}, {'O', true}, {'D', false}, {'R', false}, {'N', false}}};

}  // namespace sampan::fuzz
