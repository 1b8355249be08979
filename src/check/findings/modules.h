// The files whose code the process runs.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace sampan::check {

/// One file. Its texts lie in memory of the dynamic linker or of the table.
struct Module {
  std::uintptr_t base = 0;  ///< the load bias
  std::uintptr_t begin = 0, end = 0;
  std::array<char, 512> path{};
  std::array<char, 65> build_id{};
  bool written = false;

  bool Holds(std::uintptr_t address) const { return address >= begin && address < end; }
  std::string_view name() const {
    std::string_view text(path.data());
    text.remove_prefix(text.rfind('/') + 1);
    return text;
  }
};

/// Allocates nothing. Not thread-safe.
class Modules {
 public:
  static constexpr int kNone = -1;

  /// The index of the module that has the code; kNone: none has.
  int Find(std::uintptr_t address) noexcept;
  Module& At(int index) { return modules_[static_cast<std::size_t>(index)]; }

 private:
  static constexpr std::size_t kMaxModules = 512;
  struct Search;

  void Read() noexcept;
  int FindKnown(std::uintptr_t address) const noexcept;

  std::array<Module, kMaxModules> modules_;
  std::size_t count_ = 0;
};

}  // namespace sampan::check
