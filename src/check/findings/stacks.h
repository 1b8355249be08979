// The places in the program from which calls came, as return addresses.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>

namespace sampan::check {

/// Equal stacks have one number. Nothing is allocated after Start, so a signal handler may use it. The caller
/// of Intern and Frames holds the checker's lock; Capture takes none.
class Stacks {
 public:
  static constexpr std::size_t kMaxFrames = 24;
  /// Addresses inside of calls, the innermost first, without the leading frames of our libraries.
  struct Captured {
    std::array<std::uintptr_t, kMaxFrames> frames;
    std::size_t count = 0;
  };

  /// False without memory.
  bool Start() noexcept;
  /// The stack of the calling thread.
  static void Capture(Captured& stack) noexcept;
  /// The same where a signal interrupted the program at that instruction.
  static void CaptureAt(std::uintptr_t instruction, Captured& stack) noexcept;
  /// 0 if there is no room left: an empty stack.
  std::uint32_t Intern(const Captured& stack) noexcept;
  std::span<const std::uintptr_t> Frames(std::uint32_t stack) const noexcept;

 private:
  static constexpr std::size_t kMaxStacks = std::size_t{1} << 16, kMaxWords = std::size_t{1} << 20;
  struct Entry {
    std::uint64_t hash;
    std::uint32_t first, count;  // in words_
  };

  Entry* entries_ = nullptr;        // by number; 0 is unused
  std::uint32_t* slots_ = nullptr;  // by hash: the numbers
  std::uintptr_t* words_ = nullptr;
  std::size_t stacks_ = 1, used_words_ = 0;
};

/// Where in memory our libraries lie. Call it before stacks are captured, and when libraries were loaded.
void FindOwnLibraries() noexcept;

}  // namespace sampan::check
