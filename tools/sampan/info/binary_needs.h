// Which functions of AscendCL a program or library needs, and what becomes of them here.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace sampan::tool {

/// Names, sorted.
struct BinaryNeeds {
  std::vector<std::string> working;
  std::vector<std::string> refused;  ///< exported: the program links and starts, and the call answers a code
  std::vector<std::string> absent;   ///< exported by no library of ours

  std::size_t count() const { return working.size() + refused.size() + absent.size(); }
  bool complete() const { return refused.empty() && absent.empty(); }
};

/// Reads the undefined dynamic symbols of a 64-bit ELF file, of whichever machine. Weak ones that nothing
/// exports are left out: the program does without. Throws a Failure if the file cannot be read or has no such
/// symbols.
BinaryNeeds ReadBinaryNeeds(const std::filesystem::path& path);

std::string BinaryText(const std::filesystem::path& path, const BinaryNeeds& needs);
std::string BinaryJson(const std::filesystem::path& path, const BinaryNeeds& needs);

}  // namespace sampan::tool
