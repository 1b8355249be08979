// Which functions of AscendCL and HCCL a program or library needs, and what becomes of them here.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace sampan::tool {

/// Names, sorted.
struct BinaryNeeds {
  std::vector<std::string> working;
  std::vector<std::string> refused;  ///< exported: the program links and starts, and the call answers a code
  std::vector<std::string> absent;   ///< exported by no library of ours or of the program
  std::vector<std::string>
      libraries;  ///< paths of the program's libraries that need some, in the loader's order
  std::vector<std::string> missing;  ///< libraries that were not found: what they need is not known

  std::size_t count() const { return working.size() + refused.size() + absent.size(); }
  bool complete() const { return refused.empty() && absent.empty(); }
};

/// Reads the undefined dynamic symbols of a 64-bit ELF file, for any machine, and of the libraries that it
/// loads. `library_path` is its LD_LIBRARY_PATH. What one of these files defines is no need. Neither are
/// weak symbols that nothing exports: the program does without. `ours` is the folder of Sampan's libraries.
/// Throws a Failure if the file cannot be read or has no such symbols.
BinaryNeeds ReadBinaryNeeds(const std::filesystem::path& path, const std::string& library_path,
                            const std::filesystem::path& ours);

std::string BinaryText(const std::filesystem::path& path, const BinaryNeeds& needs);
std::string BinaryJson(const std::filesystem::path& path, const BinaryNeeds& needs);

}  // namespace sampan::tool
