// The libraries that a program loads, found as the dynamic loader finds them.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "tools/sampan/info/elf_file.h"

namespace sampan::tool {

struct LoadedFile {
  std::filesystem::path path;
  ElfFacts facts;
};

struct LoadedFiles {
  std::vector<LoadedFile> files;     ///< the program first, then its libraries in the loader's order
  std::vector<std::string> missing;  ///< names of libraries that were not found
};

/// Follows DT_NEEDED. A library is sought in RPATH, `library_path` (as LD_LIBRARY_PATH), RUNPATH, the
/// program's folder, and the system's folders. Libraries whose names are in the folder `ours` are not
/// followed: this installation provides them.
LoadedFiles FindLoadedFiles(const std::filesystem::path& program, const std::string& library_path,
                            const std::filesystem::path& ours);

}  // namespace sampan::tool
