// What binary_needs reads of a 64-bit ELF file: its symbols of AscendCL and HCCL, and the libraries it names.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace sampan::tool {

/// Only names that begin like functions of AscendCL and HCCL.
struct ElfFacts {
  std::map<std::string, bool> undefined;  ///< name to "is weak"
  std::set<std::string> defined;
  std::vector<std::string> libraries;  ///< DT_NEEDED, in order
  std::string search_path;             ///< DT_RUNPATH, else DT_RPATH
  bool is_runpath = false;             ///< then it comes after LD_LIBRARY_PATH, and is not inherited
  std::uint16_t machine = 0;
  bool has_symbols = false;
};

/// Nothing if the file is no 64-bit program or library. Throws a Failure if it cannot be read.
std::optional<ElfFacts> ReadElfFacts(const std::filesystem::path& path);

}  // namespace sampan::tool
